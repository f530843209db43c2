"""With `compatibility`, the files are those that upstream's scripts write, byte for byte.

The forms are those of upstream's public repositories: two leaves below a common parent (2025),
variables in configs (2024), and Image_name without variables in configs (2023).
"""

from __future__ import annotations

from tests.planning.application.applications import CHART, CONFIG_COMMIT, SOURCE_COMMIT, Application

DESCRIPTOR_TEMPLATE = ".github/workflows/utils/templates/deployment-descriptor-template.yaml"

MANIFESTS = """\
---
# Source: greeter/templates/deployment.yaml
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {name}
  annotations:
    version: "0.0.1-7"
spec:
  replicas: {replicas}
  selector:
    matchLabels:
      app: {name}
  template:
    metadata:
      labels:
        app: {name}
    spec:
      containers:
      - name: app
        image: {image}
        ports:
        - containerPort: {port}
"""

KUSTOMIZATION = """\
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources:
- gen_manifests.yaml
"""

TEMPLATE = """\
kind: DeploymentDescriptor
metadata:
  name: $WORKLOAD-$DEPLOYMENT_TARGET-$ENVIRONMENT
spec:
  repo: https://github.com/$SOURCE_REPO
  path: $DEPLOYMENT_TARGET_MANIFESTS_PATH
  commit: $SRC_COMMIT    """


def test_two_leaves_below_a_parent(application: Application) -> None:
    configs = {
        "functional-test/values.yaml": "replicas: 2\n\n",
        "functional-test/east-us/values.yaml": "app:\n  name: east\n  port: 80\n",
        "functional-test/west-us/values.yaml": "app:\n  name: west\n  port: 81\n",
        "functional-test/Readme.md": "the configuration of a target\n",
    }
    source = {**CHART, DESCRIPTOR_TEMPLATE: TEMPLATE}
    done = application.render("--compatibility=current", source=source, configs=configs)
    assert done.status == 0, done.document
    record = done.files.pop(".github/tracking/application.json")
    expected = {
        ".github/tracking/Promoted_Commit_Id": f"{SOURCE_COMMIT}\n",
        ".github/tracking/Config_Commit_Id": f"{CONFIG_COMMIT}\n",
        ".github/tracking/Version": "0.0.1-7\n",
        ".github/tracking/Image_tag": "0.0.1-7\n",
    }
    image = "ghcr.io/acme/greeter/greeter:0.0.1-7"
    for leaf, name, port in (("east-us", "east", 80), ("west-us", "west", 81)):
        folder = f"functional-test/{leaf}"
        expected[f"{folder}/gen_manifests.yaml"] = MANIFESTS.format(
            name=name, replicas=2, image=image, port=port
        )
        expected[f"{folder}/kustomization.yaml"] = KUSTOMIZATION
        expected[f"{folder}/descriptor/deployment_descriptor.yaml"] = f"""\
kind: DeploymentDescriptor
metadata:
  name: greeter-functional-test-{leaf}-dev
spec:
  repo: https://github.com/acme/greeter
  path: ./{folder}
  commit: {SOURCE_COMMIT}    """
    assert done.files == expected
    assert '"helm": "v' in record


def test_variables_in_configs(application: Application) -> None:
    configs = {"functional-test/values.yaml": "app:\n  name: greeter-$ENVIRONMENT\n  port: 1\n"}
    done = application.render("--compatibility=current", configs=configs)
    manifests = done.files["functional-test/gen_manifests.yaml"]
    assert "  name: greeter-dev\n" in manifests


def test_the_old_flow_leaves_variables_of_configs_and_tracks_the_image(
    application: Application,
) -> None:
    source = {**CHART, "helm/values.yaml": CHART["helm/values.yaml"].replace(":$IMAGE_TAG", "")}
    configs = {"apps/a/values.yaml": "app:\n  name: $ENVIRONMENT\n  port: 1\n"}
    template = {DESCRIPTOR_TEMPLATE: "name: $WORKLOAD-$ENVIRONMENT-$DEPLOYMENT_TARGET"}
    done = application.render(
        "--compatibility=2023",
        "--image-name=ghcr.io/acme/greeter/hello:7",
        source=source | template,
        configs=configs,
    )
    assert done.status == 0, done.document
    manifests = done.files["apps/a/gen_manifests.yaml"]
    assert "  name: $ENVIRONMENT\n" in manifests
    assert "image: ghcr.io/acme/greeter/hello:7\n" in manifests
    assert done.files[".github/tracking/Image_name"] == "ghcr.io/acme/greeter/hello:7\n"
    assert ".github/tracking/Image_tag" not in done.files
    assert done.files["apps/a/descriptor/deployment_descriptor.yaml"] == "name: greeter-dev-a"


def test_an_undefined_variable_is_empty(application: Application) -> None:
    source = {**CHART, "helm/values.yaml": CHART["helm/values.yaml"] + "empty: $SRC_COMMIT\n"}
    source["helm/templates/note.yaml"] = (
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: note}\n"
        'data: {commit: "{{ .Values.empty }}"}\n'
    )
    variables = ("--source-repository=acme/greeter", "--version=1", "--image-tag=1")
    done = application.render(
        "--compatibility=current", source=source, configs={"a/values.yaml": ""}, variables=variables
    )
    assert 'data: {commit: ""}' in done.files["a/gen_manifests.yaml"]
    assert ".github/tracking/Promoted_Commit_Id" not in done.files


def test_the_last_of_equal_keys_replaces_the_others(application: Application) -> None:
    """Upstream joins texts: the child's `app` has no port, so the chart's own is used."""
    configs = {
        "group/values.yaml": "app:\n  name: parent\n  port: 99\n",
        "group/a/values.yaml": "app:\n  name: child\n",
    }
    done = application.render("--compatibility=current", configs=configs)
    assert "containerPort: 8080\n" in done.files["group/a/gen_manifests.yaml"]
    done = application.render(configs=configs)
    assert "containerPort: 99\n" in done.files["group/a/gen_manifests.yaml"]


def test_further_documents_of_values_are_a_warning(application: Application) -> None:
    configs = {"a/values.yaml": "replicas: 5\n", "a/b/values.yaml": "---\nreplicas: 6\n"}
    done = application.render("--compatibility=current", configs=configs)
    assert done.status == 0
    assert ("values-documents", "a/b/values.yaml", 2) in done.places("warnings")
