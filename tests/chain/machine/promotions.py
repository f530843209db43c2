"""Which commit of main may enter which environment, seen from outside.

This module implements the rules of a promotion a second time, from git, the commit statuses, the
started workflows and the clusters. It imports none of the product's rules.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime

from kalypso_actions.model.layout import PROMOTED_COMMIT_FILE
from kalypso_sandbox.store import Event, Status
from kalypso_sandbox.workflow_runner.runs import Run
from tests.chain.driver import COMMIT, Chain
from tests.chain.machine.acme import FIRST
from tests.chain.machine.clusters import Clusters
from tests.chain.machine.safety import Safety
from tests.chain.organisation import Layout
from tests.commands.chain.organisation import CONTROL_PLANE, GITOPS

CD = "cd.yaml"
ROLLBACK = "rollback.yaml"
PERSON = "somebody"


class Promotions:
    """The wishes of people, the proofs of clusters, and the promotions that they allow."""

    def __init__(self, chain: Chain, layout: Layout, safety: Safety) -> None:
        self._chain = chain
        self._layout = layout
        self._safety = safety
        self._git = chain.acme.sandbox.git(CONTROL_PLANE)
        self._clusters = Clusters(chain)
        first = chain.acme.head("main") or ""
        names = layout.environments
        self.good = {first}
        """The commits of main that ci passes."""
        self.wished = {name: {first} for name in names}
        """The commits that a person brought to an environment, or wanted there."""
        self.claimed: dict[str, set[str]] = {name: set() for name in names}
        """The commits that a person brought to an environment, as the previous one names them."""
        self.written: dict[str, set[str]] = {name: {first} for name in names}
        """The commits that a person wrote into the tracking file of a GitOps branch."""
        self._proven = {name: {first} for name in names}
        """The commits that the clusters of an environment ran while `base-repo.yaml` named them."""
        self._named = dict.fromkeys(names, first)
        self._history = {name: {first} for name in names}
        self.changes = {name: [(chain.acme.sandbox.store.now, first)] for name in names}
        """The times at which `base-repo.yaml` named each commit."""
        self._since = {name: {first} for name in names}
        """The commits that `base-repo.yaml` has named since the last runs began."""
        self._left: dict[str, str] = {}
        """The newest commit that a rollback of an environment undid, until the environment gets
        that commit or a later one.
        """
        self._firsts: dict[str, set[str]] = defaultdict(set)
        self._events = len(chain.acme.sandbox.store.events)
        self._statuses = len(self._every_status())

    def names(self, environment: str) -> str:
        """Return the commit that `base-repo.yaml` of an environment names."""
        text = self._safety.files(CONTROL_PLANE, environment)["base-repo.yaml"].decode()
        (commit,) = COMMIT.findall(text)
        return str(commit)

    def tracks(self, environment: str) -> str:
        """Return the commit that the GitOps branch of an environment names."""
        return self._safety.files(GITOPS, environment)[PROMOTED_COMMIT_FILE].decode()

    def is_behind(self, older: str, newer: str) -> bool:
        """Tell whether a commit is another one's ancestor."""
        return older != newer and self._git.is_ancestor(older, newer)

    def look_at_clusters(self) -> None:
        """Note the commits that the clusters have run until now."""
        for name in self._layout.environments:
            run = self._clusters.run(name)
            if not run:
                continue
            tracked = self._safety.tree(GITOPS, run).get(PROMOTED_COMMIT_FILE, b"").decode()
            if tracked and self._git.is_ancestor(tracked, self.names(name)):
                self._proven[name].add(tracked)

    def a_person_wrote(self, environment: str) -> None:
        """Note that a person's own commit, or merge, changed `base-repo.yaml`."""
        now = self.names(environment)
        self.wished[environment].add(now)
        self._note(environment, now, by_person=True)

    def a_person_merged(self, environment: str) -> None:
        """Note that a person merged a pull request of cd: the commit must be allowed to enter."""
        now = self.names(environment)
        if now != self._named[environment]:
            self._may_enter(environment, now)
        self._note(environment, now, by_person=True)

    def runs_begin(self) -> None:
        """Begin to note the commits that the environments name during the runs."""
        self._since = {name: {self.names(name)} for name in self._layout.environments}

    def runs_have_ended(self, runs: Sequence[Run]) -> list[str]:
        """Check the changes against the rules, and return the environments that changed."""
        self.look_at_clusters()
        now = {name: self.names(name) for name in self._layout.environments}
        self._hold_starts(now)
        self._hold_statuses()
        changed = [name for name in now if now[name] != self._named[name]]
        for name in changed:
            self._hold_entry(name, now, runs)
        for name in changed:
            self._note(name, now[name], by_person=_is_wish(runs, name, now[name]))
        for name in now:
            self._hold_tracking(name)
        return changed

    # What must hold

    def _may_enter(self, environment: str, commit: str) -> None:
        """Check that a commit enters by a person's wish or true claim, or was compliant before."""
        before = self._layout.before(environment)
        is_claimed = commit in self.claimed[environment]
        if commit in self.wished[environment] or (is_claimed and self._was_in(before, commit)):
            return
        if not before:
            assert commit in self.good, f"{environment} got {commit}, which never passed ci"
            return
        assert self._is_proven(before, commit), (
            f"{environment} got {commit}, which was never compliant in {' or '.join(before)}"
        )

    def _is_proven(self, environments: Sequence[str], commit: str) -> bool:
        proven = {other for name in environments for other in self._proven[name]}
        return any(self._git.is_ancestor(commit, other) for other in proven)

    def _was_in(self, environments: Sequence[str], commit: str) -> bool:
        """Tell whether one of these environments has named the commit or a later one."""
        named = {
            other for name in environments for other in (*self._history[name], self.names(name))
        }
        return any(self._git.is_ancestor(commit, other) for other in named)

    def _hold_entry(self, environment: str, now: Mapping[str, str], runs: Sequence[Run]) -> None:
        """Check a change of `base-repo.yaml` by these runs."""
        commit, was = now[environment], self._named[environment]
        if is_rollback(runs) and self.is_behind(commit, was):
            message = f"{environment} went back to {commit}, which it never had"
            assert commit in self._history[environment], message
            return
        self._may_enter(environment, commit)
        if _is_wish(runs, environment, commit):
            return
        assert self.is_behind(was, commit), f"{environment} went back from {was} to {commit}"
        rolled_back = self._left.get(environment)
        assert rolled_back is None or self.is_behind(rolled_back, commit), (
            f"{environment} was rolled back from {rolled_back}, and got {commit} again"
        )
        promoters = {name for name in _promoters(runs, environment, commit) if name in now}
        assert not promoters or any(self._stands(name, commit) for name in promoters), (
            f"{environment} got {commit} from {promoters}, which had left it"
        )

    def _stands(self, environment: str, commit: str) -> bool:
        """Tell whether an environment named the commit or a later one during the runs."""
        commits = self._since[environment] | {self.names(environment)}
        return any(self._git.is_ancestor(commit, other) for other in commits)

    def _stood(self, environment: str, commit: str, moment: datetime) -> bool:
        """Tell whether an environment named the commit or a later one at a moment."""
        changes = self.changes[environment]
        before = [other for at, other in changes if at < moment][-1:]
        commits = [*before, *(other for at, other in changes if at == moment)]
        return any(self._git.is_ancestor(commit, other) for other in commits)

    def _hold_starts(self, now: Mapping[str, str]) -> None:
        """Check that no workflow starts cd for an environment that must not get the commit."""
        for event in self._new_events():
            inputs = event.payload.get("inputs") or {}
            is_cd = event.name == "workflow_dispatch" and event.payload["workflow"].endswith(CD)
            if not is_cd or event.actor == PERSON:
                continue
            environment, commit = inputs["environment"], inputs["promoted_commit_id"]
            before = inputs.get("promoted_from") or ""
            if before == "ci":
                self._firsts[commit].add(environment)
                started = self._firsts[commit]
                assert started == {FIRST}, f"ci started {sorted(started)} with {commit}"
                continue
            assert before in self._layout.before(environment), f"{before} started {environment}"
            start = f"{before} started {environment} with {commit}"
            named = self._history[before] | {now[before]}
            assert commit in named, f"{start}, which base-repo.yaml never named"
            assert self._is_proven([before], commit), f"{start}, which was never compliant there"
            stood = self._stood(before, commit, event.created_at)
            assert stood, f"{start}, which it had left"

    def _hold_statuses(self) -> None:
        """Check that only commits that the clusters ran have the status `Deployed`."""
        every = self._every_status()
        new, self._statuses = every[self._statuses :], len(every)
        for status in new:
            name = status.context.removesuffix(" environment")
            if name in self._proven and status.description == "Deployed":
                message = f"{status.commit} is called deployed in {name}, and never was"
                assert status.commit in self._proven[name], message

    def _hold_tracking(self, environment: str) -> None:
        """Check that a GitOps branch names a commit of `base-repo.yaml`, or one that a person
        wrote.
        """
        tracked = self.tracks(environment)
        commits = self._history[environment] | self.written[environment]
        assert tracked in commits, f"{environment} tracks {tracked}, which nobody brought there"

    # Notes

    def _note(self, environment: str, commit: str, *, by_person: bool) -> None:
        was, rolled_back = self._named[environment], self._left.get(environment)
        if by_person and self.is_behind(commit, was):
            if rolled_back is None or self.is_behind(rolled_back, was):
                self._left[environment] = was
        elif rolled_back and self._git.is_ancestor(rolled_back, commit):
            del self._left[environment]
        self._named[environment] = commit
        self.changes[environment].append((self._chain.acme.sandbox.store.now, commit))
        self._since[environment].add(commit)
        self._history[environment].add(commit)

    def _new_events(self) -> list[Event]:
        with self._chain.acme.sandbox.lock:
            new = self._chain.acme.sandbox.store.events[self._events :]
        self._events += len(new)
        return new

    def _every_status(self) -> list[Status]:
        with self._chain.acme.sandbox.lock:
            return list(self._chain.acme.sandbox.repository(CONTROL_PLANE).statuses)


def _starts(runs: Sequence[Run], environment: str, commit: str) -> list[Mapping[str, str]]:
    """Return the inputs of those runs that bring a commit to an environment."""
    every = [run.event.payload.get("inputs") or {} for run in runs if run.file == CD]
    promotion = (environment, commit)
    return [
        inputs
        for inputs in every
        if (inputs["environment"], inputs["promoted_commit_id"]) == promotion
    ]


def _is_wish(runs: Sequence[Run], environment: str, commit: str) -> bool:
    """Tell whether a person started one of the runs, and claimed nothing."""
    return is_rollback(runs) or any(
        not inputs.get("promoted_from") for inputs in _starts(runs, environment, commit)
    )


def is_rollback(runs: Sequence[Run]) -> bool:
    """Tell whether one of the runs is of rollback, which only people start."""
    return any(run.file == ROLLBACK for run in runs)


def _promoters(runs: Sequence[Run], environment: str, commit: str) -> set[str]:
    return {inputs.get("promoted_from") or "" for inputs in _starts(runs, environment, commit)}
