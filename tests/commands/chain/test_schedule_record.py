"""The records that `kalypso schedule` posts for poll on the environment's branch."""

from __future__ import annotations

import pytest

from kalypso_actions.report.chain_document import PollDocument
from kalypso_sandbox import Fault
from kalypso_sandbox.store import BranchRule
from tests.commands.chain import documents
from tests.commands.chain.organisation import GITOPS, SHOP, Organisation
from tests.commands.chain.polls import document, inputs_of, push_to_shop
from tests.commands.chain.polls import run as run_poll
from tests.commands.chain.proposals import (
    configure,
    run,
    run_schedule,
    settle,
    token_without_statuses,
)
from tests.commands.chain.shop_targets import TARGETS, fill

CONTEXT = "kalypso / schedule dev"
BROKEN = {"cluster-types/large.yaml": documents.cluster_type("large", reconciler="nowhere")}


def recorded(acme: Organisation) -> tuple[str, str] | None:
    """Return the record on the head of dev's branch."""
    return acme.records(acme.head("dev") or "").get(CONTEXT)


def digest(acme: Organisation) -> str:
    return inputs_of(acme)["dev"].digest


def polled(acme: Organisation) -> PollDocument:
    """Run poll for dev."""
    return document(run_poll(acme, environments="dev"))


def test_the_digest_of_what_it_leaves_behind(acme: Organisation) -> None:
    run(acme)
    assert recorded(acme) == ("success", f"Scheduled: {digest(acme)}")
    assert polled(acme) == PollDocument()


def test_a_merge_by_a_person_is_scheduled_once(acme: Organisation) -> None:
    settle(acme)
    assert polled(acme).environments == ("dev",)
    run(acme)
    assert polled(acme) == PollDocument()


def test_after_a_merge_of_its_own(acme: Organisation) -> None:
    run(acme, auto_merge="always")
    assert acme.pulls() == []
    assert recorded(acme) == ("success", f"Scheduled: {digest(acme)}")
    assert polled(acme) == PollDocument()


def test_after_a_merge_that_was_refused(acme: Organisation) -> None:
    """The pull request names the base commit; poll ignores it until the base changes."""
    rule = BranchRule(pattern="dev", required_contexts=["test"])
    acme.sandbox.repository(GITOPS).rules.append(rule)
    run(acme, auto_merge="always")
    assert recorded(acme) == ("success", f"Scheduled: {digest(acme)}")
    assert polled(acme) == PollDocument()
    body = {"context": "test", "state": "success"}
    acme.ask("POST", f"{GITOPS}/statuses/{acme.head('kalypso/dev', GITOPS)}", body)
    (start,) = polled(acme).started
    assert start.reason == "acme/gitops#1 can be merged now"


def test_after_it_has_withdrawn_its_pull_request(acme: Organisation) -> None:
    settle(acme)
    configure(acme, REGION="north")
    run(acme)
    configure(acme, REGION="west")
    assert [pull_request.action for pull_request in run(acme).pull_requests] == ["withdrawn"]
    assert recorded(acme) == ("success", f"Scheduled: {digest(acme)}")
    assert polled(acme) == PollDocument()


@pytest.mark.parametrize(
    "files",
    [
        pytest.param(BROKEN, id="a failing assignment"),
        pytest.param({"again.yaml": documents.cluster_type("large")}, id="a wrong document"),
    ],
)
def test_an_environment_that_is_blocked(acme: Organisation, files: dict[str, str | None]) -> None:
    settle(acme)
    acme.commit(files, "dev")
    assert run_schedule(acme).failed
    assert recorded(acme) == ("failure", f"Blocked: {digest(acme)}")
    acme.clock.sleep(3600)
    assert polled(acme) == PollDocument()


def test_a_mass_removal_blocks(acme: Organisation) -> None:
    fill(acme, TARGETS)
    settle(acme)
    fill(acme, TARGETS[:2])
    assert run_schedule(acme).failed
    assert recorded(acme) == ("failure", f"Blocked: {digest(acme)}")


def test_no_record_after_a_refusal_of_github(acme: Organisation) -> None:
    """The next run may succeed."""
    acme.commit({".github/workflows/check-promote.yaml": documents.workflow(("other",))})
    assert run_schedule(acme, auto_merge="always").failed
    assert recorded(acme) is None
    assert polled(acme).environments == ("dev",)


def test_no_record_if_a_visible_repository_was_not_read(acme: Organisation) -> None:
    settle(acme)
    push_to_shop(acme)
    with acme.sandbox.faults.on(Fault("*", f"/{SHOP}*", "status", count=0)):
        assert run(acme).degraded
    assert recorded(acme) != ("success", f"Scheduled: {digest(acme)}")
    assert polled(acme).environments == ("dev",)


def test_a_repository_that_github_does_not_show_is_recorded_so(acme: Organisation) -> None:
    text = documents.registration("tea", acme.url("acme/tea"))
    acme.commit({"registrations/tea.yaml": text}, "dev")
    assert run(acme).degraded
    assert recorded(acme) == ("success", f"Scheduled: {digest(acme)}")
    assert polled(acme).started == ()


def test_a_registration_with_wrong_content_is_recorded(acme: Organisation) -> None:
    """schedule reads the registration again when its folder changes."""
    settle(acme)
    push_to_shop(acme, text=documents.config_map(A="b"))
    assert run(acme).degraded
    assert recorded(acme) == ("success", f"Scheduled: {digest(acme)}")


def test_a_token_that_may_not_record(acme: Organisation) -> None:
    run(acme, token=token_without_statuses(acme))
    assert recorded(acme) is None
    assert any(" is not posted: " in line for line in acme.logged)
