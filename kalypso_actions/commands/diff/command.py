"""Read the control plane, and compare two of its environments, or one at two commits."""

from __future__ import annotations

from kalypso_actions.commands.diff.deployed import compare_deployed
from kalypso_actions.commands.diff.rendered import compare_rendered
from kalypso_actions.commands.shared.local_context import LocalContext, find_control_plane
from kalypso_actions.commands.shared.reading.document_reader import SharedReader
from kalypso_actions.inputs.diff import DiffInputs
from kalypso_actions.report.diff_document import DiffDocument


def diff(inputs: DiffInputs, context: LocalContext) -> DiffDocument:
    """Return the differences between two environments, or between two commits of one.

    Raises KalypsoError for an unreadable control plane or GitOps branch, UsageError.
    """
    with context.reader(inputs.source) as opened:
        reader = SharedReader(opened)
        plane = find_control_plane(inputs.control_plane, reader, context)
        if inputs.deployed:
            return compare_deployed(plane, inputs).document()
        return compare_rendered(plane, inputs, context.progress).document()
