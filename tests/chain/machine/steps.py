"""Random stories: what people, clusters and GitHub may do, in any order."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

from hypothesis import note
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from kalypso_actions.commands.demo.jobs import Run
from kalypso_actions.model.layout import PROMOTED_COMMIT_FILE
from tests.chain import opening
from tests.chain.driver import COMMIT, ENDLESS
from tests.chain.machine import acme
from tests.chain.machine.acme import BAD, ENVIRONMENTS, FAULTS
from tests.chain.machine.safety import Safety
from tests.chain.opening import Opening
from tests.commands.chain.killing import KilledError, killed_after
from tests.commands.chain.world import CONTROL_PLANE, GITOPS

environments = st.sampled_from(ENVIRONMENTS)
places = st.integers(0, 3)
"""Which of the waiting runs; of fewer, counted round."""

ROUNDS = 4
"""Of running everything again, until all is at rest."""


class Story(RuleBasedStateMachine):
    """Acme, treated badly; `safety` holds after each step, and in the end all comes to rest."""

    def __init__(self, begun: Opening, folder: Path) -> None:
        super().__init__()
        self.served = ExitStack()
        self.chain = self.served.enter_context(opening.served(opening.copied(begun, folder)))
        acme.furnish(self.chain)
        self.safety = Safety(self.chain, folder / "runs")
        self._number = 0
        first = self.chain.has("dev")
        self.good = {first}
        """The commits of main that ci passes."""
        self.allowed = {"stage": {first}}
        """What stage may name: commits that were compliant in dev, or that people put there."""
        self._failing: set[str] = set()
        self._misconfigured: set[str] = set()
        self._is_broken = False
        self._needs_commit = False
        """Whether main's head cannot be deployed, or people have refused it."""

    def teardown(self) -> None:
        """The end of the story, and of the sandbox."""
        with self.served:
            if sys.exception() is None:  # a step that failed is what there is to tell
                self.come_to_rest()

    # People

    @rule(change=st.sampled_from(acme.MAIN_CHANGES))
    def merge_to_main(self, change: str) -> None:
        commit = acme.change_main(self.chain, change, self._next())
        if change != "document":  # it changes nothing else
            self._is_broken = change == "broken"
        if change in {"broken", "unbearable"}:
            self._needs_commit = True
        if change == "release":  # it puts everything right
            self._needs_commit = False
        if not self._is_broken:
            self.good.add(commit)

    @rule(environment=environments, change=st.sampled_from(acme.CONFIGURATIONS))
    def configure(self, environment: str, change: str) -> None:
        acme.configure(self.chain, environment, change, self._next())
        self._misconfigured.discard(environment)
        if change != "region":
            self._misconfigured.add(environment)

    @rule(workload=st.sampled_from(acme.WORKLOADS))
    def register(self, workload: str) -> None:
        acme.register(self.chain, workload)

    @rule(environment=environments)
    def merge_pull_request(self, environment: str) -> None:
        if self.chain.pull_requests(environment):
            self._merge(environment)

    @rule(environment=environments)
    def close_pull_request(self, environment: str) -> None:
        if self.chain.pull_requests(environment):
            self._needs_commit = True
            self.chain.close_pull_request(environment)

    @rule(environment=environments)
    def revert(self, environment: str) -> None:
        """The newest merge of a pull request is undone."""
        if len(self.chain.acme.sandbox.git(GITOPS).commit(environment).parents) == 2:
            self._needs_commit = True
            self.chain.revert(environment)

    @rule(environment=environments)
    def roll_back(self, environment: str) -> None:
        """Somebody puts the oldest commit of main that is known into an environment."""
        commit = self.chain.acme.head("main") or ""
        parents = self.chain.acme.sandbox.git(CONTROL_PLANE).commit(commit).parents
        if parents and parents[0] in self.good:
            self._needs_commit = True
            if environment in self.allowed:
                self.allowed[environment].add(parents[0])
            inputs = {"environment": environment, "promoted_commit_id": parents[0]}
            self.chain.start("cd", allow_rollback="true", **inputs)

    @rule(environment=environments, force=st.booleans())
    def start_schedule(self, environment: str, force: bool) -> None:
        self.chain.start("schedule", environment=environment, force=str(force).lower())

    @rule()
    def start_poll(self) -> None:
        self.chain.start("poll")

    # Clusters

    @rule(environment=environments, bears=st.sampled_from(["everything good", "nothing"]))
    def cluster(self, environment: str, bears: str) -> None:
        self._failing.discard(environment)
        if bears == "nothing":
            self._failing.add(environment)
        text = "" if bears == "nothing" else BAD
        self.chain.break_cluster(environment, "large", text)

    # GitHub

    @precondition(lambda self: self.chain.waiting)
    @rule()
    def run_everything(self) -> None:
        while self.chain.waiting:
            self._run(self.chain.take(0))

    @precondition(lambda self: self.chain.waiting)
    @rule(place=places, times=st.integers(0, 2))
    def run(self, place: int, times: int) -> None:
        """One run that waits: not at all, as GitHub loses it, once or twice."""
        run = self._take(place)
        if not times:
            self.chain.lose(run)
        for _ in range(times):
            self._run(run)

    @precondition(lambda self: self.chain.waiting)
    @rule(place=places, writes=st.integers(0, 5))
    def kill(self, place: int, writes: int) -> None:
        """A run is killed where it would write once more than this."""
        run = self._take(place)
        with killed_after(writes):
            try:
                self._run(run)
            except KilledError:
                note("    killed")

    @precondition(lambda self: self.chain.waiting)
    @rule(place=places, fault=st.sampled_from(sorted(FAULTS)), skip=st.integers(0, 4))
    def disturb(self, place: int, fault: str, skip: int) -> None:
        """A run while GitHub is not at its best."""
        run = self._take(place)
        with self.chain.acme.sandbox.faults.on(dataclasses.replace(FAULTS[fault], skip=skip)):
            self._run(run)

    @precondition(lambda self: len(self.chain.waiting) > 1)
    @rule()
    def run_at_once(self) -> None:
        """Everything that waits, at the same time."""
        self._watched(self.chain.run_at_once)

    # What must hold

    @invariant()
    def is_safe(self) -> None:
        self._observe()
        self.safety.nothing_is_foreign()
        self.safety.nothing_is_doubled()
        self.safety.trees_are_whole()
        self.safety.no_token_is_told()

    def come_to_rest(self) -> None:
        """Once nothing disturbs them, the workflows bring main's newest commit to the last one."""
        acme.heal(self.chain)
        self._failing.clear()
        for name in sorted(self._misconfigured):
            acme.configure(self.chain, name, "region", self._next())
        if self._needs_commit:
            self.merge_to_main("release")
        commit = self.chain.acme.head("main") or ""
        self._observe()
        self._settle()
        self.chain.start("poll")
        self._settle()
        for _ in range(ROUNDS):
            if self._is_at_rest(commit):
                break
            self._run_again(commit)
        for name in ENVIRONMENTS:
            self.chain.expect(name, commit)
        assert self.chain.acme.statuses(commit)["stage environment"] == ("success", "Deployed")

    def _run_again(self, commit: str) -> None:
        """Start again by hand what the first environment where the commit is not at rest lacks.

        It may have been rolled back from the commit: nobody but a person brings it back then.
        """
        name = next(one for one in ENVIRONMENTS if not self._is_at_rest(commit, one))
        start = {"environment": name, "promoted_commit_id": commit}
        self.chain.start("cd", **start)
        self._settle()
        if not self._is_at_rest(commit, name):
            head = self.chain.acme.head(name, GITOPS) or ""
            self.chain.start("check-promote", commit_id=head, **start)
            self._settle()

    def _settle(self) -> None:
        for _ in range(ENDLESS):
            if self.chain.waiting:
                self._run(self.chain.take(0))
            elif proposed := [one for one in ENVIRONMENTS if self.chain.pull_requests(one)]:
                self._merge(proposed[0])
                self._observe()
            else:
                return
        raise AssertionError("the chain goes round in circles")

    def _is_at_rest(self, commit: str, *names: str) -> bool:
        return all(
            self.chain.tracks(name) == commit and self.chain.status(commit, name) == "Deployed"
            for name in names or ENVIRONMENTS
        )

    # Parts of steps

    def _next(self) -> int:
        self._number += 1
        return self._number

    def _merge(self, environment: str) -> None:
        """What conflicts with what others have merged is scheduled anew instead."""
        number = self.chain.open_pull_request(environment)["number"]
        if self.chain.acme.ask("GET", f"{GITOPS}/pulls/{number}")["mergeable"]:
            self.chain.acme.merge(number)
        else:
            self.chain.start("schedule", environment=environment)

    def _take(self, place: int) -> Run:
        return self.chain.take(place % len(self.chain.waiting))

    def _run(self, run: Run) -> None:
        self._watched(lambda: self.chain.run(run))

    def _watched(self, act: Callable[[], Sequence[str]]) -> None:
        before = self.safety.trees()
        try:
            for line in act():
                note(f"    {line}")
        finally:
            self.safety.only_base_repo_was_written(before)
            self._observe()

    def _observe(self) -> None:
        """Note what is compliant, and look whether environments name only what they may."""
        for name in ENVIRONMENTS:
            tree = self.safety.files(GITOPS, name)
            tracks = tree[PROMOTED_COMMIT_FILE].decode()
            (has,) = COMMIT.findall(
                self.safety.files(CONTROL_PLANE, name)["base-repo.yaml"].decode()
            )
            if name == "dev":
                assert {has, tracks} <= self.good, "it never passed ci"
                if name not in self._failing and not any(
                    BAD.encode() in one for one in tree.values()
                ):
                    self.allowed["stage"].add(tracks)
            else:
                assert {has, tracks} <= self.allowed[name], "it was never compliant in dev"
