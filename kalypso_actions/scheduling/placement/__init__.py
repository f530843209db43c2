"""OCM's Placement: which clusters a Placement selects, decided as Open Cluster Management does.

quantities.py, instants.py   numbers and times as Kubernetes and Go compute them
schemas.py, admission.py     what the API server does with an object
objects.py, fleet.py, hub.py the objects, read from documents and indexed
filters.py                   predicates and taints
prioritizers.py              weights and scores
spread.py                    spreadPolicy, which OCM declares and never executes
reconciliation.py            the whole decision; groups.py divides it, document.py writes it
cel/                         CEL expressions
"""
