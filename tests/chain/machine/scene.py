"""The scene of a story: Acme in one of its layouts, and the notes about it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

from hypothesis.stateful import RuleBasedStateMachine

from kalypso_sandbox.workflow_runner.runs import Run
from tests.chain import opening
from tests.chain.machine import acme
from tests.chain.machine.content import Content, digest
from tests.chain.machine.entries import Entries
from tests.chain.machine.observed import Observed, actors_of
from tests.chain.machine.promotions import Promotions, is_rollback
from tests.chain.machine.safety import Safety
from tests.chain.opening import Opening
from tests.chain.quick_reads import quick_reads
from tests.commands.chain.organisation import CONTROL_PLANE, GITOPS
from tools.reference.lifecycle import Actor

REPAIRS: Final = True
"""Whether `poll` repairs losses and conflicts: then nobody starts anything by hand."""


def only_if(
    condition: Callable[[Any], object],
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Let a rule do nothing if the condition does not hold.

    Preconditions of hypothesis must be the same for the same steps; runs at once end in any order.
    """

    def decorate(rule: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(rule)
        def decorated(self: Any, **arguments: Any) -> None:
            if condition(self):
                rule(self, **arguments)

        return decorated

    return decorate


class Scene(RuleBasedStateMachine):
    """Acme in one layout, and the record of its people's actions.

    `needs_commit` says that only another commit of main brings everything to rest: its head cannot
    be deployed, or people have refused it. `was_disturbed` says that a run did not end by itself.
    """

    def __init__(self, openings: Callable[[str], Opening], folder: Path) -> None:
        super().__init__()
        self._openings = openings
        self._folder = folder
        self.served = ExitStack()
        self.story: list[str] = []
        """The story so far, line by line."""
        self.needs_commit = False
        self.was_disturbed = False
        self.is_broken = False
        self.misconfigured: set[str] = set()
        self.lost: set[str] = set()
        self._number = 0

    def open(self, name: str) -> None:
        """Begin the story in this layout."""
        begun = self._openings(name)
        self.layout = begun.layout
        self.names = tuple(begun.layout.environments)
        self.chain = self.served.enter_context(opening.served(opening.copied(begun, self._folder)))
        self.served.enter_context(quick_reads(self.chain.acme.sandbox))
        acme.furnish(self.chain, self.layout)
        self.safety = Safety(self.chain, self.layout, self._folder / "runs")
        self.promotions = Promotions(self.chain, self.layout, self.safety)
        self.entries = Entries(self.chain, self.promotions)
        self.chain.each_time(self.promotions.look_at_clusters)
        self.observed = Observed(self.chain, self.names)
        self.content = {name: Content(self.held(name)) for name in self.names}
        self._changed_by_hand: set[tuple[str, str]] = set()
        self._proposals = self._open_proposals()
        self._heads = {name: self.chain.acme.head(name, GITOPS) for name in self.names}
        self._first_heads = dict(self._heads)

    def tell(self, line: str) -> None:
        """Add a line to the story."""
        self.story.append(line)

    def next_number(self) -> int:
        """Return a number that is unused in the story."""
        self._number += 1
        return self._number

    def environment(self, place: int) -> str:
        """Return an environment by a number, because layouts have different ones."""
        return self.names[place % len(self.names)]

    def held(self, environment: str) -> str:
        """Return the contents of a GitOps branch."""
        return digest(self.safety.files(GITOPS, environment))

    def commits_since_the_beginning(self, environment: str) -> int:
        """Return the number of the story's commits on a GitOps branch; a merge counts once."""
        git = self.chain.acme.sandbox.git(GITOPS)
        commit, count = git.commit(environment), 0
        while commit.id != self._first_heads[environment]:
            commit, count = git.commit(commit.parents[0]), count + 1
        return count

    # Actions of people that must be noted

    def merge_proposal(self, environment: str) -> None:
        """Merge the open pull request as a person; if it conflicts, schedule again instead."""
        number = self.chain.open_pull_request(environment)["number"]
        if self.chain.acme.ask("GET", f"{GITOPS}/pulls/{number}")["mergeable"]:
            self.chain.acme.merge(number)
            self.a_person_pushed(environment)
            self.content[environment].we_merged(self.held(environment))
            self.tell(f"somebody merges #{number} into {environment}")
        elif REPAIRS:
            self.chain.start("poll")
            self.tell(f"#{number} into {environment} conflicts: the clock starts poll")
        else:
            self.chain.start("schedule", environment=environment)
            self.tell(f"#{number} into {environment} conflicts: somebody starts schedule")

    def proposed_by_cd(self) -> list[str]:
        """Return the environments to which cd proposes a commit that people merge."""
        return [name for name in self.names if self.chain.pull_requests(name, CONTROL_PLANE)]

    def merge_cd(self, environment: str) -> None:
        """Merge the pull request of cd into an environment's branch as a person, or give it up."""
        number = self.chain.open_pull_request(environment, CONTROL_PLANE)["number"]
        if not self.chain.acme.ask("GET", f"{CONTROL_PLANE}/pulls/{number}")["mergeable"]:
            self.chain.close_pull_request(environment, CONTROL_PLANE)
            self.tell(f"cd's #{number} into {environment} conflicts: somebody closes it")
            return
        self.chain.acme.merge(number, CONTROL_PLANE)
        self.a_person_pushed(environment, CONTROL_PLANE)
        self.promotions.a_person_merged(environment)
        self.content[environment].base_repo_changed()
        self.tell(f"somebody merges cd's #{number} into {environment}")

    def a_person_pushed(self, environment: str, repository: str = GITOPS) -> None:
        """Note that a branch changed, and that no run did it."""
        self._changed_by_hand.add((repository, environment))
        if repository == GITOPS:
            self._heads[environment] = self.chain.acme.head(environment, GITOPS)
        self.promotions.look_at_clusters()

    def change_by_hand(
        self, environment: str, files: dict[str, str | bytes | None], what: str
    ) -> None:
        """Commit to a GitOps branch as a person."""
        before = self.held(environment)
        self.chain.acme.commit(files, environment, GITOPS)
        self.a_person_pushed(environment)
        self.content[environment].people_changed(before, self.held(environment))
        self.needs_commit = True
        self.tell(f"somebody {what} in {environment}")

    # Runs

    def take(self, place: int) -> Run:
        """Take a waiting run by its place, modulo the number of waiting runs."""
        return self.chain.take(place % len(self.chain.waiting))

    def run_one(self, run: Run) -> None:
        """Run a taken run, and check its actions against the rules."""
        inputs = run.event.payload.get("inputs") or {}
        if inputs.get("force") in {"true", True}:
            self.content[inputs["environment"]].people_wish()
        self.watched(lambda: self.chain.run(run), [run])

    def watched(self, act: Callable[[], Sequence[str]], runs: Sequence[Run]) -> None:
        """Let runs happen, including killed ones, and check their actions against the rules."""
        before = self.safety.trees()
        self._changed_by_hand.clear()
        self.promotions.runs_begin()
        self.entries.runs_begin()
        self.observed.note()
        try:
            for line in act():
                self.tell(line)
        finally:
            self.safety.only_base_repo_was_written(
                before, self._changed_by_hand, holds=is_rollback(runs)
            )
            changed = self.promotions.runs_have_ended(runs)
            self.entries.runs_have_ended(runs)
            self._hold_content(changed)
            people = {Actor.PEOPLE} if self._changed_by_hand else set()
            self.observed.every_change_is_allowed(actors_of(runs) | people)

    def _hold_content(self, changed: Sequence[str]) -> None:
        for name in changed:
            self.content[name].base_repo_changed()
        for name in self.names:
            head = self.chain.acme.head(name, GITOPS)
            if head != self._heads[name]:
                self._hold_merge(name)
                self._heads[name] = head
        proposals = self._open_proposals()
        for name, proposal in proposals.items():
            if self._proposals.get(name) != proposal:
                proposed = digest(self.safety.tree(GITOPS, proposal[1]))
                message = f"{name} is proposed again what people took out"
                assert proposed not in self.content[name].removed, message
        self._proposals = proposals

    def _hold_merge(self, environment: str) -> None:
        """Note that schedule merged its own pull request."""
        content = self.content[environment]
        head = self.chain.acme.sandbox.git(GITOPS).commit(environment)
        before = digest(self.safety.tree(GITOPS, head.parents[0]))
        assert before == content.merged, f"{environment} was merged over what people changed"
        now = self.held(environment)
        assert now not in content.removed, f"{environment} has again what people took out"
        content.we_merged(now)

    def _open_proposals(self) -> dict[str, tuple[int, str]]:
        with self.chain.acme.sandbox.lock:
            issues = self.chain.acme.sandbox.repository(GITOPS).issues
            return {
                issue.pull_request.base_branch: (issue.number, issue.pull_request.head_commit)
                for issue in issues.values()
                if issue.pull_request and issue.state == "open"
            }
