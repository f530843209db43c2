"""The folders of the base trees that stay as they are, because no input of theirs has changed.

A folder is unchanged if the digest of its cluster type or that of its target is unchanged: a
changed value of a target does not affect the digests of other targets, and a changed value of a
cluster type does not affect those of other cluster types.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from kalypso_actions.gitops.provenance import InputsRecord, read_sources
from kalypso_actions.model.layout import README_FILE, TARGET_FILES
from kalypso_actions.model.tree import BaseTree
from kalypso_actions.model.tree_listing import ListedFolder


@dataclass(frozen=True, slots=True)
class UnchangedFolders:
    """Folders of targets, `<cluster type>/<target>`, with the names of their files.

    `whole` are cluster types that have nothing but unchanged folders, in the base trees as well. A
    run does not look at their files one by one.
    """

    files: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    whole: frozenset[str] = frozenset()


def unchanged_folders(
    bases: Sequence[BaseTree],
    environment: str,
    assigned: Mapping[str, Collection[str]],
    now: InputsRecord,
) -> UnchangedFolders:
    """Return the folders that all base trees have with the same inputs.

    `assigned` are the targets of each cluster type, `now` is the record of their present inputs. A
    tree counts only if a run wrote it and nobody has changed it since.
    """
    sources = [read_sources(base.sources, environment) for base in bases if base.is_as_written]
    records = [item.inputs for item in sources if item and item.inputs]
    if len(records) < max(1, len(bases)):
        return UnchangedFolders()
    same_types = [_same(record.cluster_types, now.cluster_types) for record in records]
    same_targets = [_same(record.targets, now.targets) for record in records]
    whole = dict(_whole(bases, assigned, frozenset.intersection(*same_types)))
    files = {f"{name}/{target}": whole[name] for name in whole for target in assigned[name]}
    base = bases[0].without(whole)
    prefix = f"{base.path}/" if base.path else ""
    for cluster_type in assigned.keys() - whole.keys():
        for target in assigned[cluster_type]:
            if all(
                cluster_type in types or target in targets
                for types, targets in zip(same_types, same_targets, strict=True)
            ):
                folder = f"{cluster_type}/{target}"
                files[folder] = tuple(
                    name for name in TARGET_FILES if f"{prefix}{folder}/{name}" in base.entries
                )
    return UnchangedFolders(files, frozenset(whole))


def _same(before: Mapping[str, str | None], now: Mapping[str, str | None]) -> frozenset[str]:
    """Return the names with the same digest."""
    return frozenset(name for name, digest in now.items() if before.get(name) == digest)


def _whole(
    bases: Sequence[BaseTree], assigned: Mapping[str, Collection[str]], unchanged: Collection[str]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield each unchanged cluster type whose folder has nothing else, and its files' names."""
    folders = [base.folders() for base in bases]
    for name in unchanged:
        names = {
            _files_of_each(tree[name], assigned[name]) if name in tree else () for tree in folders
        }
        first = names.pop()
        if first and not names:
            yield name, first


def _files_of_each(folder: ListedFolder, targets: Collection[str]) -> tuple[str, ...]:
    """Return the names of the files that each target of a cluster type has.

    Return () if the targets have different files, or if the folder has any other file or folder.
    """
    lines, count = f"{folder.lines}\0", len(targets)
    names = tuple(name for name in TARGET_FILES if f"/{name}\0" in lines)
    folders = {folder.path, *(f"{folder.path}/{target}" for target in targets)}
    files = 1 + count * len(names)
    depth = folder.path.count("/") + 1
    is_exact = (
        set(folder.folders()) == folders
        and f"\t{folder.path}/{README_FILE}\0" in lines
        and all(lines.count(f"/{name}\0") == count for name in names)
        # Otherwise a file without a folder of its own could stand for one that is missing.
        and lines.count("/") == depth * (len(folders) + files) - 1 + count * len(names)
        and lines.count(" blob ") == files
        # No other line, and in each line only the blanks and the tab before its path.
        and lines.count("\0") - 1 == lines.count("\t") == len(folders) + files
        and lines.count(" ") == 2 * (len(folders) + files)
    )
    return names if is_exact else ()
