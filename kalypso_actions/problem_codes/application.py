"""Configs, manifests and the GitOps tree of an application."""

from __future__ import annotations

from kalypso_actions.problem_codes.row import ProblemCode

CODES = (
    ProblemCode(
        "configs-link",
        "error",
        "The configs branch has a symbolic link, which Kalypso does not follow.",
        "east-us/values.yaml -> ../west-us/values.yaml",
        "Replace it with the file, or move common values to the folder above.",
    ),
    ProblemCode(
        "configs-group",
        "warning",
        "A folder with a values.yaml is neither a target nor above one: its subfolders make it a "
        "group, but have no values.",
        """\
functional-test/values.yaml
functional-test/docs/notes.md
""",
        "Remove the subfolders, or set `compatibility: none`: then only subfolders with values "
        "count.",
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
        "A folder was a target, but is now a group, because it has subfolders with values: the "
        "run deletes its manifests.",
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
        "A deployment target names a folder of the branch that gets no manifests: its clusters "
        "find nothing.",
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
        "A target gets no DeploymentDescriptor, because a name in it is unknown. It is a warning if"
        " the GitOps tree has one, which the run deletes.",
        "kalypso app render   # without --workspace",
        "Do what the message says.",
    ),
    ProblemCode(
        "manifest-invalid",
        "error",
        "Generated manifests are not YAML or not objects, or kustomize, with which Flux reads them,"
        " refuses them: a key that occurs twice, text behind `---`. With "
        "`compatibility` the latter are warnings.",
        """\
metadata: {name: web}
spec:
  replicas: 1
  replicas: 2
""",
        "Correct the template.",
    ),
    ProblemCode(
        "manifest-incomplete",
        "error",
        "A generated object has no apiVersion, kind or name: kustomize accepts no generateName. "
        "With `compatibility` this is a warning.",
        """\
kind: Service
metadata: {}
""",
        "Complete the manifest.",
    ),
    ProblemCode(
        "manifest-duplicate",
        "error",
        "Two templates or files of a target make the same object, which kustomize refuses. With "
        "`compatibility` this is a warning.",
        """\
# templates/a.yaml and templates/b.yaml
kind: Service
metadata: {name: web}
""",
        "Remove or rename one of them.",
    ),
    ProblemCode(
        "manifest-not-text",
        "error",
        "A name, label, annotation, selector, image, argument, value of `env`, or value of a "
        "ConfigMap or Secret is no text: Kubernetes refuses it, or kustomize changes it. With "
        "`compatibility` this is a warning.",
        "labels: {version: 1.10}",
        "Write it in quotes; in a template, print it with `| quote`.",
    ),
    ProblemCode(
        "target-not-kubernetes",
        "note",
        "The command wrote no Kubernetes object for a target, so the target gets no "
        "kustomization.yaml and no checks.",
        "- hosts: all   # a playbook of Ansible",
        "Nothing, if another program reads the files.",
    ),
    ProblemCode(
        "manifest-namespace",
        "error",
        "An object names a namespace that is not the target's. With `compatibility` this is a"
        " warning.",
        "metadata: {name: web, namespace: kube-system}",
        "Leave the namespace out, or allow it with `allowed-namespaces`.",
    ),
    ProblemCode(
        "manifest-hook",
        "note",
        "An object is a hook of helm. In a GitOps tree it is an object like any other.",
        "annotations: {helm.sh/hook: pre-install}",
        "Set `hooks: false` to leave hooks out.",
    ),
    ProblemCode(
        "image-without-digest",
        "note",
        "An image is named by a tag, which can be moved to another image.",
        "image: ghcr.io/acme/greeter:1.2",
        "Name the image by digest.",
    ),
    ProblemCode(
        "secret-in-plain-text",
        "warning",
        "A generated object has a secret that everybody who reads the repository knows.",
        """\
kind: Secret
stringData: {password: hunter2}
""",
        "Use an ExternalSecret, a SealedSecret, or SOPS.",
    ),
    ProblemCode(
        "manifest-schema",
        "error",
        "An object does not fit Kubernetes' schema of `validate-manifests`: an unknown field,"
        " or a value of another type. With `compatibility` this is a warning.",
        "spec: {replica: 2}",
        "Correct the template, or the values that it reads.",
    ),
    ProblemCode(
        "manifest-without-schema",
        "note",
        "Kubernetes has no schema of an object's kind, such as that of a custom resource.",
        """\
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
""",
        "Nothing: only kinds of Kubernetes itself are checked.",
    ),
    ProblemCode(
        "configs-branch",
        "warning",
        "The checked-out branch in the folder of the configs is not the environment's.",
        "kalypso app render --environment dev --configs ../configs   # on main",
        "Check the branch out, or name it: `--configs PATH@dev`.",
    ),
)
