"""ci and registered repositories."""

from __future__ import annotations

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


def test_the_commit_that_registers_an_unusable_repository_fails(acme: Organisation) -> None:
    lost = documents.registration("lost", acme.url("acme/lost"))
    acme.commit({"registrations/lost.yaml": lost})
    result = run(acme)
    assert result.failed
    (finding,) = result.document.problems
    assert finding.message.startswith("dev, stage: registration 'lost'")
    assert finding.where and finding.where.path == "registrations/lost.yaml"
    # No environment has that commit, but the next one of main is not the reason.
    acme.commit({"notes.txt": "1"})
    result = run(acme)
    assert not result.failed
    (finding,) = result.document.warnings
    assert finding.message.startswith("dev, stage: registration 'lost'")


def test_a_registration_that_invalidates_another_fails(acme: Organisation) -> None:
    """Both registrations deliver a Workload of the same name: neither is usable."""
    acme.sandbox.create_repository("acme/shop2", acme.files("main", SHOP))
    acme.commit(
        {"registrations/shop2.yaml": documents.registration("shop2", acme.url("acme/shop2"))}
    )
    result = run(acme)
    assert result.failed
    assert [problem.count("registration 'shop2': Work") for problem in problems(result)] == [0, 1]
