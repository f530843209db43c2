"""Policies, cluster types, targets and registrations."""

from __future__ import annotations

from kalypso_actions.problem_codes.row import ProblemCode

CODES = (
    ProblemCode(
        "selector-invalid",
        "error",
        "Kubernetes refuses this label selector.",
        """\
matchExpressions:
  - key: size
    operator: Equals
    values: [large]
""",
        "Correct the key, the operator or the values.",
    ),
    ProblemCode(
        "policy-without-cluster-types",
        "warning",
        "The `clusterTypeSelector` matches no cluster type. The policy schedules nothing.",
        """\
clusterTypeSelector:
  labelSelector:
    matchLabels:
      size: egde   # the cluster types have edge
""",
        "Correct the label; the advice names the nearest one that exists.",
    ),
    ProblemCode(
        "policy-without-targets",
        "warning",
        "The `deploymentTargetSelector` matches no deployment target. The policy schedules "
        "nothing. This is a note if it matches targets of other environments.",
        """\
deploymentTargetSelector:
  labelSelector:
    matchLabels:
      purpose: functional-tset
""",
        "Correct the label; the advice names the nearest one that exists.",
    ),
    ProblemCode(
        "policy-workspace-unknown",
        "warning",
        "No WorkloadRegistration has the workspace that a policy asks for.",
        """\
deploymentTargetSelector:
  workspace: team-rockets   # the registration has team-rocket
""",
        "Correct the workspace here, or in the registration.",
    ),
    ProblemCode(
        "selector-value-unknown",
        "warning",
        "A selector lists a value that no object has, but that resembles an existing one: it is "
        "probably misspelled. Other values may wait for an object, and are not reported.",
        """\
matchExpressions:
  - key: connection
    operator: NotIn
    values: [raido]   # the cluster types have radio
""",
        "Correct the value, or acknowledge it.",
    ),
    ProblemCode(
        "policies-equal",
        "warning",
        "Two policies have equal selectors. One of them has no effect.",
        """\
# two policies with this selector of targets, and with equal ones of cluster types
deploymentTargetSelector:
  labelSelector:
    matchLabels:
      purpose: functional-test
""",
        "Remove one, or correct its selectors. An acknowledgement at either policy suffices.",
    ),
    ProblemCode(
        "target-unselected",
        "warning",
        "No policy selects these deployment targets: their workload runs nowhere in this "
        "environment.",
        """\
# in a Workload
deploymentTargets:
  - name: functional-test
    labels:
      purpose: functionaltest
""",
        "Add a policy, or correct the labels of the target or of the policy.",
    ),
    ProblemCode(
        "cluster-type-unselected",
        "note",
        "No policy selects this cluster type: nothing runs on it.",
        """\
kind: ClusterType
metadata:
  name: large
  labels:
    size: large   # no clusterTypeSelector matches it
""",
        "Add a policy if workloads belong there.",
    ),
    ProblemCode(
        "registration-without-workspace",
        "warning",
        "Policies require workspaces, but this WorkloadRegistration has none: they never select "
        "its targets.",
        """\
kind: WorkloadRegistration
spec:
  workload: {repo: https://github.com/contoso/boards, branch: main, path: .}
  # workspace: team-rocket
""",
        "Add `workspace`.",
    ),
    ProblemCode(
        "registration-foreign-kind",
        "error",
        "A registered repository has documents other than Workloads. They would affect the whole "
        "fleet.",
        """\
# in the repository of an application
kind: ClusterType
""",
        "Move them out of the registered folder.",
    ),
    ProblemCode(
        "registration-unread",
        "note",
        "A registered repository was not read. Its Workloads are not checked.",
        """\
kind: WorkloadRegistration
spec:
  workload: {repo: https://github.com/contoso/boards, branch: main, path: .}
""",
        "Give it with `--source URL=PATH`, or check the control plane by its URL.",
    ),
    ProblemCode(
        "application-missing",
        "warning",
        "A registered repository cannot be read, and has never been: its application is "
        "missing from the fleet.",
        """\
kind: WorkloadRegistration
spec:
  workload: {repo: https://github.com/contoso/baords, branch: main, path: .}
""",
        "Correct the registration, or give access to its repository.",
    ),
    ProblemCode(
        "workload-conflict",
        "error",
        "Two registrations, or a registration and the control plane, deliver the same Workload or "
        "target, or with `namespace-scheme: legacy` the same namespace. The registration that "
        "delivered the name to the merged tree keeps it; the other is unusable.",
        """\
kind: Workload
metadata:
  name: boards   # also in another registered repository
""",
        "Rename one, or remove a registration. To move a Workload, first remove it from its old "
        "place.",
    ),
    ProblemCode(
        "target-duplicate",
        "error",
        "Two deployment targets of an environment have the same name.",
        """\
deploymentTargets:
  - name: test
    environment: dev
  - name: test
    environment: dev
""",
        "Rename the target, its workload, or the other target.",
    ),
    ProblemCode(
        "target-environment-unknown",
        "warning",
        "A deployment target names an environment that this control plane does not have.",
        """\
kind: Workload
metadata:
  annotations:
    kalypso.io/foreign-environments: prod-eu, prod-us
spec:
  deploymentTargets:
    - name: test
      environment: devv   # neither known nor foreign
""",
        "Correct the name. If it belongs to another control plane, name it in the Workload's "
        "annotation `kalypso.io/foreign-environments`.",
    ),
    ProblemCode(
        "target-environment-other",
        "warning",
        "A hand-written DeploymentTarget is on the branch of one environment and names another. "
        "Neither schedules it.",
        """\
# on the branch dev
kind: DeploymentTarget
spec:
  environment: stage
""",
        "Name the environment of the branch, or move the target.",
    ),
    ProblemCode(
        "registration-without-targets",
        "warning",
        "A registered folder has no Workload, or a Workload has no deployment targets, so the "
        "fleet lacks the application.",
        """\
# the .sourceignore of the application's repository
workload/
""",
        "Correct the path of the registration, or the exclusions in that folder.",
    ),
)
