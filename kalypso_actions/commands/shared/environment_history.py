"""The commits of main that an environment's branch names, now and in its history."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import groupby

from kalypso_actions.clients.github import commits
from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.commands.shared.reading.base_history import BaseWrite, read_base_writes
from kalypso_actions.commands.shared.reading.environments import EnvironmentReading, read_base_file
from kalypso_actions.errors import Location, Problem
from kalypso_actions.model.ancestry import Ancestry
from kalypso_actions.model.github import Relation
from kalypso_actions.model.kinds import Environment
from kalypso_actions.promotion.requests import PromotionRequest, environment_problem
from kalypso_actions.promotion.rollbacks import (
    comes_back,
    commit_on_main,
    has_left,
    left_commits,
    left_since_cuts,
)


class EnvironmentCommit:
    """The commit of main that an environment's branch names, read again when the branch moves.

    `head` is the head of the branch, "" for no branch; `where` is the file that names the commit.
    """

    def __init__(self, context: CommandContext, environment: Environment) -> None:
        self._context = context
        self._url = context.url(context.control_plane)
        self._place = environment.control_plane
        self.head = ""
        self.promoted_commit: str | None = None
        self._relations: dict[tuple[str, str], Relation | None] = {}
        self.where = Location(self._url)

    def current(self) -> str | None:
        """Return the commit that the branch names now. Raises KalypsoError."""
        branch = self._place.branch
        head = self._context.remotes.heads(self._url, [branch]).get(branch, "")
        if head != self.head:
            self.promoted_commit = self._read(head) if head else None
            self.head = head
        return self.promoted_commit

    def _read(self, head: str) -> str | None:
        files = self._context.remotes.fetch(self._url, commit=head)
        base = read_base_file(files, self._place.path)
        self.where = base.where
        return base.promoted_commit

    def _relation(self, promoted_commit: str, current_commit: str) -> Relation | None:
        """Return the relation of two commits of main, which never changes."""
        key = promoted_commit, current_commit
        if key not in self._relations:
            github, repository = self._context.github, self._context.control_plane
            self._relations[key] = commits.relation(
                github, repository, promoted_commit, current_commit
            )
        return self._relations[key]

    def has_left(self, promoted_commit: str) -> bool:
        """Whether the branch, when last read, named neither this commit nor a descendant of it.

        Raises KalypsoError.
        """
        relation = None
        if self.promoted_commit and self.promoted_commit != promoted_commit:
            relation = self._relation(promoted_commit, self.promoted_commit)
        return has_left(promoted_commit, self.promoted_commit, relation)


class EnvironmentHistory:
    """The commits of main that an environment has named.

    A branch may have been cut from another environment's: git does not tell which one was first.
    So a commit that both share proves no claim, and a rollback among such commits counts in both.
    """

    def __init__(
        self,
        context: CommandContext,
        environment: Environment,
        environments: Mapping[str, Environment],
    ) -> None:
        self._context = context
        self._url = context.url(context.control_plane)
        self._place = environment.control_plane
        self._others = {
            other.control_plane.branch
            for other in environments.values()
            if other.control_plane.branch != self._place.branch
        }

    def has_named(self, commit: str, head: str) -> bool:
        """Whether the environment has named a commit of main, up to `head` of its branch.

        Raises KalypsoError.
        """
        for write in self._writes(head):
            if write.promoted_commit == commit:
                return not any(self._others_with(write))
        return False

    def rolled_back_to(
        self, promoted_commit: str, current_commit: str | None, head: str
    ) -> str | None:
        """Return the commit that people rolled back to, if `promoted_commit` would undo that.

        None if it would not. `current_commit` is the one that the environment names at `head` of
        its branch. Raises KalypsoError.
        """
        writes = list(self._writes(head))
        past_commits = [write.promoted_commit for write in writes]
        left = left_commits(current_commit, past_commits, self._main)
        if not comes_back(promoted_commit, left, self._main):
            return None
        # Read the other branches only if they matter.
        segments = [
            [write.promoted_commit for write in segment]
            for _, segment in groupby(writes, self._others_with)
        ]
        left = left_since_cuts(current_commit, segments, self._main)
        if not comes_back(promoted_commit, left, self._main):
            return None
        return commit_on_main(current_commit, past_commits, self._main)

    def _others_with(self, write: BaseWrite) -> tuple[bool, ...]:
        """Return for each other environment's branch whether its line has the write, too."""
        return tuple(write.environment_commit in line for line in self._other_lines)

    def _writes(self, head: str) -> Iterator[BaseWrite]:
        remotes = self._context.remotes
        return read_base_writes(remotes, self._url, head, self._place.path, self._main)

    @cached_property
    def _main(self) -> Ancestry:
        remotes, main = self._context.remotes, self._context.main()
        return remotes.ancestry(self._url, remotes.heads(self._url, [main])[main])

    @cached_property
    def _other_lines(self) -> tuple[frozenset[str], ...]:
        """Return the commits on the first-parent line of each other environment's branch."""
        remotes = self._context.remotes
        heads = remotes.heads(self._url, self._others).values()
        return tuple(
            frozenset(remotes.ancestry(self._url, head).first_parents())
            for head in sorted(set(heads))
        )


def never_named(
    request: PromotionRequest,
    environment: Environment,
    reading: EnvironmentReading,
    environments: Mapping[str, Environment],
    context: CommandContext,
) -> Problem | None:
    """Return a problem if the environment has never named the commit of a claim.

    Read its branch again, and then its history, only if `reading` does not name the commit.
    Raises KalypsoError.
    """
    promoted = request.promoted_commit
    if promoted is None or promoted == reading.promoted_commit:
        return None
    now = EnvironmentCommit(context, environment)
    ever_named = now.current() == promoted
    if not ever_named and now.head:
        history = EnvironmentHistory(context, environment, environments)
        ever_named = history.has_named(promoted, now.head)
    branch = environment.control_plane.branch
    return environment_problem(request, ever_named=ever_named, branch=branch, where=now.where)
