"""What differs between two sides: their documents, values, files and findings."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, Final

from kalypso_actions.errors import Location, Problem
from kalypso_actions.model.caches import IdentityCache
from kalypso_actions.model.config import MergedConfig, Path
from kalypso_actions.model.differences import (
    AssignmentName,
    Change,
    DocumentChange,
    FileChange,
    SetValue,
    ValueChange,
)
from kalypso_actions.model.documents import FileEntry
from kalypso_actions.model.kinds import FLEET_FIELDS, Fleet
from kalypso_actions.model.layout import TARGET_FILES
from kalypso_actions.model.tree import BaseTree, TreeChanges
from kalypso_actions.model.tree_listing import bytewise

Configured = tuple[AssignmentName, MergedConfig, MergedConfig]
"""An assignment of both plans, with its configuration in each."""

ValueDifference = tuple[Path, SetValue | None, SetValue | None]
"""A value's path, and the value before and after; None on a side without it."""

MOST_PAIRS: Final = 1_000
"""The most pairs of configurations whose differences are remembered."""

SETTINGS: Final = (".github/workflows/", ".github/actions/")
"""The folders of the files that determine the settings of a preview."""

PLACES: Final = ("where", "places", "lines")
"""The ends of the names of fields that contain places in files."""

LINE: Final = re.compile(r"(?<=:)\d+")
"""The number of a line in a message; it changes with the lines above."""


def document_changes(base: Fleet, head: Fleet) -> tuple[DocumentChange, ...]:
    """Return the documents of the control plane that only one fleet has, or that differ."""
    return tuple(
        DocumentChange(kind.__name__, name, _change(old, new), (new or old).where)
        for kind, field_name in FLEET_FIELDS.items()
        for name, old, new in differing_documents(
            getattr(base, field_name), getattr(head, field_name)
        )
    )


def _change(old: object, new: object) -> Change:
    return "deleted" if new is None else "modified" if old else "added"


def differing_documents(base: Iterable[Any], head: Iterable[Any]) -> Iterator[tuple[str, Any, Any]]:
    """Yield each document that only one side has or that differs: its name and both sides.

    The documents have a `name`, unique on each side, and a place, `where`.
    """
    before = {document.name: document for document in base}
    after = {document.name: document for document in head}
    for name in sorted(before.keys() | after.keys()):
        old, new = before.get(name), after.get(name)
        if old is None or new is None or _content_of(old) != _content_of(new):
            yield name, old, new


def _content_of(value: object) -> Hashable:
    """Return the content of a document without its places; equal contents render equal files.

    The order of mappings counts, and so do types: 1, 1.0 and true are different.
    """
    if is_dataclass(value):
        return tuple(
            _content_of(getattr(value, field.name))
            for field in fields(value)
            if not field.name.endswith(PLACES)
        )
    if isinstance(value, Mapping):
        return tuple((key, _content_of(inner)) for key, inner in value.items())
    if isinstance(value, list | tuple):
        return tuple(map(_content_of, value))
    return value if isinstance(value, str) else repr(value)


def value_changes(configured: Iterable[Configured]) -> tuple[ValueChange, ...]:
    """Return the values that differ, each once for all assignments with the same difference."""
    differences = ValueDifferences()
    return grouped_values(
        (assignment, differences.of(before, after)) for assignment, before, after in configured
    )


def grouped_values(
    differing: Iterable[tuple[AssignmentName, Iterable[ValueDifference]]],
) -> tuple[ValueChange, ...]:
    """Return each difference once, with all assignments that have it."""
    known: dict[str, ValueDifference] = {}
    assignments: dict[str, list[AssignmentName]] = defaultdict(list)
    for assignment, differences in differing:
        for difference in differences:
            key = repr(difference)  # distinguishes 1 from true, and lists are not hashable
            known.setdefault(key, difference)
            assignments[key].append(assignment)
    changes = (
        ValueChange(
            path,
            tuple(sorted(assignments[key])),
            before,
            after,
            frozenset(side.where.repository for side in (before, after) if side and side.where),
        )
        for key, (path, before, after) in known.items()
    )
    return tuple(sorted(changes, key=lambda item: ([*map(str, item.path)], item.assignments)))


class ValueDifferences:
    """Finds the values that differ; remembers some pairs, because assignments share them."""

    def __init__(self) -> None:
        self._known: IdentityCache[MergedConfig, Sequence[ValueDifference]] = IdentityCache(
            MOST_PAIRS
        )

    def of(self, before: MergedConfig, after: MergedConfig) -> Sequence[ValueDifference]:
        """Return the values that differ, with the places that set them."""
        return self._known.result(lambda *pair: tuple(_differences(*pair)), before, after)


def _differences(before: MergedConfig, after: MergedConfig) -> Iterator[ValueDifference]:
    def differing(path: Path, old: object, new: object) -> Iterator[ValueDifference]:
        if isinstance(old, dict) and isinstance(new, dict):
            for key in dict.fromkeys((*old, *new)):
                inner = (*path, key)
                if key not in new:
                    yield inner, _set(before, inner, old[key]), None
                elif key not in old:
                    yield inner, None, _set(after, inner, new[key])
                elif not (isinstance(old[key], str) and old[key] == new[key]):  # most are equal
                    yield from differing(inner, old[key], new[key])
        elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
            for index, (old_item, new_item) in enumerate(zip(old, new, strict=True)):
                yield from differing((*path, index), old_item, new_item)
        elif repr(old) != repr(new):
            yield path, _set(before, path, old), _set(after, path, new)

    yield from differing((), before.values, after.values)


def _set(config: MergedConfig, path: Path, value: object) -> SetValue:
    """Return a value with the place of the layer that last set it, or the value around it."""
    origins = config.origins_of(str(path[0]))
    places = (origins.get(path[:length]) for length in range(len(path), 0, -1))
    where: Location | None = next((known[-1] for known in places if known), None)
    return SetValue(value, where)


def tree_changes(changes: TreeChanges, before: Mapping[str, bytes]) -> tuple[FileChange, ...]:
    """Return the files that a run changes, sorted; `before` has the old contents."""
    kinds: dict[str, Change] = {
        **dict.fromkeys(changes.added, "added"),
        **dict.fromkeys(changes.modified, "modified"),
        **dict.fromkeys(changes.deleted, "deleted"),
    }
    return tuple(
        FileChange(
            path,
            kinds[path],
            before.get(path),
            None if kinds[path] == "deleted" else changes.content(path),
        )
        for path in bytewise(kinds)
    )


def manifest_entries(tree: BaseTree) -> dict[str, FileEntry]:
    """Return our manifests in a merged tree by their paths in the folder of the tree."""
    prefix = tree.prefix
    ours = (path.removeprefix(prefix) for path in tree.entries if path.startswith(prefix))
    return {path: tree.entries[prefix + path] for path in ours if _is_manifest(path)}


def _is_manifest(path: str) -> bool:
    segments = path.split("/")
    return len(segments) == 3 and segments[2] in TARGET_FILES and not path.startswith(".")


def assignment_names(environment: str, paths: Iterable[str]) -> frozenset[AssignmentName]:
    """Return the assignments whose folders have these manifests."""
    folders = (path.split("/") for path in paths)
    return frozenset(AssignmentName(environment, folder[0], folder[1]) for folder in folders)


def differing_paths(
    base: Mapping[str, FileEntry], head: Mapping[str, FileEntry]
) -> Iterator[tuple[str, Change]]:
    """Yield the paths that only one side has, or whose content differs, sorted."""
    for path in sorted(base.keys() | head.keys()):
        old, new = base.get(path), head.get(path)
        if old is None or new is None:
            yield path, "added" if old is None else "deleted"
        elif (old.mode, old.object_id) != (new.mode, new.object_id):
            yield path, "modified"


def changed_settings(
    base: Mapping[str, FileEntry], head: Mapping[str, FileEntry]
) -> tuple[str, ...]:
    """Return the workflows and actions that differ between two trees, sorted.

    GitHub runs the workflows of the merge, so the inputs, such as allowed-repositories, come from
    the change and not from the base.
    """
    paths = {path for path in base.keys() | head.keys() if path.startswith(SETTINGS)}
    return tuple(sorted(path for path in paths if base.get(path) != head.get(path)))


def new_findings(
    base: Iterable[Problem], head: Iterable[Problem]
) -> tuple[tuple[Problem, ...], int]:
    """Return the problems that only `head` has, and the number of problems that both have.

    The same problem on another line of a file is known; a second problem with the same text is new.
    """
    known = Counter(map(_identity, base))
    new, count = [], 0
    for problem in head:
        key = _identity(problem)
        if known[key]:
            known[key] -= 1
            count += 1
        else:
            new.append(problem)
    return tuple(new), count


def _identity(problem: Problem) -> tuple[str, str, str, str]:
    where = problem.where
    repository, path = (where.repository, where.path) if where else ("", "")
    return problem.code, repository, path, LINE.sub("", problem.message)
