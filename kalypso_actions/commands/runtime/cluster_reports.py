"""Sources of cluster reports by name: ours, and those that others register as entry points."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.metadata import entry_points
from typing import Final

from kalypso_actions.commands.runtime.azure_resource_graph import AzureResourceGraph
from kalypso_actions.commands.runtime.context import CommandContext
from kalypso_actions.compliance import ClusterReports
from kalypso_actions.errors import UsageError
from kalypso_actions.inputs.chain import DEFAULT_CLUSTER_REPORTS, ClusterReportsInputs

Source = Callable[[ClusterReportsInputs, CommandContext], ClusterReports]

OWN: Final[Mapping[str, Source]] = {DEFAULT_CLUSTER_REPORTS: AzureResourceGraph}
"""Known in actions as well, which run the package without its entry points."""

ENTRY_POINT_GROUP: Final = "kalypso_actions.cluster_reports"


def open_cluster_reports(inputs: ClusterReportsInputs, context: CommandContext) -> ClusterReports:
    """Return the source that the input cluster-reports names.

    Raise UsageError if no source of this name is installed.
    """
    name = inputs.cluster_reports
    if name in OWN:
        return OWN[name](inputs, context)
    installed = {point.name: point for point in entry_points(group=ENTRY_POINT_GROUP)}
    if name not in installed:
        known = ", ".join(sorted({*OWN, *installed}))
        raise UsageError(
            f"cluster-reports: there is no source {name!r}", advice=f"installed are: {known}"
        )
    source: Source = installed[name].load()
    return source(inputs, context)
