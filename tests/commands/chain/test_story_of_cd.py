"""The story of one command: what people see of `kalypso cd`, from a change to its rollback.

`acme` is an organisation in the sandbox: its main has one environment, dev, at an older commit.
"""

from __future__ import annotations

from tests.commands.chain.cd_runs import DEV, SCHEDULE, change_main, document, has, run
from tests.commands.chain.organisation import Organisation


def test_a_commit_goes_to_an_environment_and_back(acme: Organisation) -> None:
    old, new = acme.head("main") or "", change_main(acme)
    before = acme.head("dev")

    # A dry run reads and decides, and prints the writes.
    result = run(acme, new, dry_run=True)
    assert acme.head("dev") == before
    assert acme.dispatches() == []
    assert [write.kind for write in document(result).writes][:1] == ["push"]

    # A run writes the commit to the branch, reports it, and starts schedule.
    result = run(acme, new)
    assert (document(result).action, has(acme)) == ("written", new)
    assert acme.statuses(new) == {DEV: ("pending", "Promoted")}
    assert acme.statuses(old) == {DEV: ("pending", f"Superseded by {new[:7]}")}
    assert acme.dispatches() == [SCHEDULE]

    # The same run again, as after a lost answer, has nothing left to write.
    head = acme.head("dev")
    result = run(acme, new)
    assert (document(result).action, acme.head("dev")) == ("unchanged", head)

    # An older commit that arrives late changes nothing: it is superseded.
    result = run(acme, old, promoted_from="ci")
    assert (document(result).action, has(acme)) == ("superseded", new)

    # A person may go back, if they say so.
    result = run(acme, old, allow_rollback=True)
    assert (document(result).action, has(acme)) == ("written", old)
    assert acme.statuses(new) == {DEV: ("pending", f"Rolled back to {old[:7]}")}
