"""A fleet's snapshot, as `kalypso render` reads it."""

from __future__ import annotations

import os

from bench.fleet import ENVIRONMENT, Fleet
from kalypso_actions.clients.folder import FolderFiles
from kalypso_actions.clients.process import Programs
from kalypso_actions.commands.shared.local_context import LocalContext
from kalypso_actions.commands.shared.reading.control_plane import (
    EnvironmentReading,
    read_control_plane,
)
from kalypso_actions.commands.shared.reading.snapshot import read_snapshot
from kalypso_actions.inputs.local import RenderInputs
from kalypso_actions.inputs.reading import checked_inputs
from kalypso_actions.model.processes import no_progress
from kalypso_actions.model.tree import Snapshot


def snapshot_of(fleet: Fleet) -> Snapshot:
    """Return the snapshot of a fleet."""
    prefix = "--source="
    given = [item.removeprefix(prefix) for item in fleet.arguments() if item.startswith(prefix)]
    folder = fleet.folder / ENVIRONMENT
    options = {"environment": ENVIRONMENT, "environment_dir": folder, "source": given}
    inputs = checked_inputs(RenderInputs, options)
    with LocalContext(Programs(os.environ), no_progress).reader(inputs.source) as reader:
        own = reader.documents_of(FolderFiles(folder), branch=ENVIRONMENT)
        environment = EnvironmentReading(ENVIRONMENT, own)
        return read_snapshot(read_control_plane(environment, reader), reader)
