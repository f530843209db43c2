"""Templates."""

from __future__ import annotations

from kalypso_actions.problem_codes.row import ProblemCode

CODES = (
    ProblemCode(
        "template-invalid",
        "error",
        "A manifest of a Template does not compile, or its engine is unknown.",
        """\
manifests:
  - |
    namespace: {{ .Namespace }
""",
        "Correct the manifest at the place that the message names.",
    ),
    ProblemCode(
        "content-type-unknown",
        "warning",
        "A Template of configuration has a `contentType` that Kalypso does not know: the file "
        "becomes YAML.",
        """\
spec:
  type: config
  contentType: bash   # sh
""",
        "Write `sh` for a shell script, or remove it.",
    ),
    ProblemCode(
        "template-missing",
        "error",
        "A ClusterType names a Template that does not exist.",
        """\
kind: ClusterType
spec:
  reconciler: argcd
""",
        "Add the Template to main, or correct the name.",
    ),
    ProblemCode(
        "template-type-unknown",
        "error",
        "Kubernetes does not accept the `type` of a Template.",
        """\
kind: Template
spec:
  type: configmap
""",
        "Write `reconciler`, `namespace` or `config`.",
    ),
    ProblemCode(
        "template-type-wrong",
        "warning",
        "A ClusterType names a Template of another `type`, such as one for configuration as "
        "its reconciler.",
        """\
kind: ClusterType
spec:
  reconciler: configmap   # its type is config
""",
        "Name a Template of the right type, or correct the type of the Template.",
    ),
    ProblemCode(
        "templates-unchecked",
        "note",
        "The Templates of cluster types cannot be checked, because the branch that has them "
        "was not given.",
        "kalypso validate dev",
        "Validate together with main.",
    ),
    ProblemCode(
        "template-failed",
        "error",
        "A Template fails for an assignment. The whole message of Go's templates follows the "
        "advice.",
        """\
manifests:
  - |
    url: {{ .Manifest.repo }}   # the field is Manifests
""",
        "Correct the Template, or the configuration that it reads.",
    ),
    ProblemCode(
        "namespace-invalid",
        "error",
        "The name of an assignment's namespace is too long, or not a valid name in Kubernetes.",
        """\
# dev-a-very-long-cluster-type-a-very-long-workload-and-its-target
kind: ClusterType
metadata:
  name: a-very-long-cluster-type
""",
        "Give the target, the workload or the cluster type a shorter name.",
    ),
    ProblemCode(
        "registration-documents",
        "warning",
        "A text of a registered repository changes the documents of a Template: their number, "
        "keys, kinds, namespaces, or names that are not made from the text; or the result is not "
        "YAML; or the text becomes a value of another type; or a document gets a name that "
        "Kubernetes refuses. The registration is unusable.",
        """\
# a Template with `description: "{{ .Manifests.description }}"`
manifests:
  description: 'boards", kind: "Secret'
""",
        "Write the text without these characters, or quote it in the Template: `description: {{ "
        ".Manifests.description | quote }}`. A Template that makes documents from a list must "
        "name the key of the list in the annotation `kalypso.io/documents-from`.",
    ),
    ProblemCode(
        "registration-render",
        "warning",
        "A Template fails with the texts or labels of a registered repository, but renders its "
        "last good commit, targets of others on the same cluster type, usual texts and labels, or "
        "the texts and labels of others; or only the repository's own schemas refuse the "
        "configuration. The registration is unusable.",
        """\
# a Template with {{ index (splitList "/" .Manifests.path) 2 }}
manifests:
  path: boards
""",
        "Correct the text or label at the place that the message names, or let the Template accept "
        "it.",
    ),
    ProblemCode(
        "template-field-unknown",
        "warning",
        "A Go template names a field that no assignment has. It fails once an assignment "
        "reaches it.",
        """\
manifests:
  - |
    name: {{ .Wrkload }}
""",
        "Correct the name; the advice has the nearest one.",
    ),
    ProblemCode(
        "template-unquoted",
        "note",
        "A template prints a text of `.Manifests` or `.Labels` as it is. An application team "
        "writes it: Kalypso refuses special characters in it, and a branch `1.10`, which becomes "
        "a number.",
        """\
manifests:
  - |
    branch: {{ .Manifests.branch }}
""",
        "Write `{{ .Manifests.branch | quote }}`, in Jinja2 `| tojson`. One note names the "
        "first place in a Template.",
    ),
    ProblemCode(
        "template-no-value",
        "warning",
        "A rendered file has `<no value>`: a Go template names a key that the configuration, "
        "the labels or the manifests of an assignment do not have.",
        """\
manifests:
  - |
    region: {{ .ConfigData.REGOIN }}
""",
        'Add the value, correct the name, or write `{{ .ConfigData.REGION | default "west" '
        "}}`. With `missing-values: error`, the assignment fails.",
    ),
)
