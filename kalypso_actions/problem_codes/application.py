"""Charts and configs of an application, and its GitOps tree."""

from __future__ import annotations

from kalypso_actions.problem_codes.row import ProblemCode

CODES = (
    ProblemCode(
        "variable-undefined",
        "error",
        "A chart or the configs use one of the ten variables, and nothing gives it a value. "
        "With `compatibility: current` or `2023` it is empty, as in upstream.",
        "image: $IMAGE_NAME:$IMAGE_TAG   # without --image-tag",
        "Give the value by the option that the message names.",
    ),
    ProblemCode(
        "variable-unknown",
        "error",
        "A chart's values or the configs use a variable that is none of the ten. Upstream "
        "replaces every variable of the runner's environment, and so prints its secrets.",
        "token: $CD_BOOTSTRAP_TOKEN",
        "Correct the name. For a variable of the container's shell write `${HOME:-}`, which "
        "stays as it is.",
    ),
    ProblemCode(
        "configs-link",
        "error",
        "The configs branch has a symbolic link, which is not followed.",
        "east-us/values.yaml -> ../west-us/values.yaml",
        "Write the file in its place, or move common values to the folder above.",
    ),
    ProblemCode(
        "configs-group",
        "error",
        "A folder with a values.yaml is neither a target nor above one: its subfolders make "
        "it a group, and have no values.",
        """\
functional-test/values.yaml
functional-test/docs/notes.md
""",
        "Remove the subfolders, or set `compatibility: none`, in which only a subfolder with "
        "values counts.",
    ),
    ProblemCode(
        "configs-root-values",
        "warning",
        "The root of the configs branch has a values.yaml, which no target reads.",
        "values.yaml",
        "Move its values to the chart, or to the folders of the first level.",
    ),
    ProblemCode(
        "configs-folder-without-values",
        "note",
        "A folder of the configs branch has files, but no values.yaml in, above or below it.",
        "int-test/config.sh",
        "Add a values.yaml, which may be empty, if the folder is a target.",
    ),
    ProblemCode(
        "configs-new-group",
        "warning",
        "A folder was a target, and is a group since it has subfolders with values: its "
        "manifests are deleted.",
        """\
functional-test/values.yaml
functional-test/east-us/values.yaml   # new
""",
        "Register the new targets in workload.yaml, or move them elsewhere.",
    ),
    ProblemCode(
        "configs-without-target",
        "error",
        "No folder of the configs branch has a values.yaml.",
        "README.md",
        "Add `<target>/values.yaml`, which may be empty.",
    ),
    ProblemCode(
        "source-link",
        "error",
        "A symbolic link of the chart leads to nothing, out of the repository, or above itself.",
        "helm/templates/common.yaml -> /etc/common.yaml",
        "Copy the file into the repository.",
    ),
    ProblemCode(
        "values-documents",
        "error",
        "A file of values has several documents; helm reads only the first.",
        """\
replicas: 1
---
port: 80
""",
        "Remove the `---`.",
    ),
    ProblemCode(
        "values-glued",
        "warning",
        "With `compatibility: current` or `2023`, the texts of the levels are joined, and one"
        " of them has no newline at its end. If the result is no YAML, this is an error.",
        "replicas: 1app:   # the last line of the parent, the first of the child",
        "End the file with a newline, or set `compatibility: none`.",
    ),
    ProblemCode(
        "release-name-invalid",
        "error",
        "helm does not accept the name of the release. With `compatibility: current` it is "
        "the name of the target's folder.",
        "East_US/values.yaml",
        "Set `release-name`, or rename the folder.",
    ),
    ProblemCode(
        "chart-failed",
        "error",
        "helm cannot render the chart for a target. The message is helm's.",
        "name: {{ .Values.app.nam.first }}",
        "Correct the template, or the values that it reads.",
    ),
    ProblemCode(
        "chart-output-invalid",
        "error",
        "The output of a template is no YAML.",
        'name: {{ .Values.title }}   # with title: "a: b"',
        "Quote the value: `{{ .Values.title | quote }}`.",
    ),
    ProblemCode(
        "chart-bounds",
        "error",
        "helm exceeded its time, memory or output for a target, or could not be started.",
        "{{ range until 1000000000 }}",
        "Look for a loop in the templates; `timeout` gives more time.",
    ),
    ProblemCode(
        "gitops-file-edited",
        "warning",
        "Somebody has edited a generated file of the GitOps tree. The run overwrites or "
        "deletes it.",
        "functional-test/gen_manifests.yaml   # replicas: 5, by hand",
        "Change the chart or the configs instead.",
    ),
    ProblemCode(
        "target-without-folder",
        "warning",
        "A deployment target names a folder of the branch for which no manifests are made: "
        "its clusters find nothing.",
        "manifests: {branch: dev, path: ./functional-tests}",
        "Correct the path, or add the folder to the configs.",
    ),
    ProblemCode(
        "folder-without-target",
        "warning",
        "A folder has manifests, but no deployment target names it: nothing deploys them.",
        "functional-test/west-us/values.yaml",
        "Add a target to workload.yaml.",
    ),
    ProblemCode(
        "descriptor-missing",
        "note",
        "There is no DeploymentDescriptor for a target, because a name in it is not known.",
        "kalypso app render   # without --workspace",
        "Give the options that the message names.",
    ),
)
