"""The Flux configurations that Azure Resource Graph knows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.compliance.interface import FleetAnswer
from kalypso_actions.inputs.chain import ClusterSources
from kalypso_actions.model.cluster_reports import BranchFollower, ClusterReport, FollowedTree

if TYPE_CHECKING:
    from kalypso_actions.clients.resource_graph import ResourceGraph


def _with_lost_connections(
    reports: Iterable[ClusterReport], lost: Mapping[str, str]
) -> tuple[ClusterReport, ...]:
    return tuple(
        replace(report, unreachable=lost.get(report.cluster.lower(), "")) for report in reports
    )


class AzureResourceGraph:
    """The Flux configurations of Arc-enabled Kubernetes and AKS clusters."""

    title = "Azure"
    no_reports_advice = (
        "check the URL and branch of the clusters' Flux configurations, and that the identity has "
        "the role Reader on their subscriptions (azure-scopes)"
    )
    knows_all_clusters = True

    def __init__(self, inputs: ClusterSources, context: CommandContext) -> None:
        self._inputs = inputs
        self._runtime = context.runtime
        self._client: ResourceGraph | None = None
        self._has_checked_subscriptions = False

    def check_inputs(self, followed: FollowedTree) -> None:  # noqa: ARG002 # the protocol's
        """Make the client; send no request. Raise UsageError if the inputs do not suffice."""
        self._connected()

    def setup_advice(self) -> str:
        """Return the inputs that `kalypso doctor` lacks to send requests."""
        if self._inputs.azure_scopes:
            return ""
        return "give --azure-scopes, and sign in (az login), to have Azure asked"

    def reports(self, followed: FollowedTree) -> tuple[ClusterReport, ...]:
        """Return the reports of the Flux configurations that follow a branch.

        Raise KalypsoError if not all reports can be read.
        """
        client = self._checked()
        reports = client.cluster_reports(followed.repository_url, followed.branch)
        if not reports:
            return ()
        return _with_lost_connections(reports, client.lost_connections())

    def all_reports(self) -> FleetAnswer:
        """Return the reports of all Flux configurations, by two queries whatever their number.

        Raise UsageError if the inputs do not suffice, KalypsoError if an answer is incomplete.
        """
        client = self._checked()
        reports, problems = client.all_reports()
        lost = client.lost_connections() if reports else {}
        return FleetAnswer(
            {place: _with_lost_connections(some, lost) for place, some in reports.items()},
            problems,
        )

    def followers(self, branch: str) -> tuple[BranchFollower, ...]:
        """Return the Flux configurations that follow a branch of this name, of any repository.

        Raise KalypsoError if not all of them can be read.
        """
        return self._checked().followers(branch)

    def deleted(self, clusters: Iterable[str]) -> frozenset[str]:
        """Return those of the clusters that Resource Manager does not find (404)."""
        return self._connected().deleted(clusters)

    def close(self) -> None:
        """Close the connections."""
        if self._client is not None:
            self._client.close()

    def _checked(self) -> ResourceGraph:
        """Return the client; the first call checks that the identity sees every subscription."""
        client = self._connected()
        if not self._has_checked_subscriptions:
            client.check_subscriptions()
            self._has_checked_subscriptions = True
        return client

    def _connected(self) -> ResourceGraph:
        if self._client is None:
            # Importing Azure's libraries would cost every other command 0.2 s.
            from kalypso_actions.clients.resource_graph import (  # noqa: PLC0415
                ResourceGraph,
                azure_credential,
                cloud_of,
            )

            inputs, runtime = self._inputs, self._runtime
            cloud = cloud_of(inputs.azure_cloud, runtime.environment)
            credential = azure_credential(
                client_id=inputs.azure_client_id,
                tenant_id=inputs.azure_tenant_id,
                credentials=inputs.azure_credentials.get_secret_value(),
                cloud=cloud,
                environment=runtime.environment,
                sleep=runtime.sleep,
            )
            self._client = ResourceGraph(
                credential,
                cloud=cloud,
                scopes=inputs.azure_scopes,
                environment=runtime.environment,
                sleep=runtime.sleep,
                now=lambda: runtime.now().timestamp(),
            )
        return self._client
