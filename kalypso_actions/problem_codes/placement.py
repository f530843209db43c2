"""Placements, and how cluster types stand for managed clusters."""

from __future__ import annotations

from kalypso_actions.problem_codes.row import ProblemCode

CODES = (
    ProblemCode(
        "placement-refused",
        "error",
        "The API server of Open Cluster Management refuses this document.",
        """\
spec:
  prioritizerPolicy:
    configurations:
    - scoreCoordinate: {builtIn: Steady}
      weight: 11   # from -10 to 10
""",
        "Correct the field.",
    ),
    ProblemCode(
        "placement-field-unknown",
        "error",
        "A document of Open Cluster Management has a field that its API does not know. The API "
        "server drops it silently.",
        """\
spec:
  numberOfCluster: 3   # numberOfClusters
""",
        "Correct the name, or remove the field.",
    ),
    ProblemCode(
        "placement-unreadable",
        "error",
        "The API server admits this document, but OCM's scheduler cannot read it.",
        """\
spec:
  numberOfClusters: 2147483648
""",
        "Write a number of 32 bits.",
    ),
    ProblemCode(
        "annotation-invalid",
        "error",
        "An annotation of a ClusterType does not have the form that Placements need.",
        """\
metadata:
  annotations:
    kalypso.io/taints: |
      - key: edge
        effect: NoExecute   # NoSelect, PreferNoSelect or NoSelectIfNew
""",
        "Correct the annotation.",
    ),
)
