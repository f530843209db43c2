"""Charts, their values, and other sources of an application's manifests."""

from __future__ import annotations

from kalypso_actions.problem_codes.row import ProblemCode

CODES = (
    ProblemCode(
        "variable-undefined",
        "error",
        "A chart or the configs use one of the ten variables, and nothing gives it a value. "
        "With `compatibility: current` or `2023` it is empty, as in upstream.",
        "image: $IMAGE_NAME:$IMAGE_TAG   # without --image-tag",
        "Pass the value with the option that the message names.",
    ),
    ProblemCode(
        "variable-not-text",
        "error",
        "The value of a variable does not stay the text that it is, even in quotes. With "
        "`compatibility: current` or `2023`, where Kalypso adds no quotes, it is a warning: YAML "
        "reads the tag 1.10 as the number 1.1.",
        "build: !!int $VERSION",
        "Add the quotes that the message names, or remove the tag.",
    ),
    ProblemCode(
        "variable-unknown",
        "warning",
        "A name that is not one of the ten looks like one of them; it stays as it is. With "
        "`compatibility: current` or `2023`, upstream replaces each such name by the runner's "
        "variable, and so prints its secrets; Kalypso replaces it by nothing.",
        "version: $VERSON",
        "Correct the name. For another variable, set `compatibility: none`.",
    ),
    ProblemCode(
        "tracking-differs",
        "warning",
        "An option names another version, image or commit than the tracking files of the GitOps "
        "tree. The option counts. With `compatibility: none`, nothing reads those files.",
        "kalypso app render --compatibility current --version 1.2   # the tree tracks 1.1",
        "Nothing, if the version is to change; else leave the option out.",
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
        "A file of values has several documents. helm 3 reads only the first, helm 4 merges all. "
        "With `compatibility: current` or `2023` it is a warning.",
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
        "With `compatibility: current` or `2023`, the texts of the levels are joined, and one of "
        "them has no newline at its end. If the result is not YAML, this is an error.",
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
        "The output of a template is not YAML.",
        'name: {{ .Values.title }}   # with title: "a: b"',
        "Quote the value: `{{ .Values.title | quote }}`.",
    ),
    ProblemCode(
        "generator-bounds",
        "error",
        "A generator exceeded its time, memory or output for a target, or could not be started.",
        "{{ range until 1000000000 }}",
        "Look for a loop in the templates; `timeout` gives more time.",
    ),
    ProblemCode(
        "chart-lookup",
        "warning",
        "A template queries the cluster or the network, which helm does not have when it renders: "
        "the result is empty.",
        '{{ lookup "v1" "Secret" "dev" "db" }}',
        "Pass what the template needs as a value.",
    ),
    ProblemCode(
        "chart-file-missing",
        "warning",
        "A template reads a file that the chart does not have. helm reads files of the chart "
        "only, and prints nothing.",
        '{{ .Files.Get "../config.json" }}',
        "Add the file to the chart, outside `templates`.",
    ),
    ProblemCode(
        "chart-not-repeatable",
        "warning",
        "A template uses random values or the clock, so each run changes the manifests, and each "
        "change is a deployment.",
        "password: {{ randAlphaNum 16 }}",
        "Pass the value in the configs, or as a Secret of the cluster.",
    ),
    ProblemCode(
        "values-refused",
        "error",
        "A value does not fit the chart's values.schema.json.",
        "replicas: many",
        "Correct the value, or the schema.",
    ),
    ProblemCode(
        "chart-dependency",
        "error",
        "A dependency of the chart is not in its folder `charts`, has another version than in"
        " Chart.lock, or Chart.lock does not belong to Chart.yaml.",
        """\
dependencies:
- name: redis
  version: 1.0.0
  repository: https://charts.example
""",
        "Run `helm dependency build` and commit the folder `charts`, or set `dependencies: fetch`.",
    ),
    ProblemCode(
        "chart-content-unlocked",
        "warning",
        "`dependencies: fetch` fetched charts. Chart.lock locks their versions, but not their "
        "content: somebody may publish another chart under the same version. application.json "
        "records the digests of what was fetched.",
        "kalypso app render --dependencies fetch",
        "Run `helm dependency build` and commit the folder `charts`.",
    ),
    ProblemCode(
        "overlay-missing",
        "error",
        "The source has no kustomization or manifests for a target.",
        "kustomize/overlays/east-us/kustomization.yaml   # the target is west-us",
        "Add an overlay of the target or of the environment, or a base.",
    ),
    ProblemCode(
        "kustomize-remote",
        "error",
        "A kustomization names a base that is not in the repository; kustomize runs without "
        "the network.",
        """\
resources:
- https://github.com/acme/base?ref=v1
""",
        "Copy the base into the source.",
    ),
    ProblemCode(
        "values-unread",
        "warning",
        "A target has values, but no chart makes its manifests and reads them.",
        "functional-test/values.yaml   # with kustomize/",
        "Write the difference into an overlay of the source.",
    ),
    ProblemCode(
        "generator-failed",
        "error",
        "The command of `generator-command` failed, or wrote no files.",
        "generator-command: jsonnet app.jsonnet   # and nothing to $KALYPSO_OUT",
        "Correct the command: it writes files to `$KALYPSO_OUT`.",
    ),
    ProblemCode(
        "generator-unused",
        "warning",
        "One of several generators makes nothing, because the others make all targets.",
        "generator: helm, kustomize   # without kustomize/overlays/<target>",
        "Leave the generator out, or add the folder of a target for it.",
    ),
    ProblemCode(
        "helm-version",
        "warning",
        "`compatibility` promises upstream's bytes, which helm 3 writes. helm 4 separates the"
        " objects by an empty line.",
        "kalypso app render --compatibility current   # with helm 4",
        "Install helm 3, and set `helm-version`.",
    ),
    ProblemCode(
        "value-unread",
        "warning",
        "The configs have a value that no template of the chart reads, often because its name"
        " is misspelled.",
        "replica: 3   # the chart reads replicas",
        "Correct the name, or remove the value.",
    ),
    ProblemCode(
        "chart-schema-invalid",
        "error",
        "The values.schema.json of the chart is not JSON, or not a JSON Schema.",
        '{"properties": {"replicas": {"type": "number of pods"}}}',
        "Correct it: [json-schema.org](https://json-schema.org/understanding-json-schema/).",
    ),
    ProblemCode(
        "chart-schema-reference",
        "error",
        "A values.schema.json refers to a file or a server. For such a reference, helm would read "
        "files of the machine and call servers.",
        '"$ref": "https://example.com/schema.json"',
        "Copy the schema below `definitions`, and refer to `#/definitions/…`.",
    ),
)
