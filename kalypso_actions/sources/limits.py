"""Limits on all files of a reading together.

Limits of single files do not suffice, because a small repository can name the same blob a thousand
times.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from kalypso_actions.errors import Location, Problem
from kalypso_actions.model.kinds import MAX_TARGETS

_FEWER: Final = "register the folder of the Workloads only, or exclude files by .sourceignore"


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

    def too_many_exclusions(self, where: Location) -> Problem:
        """Return the problem of a repository with too many exclusions."""
        message = (
            f"the repository has more than {self.ignore_files} .sourceignore files, or they have "
            f"more than {self.ignore_lines} lines together"
        )
        return _too_large(message, where, "exclude whole folders, at the root")

    def too_many_entries(self, repository: str, root: str, count: int) -> Problem:
        """Return the problem of a folder with too many files, read or not."""
        message = f"the folder {root!r} has {count} files, but the limit is {self.listed}"
        return _too_large(
            message, Location(repository), "register the folder of the Workloads only"
        )

    def too_many_files(self, where: Location, count: int) -> Problem:
        """Return the problem of too many files to read; `where` is one of them."""
        message = f"the registration has {count:,} files to read, but the limit is {self.files:,}"
        return _too_large(message, where, _FEWER)

    def too_much_text(self, where: Location) -> Problem:
        """Return the problem of files that are too large together; `where` is the largest."""
        limit = self.text_bytes >> 20
        message = f"the registration's files have more than {limit} MiB together, and this one the "
        return _too_large(message + "most", where, _FEWER)

    def too_many_builds(self, where: Location) -> Problem:
        """Return the problem of too many kustomizations to build."""
        message = f"kustomize would build more than {self.builds} folders of the registration"
        return _too_large(message, where, "list resources without patches")

    def too_many_values(self, where: Location) -> Problem:
        """Return the problem of too many values in the YAML files up to `where`."""
        message = f"up to this file, the registration has more than {self.values:,} values"
        return _too_large(message, where, "split the registration, or repeat fewer aliases")


def _too_large(message: str, where: Location, advice: str) -> Problem:
    return Problem(message, where, advice, "registration-too-large")


REGISTRATION: Final = Limits()
"""The limits of a registered folder: room for `MAX_TARGETS` targets in each of three environments.

A target has about ten values and 250 bytes. Most registered folders have a few kilobytes.
"""


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
