"""The inputs and results of all generators of manifests."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from kalypso_actions.clients.process import Programs
from kalypso_actions.commands.app.places import OpenPlace
from kalypso_actions.errors import KalypsoError, Location
from kalypso_actions.inputs.app import AppInputs
from kalypso_actions.model.application import Findings, Target
from kalypso_actions.model.progress import Progress
from kalypso_actions.planning.application import ChartPlace

MAX_BYTES: Final = 1 << 26
"""The most bytes of a chart with its dependencies, or of the files of another generator."""


@dataclass(frozen=True, slots=True)
class Work:
    """The inputs, repositories and targets of a run.

    `folder` is the generator's folder in the source.
    """

    inputs: AppInputs
    source: OpenPlace
    configs: OpenPlace
    targets: Sequence[Target]
    variables: Mapping[str, str]
    programs: Programs
    progress: Progress
    log: Callable[[str], None]
    folder: str = ""

    @property
    def where(self) -> Location:
        """The location of the generator's folder."""
        return Location(self.source.repository, self.folder)


@dataclass(slots=True)
class Generated:
    """The files of each target by its folder, and the versions of the programs that made them.

    `sources` are the templates and values of a target's files. `dependencies` are the digests of
    the archives that were fetched for the chart.
    """

    files: dict[str, dict[str, bytes]] = field(default_factory=dict)
    sources: dict[str, ChartPlace] = field(default_factory=dict)
    programs: dict[str, str] = field(default_factory=dict)
    dependencies: dict[str, str] = field(default_factory=dict)
    findings: Findings = field(default_factory=Findings)

    def add(self, other: Generated) -> None:
        """Add what another generator made for other targets."""
        for name in ("files", "sources", "programs", "dependencies"):
            getattr(self, name).update(getattr(other, name))
        self.findings.add(other.findings)


def check_size(size: int, where: Location) -> None:
    """Check the size of files. Raises KalypsoError for more than MAX_BYTES."""
    if size > MAX_BYTES:
        message = f"the files have {size >> 20} MB; at most {MAX_BYTES >> 20} MB are possible"
        raise KalypsoError(message, where, "move other files out of the folder")


def parallel_programs() -> int:
    """Return the number of programs that run at once."""
    return max(2, os.cpu_count() or 1)
