"""`kalypso cd` killed at any write, repeated, run by several jobs at once, and disturbed."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from kalypso_actions.clients.git import PushConflictError
from kalypso_sandbox import Fault
from kalypso_sandbox.faults import FaultKind
from tests.commands.chain import documents
from tests.commands.chain.cd_runs import DISPATCH, SCHEDULE, change_main, document, has, run
from tests.commands.chain.killing import is_killed
from tests.commands.chain.organisation import CONTROL_PLANE, Organisation

DEV = "dev environment"
PROPOSALS = "kalypso/promote/dev"


def commits(acme: Organisation, count: int) -> list[str]:
    return [acme.commit({"notes.txt": str(number)}) for number in range(count)]


def state(acme: Organisation, main: Sequence[str]) -> dict[str, Any]:
    """Return the state after the runs, without the numbers of starts."""
    names = {commit: f"<{number}>" for number, commit in enumerate(main)}

    def named(text: str) -> str:
        for commit, name in names.items():
            text = text.replace(commit, name).replace(commit[:7], name)
        return text

    has_proposal = acme.head(PROPOSALS) is not None
    proposed = acme.files(PROPOSALS)["base-repo.yaml"] if has_proposal else ""
    return {
        "file": named(acme.files("dev")["base-repo.yaml"]),
        "proposed": named(proposed),
        "statuses": [named(str(acme.statuses(commit))) for commit in main],
        "pulls": [named(pull["title"] + pull["body"]) for pull in acme.pulls(CONTROL_PLANE)],
        "started": {str(dispatch) for dispatch in acme.dispatches()},
    }


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["commit", "pull-request"])
@pytest.mark.parametrize("writes", range(6))
def test_killed_and_run_again(acme: Organisation, mode: str, writes: int) -> None:
    main = commits(acme, 2)
    run(acme, main[0], mode=mode)

    def again() -> None:
        run(acme, main[1], mode=mode, promoted_from="ci")

    # Of a commit: push, two statuses, the record of a start, the start. Of a pull request: push,
    # edit, two statuses.
    assert is_killed(writes, again) == (writes < (5 if mode == "commit" else 4))
    again()
    url = acme.url()
    first, second = documents.base_repo(url, "<0>"), documents.base_repo(url, "<1>")
    last_state = state(acme, main)
    if mode == "commit":
        assert last_state["file"] == second
        assert last_state["statuses"] == [
            str({DEV: ("pending", "Superseded by <1>")}),
            str({DEV: ("pending", "Promoted")}),
        ]
        assert len(last_state["started"]) == 1
    else:
        assert first != last_state["file"] != second
        assert last_state["proposed"] == second
        (number,) = [pull["number"] for pull in acme.pulls(CONTROL_PLANE, "all")]
        assert last_state["statuses"] == [
            str({DEV: ("pending", "Superseded by <1>")}),
            str({DEV: ("pending", f"Waiting for #{number}")}),
        ]
        assert last_state["pulls"][0].startswith("dev: promote <1>")
        assert not last_state["started"]


def test_the_title_of_an_overtaken_run_does_not_last(acme: Organisation) -> None:
    """A newer commit is proposed between the push and the pull request of an older one."""
    older, newer = commits(acme, 2)
    between = acme.sandbox.interruptions.add(
        lambda: run(acme, newer, mode="pull-request"), path="*/git-receive-pack", after=True
    )
    run(acme, older, mode="pull-request")
    between.result(timeout=0)
    (pull,) = acme.pulls(CONTROL_PLANE)
    assert pull["title"] == f"dev: promote {newer[:7]}"
    assert newer in pull["body"]
    assert older not in pull["body"]
    assert acme.statuses(older)[DEV][1] == f"Superseded by {newer[:7]}"


def test_an_older_commit_between_the_push_and_its_pull_request(acme: Organisation) -> None:
    """Our branch's head counts as proposed: the slower run completes it, and ends superseded."""
    older, newer = commits(acme, 2)
    between = acme.sandbox.interruptions.add(
        lambda: run(acme, older, mode="pull-request", promoted_from="ci"),
        path="*/git-receive-pack",
        after=True,
    )
    run(acme, newer, mode="pull-request", promoted_from="ci")
    between.result(0)
    assert acme.files(PROPOSALS)["base-repo.yaml"] == documents.base_repo(acme.url(), newer)
    (pull,) = acme.pulls(CONTROL_PLANE, "all")
    assert pull["title"] == f"dev: promote {newer[:7]}"
    assert newer in pull["body"]
    assert acme.statuses(older) == {DEV: ("pending", f"Superseded by {newer[:7]}")}
    assert acme.statuses(newer) == {DEV: ("pending", f"Waiting for #{pull['number']}")}


@pytest.mark.parametrize("end", ["merged", "closed"])
def test_the_branch_of_an_ended_pull_request_proposes_nothing(acme: Organisation, end: str) -> None:
    """The branch may remain after its pull request: people have decided about its commit."""
    older, newer = commits(acme, 2)
    run(acme, newer, mode="pull-request")
    (pull,) = acme.pulls(CONTROL_PLANE)
    if end == "merged":
        acme.merge(pull["number"], CONTROL_PLANE)
        run(acme, older, mode="commit", allow_rollback="true")
        newest = acme.commit({"notes.txt": "newest"})
        run(acme, newest, mode="pull-request", promoted_from="ci")
        expected = newest
    else:
        acme.close(pull["number"], CONTROL_PLANE)
        run(acme, older, mode="pull-request", promoted_from="ci")
        expected = older
    (pull,) = acme.pulls(CONTROL_PLANE)
    assert pull["title"] == f"dev: promote {expected[:7]}"


@pytest.mark.parametrize("mode", ["commit", pytest.param("pull-request", marks=pytest.mark.slow)])
def test_several_at_once(acme_over_http: Organisation, mode: str) -> None:
    """The newest commit wins; the others end superseded."""
    acme = acme_over_http
    main = commits(acme, 2)

    def job(commit: str) -> None:
        run(acme, commit, mode=mode, promoted_from="ci")

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(job, main * 2))
    branch = "dev" if mode == "commit" else PROPOSALS
    assert acme.files(branch)["base-repo.yaml"] == documents.base_repo(acme.url(), main[-1])
    for commit in main[:-1]:
        assert acme.statuses(commit)[DEV][1].startswith("Superseded by "), acme.logged
    pulls = acme.pulls(CONTROL_PLANE, "all")
    last = "Promoted" if mode == "commit" else f"Waiting for #{pulls[0]['number']}"
    assert acme.statuses(main[-1]) == {DEV: ("pending", last)}
    titles = [] if mode == "commit" else [f"dev: promote {main[-1][:7]}"]
    assert [pull["title"] for pull in pulls] == titles


def test_a_concurrent_commit_is_not_lost(acme: Organisation) -> None:
    new = change_main(acme)
    with acme.sandbox.faults.on(Fault("*", "*", "raced", count=2)):
        result = run(acme, new)
    assert document(result).action == "written"
    assert has(acme) == new
    raced = acme.sandbox.git(CONTROL_PLANE).commits_between("main", "dev")
    assert len(raced) == 1 + 2 + 1
    assert sum("looking again" in line for line in acme.logged) == 2


def test_a_branch_that_always_moves(acme: Organisation) -> None:
    new = change_main(acme)
    before = acme.clock()
    with (
        acme.sandbox.faults.on(Fault("*", "*", "raced", count=0)),
        pytest.raises(PushConflictError),
    ):
        run(acme, new)
    assert (acme.clock() - before).total_seconds() == 150
    assert acme.statuses(new) == {}


@pytest.mark.parametrize("kind", ["lost", "dropped", "cut", "doubled", "truncated"])
def test_a_push_whose_answer_is_lost(acme: Organisation, kind: FaultKind) -> None:
    new = change_main(acme)
    with acme.sandbox.faults.on(Fault("POST", "*/git-receive-pack", kind)):
        assert document(run(acme, new)).action == "written"
    assert has(acme) == new
    commits = acme.sandbox.git(CONTROL_PLANE).commits_between("main", "dev")
    assert sum(commit.message.startswith("Promoting") for commit in commits) == 1


def test_a_start_whose_answer_is_lost_is_rather_doubled(acme: Organisation) -> None:
    with acme.sandbox.faults.on(Fault("POST", DISPATCH, "lost")):
        run(acme, change_main(acme))
    assert acme.dispatches() == [SCHEDULE, SCHEDULE]
