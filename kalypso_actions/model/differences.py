"""The differences between two plans of an environment, `base` and `head`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple, NewType

from kalypso_actions.errors import Location, Problem
from kalypso_actions.model.config import Path
from kalypso_actions.model.layout import assignment_folder

Change = Literal["added", "modified", "deleted"]


@dataclass(frozen=True, slots=True, order=True)
class AssignmentName:
    """A deployment target on a cluster type of an environment.

    `repositories` are the URLs of the repositories that define both, if they are known.
    """

    environment: str
    cluster_type: str
    target: str
    repositories: frozenset[str] = field(default=frozenset(), compare=False)

    @property
    def folder(self) -> str:
        """The folder of its files in the tree."""
        return assignment_folder(self.cluster_type, self.target)


class FileChange(NamedTuple):
    """A file of the tree that differs, with secrets; content is None on a side without the file.

    `path` is relative to the tree's folder. `repositories` are the URLs of all repositories whose
    content may be in the file.
    """

    path: str
    change: Change
    before: bytes | None
    after: bytes | None
    repositories: frozenset[str] = frozenset()


class FileDiff(NamedTuple):
    """A file of the tree that differs: the hunks of its diff, without secrets.

    `path` and `repositories` are those of a FileChange.
    """

    path: str
    change: Change
    hunks: str
    repositories: frozenset[str] = frozenset()


class SetValue(NamedTuple):
    """A configuration value, and the place of the layer that set it last.

    Masked values are the text `***`.
    """

    value: object
    where: Location | None


@dataclass(frozen=True, slots=True)
class ValueChange:
    """A value of the merged configuration that differs in the same way for `assignments`.

    The assignments exist on both sides. `path` has keys and list indexes, outermost first; a side
    without the value is None. `repositories` are the repositories of both places.
    """

    path: Path
    assignments: tuple[AssignmentName, ...]
    before: SetValue | None
    after: SetValue | None
    repositories: frozenset[str] = frozenset()


class DocumentChange(NamedTuple):
    """A document of the control plane that differs: a Template, a registration, or another.

    `where` is its place in `head`, or in `base` if it is deleted.
    """

    kind: str
    name: str
    change: Change
    where: Location


class Withheld(NamedTuple):
    """The numbers of differences that a mask left out: they come from a less visible repository."""

    repository: str
    assignments: int = 0
    files: int = 0
    values: int = 0
    problems: int = 0
    warnings: int = 0


@dataclass(frozen=True, slots=True)
class Comparison:
    """All differences between two plans of `environment`; all lists are sorted.

    Only `files` are without secrets; `Mask.masked` removes those of other parts.

    Only `head` has the new problems and warnings; `base` and `head` have the known ones, which are
    only counted. Both concern the control plane, scheduling and configuration, and rendering for
    assignments that differ. `mass_removal` is the warning for the tree of `head`.
    """

    environment: str
    assignments_added: tuple[AssignmentName, ...] = ()
    assignments_removed: tuple[AssignmentName, ...] = ()
    files: tuple[FileDiff, ...] = ()
    values: tuple[ValueChange, ...] = ()
    documents: tuple[DocumentChange, ...] = ()
    problems_new: tuple[Problem, ...] = ()
    problems_known: int = 0
    warnings_new: tuple[Problem, ...] = ()
    warnings_known: int = 0
    mass_removal: Problem | None = None
    withheld: tuple[Withheld, ...] = ()


MaskedComparison = NewType("MaskedComparison", Comparison)
"""A comparison without secrets, as `Mask.masked` returns it: reports take no other."""


class CommitSubject(NamedTuple):
    """A commit, the first line of its message, and its page ("" without one)."""

    commit: str
    subject: str
    url: str = ""


@dataclass(frozen=True, slots=True)
class CommitRange:
    """The commits of a repository that `head` has and `base` lacks, newest first.

    `name` is the name of the branch or registration, `url` the page of the comparison. `commits`
    are the newest of `total`, which is None if it is unknown. `behind` counts the commits that
    `base` has and `head` lacks.
    """

    repository: str
    name: str
    base: str
    head: str
    url: str = ""
    commits: tuple[CommitSubject, ...] = ()
    total: int | None = None
    behind: int = 0
