"""The end of a random story: without further faults, the chain comes to rest."""

from __future__ import annotations

from collections import Counter
from typing import Final

from tests.chain.machine import acme
from tests.chain.machine.people import People
from tests.chain.machine.scene import REPAIRS
from tests.chain.workflow_runs import ENDLESS

REPAIR_AFTER: Final = 11 * 60
"""Seconds after which `poll` repeats a lost start, and a little more."""

POLLS: Final = 3
ATTEMPTS: Final = 3
"""The most starts of the same kind."""

ROUNDS: Final = 8
"""The most starts by hand of an environment that is not at rest, as long as they have an effect."""


class Rest(People):
    """The end of a story, in which main's newest commit comes to every environment."""

    def come_to_rest(self) -> None:
        acme.heal(self.chain, self.layout)
        for name in self.names:
            self.chain.slow_cluster(name, "large", 0)
        self.settle()  # earlier wishes of people come before the last commit
        for name in sorted(self.misconfigured):
            self.configure_environment(name, "region")
        if self.needs_commit:
            self.merge_to_main("release")
        commit = self.chain.acme.head("main") or ""
        self.settle()
        self.fulfil(commit)
        if REPAIRS and not self.was_disturbed:
            self._poll_until_rest()
        else:
            self._start_until_rest(commit)
        for name in self.names:
            message = f"{name} is stuck: {self._stands(commit, name)}"
            assert self._is_at_rest(commit, name), message
            self.chain.expect(name, commit)
            deployed = ("success", "Deployed")
            assert self.chain.acme.statuses(commit)[f"{name} environment"] == deployed

    def fulfil(self, commit: str) -> None:
        """Let people do what the environments' policies ask for."""

    def settle(self) -> None:
        """Run pending workflows, approve and merge, until nothing is left."""
        for _ in range(ENDLESS):
            if self.chain.waiting:
                self.run_one(self.take(0))
            elif waiting := self.chain.waiting_for_approval:
                self.chain.approve(waiting[0])
                self.tell(f"somebody approves {waiting[0]}")
            elif proposed := [name for name in self.names if self.chain.pull_requests(name)]:
                self.merge_proposal(proposed[0])
            elif by_cd := self.proposed_by_cd():
                self.merge_cd(by_cd[0])
            else:
                return
        raise AssertionError("the chain goes round in circles")

    def _poll_until_rest(self) -> None:
        """Check that `poll` alone repeats the lost starts, and then starts nothing more."""
        first = len(self.chain.acme.dispatches())
        self.chain.wait(REPAIR_AFTER)
        for _ in range(POLLS):
            self.start_poll()
            self.settle()
            self.chain.wait(REPAIR_AFTER)
        starts = self.chain.acme.dispatches()[first:]
        counts = Counter(
            (start.workflow, *sorted(start.inputs.items()))
            for start in starts
            if start.workflow != "poll.yaml"
        )
        often = {start: count for start, count in counts.items() if count > ATTEMPTS}
        assert not often, f"started more than {ATTEMPTS} times: {often}"
        self.start_poll()
        self.run_one(self.take(0))
        message = f"poll starts {self.chain.waiting} although all is at rest"
        assert self.chain.waiting == [], message

    def _start_until_rest(self, commit: str) -> None:
        """Poll once; then start the next step of the first environment that is not at rest."""
        self.start_poll()
        self.settle()
        before = None
        for _ in range(ROUNDS):
            late = [name for name in self.names if not self._is_at_rest(commit, name)]
            now = {name: self._stands(commit, name) for name in late}
            if not late or now == before:
                return
            self._start_again(commit, late[0])
            self.fulfil(commit)
            before = now

    def _start_again(self, commit: str, name: str) -> None:
        self.tell(f"{name} is not at rest: somebody starts again what it lacks")
        start = {"environment": name, "promoted_commit_id": commit}
        self.chain.start("cd", **start)
        self.settle()
        if not self._is_at_rest(commit, name):
            head = self.chain.acme.head(name, "acme/gitops") or ""
            self.chain.start("check-promote", commit_id=head, **start)
            self.settle()

    def _is_at_rest(self, commit: str, name: str) -> bool:
        return self._stands(commit, name) == (commit, commit, "Deployed")

    def _stands(self, commit: str, name: str) -> tuple[str, str, str]:
        """Return the commits of `base-repo.yaml` and the GitOps branch, and the commit's status."""
        status = self.chain.status(commit, name)
        return self.promotions.names(name), self.chain.tracks(name), status
