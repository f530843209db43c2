"""`kalypso hold` and `kalypso release`: the holds of an environment's policy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from rich.console import Console

from kalypso_actions.clients.git import RemoteRepositories
from kalypso_actions.commands.hold import hold, release
from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.commands.shared.result import CommandResult
from kalypso_actions.errors import KalypsoError, UsageError
from kalypso_actions.inputs.chain import HoldInputs, ReleaseInputs
from kalypso_actions.model.promotion_policy import POLICY_FILE, policy_path
from kalypso_actions.report.hold_document import NOW_HELD, HoldDocument, print_hold
from kalypso_actions.runner import JobContext
from tests.breaks import breaks, turned
from tests.commands.chain.organisation import CONTROL_PLANE, Organisation

HEAD = "apiVersion: kalypso.io/v1alpha1\nkind: PromotionPolicy\nmetadata: {name: dev}\nspec:\n"
ALICE = HEAD + "  holds:\n  - {by: alice, reason: audit} # hers\n"


def run(
    acme: Organisation, command: Callable[..., HoldDocument], model: type[Any], **inputs: Any
) -> HoldDocument:
    """Run a command as a person at a terminal does, whose login is `somebody`."""
    shown: list[HoldDocument] = []

    def at_terminal(given: Any, context: CommandContext) -> CommandResult:
        context = replace(context, runtime=replace(context.runtime, job=JobContext()))
        shown.append(command(given, context))
        return CommandResult(shown[0], "")  # type: ignore[arg-type]  # it has no summary

    acme.run(at_terminal, model, control_plane=CONTROL_PLANE, **{"environment": "dev", **inputs})
    return shown[0]


def set_hold(acme: Organisation, **inputs: Any) -> HoldDocument:
    return run(acme, hold, HoldInputs, **{"reason": "incident 4711", **inputs})


def end_hold(acme: Organisation, **inputs: Any) -> HoldDocument:
    return run(acme, release, ReleaseInputs, **inputs)


def policy(acme: Organisation, branch: str = "dev") -> str | None:
    return acme.files(branch).get(POLICY_FILE)


def text(document: HoldDocument, *, releases: bool = False) -> str:
    console = Console(width=160, record=True, file=None, highlight=False)
    with console.capture() as capture:
        print_hold(console, document, releases=releases)
    return capture.get()


def test_hold_and_release(acme: Organisation) -> None:
    before = acme.head("dev")
    shown = set_hold(acme)
    assert text(shown) == f"dev is held by somebody: incident 4711\n{NOW_HELD}\n"
    assert (policy(acme) or "").endswith("- reason: 'incident 4711'\n    by: 'somebody'\n")
    made = acme.sandbox.git(CONTROL_PLANE).commit("dev")
    assert (made.parents, made.message) == ((before,), "Hold dev\n")
    assert shown.environment_commit == acme.head("dev")
    # The same hold once more changes nothing.
    head = acme.head("dev")
    repeated = set_hold(acme)
    assert (repeated.changed, acme.head("dev")) == (False, head)
    already = "dev is held already; nothing was written\n"
    assert text(repeated) == f"dev is held by somebody: incident 4711\n{already}"
    released = end_hold(acme)
    assert text(released) == (
        "dev is no longer held by somebody: incident 4711\nnobody holds dev\n"
    )
    assert policy(acme) is None
    assert not end_hold(acme).changed


def test_the_end_and_the_commit_that_enters(acme: Organisation) -> None:
    head = acme.head("main") or ""
    shown = set_hold(acme, until="2026-12-01T13:00:00+01:00", at="main")
    assert text(shown) == (
        f"dev is held by somebody until 2026-12-01 12:00 UTC, except {head[:7]}: incident 4711\n"
        f"{NOW_HELD}\n"
    )
    assert f"until: '2026-12-01T12:00:00Z'\n    at: '{head}'\n" in (policy(acme) or "")


@breaks(
    "a release takes away whose hold it likes",
    turned("kalypso_actions.commands.hold.release", "inputs.by or person_of(context)", "'alice'"),
    case="one's own",
)
@pytest.mark.parametrize(
    ("inputs", "left", "gone"),
    [
        pytest.param({}, ["alice"], ["somebody", "bob"], id="one's own, and what is over"),
        pytest.param({"by": "@Alice"}, ["somebody"], ["alice", "bob"], id="another person's"),
        pytest.param({"all": "true"}, [], ["alice", "somebody", "bob"], id="all"),
    ],
)
def test_whose_hold_is_released(
    acme: Organisation, inputs: dict[str, str], left: list[str], gone: list[str]
) -> None:
    over = "  - {by: bob, reason: over, until: '2026-02-01T00:00:00Z'}\n"
    acme.commit({POLICY_FILE: ALICE}, "dev")
    set_hold(acme)
    acme.commit({POLICY_FILE: (policy(acme) or "") + over}, "dev")
    shown = end_hold(acme, **inputs)
    assert [entry.by for entry in shown.holds] == left
    assert [entry.by for entry in shown.released] == gone
    assert ("# hers" in (policy(acme) or "")) is ("alice" in left)


@pytest.mark.parametrize(
    ("inputs", "message", "advice"),
    [
        ({}, "somebody does not hold dev", "name its owner: --by alice"),
        ({"by": "alic"}, "alic does not hold dev", "did you mean 'alice'? name its owner: --by alice"),
        ({"by": "@Alice", "reason": "leak"}, "no such hold has 'leak' in its reason", "write a part of its reason: held by alice: audit"),
        ({"dry_run": "true"}, "somebody does not hold dev", "name its owner: --by alice"),
    ],
    ids=["another person's", "unknown", "another reason", "dry run"],
)  # fmt: skip
def test_what_is_not_released(
    acme: Organisation, inputs: dict[str, str], message: str, advice: str
) -> None:
    acme.commit({POLICY_FILE: ALICE}, "dev")
    head = acme.head("dev")
    document = end_hold(acme, **inputs)
    (problem,) = document.problems
    assert (problem.message, problem.advice) == (f"nothing is released: {message}", advice)
    assert (document.failed, acme.head("dev")) == (True, head)
    said = text(document, releases=True)
    assert said.startswith("dev is held by alice: audit\n")
    assert f"nothing is released: {message}" in said


@pytest.mark.parametrize("folder", [".", "us"])
def test_the_place_of_a_policy(acme: Organisation, folder: str) -> None:
    """It is below the environment's path, on its branch."""
    place = ".environments/dev.yaml"
    acme.commit({place: acme.files("main")[place].replace("path: .", f"path: {folder}")}, "main")
    path = policy_path(folder.strip("."))
    known = f"{HEAD}  holds:\n  - {{by: alice, reason: audit, at: '{'1' * 40}'}}\n"
    acme.commit({path: known}, "dev")
    (problem,) = end_hold(acme).problems
    (warning,) = end_hold(acme, all="true").warnings
    assert [each.where and each.where.path for each in (problem, warning)] == [path, path]


def test_one_hold_of_several(acme: Organisation) -> None:
    at = acme.head("main") or ""
    rollback = f"  - {{by: somebody, reason: 'rolled back from 1234567', at: '{at}'}}\n"
    acme.commit({POLICY_FILE: f"{HEAD}  holds:\n{rollback}"}, "dev")
    set_hold(acme)
    document = end_hold(acme, reason="Incident")
    assert [entry.reason for entry in document.released] == ["incident 4711"]
    assert not document.findings
    (warning,) = end_hold(acme).warnings
    assert warning.message == (
        "the hold 'rolled back from 1234567' is released, too: newer commits of main than "
        f"{at[:7]} may enter dev"
    )
    assert policy(acme) is None
    with pytest.raises(UsageError, match="--by and --all exclude each other"):
        end_hold(acme, by="alice", all="true")


def test_by_a_pull_request(acme: Organisation) -> None:
    acme.commit({POLICY_FILE: ALICE}, "dev")
    before = acme.head("dev")
    shown = set_hold(acme, mode="pull-request")
    (pull,) = acme.pulls(CONTROL_PLANE)
    assert (pull["title"], pull["base"]["ref"]) == ("Hold dev", "dev")
    assert "- `dev` is held by somebody\\: incident 4711" in pull["body"]
    assert shown.pull_request_url == pull["html_url"]
    assert acme.head("dev") == before
    # Once more, the same pull request is updated.
    set_hold(acme, reason="another", mode="pull-request")
    (pull,) = acme.pulls(CONTROL_PLANE)
    acme.merge(pull["number"], CONTROL_PLANE)
    assert [entry.by for entry in set_hold(acme, reason="another").holds] == ["alice", "somebody"]


def test_a_dry_run(acme: Organisation) -> None:
    head = acme.head("dev")
    acme.forget()
    shown = set_hold(acme, dry_run="true", mode="pull-request")
    assert [write.kind for write in shown.writes] == ["push", "open pull request"]
    assert (acme.head("dev"), acme.writes(), shown.changed) == (head, [], False)
    assert text(shown).endswith("nothing was written (dry run).\n")


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({"environment": "prod"}, "there is no Environment 'prod'"),
        ({"until": "2026-02-01T00:00:00Z"}, "--until has passed"),
        ({"at": "e" * 40}, "is not on main"),
        ({"reason": " \n"}, "--reason is empty"),
        ({"at": "deadbee"}, "there is no branch, tag or commit 'deadbee' on main"),
    ],
)
def test_wrong_inputs(acme: Organisation, inputs: dict[str, str], message: str) -> None:
    head = acme.head("dev")
    with pytest.raises(UsageError, match=message):
        set_hold(acme, **inputs)
    assert acme.head("dev") == head


def test_an_invalid_policy_is_left_alone(acme: Organisation) -> None:
    acme.commit({POLICY_FILE: HEAD + "  hold: []\n"}, "dev")
    head = acme.head("dev")
    with pytest.raises(KalypsoError):
        set_hold(acme)
    with pytest.raises(KalypsoError):
        end_hold(acme)
    assert acme.head("dev") == head


def test_two_people_hold_at_once(acme: Organisation, monkeypatch: pytest.MonkeyPatch) -> None:
    push = RemoteRepositories.push

    def late(remotes: RemoteRepositories, *given: Any, **named: Any) -> None:
        monkeypatch.setattr(RemoteRepositories, "push", push)
        acme.commit({POLICY_FILE: ALICE}, "dev")
        push(remotes, *given, **named)

    monkeypatch.setattr(RemoteRepositories, "push", late)
    assert [entry.by for entry in set_hold(acme).holds] == ["alice", "somebody"]
    assert (policy(acme) or "").startswith(ALICE)


def test_a_hostile_reason(acme: Organisation) -> None:
    reason = "a: b # c\n- by: mallory\u2028 [x](http://e.example) @octocat"
    set_hold(acme, reason=reason, mode="pull-request")
    (pull,) = acme.pulls(CONTROL_PLANE)
    assert "](http" not in pull["body"]
    acme.merge(pull["number"], CONTROL_PLANE)
    (entry,) = set_hold(acme, reason=reason).holds
    assert (entry.by, entry.reason) == ("somebody", " ".join(reason.split()))
