"""What GitHub does in random stories: it runs what waits, late, twice, at once, or not at all."""

from __future__ import annotations

import dataclasses

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from kalypso_actions.commands.demo.jobs import Run
from tests.chain.machine.acme import FAULTS
from tests.chain.machine.middle import before_write
from tests.chain.machine.people import places
from tests.chain.machine.promotions import CD
from tests.chain.machine.scene import Scene
from tests.commands.chain.killing import KilledError, killed_after


class Runs(Scene):
    """Runs of workflows, and what happens to them."""

    @precondition(lambda self: self.chain.waiting)
    @rule()
    def run_everything(self) -> None:
        while self.chain.waiting:
            self.run_one(self.take(0))

    @precondition(lambda self: self.chain.waiting)
    @rule(place=places, times=st.integers(0, 2))
    def run(self, place: int, times: int) -> None:
        """One run that waits: not at all, as GitHub loses it, once or twice.

        A start that was lost once is not lost again.
        """
        run = self.take(place)
        if times == 0 and not self._lose(run):
            times = 1
        for _ in range(times):
            self.run_one(run)

    def _lose(self, run: Run) -> bool:
        start = (
            f"{run.event.repository} {run.file} {run.event.ref} {run.event.payload.get('inputs')}"
        )
        if start in self.lost:
            return False
        self.lost.add(start)
        self.tell(f"the start is lost: {start}")
        if run.file == "ci.yaml":  # nothing but a push starts it
            self.needs_commit = True
        return True

    @precondition(lambda self: self.chain.done)
    @rule(place=st.integers(0, 20))
    def run_again(self, place: int) -> None:
        """Somebody wants an old run again, with the inputs that it had."""
        run = self.chain.done[-1 - place % len(self.chain.done)].run
        inputs = run.event.payload.get("inputs") or {}
        if run.file == CD and not inputs.get("promoted_from"):
            self.promotions.wished[inputs["environment"]].add(inputs["promoted_commit_id"])
            self.needs_commit = True
        self.chain.run_anew(run)
        self.tell(f"somebody runs again {run.file} {inputs}")

    @precondition(lambda self: self.chain.waiting)
    @rule(place=places, writes=st.integers(0, 5))
    def merge_in_the_middle(self, place: int, writes: int) -> None:
        """While a run works, somebody merges what is proposed to its environment."""
        run = self.take(place)

        def merge() -> None:
            for name in self.names:
                if self.chain.pull_requests(name):
                    self.merge_proposal(name)

        with before_write(writes, merge):
            self.run_one(run)

    @precondition(lambda self: self.chain.waiting)
    @rule(place=places, writes=st.integers(0, 5))
    def kill(self, place: int, writes: int) -> None:
        """A run is killed where it would write once more than this."""
        run = self.take(place)
        with killed_after(writes):
            try:
                self.run_one(run)
            except KilledError:
                self.was_disturbed = True
                self.tell(f"{run.file} {run.event.payload.get('inputs')} is killed")

    @precondition(lambda self: self.chain.waiting)
    @rule(place=places, fault=st.sampled_from(sorted(FAULTS)), skip=st.integers(0, 4))
    def disturb(self, place: int, fault: str, skip: int) -> None:
        """A run while GitHub is not at its best."""
        run = self.take(place)
        self.was_disturbed = True
        self.tell(f"GitHub is not at its best: {fault}")
        with self.chain.acme.sandbox.faults.on(dataclasses.replace(FAULTS[fault], skip=skip)):
            self.run_one(run)

    @precondition(lambda self: len(self.chain.waiting) > 1)
    @rule()
    def run_at_once(self) -> None:
        """Everything that waits, at the same time."""
        self.tell("all of these at once")
        self.watched(self.chain.run_at_once, self.chain.waiting_runs)
