"""Bugs of upstream's scripts, each with the behaviour wanted instead.

They concern joined texts, links and the search of folders, the environment, helm's options, dropped
targets, and descriptors.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.git_repositories import commit, git, repository
from tests.planning.application.applications import (
    CHART,
    CONFIG_COMMIT,
    POSIX,
    SOURCE_COMMIT,
    Application,
    call,
)

WORKLOAD = """\
apiVersion: scheduler.kalypso.io/v1alpha1
kind: Workload
metadata:
  name: greeter
spec:
  deploymentTargets:
    - name: test
      labels: {application: greeting}
      environment: dev
      manifests:
        repo: https://github.com/acme/greeter-gitops
        branch: dev
        path: ./v1.2/east
    - name: other
      labels: {}
      environment: dev
      manifests:
        repo: https://github.com/acme/greeter-gitops
        branch: dev
        path: ./gone
"""


def manifests(files: dict[str, str], folder: str) -> str:
    return files[f"{folder}/gen_manifests.yaml"]


def test_maps_of_levels_merge_deeply(application: Application) -> None:
    configs = {
        "a/values.yaml": "app: {port: 1}\nreplicas: 5\n",
        "a/b/values.yaml": "app: {name: middle, port: 2}\n",
        "a/b/c/values.yaml": "app: {port: 3}\n",
    }
    done = application.render(configs=configs)
    text = manifests(done.files, "a/b/c")
    assert ("name: middle\n" in text, "containerPort: 3\n" in text, "replicas: 5\n" in text) == (
        True,
        True,
        True,
    )


def test_a_parent_without_a_final_newline(application: Application) -> None:
    configs = {"a/values.yaml": "replicas: 5", "a/b/values.yaml": "app: {port: 3}\n"}
    assert "replicas: 5\n" in manifests(application.render(configs=configs).files, "a/b")
    done = application.render("--compatibility=current", configs=configs)
    assert done.places() == [("values-glued", "a/values.yaml", 1)]


def test_a_new_subfolder_makes_a_group_and_says_so(application: Application) -> None:
    first = application.render(configs={"a/values.yaml": ""}).files
    configs = {"a/values.yaml": "", "a/b/values.yaml": ""}
    done = application.render(configs=configs, gitops=first)
    assert done.places("warnings") == [("configs-new-group", "a/b/values.yaml", 0)]
    assert done.document["changes"]["deleted"] == ["a/gen_manifests.yaml", "a/kustomization.yaml"]
    assert "a/gen_manifests.yaml" not in done.files


def test_a_subfolder_without_values_hides_no_target(application: Application) -> None:
    configs = {"a/values.yaml": "", "a/docs/notes.md": "text\n"}
    assert "a/gen_manifests.yaml" in application.render(configs=configs).files
    done = application.render("--compatibility=current", configs={**configs, "b/values.yaml": ""})
    assert ("configs-group", "a/values.yaml", 0) in done.places("warnings")
    assert "a/gen_manifests.yaml" not in done.files


def test_no_variable_of_the_environment_is_printed(
    application: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CD_BOOTSTRAP_TOKEN", "a-secret")
    configs = {"a/values.yaml": "app: {name: x$CD_BOOTSTRAP_TOKEN}\n"}
    for mode, name in (("none", "x$CD_BOOTSTRAP_TOKEN"), ("current", "x")):
        done = application.render(f"--compatibility={mode}", configs=configs)
        assert f"name: {name}\n" in manifests(done.files, "a")
        assert "a-secret" not in str(done)
    assert done.places("warnings") == [("variable-unknown", "a/values.yaml", 1)]
    done = application.render("--compatibility=2023", configs=configs)
    assert "name: x$CD_BOOTSTRAP_TOKEN" in manifests(done.files, "a")


@pytest.mark.parametrize("text", ["${HOME:-}", "$(POD)", "$1", "$", "100$"], ids=str)
def test_other_dollars_stay(application: Application, text: str) -> None:
    done = application.render(configs={"a/values.yaml": f"version: '{text}'\n"})
    assert f'version: "{text}"\n' in manifests(done.files, "a")


def test_an_undefined_variable_is_an_error_with_the_option(application: Application) -> None:
    variables = ("--version=1", "--image-tag=1")
    done = application.render(configs={"a/values.yaml": ""}, variables=variables)
    assert done.places() == [("variable-undefined", "helm/values.yaml", 5)]
    assert done.document["problems"][0]["advice"] == "give it with --image-name"


def test_spaces_and_a_slash_at_the_end(application: Application) -> None:
    configs = application.write("configs", {"east us/a b/values.yaml": "replicas: 4\n"})
    source = application.write("source", CHART)
    out = application.folder / "out"
    done = call(
        *("app", "render", f"--source={source}/", f"--configs={configs}/", "--environment=dev"),
        *("--version=1", "--image-tag=1", "--image-name=x", f"--out={out}/"),
        out=out,
    )
    assert done.status == 0, done.messages()
    assert "replicas: 4\n" in manifests(done.files, "east us/a b")


@POSIX
def test_links_do_not_loop(application: Application, tmp_path: Path) -> None:
    configs = application.write("configs", {"a/values.yaml": ""})
    (configs / "a" / "loop").symlink_to("..")
    done = application.render()
    assert done.places() == [("configs-link", "a/loop", 0)]


@POSIX
def test_links_of_the_chart_stay_in_the_repository(application: Application) -> None:
    source = application.write("source", {**CHART, "shared/note.yaml": "kind: Note\n"})
    (source / "helm" / "templates" / "passwd.yaml").symlink_to("/etc/passwd")
    (source / "helm" / "files").symlink_to("../shared")
    done = application.render(configs={"a/values.yaml": ""})
    assert done.places() == [("source-link", "helm/templates/passwd.yaml", 0)]
    (source / "helm" / "templates" / "passwd.yaml").unlink()
    (source / "helm" / "Chart.yaml").rename(source / "helm" / "chart")
    (source / "helm" / "Chart.yaml").symlink_to("nothing")
    assert application.render(source={}).places() == [("source-link", "helm/Chart.yaml", 0)]
    (source / "helm" / "chart").replace(source / "helm" / "Chart.yaml")
    template = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: note}\ndata:\n  note: {{ .Files.Get "files/note.yaml" | quote }}\n'
    done = application.render(source={"helm/templates/n.yaml": template})
    assert 'note: "kind: Note\\n"' in manifests(done.files, "a")


TEMPLATES = {
    **CHART,
    "helm/crds/greeting.yaml": (
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n"
        "metadata: {name: greetings.acme.example}\n"
    ),
    "helm/templates/info.yaml": """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}
  namespace: {{ .Release.Namespace }}
data:
  kubernetes: {{ .Capabilities.KubeVersion.Version }}
  monitors: "{{ .Capabilities.APIVersions.Has "monitoring.coreos.com/v1" }}"
""",
    "helm/templates/hook.yaml": (
        "apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: hook\n"
        "  annotations: {helm.sh/hook: pre-install}\n"
    ),
    "helm/templates/tests/test.yaml": (
        "apiVersion: v1\nkind: Pod\nmetadata:\n  name: test\n  annotations: {helm.sh/hook: test}\n"
    ),
}


def test_the_options_of_helm(application: Application) -> None:
    configs = {"East_US/values.yaml": ""}
    done = application.render(
        *("--namespace=web", "--kube-version=1.29", "--api-versions=monitoring.coreos.com/v1"),
        "--hooks=false",
        source=TEMPLATES,
        configs=configs,
    )
    text = manifests(done.files, "East_US")
    assert "  name: east-us\n  namespace: web\n" in text
    assert 'kubernetes: v1.29\n  monitors: "true"\n' in text
    assert ("kind: CustomResourceDefinition" in text, "kind: Job" in text, "kind: Pod" in text) == (
        True,
        False,
        False,
    )
    done = application.render(
        *("--release-name=mine", "--crds=false", "--tests=true"), source=TEMPLATES, configs=configs
    )
    text = manifests(done.files, "East_US")
    assert "  name: mine\n  namespace: default\n" in text
    assert ("kind: CustomResourceDefinition" in text, "kind: Job" in text, "kind: Pod" in text) == (
        False,
        True,
        True,
    )
    assert "manifest-hook" in done.codes("notes")


def test_upstreams_names_of_releases(application: Application) -> None:
    configs = {"East_US/values.yaml": ""}
    done = application.render("--compatibility=current", source=TEMPLATES, configs=configs)
    assert done.places() == [("release-name-invalid", "East_US", 0)]
    done = application.render("--compatibility=2023", source=TEMPLATES, configs=configs)
    text = manifests(done.files, "East_US")
    assert "  name: release-name\n" in text
    assert "kind: CustomResourceDefinition" not in text


def test_a_folder_is_no_option_of_helm(application: Application) -> None:
    configs = {"--post-renderer=sh/values.yaml": ""}
    done = application.render("--compatibility=current", configs=configs)
    assert done.codes() == ["release-name-invalid"]


def test_empty_values_take_the_defaults_of_the_chart(application: Application) -> None:
    for text in ("", "\n", "# nothing\n"):
        done = application.render(configs={"a/values.yaml": text})
        assert "replicas: 1\n" in manifests(done.files, "a")
        assert done.files["a/kustomization.yaml"].endswith("resources:\n- gen_manifests.yaml\n")
        assert [path for path in done.files if path.startswith("a/")] == [
            "a/gen_manifests.yaml",
            "a/kustomization.yaml",
        ]


def test_another_version_of_helm_is_refused(application: Application) -> None:
    configs = {"a/values.yaml": ""}
    done = application.render("--helm-version=v2", configs=configs)
    assert (done.status, done.codes()) == (2, [""])
    assert "helm-version is v2" in done.messages()
    version = application.render(configs=configs).document["programs"]["helm"]
    assert application.render(f"--helm-version={version}", configs=configs).status == 0


@pytest.mark.parametrize("name", ["Greeter", "my.app"])
def test_the_name_of_an_image_is_in_lower_case(application: Application, name: str) -> None:
    variables = (f"--source-repository=Acme/{name}", "--version=1", "--image-tag=1")
    done = application.render(configs={"a/values.yaml": ""}, variables=variables)
    image = f"ghcr.io/acme/{name}/{name}:1".lower()
    assert f"image: {image}\n" in manifests(done.files, "a")


def test_descriptors_are_computed_and_checked(application: Application) -> None:
    source = {**CHART, "workload/workload.yaml": WORKLOAD}
    configs = {"v1.2/east/values.yaml": "", "nobody/values.yaml": ""}
    done = application.render("--workspace=acme", source=source, configs=configs)
    assert (
        done.files["v1.2/east/descriptor/deployment_descriptor.yaml"]
        == f"""\
apiVersion: hub.kalypso.io/v1alpha1
kind: DeploymentDescriptor
metadata:
    labels:
        config-revision: "{CONFIG_COMMIT}"
    name: greeter-test-dev
spec:
    deploymentTarget:
        environment: dev
        manifests:
            branch: dev
            path: ./v1.2/east
            repo: https://github.com/acme/greeter-gitops
        name: greeter-test
    workload:
        application:
            name: greeting
            workspace:
                name: acme
        name: greeter
        source:
            branch: main
            path: .
            repo: https://github.com/acme/greeter
    workloadVersion:
        commit: "{SOURCE_COMMIT}"
        version: 0.0.1-7
"""
    )
    assert done.places("warnings") == [
        ("target-without-folder", "workload/workload.yaml", 20),
        ("folder-without-target", "nobody/values.yaml", 0),
    ]
    advice = [entry["advice"] for entry in done.document["warnings"]]
    assert "nobody" in advice[0]
    assert "greeter-test (v1.2/east) in" in advice[1]
    assert "workload.yaml:7" in advice[1]
    assert "nobody/descriptor/deployment_descriptor.yaml" not in done.files


def test_descriptors_of_several_environments_have_different_names(tmp_path: Path) -> None:
    names = set()
    for environment in ("dev", "stage"):
        folder = tmp_path / environment
        folder.mkdir()
        workload = WORKLOAD.replace("branch: dev", f"branch: {environment}")
        done = Application(folder, environment).render(
            "--workspace=acme",
            source={"manifests/a.yaml": "", "workload/workload.yaml": workload},
            configs={"v1.2/east/values.yaml": ""},
        )
        text = done.files["v1.2/east/descriptor/deployment_descriptor.yaml"]
        names.add(next(line for line in text.splitlines() if line.startswith("    name: ")))
    assert names == {"    name: greeter-test-dev", "    name: greeter-test-stage"}


def test_the_repositories_give_the_variables(application: Application) -> None:
    source = repository(application.folder / "source")
    commit_id = commit(source, CHART)
    configs = repository(application.folder / "configs")
    revision = commit(configs, {"a/values.yaml": ""})
    for clone, name in ((source, "greeter"), (configs, "greeter-configs")):
        url = f"https://github.com/acme/{name}"
        git(clone, "remote", "add", "origin", url)
    (source / "helm" / "values.yaml").write_text(CHART["helm/values.yaml"] + "uncommitted: x\n")
    variables = ("--version=1", "--image-tag=1")
    done = application.render(source={}, configs={}, variables=variables)
    assert done.document["variables"] == {
        "WORKLOAD": "greeter",
        "ENVIRONMENT": "dev",
        "SOURCE_REPO": "acme/greeter",
        "SOURCE_BRANCH": "main",
        "VERSION": "1",
        "IMAGE_TAG": "1",
        "IMAGE_NAME": "ghcr.io/acme/greeter/greeter",
        "SRC_COMMIT": commit_id,
        "CONFIG_REVISION": revision,
    }
