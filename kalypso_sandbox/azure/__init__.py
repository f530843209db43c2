"""Azure in the sandbox: clusters that follow branches, Resource Graph, and its authentication.

clusters         simulated clusters, saved in the store
history          the heads of branches over time, from the store's push events
sync             a configuration × the history of its branch → its current state
statuses, rows   clusters → rows in Azure's format
kql              the subset of the query language that Kalypso needs
resource_graph   a query → a page of rows
resource_manager one cluster, or 404
identity         GitHub's OIDC, Microsoft Entra, managed identities
settings         limits, and faults of queries
cloud            all of these together
routes           the HTTP endpoints
"""

from kalypso_sandbox.azure.cloud import Azure
from kalypso_sandbox.azure.clusters import Cluster, Configuration, Failure
from kalypso_sandbox.azure.identity.github_oidc import Job
from kalypso_sandbox.azure.routes import add_controls, blueprint
from kalypso_sandbox.azure.settings import QueryFault, Settings

__all__ = [
    "Azure",
    "Cluster",
    "Configuration",
    "Failure",
    "Job",
    "QueryFault",
    "Settings",
    "add_controls",
    "blueprint",
]
