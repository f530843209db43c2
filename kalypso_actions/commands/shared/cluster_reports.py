"""Sources of cluster reports by name: ours, and those that others register as entry points."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from kalypso_actions.commands.shared.azure_resource_graph import AzureResourceGraph
from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.compliance import ClusterReports
from kalypso_actions.inputs.chain import DEFAULT_CLUSTER_REPORTS, ClusterReportsInputs
from kalypso_actions.model.entry_points import find_implementation

Source = Callable[[ClusterReportsInputs, CommandContext], ClusterReports]

OWN: Final[Mapping[str, Source]] = {DEFAULT_CLUSTER_REPORTS: AzureResourceGraph}
ENTRY_POINT_GROUP: Final = "kalypso_actions.cluster_reports"


def open_cluster_reports(inputs: ClusterReportsInputs, context: CommandContext) -> ClusterReports:
    """Return the source that the input cluster-reports names.

    Raise UsageError if no source of this name is installed.
    """
    name = inputs.cluster_reports
    missing = f"cluster-reports: there is no source {name!r}"
    return find_implementation(name, OWN, ENTRY_POINT_GROUP, missing)(inputs, context)
