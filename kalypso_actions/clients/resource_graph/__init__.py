"""Azure Resource Graph: the reports of clusters with Flux configurations.

clouds         Azure's clouds and their addresses
scopes         subscriptions or management groups
query          the queries, in KQL
rows           an answer's rows → model.cluster_reports
client         the whole answer: its pages, the retries, and checks that it is complete
wait_budget    the seconds that a reading may still wait
service        one call, by Azure's client
resource_manager  whether a cluster still exists
answers        the answer of one call
credentials    the choice of the credential by the inputs
identity       that credential, by Azure's library
authorization  an access token for each request, and a new one if Azure refuses it
oidc           the token with which a job of GitHub Actions authenticates
transport      the HTTP transport of Azure's libraries, with our proxies and certificates
errors         Azure's refusals, and what to change

Azure's libraries take 0.2 s to import. Only `service`, `authorization`, `identity`,
`resource_manager` and `transport` import them, when a caller creates a client or a credential.
"""

from kalypso_actions.clients.resource_graph.client import ResourceGraph
from kalypso_actions.clients.resource_graph.clouds import CloudName, cloud_of
from kalypso_actions.clients.resource_graph.credentials import azure_credential

__all__ = ["CloudName", "ResourceGraph", "azure_credential", "cloud_of"]
