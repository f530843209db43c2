"""Placements, and cluster types as managed clusters."""

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
    ProblemCode(
        "placement-unknown",
        "error",
        "A policy names a Placement that `.github/kalypso` of its branch does not have.",
        """\
kind: SchedulingPolicy
metadata:
  annotations:
    kalypso.io/placement: egde   # the Placement is edge
""",
        "Correct the name, or add the Placement.",
    ),
    ProblemCode(
        "placement-duplicate",
        "error",
        "Two Placements of an environment have the same name.",
        """\
# .github/kalypso/a.yaml and .github/kalypso/b.yaml
kind: Placement
metadata:
  name: edge
""",
        "Rename one of them.",
    ),
    ProblemCode(
        "placement-scope-invalid",
        "error",
        "The scope of a policy's Placement is neither `policy` nor `target`.",
        """\
kind: SchedulingPolicy
metadata:
  annotations:
    kalypso.io/placement-scope: targets
""",
        "Write policy or target.",
    ),
    ProblemCode(
        "placement-without-scheduler",
        "error",
        "A policy names a Placement, but the environment is scheduled by labels.",
        """\
kind: SchedulingPolicy
metadata:
  annotations:
    kalypso.io/placement: edge
""",
        "Annotate the Environment with `kalypso.io/scheduler: placement`, or remove this "
        "annotation.",
    ),
    ProblemCode(
        "placement-misconfigured",
        "error",
        "The scheduler cannot decide a Placement. The last decision stays; nothing is proposed.",
        """\
spec:
  tolerations:
  - operator: Exists
    value: edge   # Exists takes no value
""",
        "Correct the Placement.",
    ),
    ProblemCode(
        "placement-unused",
        "warning",
        "No policy names this Placement.",
        """\
kind: Placement
metadata:
  name: edge
""",
        "Annotate a policy with its name, or remove the Placement.",
    ),
    ProblemCode(
        "placement-finds-nothing",
        "warning",
        "A Placement selects no cluster type.",
        """\
spec:
  predicates:
  - requiredClusterSelector:
      labelSelector:
        matchLabels:
          region: moon
""",
        "`kalypso explain` names the filter that drops each cluster type.",
    ),
    ProblemCode(
        "placement-finds-too-few",
        "warning",
        "A Placement selects fewer cluster types than its `numberOfClusters`.",
        """\
spec:
  numberOfClusters: 3   # two match
""",
        "Add cluster types, or lower the number.",
    ),
    ProblemCode(
        "placement-without-record",
        "note",
        "`kalypso render` decides Placements without the GitOps tree, which has the decisions so "
        "far: the present assignments do not count.",
        """\
kalypso render dev   # schedule decides with the GitOps branch
""",
        "Name the tree with `--gitops`, or compare with `--diff`.",
    ),
    ProblemCode(
        "placement-scores-expired",
        "warning",
        "Scores of an add-on are no longer valid. They count as 0.",
        """\
kind: AddOnPlacementScore
status:
  validUntil: 2026-03-01T00:00:00Z
""",
        "Publish new scores.",
    ),
)
