"""Remove secrets from a comparison, before anything shows it.

Values below keys with certain names become `***`, in configuration and in files. Content from a
repository that is less visible than the control plane is only counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from kalypso_actions.comparison.masked_keys import KeyNames
from kalypso_actions.comparison.text_masking import MASKED, mask_line, mask_text
from kalypso_actions.comparison.unified import hunks
from kalypso_actions.errors import Problem
from kalypso_actions.model.differences import (
    AssignmentName,
    Comparison,
    FileChange,
    FileDiff,
    MaskedComparison,
    SetValue,
    ValueChange,
    Withheld,
)
from kalypso_actions.model.github import Visibility
from kalypso_actions.model.urls import repository_key

ONLY_MASKED: Final = "\\ Only masked values differ.\n"

_Counted = Literal["assignments", "files", "values", "problems", "warnings"]


class Mask:
    """The secrets to remove: values below keys, and the content of `hidden` repositories (URLs).

    `keys` are globs in addition to MASKED_KEYS.
    """

    def __init__(self, keys: Iterable[str] = (), hidden: Iterable[str] = ()) -> None:
        self.names = KeyNames(keys)
        self._hidden = frozenset(map(repository_key, hidden))

    def masked(
        self, comparison: Comparison, secrets: Collection[str] = frozenset()
    ) -> MaskedComparison:
        """Return the comparison without secrets; `secrets` are texts to mask everywhere."""
        return _Masking(self, secrets).masked(comparison)

    def notes(self, notes: Iterable[Problem]) -> tuple[Problem, ...]:
        """Return all notes without secrets: each tells why a repository is not read."""
        return tuple(map(_Masking(self, ()).problem, notes))

    def diff(self, file: FileChange, secrets: Collection[str] = ()) -> FileDiff:
        """Return the diff of a file without secrets; `secrets` are the texts to mask in it."""
        before, after = (self._content(each, secrets) for each in (file.before, file.after))
        note = ONLY_MASKED if file.change == "modified" and before == after else ""
        return FileDiff(file.path, file.change, hunks(before, after) + note, file.repositories)

    def _content(self, content: bytes | None, secrets: Collection[str]) -> bytes | None:
        if content is None:
            return None
        return self.text(content, secrets).encode("utf-8", "surrogateescape")

    def text(self, content: bytes, secrets: Collection[str]) -> str:
        """Return the text of a file without secrets."""
        return mask_text(content.decode("utf-8", "surrogateescape"), self.names, secrets)

    def value(self, path: Iterable[object], value: object, secrets: Collection[str]) -> object:
        """Return a configuration value without secrets; `path` are the keys that lead to it.

        `secrets` are texts to mask everywhere.
        """
        if any(map(self.names.include, path)):
            return MASKED
        if isinstance(value, dict):
            return {key: self.value((key,), inner, secrets) for key, inner in value.items()}
        if isinstance(value, list):
            return [self.value((), inner, secrets) for inner in value]
        if isinstance(value, str):
            return mask_text(value, self.names, secrets)
        return MASKED if str(value) in secrets else value

    def hidden_of(self, repositories: Iterable[str]) -> str:
        """Return the first hidden repository; "" for none."""
        return min(
            (each for each in repositories if repository_key(each) in self._hidden), default=""
        )


@dataclass(slots=True)
class _Masking:
    """Masks one comparison."""

    mask: Mask
    secrets: Collection[str]
    _counts: Counter[tuple[str, _Counted]] = field(default_factory=Counter)

    def masked(self, comparison: Comparison) -> MaskedComparison:
        """Return the comparison without secrets."""
        files = [
            item for item in comparison.files if not self._withhold("files", item.repositories)
        ]
        values = [
            self._value_change(item)
            for item in comparison.values
            if not self._withhold("values", self._origins(item))
        ]
        removal = comparison.mass_removal
        return MaskedComparison(
            replace(
                comparison,
                assignments_added=self._names(comparison.assignments_added),
                assignments_removed=self._names(comparison.assignments_removed),
                files=tuple(files),
                values=tuple(values),
                problems_new=self._problems("problems", comparison.problems_new),
                warnings_new=self._problems("warnings", comparison.warnings_new),
                mass_removal=self.problem(removal) if removal else None,
                withheld=self._withheld(),
            )
        )

    def _withhold(self, what: _Counted, repositories: Iterable[str]) -> bool:
        """Return whether something comes from a hidden repository, and count it if so."""
        hidden = self.mask.hidden_of(repositories)
        self._counts[hidden, what] += 1 if hidden else 0
        return bool(hidden)

    def _names(self, names: Iterable[AssignmentName]) -> tuple[AssignmentName, ...]:
        return tuple(item for item in names if not self._withhold("assignments", item.repositories))

    def _origins(self, item: ValueChange) -> Collection[str]:
        """Return the repositories of a value, and of its assignments if all are hidden."""
        names = [self.mask.hidden_of(name.repositories) for name in item.assignments]
        return {*item.repositories, *names} if names and all(names) else item.repositories

    def _withheld(self) -> tuple[Withheld, ...]:
        repositories = sorted({repository for repository, _ in self._counts if repository})
        return tuple(
            Withheld(
                repository,
                assignments=self._counts[repository, "assignments"],
                files=self._counts[repository, "files"],
                values=self._counts[repository, "values"],
                problems=self._counts[repository, "problems"],
                warnings=self._counts[repository, "warnings"],
            )
            for repository in repositories
        )

    def _value_change(self, item: ValueChange) -> ValueChange:
        before, after = (
            each and SetValue(self.mask.value(item.path, each.value, self.secrets), each.where)
            for each in (item.before, item.after)
        )
        names = tuple(
            name for name in item.assignments if not self.mask.hidden_of(name.repositories)
        )
        return replace(item, assignments=names, before=before, after=after)

    def _problems(self, what: _Counted, problems: Iterable[Problem]) -> tuple[Problem, ...]:
        return tuple(
            self.problem(problem)
            for problem in problems
            if not self._withhold(what, _repositories(problem))
        )

    def problem(self, problem: Problem) -> Problem:
        """Return a problem without secrets."""
        return replace(
            problem,
            message=mask_line(problem.message, self.mask.names, self.secrets),
            advice=mask_line(problem.advice, self.mask.names, self.secrets),
            reason=mask_line(problem.reason, self.mask.names, self.secrets),
            # A location without a path only names a repository that the message may quote.
            related=tuple(where for where in problem.related if where.path),
        )


def _repositories(problem: Problem) -> Iterable[str]:
    places = (*problem.related, problem.where) if problem.where else problem.related
    return (where.repository for where in places)


ORDER: Final[tuple[Visibility, ...]] = ("private", "internal", "public")


def less_visible(
    control_plane: Visibility, repositories: Mapping[str, Visibility | None]
) -> frozenset[str]:
    """Return the repositories that are less visible than the control plane.

    None means that the visibility is unknown, for example on another server: the repository counts
    as private. A private repository may have other readers than the control plane.
    """
    level = ORDER.index(control_plane)
    return frozenset(
        url
        for url, visibility in repositories.items()
        if visibility is None or ORDER.index(visibility) < level
    )


def unpublishable(
    site_is_public: bool | None, repositories: Mapping[str, Visibility | None]
) -> tuple[str, ...]:
    """Return the repositories whose content a site must not show, in their order.

    On a public site, or one with unknown readers (None), return all repositories that may not be
    public.
    """
    if site_is_public is False:
        return ()
    return tuple(url for url, visibility in repositories.items() if visibility != "public")
