"""The state of each commit of main in each environment, seen from outside.

`tools/reference/lifecycle.py` has the states. This module reads them from public data on GitHub: commit
statuses, `base-repo.yaml`, tracking files and pull requests.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Final

from kalypso_actions.model.github import CommitStatus
from kalypso_actions.model.layout import PROMOTED_COMMIT_FILE
from kalypso_actions.promotion.start_records import Kind, cd_context, read_record
from kalypso_actions.promotion.statuses import AT_THE_DOOR, State, posted_for
from kalypso_sandbox.store import Status
from kalypso_sandbox.workflow_runner.runs import Run
from tests.chain.driver import COMMIT, Chain
from tests.chain.machine.lifecycle_rules import allowed
from tests.commands.chain.organisation import CONTROL_PLANE
from tools.reference.lifecycle import Actor

OWN: Final = "kalypso/"

RECORDED: Final[dict[Kind, State]] = {
    "starting": State.STARTING,
    "received": State.RECEIVED,
    "given up": State.GIVEN_UP,
    "not needed": State.SUPERSEDED,
}
"""The state of a commit without a status, by the record of the start of cd."""

MOVES_ON_UNTOLD: Final = frozenset({None, State.STARTING, State.PROPOSED, State.PROMOTED})
"""After these statuses, `base-repo.yaml` and the GitOps branches determine the state."""


def actors_of(runs: Iterable[Run]) -> set[Actor]:
    """Return the commands that the jobs of runs call; rollback writes as a person's cd does."""
    actions = {step.action for run in runs for job in run.jobs for step in job.steps if step.action}
    own = {actor for actor in Actor if actor.value in actions}
    return own | {Actor.CD, Actor.PEOPLE} if "rollback" in actions else own


@dataclass(frozen=True)
class _Places:
    """The commits of one environment in the repositories.

    `base` is the commit that `base-repo.yaml` names, `tracked` those that the tracking files name.
    The others are the commits that our pull requests bring, or brought when they were closed.
    """

    base: str
    tracked: frozenset[str]
    offered: frozenset[str]
    closed: frozenset[str]
    proposed: frozenset[str]
    withdrawn: frozenset[str]


class Observed:
    """The states of all commits, checked against the table of their life."""

    def __init__(self, chain: Chain, environments: Iterable[str]) -> None:
        self._chain = chain
        self._main = chain.acme.sandbox.git(CONTROL_PLANE)
        self._named: dict[str, set[str]] = {name: set() for name in environments}
        self._states = self.look()

    def look(self) -> dict[tuple[str, str], State]:
        """Return the known state of each commit in each environment."""
        states = {}
        for name in self._named:
            places = self._places(name)
            self._named[name].add(places.base)
            descriptions = self._latest(f"{name} environment")
            records = self._latest(cd_context(name))
            for commit in {*descriptions, *records, *self._named[name]}:
                posted = posted_for(descriptions.get(commit, ""))
                recorded = _recorded(records.get(commit, ""))
                states[commit, name] = self._state(commit, name, places, posted, recorded)
        return states

    def note(self) -> None:
        """Record the present states for the next comparison."""
        self._states = self.look()

    def every_change_is_allowed(self, actors: Collection[Actor]) -> None:
        """Assert that these actors may have made every change since the last look."""
        before, now = self._states, self.look()
        self._states = now
        for key in before.keys() | now.keys():
            was, became = before.get(key, State.ABSENT), now.get(key, State.ABSENT)
            names = ", ".join(sorted(actor.value for actor in actors))
            assert allowed(was, became, actors), (
                f"{key[0][:7]} in {key[1]} was {was.title} and became {became.title} by {names}"
            )

    def _state(
        self, commit: str, name: str, places: _Places, posted: State | None, recorded: State
    ) -> State:
        is_let_in = posted in AT_THE_DOOR and commit == places.base
        if posted is not None and posted not in MOVES_ON_UNTOLD and not is_let_in:
            return posted
        if commit == places.base:
            return _in_base(commit, places)
        if posted is State.PROPOSED and commit in places.proposed:
            return State.PROPOSED
        if posted is State.PROPOSED and commit in places.withdrawn - self._named[name]:
            return State.CLOSED
        if posted in {None, State.STARTING} and commit not in self._named[name]:
            return recorded
        is_older = bool(places.base) and self._main.is_ancestor(commit, places.base)
        return State.SUPERSEDED if is_older else State.ROLLED_BACK

    def _places(self, name: str) -> _Places:
        gitops = self._chain.gitops
        base = self._base_at(name)
        return _Places(
            base,
            frozenset(self._tracked_at(repository, name) for repository in gitops),
            frozenset(
                self._tracked_at(repository, head)
                for repository in gitops
                for head in self._pulls(repository, name)
            ),
            frozenset(
                self._tracked_at(repository, head)
                for repository in gitops
                for head in self._pulls(repository, name, state="closed")
            ),
            frozenset(self._base_at(head) for head in self._pulls(CONTROL_PLANE, name)),
            frozenset(
                self._base_at(head) for head in self._pulls(CONTROL_PLANE, name, state="closed")
            ),
        )

    def _base_at(self, revision: str) -> str:
        text = self._main.files(revision).get("base-repo.yaml", b"").decode()
        match = COMMIT.search(text)
        return match[1] if match else ""

    def _tracked_at(self, repository: str, revision: str) -> str:
        git = self._chain.acme.sandbox.git(repository)
        return git.files(revision).get(PROMOTED_COMMIT_FILE, b"").decode().strip()

    def _pulls(self, repository: str, branch: str, state: str = "open") -> list[str]:
        """Return the heads of our pull requests into a branch."""
        sandbox = self._chain.acme.sandbox
        with sandbox.lock:
            issues = list(sandbox.repository(repository).issues.values())
        return [
            issue.pull_request.head_commit
            for issue in issues
            if issue.pull_request
            and issue.state == state
            and issue.pull_request.base_branch == branch
            and issue.pull_request.head_branch.startswith(OWN)
        ]

    def _latest(self, context: str) -> dict[str, str]:
        """Return the latest description of each commit under a context."""
        sandbox = self._chain.acme.sandbox
        with sandbox.lock:
            every: list[Status] = list(sandbox.repository(CONTROL_PLANE).statuses)
        return {
            status.commit: status.description or "" for status in every if status.context == context
        }


def _in_base(commit: str, places: _Places) -> State:
    """Return the state of a commit that `base-repo.yaml` names, by the GitOps branches."""
    if places.tracked == {commit}:
        return State.MERGED
    if commit in places.offered:
        return State.OFFERED
    return State.CLOSED if commit in places.closed else State.PROMOTED


def _recorded(description: str) -> State:
    record = read_record(CommitStatus("", "pending", description))
    return RECORDED[record.kind] if record else State.ABSENT
