"""GitHub in random stories: it runs waiting jobs late, twice, at once, or not at all."""

from __future__ import annotations

import dataclasses

from hypothesis import strategies as st
from hypothesis.stateful import rule

from kalypso_sandbox.workflow_runner.runs import Run
from tests.chain.machine.acme import FAULTS
from tests.chain.machine.mid_run_events import before_write
from tests.chain.machine.people import People, places
from tests.chain.machine.promotions import CD, ROLLBACK
from tests.chain.machine.scene import only_if
from tests.commands.chain.killing import KilledError, killed_after
from tests.commands.chain.organisation import CONTROL_PLANE

DEEDS = ("merge", "roll back", "revert")


class Runs(People):
    """Runs of workflows, and the events of their life."""

    @rule()
    @only_if(lambda self: self.chain.waiting)
    def run_everything(self) -> None:
        while self.chain.waiting:
            self.run_one(self.take(0))

    @rule(place=places, times=st.integers(0, 2))
    @only_if(lambda self: self.chain.waiting)
    def run(self, place: int, times: int) -> None:
        """Run a waiting run once or twice, or not at all, as if GitHub had lost it.

        A start is lost only once.
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
        self.chain.lose(run)
        self.tell(f"the start is lost: {start}")
        if run.file == "ci.yaml":  # only a push starts it
            self.needs_commit = True
        return True

    @rule(place=st.integers(0, 20))
    @only_if(lambda self: self.chain.done)
    def run_again(self, place: int) -> None:
        """Run an old run again as a person, with the same inputs."""
        run = self.chain.done[-1 - place % len(self.chain.done)].run
        inputs = run.event.payload.get("inputs") or {}
        if run.file == ROLLBACK:
            self.needs_commit = True
        if run.file == CD and not inputs.get("promoted_from"):
            self.promotions.wished[inputs["environment"]].add(inputs["promoted_commit_id"])
            self.needs_commit = True
        self.chain.run_anew(run)
        self.tell(f"somebody runs again {run.file} {inputs}")

    @rule(
        place=places,
        deed=st.sampled_from(DEEDS),
        environment=places,
        writes=st.integers(0, 5),
        seconds=st.sampled_from([0, 40, 100]),
    )
    @only_if(lambda self: self.chain.waiting)
    def meddle(self, place: int, deed: str, environment: int, writes: int, seconds: int) -> None:
        """Let a person act in the middle of a run: while it sleeps, or before it writes."""
        run = self.take(place)

        def act() -> None:
            self.tell("in the middle of the run:")
            if deed == "merge":
                self.merge_pull_request(environment)
            elif deed == "roll back":
                self.write_base_repo(environment, older=1)
                self.a_person_pushed(self.environment(environment), CONTROL_PLANE)
            else:
                self.revert(environment, back=0)

        if seconds:
            self.chain.meanwhile(seconds, act)
            self.run_one(run)
            self.chain.wait(seconds)  # the run may have slept less
        else:
            with before_write(writes, act):
                self.run_one(run)

    @rule(place=places, writes=st.integers(0, 5))
    @only_if(lambda self: self.chain.waiting)
    def kill(self, place: int, writes: int) -> None:
        """Kill a run after so many writes, before the next one."""
        run = self.take(place)
        with killed_after(writes):
            try:
                self.run_one(run)
            except KilledError:
                self.was_disturbed = True
                self.tell(f"{run.file} {run.event.payload.get('inputs')} is killed")

    @rule(place=places, fault=st.sampled_from(sorted(FAULTS)), skip=st.integers(0, 4))
    @only_if(lambda self: self.chain.waiting)
    def disturb(self, place: int, fault: str, skip: int) -> None:
        """Run a run while GitHub has faults."""
        run = self.take(place)
        self.was_disturbed = True
        self.tell(f"GitHub is not at its best: {fault}")
        with self.chain.acme.sandbox.faults.on(dataclasses.replace(FAULTS[fault], skip=skip)):
            self.run_one(run)

    @rule()
    @only_if(lambda self: len(self.chain.waiting) > 1)
    def run_at_once(self) -> None:
        """Run all waiting runs at the same time."""
        self.tell("all of these at once")
        self.watched(self.chain.run_at_once, self.chain.waiting_runs)
