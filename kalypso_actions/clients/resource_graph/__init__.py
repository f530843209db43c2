"""Azure Resource Graph: the reports of clusters with Flux configurations.

    credential = azure_credential(client_id=…, tenant_id=…, credentials="", cloud=cloud, …)
    with ResourceGraph(credential, cloud=cloud, scopes=[…], environment=os.environ) as graph:
        reports = graph.cluster_reports("https://github.com/acme/gitops", "dev")

Azure's libraries take 0.2 s to import: import this package only where it is used.
"""

from kalypso_actions.clients.resource_graph.client import ResourceGraph
from kalypso_actions.clients.resource_graph.credentials import azure_credential
from kalypso_actions.clients.resource_graph.scopes import CloudName, cloud_of

__all__ = ["CloudName", "ResourceGraph", "azure_credential", "cloud_of"]
