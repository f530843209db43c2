"""Azure Resource Graph: the Flux configurations of clusters.

clouds       Azure's clouds and their addresses
scopes       subscriptions or management groups
query        the one question, in KQL
rows         an answer's rows → model.cluster_reports
client       the whole answer: pages, waiting, what makes it incomplete
wait_budget  the seconds that a reading may still wait
service      one call, by Azure's client
answers      what a call brings
credentials  which credential the inputs mean
identity     that credential, by Azure's library
authorization  an access token for each request, and a new one where Azure refuses it
oidc         the token by which a job of GitHub Actions says who it is
transport    how Azure's libraries send, with the given environment's proxies and certificates
refusals     what Azure says when it refuses, and what to change

Azure's libraries take 0.2 s to import; only `service`, `authorization`, `identity` and
`transport` do, and those are imported when a client or a credential is made.
"""

from kalypso_actions.clients.resource_graph.client import ResourceGraph
from kalypso_actions.clients.resource_graph.clouds import CloudName, cloud_of
from kalypso_actions.clients.resource_graph.credentials import azure_credential

__all__ = ["CloudName", "ResourceGraph", "azure_credential", "cloud_of"]
