"""An environment of the organisation that a Placement schedules."""

from __future__ import annotations

from tests.commands.chain import documents
from tests.commands.chain.organisation import Organisation

PLACEMENT = """\
apiVersion: cluster.open-cluster-management.io/v1beta1
kind: Placement
metadata: {name: one}
spec:
  numberOfClusters: 1
  tolerations:
  - {key: edge, operator: Exists, tolerationSeconds: 3600}
"""
TAINTS = "[{key: edge, effect: NoSelect, timeAdded: '2026-03-01T11:30:00Z'}]"


def schedule_dev_by_placement(acme: Organisation) -> None:
    """Let dev be scheduled by the Placement."""
    environment = documents.environment(acme.url(), "dev", next_environment="stage", first=True)
    annotated = environment.replace(
        "  annotations:\n", "  annotations:\n    kalypso.io/scheduler: placement\n"
    )
    acme.commit({".environments/dev.yaml": annotated})
    policy = documents.policy().replace(
        "metadata: {name: everywhere}",
        "metadata: {name: everywhere, annotations: {kalypso.io/placement: one}}",
    )
    large = documents.cluster_type("large").replace(
        "  name: large\n", f'  name: large\n  annotations: {{kalypso.io/taints: "{TAINTS}"}}\n'
    )
    files = {"cluster-types/large.yaml": large, "policy.yaml": policy}
    acme.commit({**files, ".github/kalypso/one.yaml": PLACEMENT}, "dev")
