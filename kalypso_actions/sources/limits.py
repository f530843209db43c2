"""Limits on all files of a reading together.

Limits of single files do not suffice, because a small repository can name the same blob a thousand
times.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from kalypso_actions.errors import Location, Problem
from kalypso_actions.model.delivery import MAX_TARGETS
from kalypso_actions.model.documents import FileEntry
from kalypso_actions.sources.paths import OutsideRepositoryError, normalize, printable, within


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a reading. Each path counts, even if several paths have the same content.

    - `listing_bytes`: the paths and ids of all files of the repository; - `listed`: the files below
    its folder, read or not; - `files`, `text_bytes`: the files that are read, and their bytes; -
    `values`: the values of their YAML, those of aliases included; - `builds`: the folders that
    kustomize builds; each build may take `build_seconds` of the processor and `build_bytes` of
    memory, because its costs cannot be counted from outside; - `ignore_files`, `ignore_lines`: the
    repository's `.sourceignore` files, and their lines.
    """

    listing_bytes: int = 1 << 26
    listed: int = 50_000
    files: int = 10_000
    text_bytes: int = 10 << 20
    values: int = 400_000
    builds: int = 8
    build_seconds: int = 1
    build_bytes: int = 192 << 20
    ignore_files: int = 20
    ignore_lines: int = 2_000


REGISTRATION: Final = Limits()
"""The limits of a registered folder: room for `MAX_TARGETS` targets in each of three environments.

A target has about ten values and 250 bytes. Most registered folders have a few kilobytes.
"""

_ADVICE: Final = "register the folder of the Workloads only, or exclude files by .sourceignore"


def registration_limits(max_targets: int) -> Limits:
    """Return the limits of a registered folder with at most so many targets in an environment."""
    times = -(-max_targets // MAX_TARGETS)
    if times <= 1:
        return REGISTRATION
    return replace(
        REGISTRATION,
        files=times * REGISTRATION.files,
        text_bytes=times * REGISTRATION.text_bytes,
        values=times * REGISTRATION.values,
    )


def too_many_files(limits: Limits, where: Location, count: int) -> Problem:
    """Return the problem of a registration with too many files to read; `where` is one of them."""
    message = f"the registration has {count:,} files to read, but the limit is {limits.files:,}"
    return Problem(message, where, _ADVICE, "registration-too-large")


def too_much_text(limits: Limits, where: Location) -> Problem:
    """Return the problem of a registration whose files are too large; `where` is the largest."""
    limit = limits.text_bytes >> 20
    message = f"the registration's files have more than {limit} MiB together, and this one the most"
    return Problem(message, where, _ADVICE, "registration-too-large")


def too_many_builds(limits: Limits, where: Location) -> Problem:
    """Return the problem of a registration with too many kustomizations to build."""
    message = f"kustomize would build more than {limits.builds} folders of the registration"
    return Problem(message, where, "list resources without patches", "registration-too-large")


def too_many_values(limits: Limits, where: Location) -> Problem:
    """Return the problem of a registration with too many values in its YAML files up to `where`."""
    message = f"up to this file, the registration has more than {limits.values:,} values"
    advice = "split the registration, or repeat fewer aliases"
    return Problem(message, where, advice, "registration-too-large")


def listing_excess(
    limits: Limits | None,
    repository: str,
    root: str,
    entries: Mapping[str, FileEntry],
    ignore_files: Sequence[str],
    contents: Mapping[str, bytes],
) -> Problem | None:
    """Return the problem of a folder with too many files, or of too many exclusions."""
    if limits is None:
        return None
    lines = sum(contents[path].count(b"\n") for path in ignore_files if path in contents)
    if len(ignore_files) > limits.ignore_files or lines > limits.ignore_lines:
        message = (
            f"the repository has more than {limits.ignore_files} .sourceignore files, or they have "
            f"more than {limits.ignore_lines} lines together"
        )
        where = Location(repository, printable(ignore_files[-1]))
        advice = "exclude whole folders, at the root"
        return Problem(message, where, advice, "registration-too-large")
    if len(entries) <= limits.listed:
        return None
    try:
        folder = normalize(root)
    except OutsideRepositoryError:
        return None  # the search reports it
    count = sum(within(path, folder) for path in entries)
    if count <= limits.listed:
        return None
    message = f"the folder {root!r} has {count} files, but the limit is {limits.listed}"
    advice = "register the folder of the Workloads only"
    return Problem(message, Location(repository), advice, "registration-too-large")
