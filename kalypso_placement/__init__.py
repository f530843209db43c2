"""Select the clusters of a Placement as Open Cluster Management (OCM) does.

scheduler.py                 the scheduler `placement`
policies.py                  policies that name a Placement, and the units of decision
cluster_types.py             Kalypso's cluster types as managed clusters
quantities.py, instants.py   numbers and times as Kubernetes and Go compute them
schemas.py, admission.py     the API server's defaults and validation of an object
objects.py, fleet.py, hub.py the objects, read from documents and indexed
filters.py                   predicates and taints
prioritizers.py              weights and scores
spread.py                    spreadPolicy, which OCM declares but never executes
reconciliation.py            the whole decision; groups.py divides it, document.py writes it
statuses.py                  the outcome of each of its stages
requeue.py                   the next time at which it may change
explanation.py               the steps that select or drop a cluster type
json_schemas.py              JSON Schemas of OCM's kinds, for editors
cel/                         CEL expressions
"""
