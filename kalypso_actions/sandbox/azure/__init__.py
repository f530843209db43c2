"""Azure in the sandbox: clusters that follow branches, Resource Graph, and who may ask it.

clusters         simulated clusters, kept in the world
history          where branches stood when, from the world's pushes
sync             a configuration × the history of its branch → how it stands now
statuses, rows   clusters → rows as Azure has them
kql              the query language, as far as it is asked here
resource_graph   a query → a page of rows
identity         GitHub's OIDC, Microsoft Entra, managed identities
settings         limits, and what is to go wrong
cloud            all of that together
routes           the endpoints
"""

from kalypso_actions.sandbox.azure.cloud import Azure
from kalypso_actions.sandbox.azure.clusters import Cluster, Configuration, Failure
from kalypso_actions.sandbox.azure.identity.github_oidc import Job
from kalypso_actions.sandbox.azure.routes import add_controls, blueprint
from kalypso_actions.sandbox.azure.settings import QueryFault, Settings

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
