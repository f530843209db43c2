"""ci and registered repositories."""

from __future__ import annotations

import pytest

from tests.commands.chain import documents
from tests.commands.chain.ci_runs import cd, problems, run, warnings
from tests.commands.chain.organisation import (
    SHOP,
    Organisation,
)


def test_an_unusable_registration_is_a_warning(acme: Organisation) -> None:
    acme.commit({"workload/shop.yaml": "kind: Deployment\n"}, repository=SHOP)
    commit = acme.commit({"notes.txt": "1"})
    result = run(acme)
    assert not result.failed
    assert warnings(result)
    assert all(
        warning.startswith("dev, stage: registration 'shop'") for warning in warnings(result)
    )
    assert acme.dispatches() == [cd(commit)]
    assert not run(acme, on_source_failure="block").failed, "it stood before"


@pytest.mark.parametrize(("on_source_failure", "fails"), [("last-good", False), ("block", True)])
def test_a_new_registration_that_is_unusable(
    acme: Organisation, on_source_failure: str, fails: bool
) -> None:
    acme.commit({"registrations/lost.yaml": documents.registration("lost", acme.url("acme/lost"))})
    result = run(acme, on_source_failure=on_source_failure)
    assert result.failed == fails
    findings = result.document.problems if fails else result.document.warnings
    (finding,) = findings
    assert finding.message.startswith("dev, stage: registration 'lost'")
    assert finding.where and finding.where.path == "registrations/lost.yaml"


def test_a_registration_that_invalidates_another_fails(acme: Organisation) -> None:
    """Both registrations deliver a Workload of the same name: neither is usable."""
    acme.sandbox.create_repository("acme/shop2", acme.files("main", SHOP))
    acme.commit(
        {"registrations/shop2.yaml": documents.registration("shop2", acme.url("acme/shop2"))}
    )
    result = run(acme)
    assert result.failed
    assert all("registration 'shop'" in problem for problem in problems(result))
    assert all("registration 'shop2'" in warning for warning in warnings(result))
