"""Azure in the sandbox: clusters that follow branches, Resource Graph, and its authentication.

    sandbox.azure.put(Cluster(name="drone-1", configurations=[Configuration(repository="a/b")]))
    sandbox.azure.change("drone-1", behaviour="stall")
    rows = sandbox.azure.tables()["kubernetesconfigurationresources"]

A cluster's behaviour decides when its configurations reach the commit of their branch.
"""

from kalypso_sandbox.azure.cloud import Azure, QueryFault, Settings
from kalypso_sandbox.azure.clusters import (
    ArgoApplication,
    Cluster,
    Configuration,
    Failure,
    StatusNotifications,
)
from kalypso_sandbox.azure.identity import JobIdentity

__all__ = [
    "ArgoApplication",
    "Azure",
    "Cluster",
    "Configuration",
    "Failure",
    "JobIdentity",
    "QueryFault",
    "Settings",
    "StatusNotifications",
]
