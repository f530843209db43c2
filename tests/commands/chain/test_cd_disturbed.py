"""kalypso cd whose branch others move, and whose answers are lost."""

from __future__ import annotations

import pytest

from kalypso_actions.clients.git import PushConflictError
from kalypso_sandbox import Fault
from kalypso_sandbox.faults import FaultKind
from tests.commands.chain.cd_runs import DISPATCH, SCHEDULE, change_main, document, has, run
from tests.commands.chain.organisation import CONTROL_PLANE, Organisation


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
