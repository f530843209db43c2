"""Documents, their fields and names."""

from __future__ import annotations

from kalypso_actions.problem_codes.row import ProblemCode

CODES = (
    ProblemCode(
        "repository-url-invalid",
        "error",
        "A GitOpsRepo has a text that is not the URL of a repository, such as a placeholder.",
        """\
kind: GitOpsRepo
spec:
  repo: URL OF THE GITOPS REPOSITORY
""",
        "Write the URL of the repository.",
    ),
    ProblemCode(
        "documents-missing",
        "error",
        "The validated places contain no document; probably other places were meant.",
        "kalypso validate ../docs",
        "Change to a clone of the control plane, or name it.",
    ),
    ProblemCode(
        "document-not-kubernetes",
        "error",
        "A YAML document is not a Kubernetes object, because it has no `apiVersion`, `kind` "
        "or `metadata.name`, or is not a mapping.",
        """\
kind: ClusterType
metadata:
  name: large
""",
        "Add what is missing, or exclude files that are not manifests by `.sourceignore`.",
    ),
    ProblemCode(
        "api-version-missing",
        "warning",
        "A ConfigMap has no `apiVersion`. Kalypso assumes `v1`, but Kubernetes refuses it.",
        """\
kind: ConfigMap
metadata:
  name: region
""",
        "Add `apiVersion: v1`.",
    ),
    ProblemCode(
        "list-without-items",
        "warning",
        "A `List` has no `items`. Flux reads the documents among its items, and nothing else.",
        """\
apiVersion: v1
kind: List
itmes: []
""",
        "Correct the name of the field.",
    ),
    ProblemCode(
        "api-version-wrong",
        "error",
        "The `apiVersion` does not belong to this kind, or is Kalypso's, but misspelled.",
        """\
apiVersion: scheduler.kalypso.io/v1
kind: ClusterType
""",
        "Write the one that the message names.",
    ),
    ProblemCode(
        "kind-unknown",
        "error",
        "The document has Kalypso's `apiVersion`, but Kalypso has no such kind; or its kind is a "
        "misspelled ConfigMap. In the repository "
        "of a registered application it is a warning: the application is missing from the fleet.",
        """\
apiVersion: scheduler.kalypso.io/v1alpha1
kind: SchedulingPolices
""",
        "Correct the kind.",
    ),
    ProblemCode(
        "kind-ignored",
        "warning",
        "The document is of a kind that Kalypso does not use.",
        """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: boards
""",
        "Remove it, or exclude its file by `.sourceignore`.",
    ),
    ProblemCode(
        "field-invalid",
        "error",
        "A field is missing, or has a value of another type. Kubernetes does not convert types.",
        """\
labels:
  edge: true   # must be "true"
""",
        "Write the value that the message asks for; put quotes around a number or boolean that "
        "should be a text.",
    ),
    ProblemCode(
        "field-unknown",
        "warning",
        "The kind has no such field. Its value has no effect.",
        """\
spec:
  reconcilers: flux   # the field is reconciler
""",
        "Correct the name of the field, or remove it.",
    ),
    ProblemCode(
        "name-invalid",
        "error",
        "Kubernetes refuses this name, or a name that is made from it.",
        """\
metadata:
  name: Large_Clusters
""",
        "Choose a name of lower-case letters, digits and `-`, short enough for the message's "
        "limit.",
    ),
    ProblemCode(
        "label-invalid",
        "error",
        "Kubernetes refuses this label or its value.",
        """\
labels:
  region: north europe
""",
        "Write letters, digits, `-`, `_` and `.`, at most 63 characters.",
    ),
    ProblemCode(
        "object-duplicate",
        "error",
        "Two documents of one branch, or of two base repositories, have the same kind and name.",
        """\
kind: ClusterType
metadata:
  name: large   # also in another file
""",
        "Remove or rename one of the two.",
    ),
    ProblemCode(
        "object-overridden",
        "warning",
        "A document of the environment branch replaces one of main with the same kind and name.",
        """\
# on main and on dev
kind: ConfigMap
metadata:
  name: common
""",
        "Rename one of the two, unless the replacement is intended.",
    ),
    ProblemCode(
        "workload-misplaced",
        "error",
        "A Workload is in a control plane, where nothing reads it.",
        """\
kind: Workload
metadata:
  name: boards
""",
        "Move it into a repository that a WorkloadRegistration names.",
    ),
    ProblemCode(
        "workload-missing",
        "error",
        "`kalypso validate --workload` finds no Workload: a registration of this folder would "
        "deliver nothing.",
        """\
# workload/workload.yaml is absent, or .sourceignore excludes it
""",
        "Add a Workload, or give the folder that has it.",
    ),
    ProblemCode(
        "manifests-incomplete",
        "warning",
        "The `manifests` of a deployment target lack `repo`, `branch` or `path`. Templates that "
        "print them give `<no value>`. `kalypso validate --workload` reports this.",
        """\
manifests:
  repo: https://github.com/contoso/boards-gitops
  brnach: dev
  path: ./small
""",
        "Add what is missing. Acknowledge it if the platform team's Templates use other keys.",
    ),
    ProblemCode(
        "registration-text",
        "error",
        "A text of a registered repository, which a Template can print, has a control character, "
        "an invisible character or a line separator, or is not a repository, revision or folder "
        "that Flux or Argo CD accepts. A line break would continue the platform's document. In "
        "other commands, the registration is unusable; with `registration-text: any`, this is a "
        "warning.",
        """\
manifests:
  branch: "dev\\nsuspend: true"
""",
        "Write one line; see [texts of applications](../guide/security.md#texts-of-applications).",
    ),
    ProblemCode(
        "registration-template",
        "error",
        "A text of a registered repository has `{{`, `${` or `$(`. Templates and substitutions, "
        "such as those of Flux after a build, belong to the control plane. In "
        "other commands, the registration is unusable; with `registration-text: any`, this is a "
        "warning, and the text is rendered.",
        """\
manifests:
  branch: "{{ .Environment }}"
""",
        "Write the text itself.",
    ),
    ProblemCode(
        "annotation-unknown",
        "warning",
        "An annotation of Kalypso has no effect: it is misspelled, on the wrong kind, or among "
        "the labels.",
        """\
kind: Environment
metadata:
  annotations:
    kalypso.io/next-enviroment: stage
""",
        "Correct its name, or move it to where it belongs.",
    ),
    ProblemCode(
        "annotation-value-unknown",
        "warning",
        "An annotation of Kalypso has a value without effect.",
        """\
annotations:
  kalypso.io/first-environment: "True"
""",
        "Write a value that the advice lists.",
    ),
    ProblemCode(
        "ignore-invalid",
        "warning",
        "The annotation `kalypso.io/ignore` names an unknown code or an error, or gives no reason.",
        """\
annotations:
  kalypso.io/ignore: policy-without-target
  kalypso.io/ignore-reason: waits for the edge clusters
""",
        "Name codes of warnings, with commas between them, and write the reason into "
        "`kalypso.io/ignore-reason`. Errors cannot be acknowledged.",
    ),
    ProblemCode(
        "ignore-stale",
        "note",
        "The annotation `kalypso.io/ignore` names a warning that the object does not have. "
        "`kalypso validate` reports this if it has read all environments and applications.",
        """\
annotations:
  kalypso.io/ignore: policy-without-targets
  kalypso.io/ignore-reason: waits for the edge clusters   # they are here
""",
        "Remove the acknowledgement.",
    ),
)
