"""Select the clusters of a Placement as Open Cluster Management (OCM) does.

quantities.py, instants.py   numbers and times as Kubernetes and Go compute them
schemas.py, admission.py     the API server's defaults and validation of an object
objects.py, fleet.py, hub.py the objects, read from documents and indexed
filters.py                   predicates and taints
prioritizers.py              weights and scores
spread.py                    spreadPolicy, which OCM declares but never executes
reconciliation.py            the whole decision; groups.py divides it, document.py writes it
cel/                         CEL expressions
"""
