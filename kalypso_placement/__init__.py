"""Select the clusters of a Placement as Open Cluster Management (OCM) does.

    schedule = PlacementScheduler().schedule(fleet)

It is a plugin of Kalypso: `scheduler`, `command` and `problem_codes.yaml` are registered as entry
points. `reconciliation` has OCM's steps in their order.
"""
