"""Kustomizations, plain manifests and commands instead of a chart."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from tests.planning.application.applications import CHART, POSIX, Application, find_program

CONFIG_MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: app\ndata:\n  version: $VERSION\n"
CONFIGS = {"east/values.yaml": "", "west/values.yaml": ""}
BASE = {
    "kustomize/base/kustomization.yaml": "resources:\n- app.yaml\n",
    "kustomize/base/app.yaml": CONFIG_MAP,
    "kustomize/overlays/west/kustomization.yaml": "resources:\n- ../../base\nnamePrefix: west-\n",
}


def test_kustomize_builds_the_overlay_of_the_target_or_the_base(tmp_path: Path) -> None:
    find_program("kustomize")
    source = {
        **BASE,
        "kustomize/overlays/west/kustomization.yaml": "resources: [app.yaml]\nnamePrefix: west-\n",
        "kustomize/overlays/west/app.yaml": CONFIG_MAP,
    }
    done = Application(tmp_path).render(source=source, configs=CONFIGS)
    assert done.status == 0, done.messages()
    assert done.document["generator"] == "kustomize"
    assert done.document["programs"]["kustomize"].startswith("v5")
    assert "name: app\n" in done.files["east/gen_manifests.yaml"]
    assert "version: 0.0.1-7\n" in done.files["east/gen_manifests.yaml"]
    assert "name: west-app\n" in done.files["west/gen_manifests.yaml"]


def test_an_overlay_may_use_a_base_of_the_folder(tmp_path: Path) -> None:
    find_program("kustomize")
    done = Application(tmp_path).render(source=BASE, configs=CONFIGS)
    assert "name: west-app\n" in done.files["west/gen_manifests.yaml"]


def test_a_remote_base_is_reported_with_its_line(tmp_path: Path) -> None:
    find_program("kustomize")
    path = "kustomize/base/kustomization.yaml"
    text = "resources:\n- app.yaml\n- https://github.com/acme/base?ref=v1\n"
    done = Application(tmp_path).render(source={**BASE, path: text}, configs=CONFIGS)
    assert done.places() == [("kustomize-remote", path, 3)]


def test_a_faulty_kustomization_is_reported_with_its_file(tmp_path: Path) -> None:
    find_program("kustomize")
    path = "kustomize/overlays/west/kustomization.yaml"
    done = Application(tmp_path).render(
        source={**BASE, path: "resources: [no.yaml]\n"}, configs=CONFIGS
    )
    assert done.places() == [("kustomize-failed", path, 0)]


def test_values_that_nothing_reads(tmp_path: Path) -> None:
    source = {"manifests/app.yaml": CONFIG_MAP}
    done = Application(tmp_path).render(source=source, configs={"east/values.yaml": "a: 1\n"})
    assert done.places("warnings") == [("values-unread", "east/values.yaml", 0)]


def test_plain_manifests_of_the_target_or_of_all(tmp_path: Path) -> None:
    source = {
        "manifests/app.yaml": CONFIG_MAP,
        "manifests/west/b.yaml": CONFIG_MAP.replace("name: app", "name: b"),
        "manifests/west/a.yaml": CONFIG_MAP.replace("name: app", "name: a"),
    }
    done = Application(tmp_path).render(source=source, configs=CONFIGS)
    assert done.document["generator"] == "plain"
    text = CONFIG_MAP.replace("$VERSION", "0.0.1-7")
    assert done.files["east/gen_manifests.yaml"] == f"---\n# Source: manifests/app.yaml\n{text}"
    assert [
        line for line in done.files["west/gen_manifests.yaml"].splitlines() if "name" in line
    ] == ["  name: a", "  name: b"]


def test_a_fault_of_a_plain_manifest_has_its_line(tmp_path: Path) -> None:
    source = {"manifests/app.yaml": CONFIG_MAP, "manifests/again.yaml": CONFIG_MAP}
    done = Application(tmp_path).render(source=source, configs=CONFIGS)
    assert done.places()[0] == ("manifest-duplicate", "manifests/app.yaml", 4)


COMMAND = """
printf 'apiVersion: v1\\nkind: ConfigMap\\nmetadata: {name: %s-%s}\\n' \
    "$KALYPSO_TARGET" "$KALYPSO_VERSION" > "$KALYPSO_OUT/map.yaml"
cat "$KALYPSO_SOURCE/more.yaml" > "$KALYPSO_OUT/more.yaml"
test -z "$GITHUB_TOKEN"
"""


@POSIX
def test_a_command_writes_the_files_of_each_target(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "a-secret")
    done = Application(tmp_path).render(
        "--generator=command",
        f"--generator-command={COMMAND}",
        source={"more.yaml": CONFIG_MAP},
        configs=CONFIGS,
    )
    assert done.status == 0, done.messages()
    assert "name: east-0.0.1-7" in done.files["east/map.yaml"]
    assert done.files["east/kustomization.yaml"].endswith("resources:\n- map.yaml\n- more.yaml\n")


@POSIX
def test_a_command_that_fails(tmp_path: Path) -> None:
    done = Application(tmp_path).render(
        "--generator=command",
        "--generator-command=echo broken; exit 3",
        source={},
        configs={"east/values.yaml": ""},
    )
    assert done.codes() == ["generator-failed"]
    assert "exit code 3: broken" in done.messages()


@POSIX
def test_a_command_that_does_not_end(tmp_path: Path) -> None:
    done = Application(tmp_path).render(
        "--generator=command",
        "--generator-command=while :; do :; done",
        "--timeout=1s",
        source={},
        configs={"east/values.yaml": ""},
    )
    assert done.places() == [("", "east", 0)]
    assert "bash did not finish within 1 seconds" in done.messages()
    assert done.document["problems"][0]["advice"] == "look for a loop, or set timeout"


def test_a_source_with_nothing_to_render(tmp_path: Path) -> None:
    done = Application(tmp_path).render(source={"README.md": ""}, configs=CONFIGS)
    assert done.status == 2
    assert "nothing to render" in done.messages()


PLAYBOOK: Final = """
printf -- '- hosts: all\\n' > "$KALYPSO_OUT/install.yml"
cp "$KALYPSO_CONFIGS/$KALYPSO_TARGET/config.sh" "$KALYPSO_OUT/"
"""


@POSIX
@pytest.mark.parametrize("names", ["helm, command", "command,helm"])
@pytest.mark.parametrize("mode", ["none", "current", "2023"])
def test_a_chart_and_a_command_for_other_targets(
    application: Application, names: str, mode: str
) -> None:
    """Folders without values.yaml, which only another program understands, are for the command."""
    configs = {
        "functional/values.yaml": "",
        "functional/Readme.md": "",
        "int-test/config.sh": "export A=1\n",
        "edge/config.sh": "",
        "edge/east/config.sh": "export A=2\n",
        "docs/README.md": "",
        ".github/workflows/notify.yml": "",
    }
    options = (f"--generator={names}", f"--generator-command={PLAYBOOK}", f"--compatibility={mode}")
    done = application.render(*options, "--image-name=acme/shop", configs=configs)
    assert done.status == 0, done.messages()
    assert done.document["generator"] == "helm, command"
    targets = [target["folder"] for target in done.document["targets"]]
    assert targets == ["edge/east", "functional", "int-test"]
    own = {path for path in done.files if path.startswith(("edge", "int-test"))}
    assert own == {
        f"{folder}/{name}"
        for folder in ("edge/east", "int-test")
        for name in ("config.sh", "install.yml")
    }
    assert done.files["edge/east/config.sh"] == "export A=2\n"
    assert "functional/kustomization.yaml" in done.files
    assert done.codes("notes").count("target-not-kubernetes") == 2
    assert "configs-folder-without-values" in done.codes("notes")  # docs
    again = application.render(*options, "--image-name=acme/shop", gitops=done.files)
    assert again.document["changes"]["modified"] == []


@POSIX
def test_files_in_the_folder_of_a_target_are_no_target(application: Application) -> None:
    configs = {
        "a/values.yaml": "",
        "a/scripts/run.sh": "",
        "b/values.yaml": "",
        "b/c/values.yaml": "",
    }
    done = application.render(
        "--generator=helm,command", "--generator-command=exit 1", configs=configs
    )
    assert [target["folder"] for target in done.document["targets"]] == ["a", "b/c"]
    assert done.codes("warnings") == ["generator-unused"]


def test_a_chart_and_overlays_of_some_targets(application: Application) -> None:
    find_program("kustomize")
    source = {**CHART, **BASE, "manifests/south/a.yaml": CONFIG_MAP}
    source["manifests/shared.yaml"] = CONFIG_MAP.replace("name: app", "name: shared")
    configs = {**CONFIGS, "south/values.yaml": "a: 1\n"}
    done = application.render("--generator=plain,helm,kustomize", source=source, configs=configs)
    assert done.status == 0, done.messages()
    assert done.document["generator"] == "helm, kustomize, plain"
    assert done.document["programs"].keys() == {"helm", "kustomize"}
    made = {
        folder: done.files[f"{folder}/gen_manifests.yaml"] for folder in ("east", "west", "south")
    }
    assert "kind: Deployment" in made["east"]
    assert "name: west-app" in made["west"]
    assert made["south"] == f"---\n# Source: manifests/south/a.yaml\n{CONFIG_MAP}".replace(
        "$VERSION", "0.0.1-7"
    )
    assert done.places("warnings") == [("values-unread", "south/values.yaml", 0)]


@POSIX
def test_a_command_gets_targets_that_no_other_generator_can_make(tmp_path: Path) -> None:
    source = {"manifests/west/a.yaml": CONFIG_MAP}
    done = Application(tmp_path).render(
        "--generator=plain,command",
        f"--generator-command={COMMAND}",
        source={**source, "more.yaml": CONFIG_MAP},
        configs=CONFIGS,
    )
    assert done.status == 0, done.messages()
    assert "# Source: manifests/west/a.yaml" in done.files["west/gen_manifests.yaml"]
    assert "name: east-0.0.1-7" in done.files["east/map.yaml"]


def test_faults_of_several_generators_are_reported_together(application: Application) -> None:
    source = {**CHART, "manifests/west/a.yaml": CONFIG_MAP.replace("$VERSION", "1")}
    source["helm/templates/more.yaml"] = CONFIG_MAP.replace("$VERSION", "true")
    done = application.render("--generator=helm,plain", source=source, configs=CONFIGS)
    assert sorted(done.places()) == [
        ("manifest-not-text", "helm/templates/more.yaml", 6),
        ("manifest-not-text", "manifests/west/a.yaml", 6),
    ]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--generator=helm,kustomize"], "nothing to render in kustomize (kustomize)"),
        (["--generator=auto,helm"], "'auto' stands alone"),
        (["--generator=helm,ansible"], "'ansible' is none of auto, helm"),
        (["--generator=helm,plain", "--path=x"], "--path names the folder of one generator"),
        (["--generator=helm,command"], "need each other"),
        (["--generator-command=true"], "need each other"),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value),
)
def test_generators_that_are_wrong(tmp_path: Path, options: list[str], words: str) -> None:
    done = Application(tmp_path).render(*options, configs=CONFIGS)
    assert done.status == 2
    assert words in done.messages()


@POSIX
def test_a_broken_manifest_of_a_command_is_no_other_file(tmp_path: Path) -> None:
    for text in ("kind: A\\n", "a: [\\n"):
        done = Application(tmp_path).render(
            "--generator=command",
            f"--generator-command=printf '{text}' > $KALYPSO_OUT/a.yaml",
            source={},
            configs={"east/values.yaml": ""},
        )
        assert done.codes()[0] in {"manifest-incomplete", "manifest-invalid"}


@POSIX
def test_a_command_that_writes_nothing(tmp_path: Path) -> None:
    done = Application(tmp_path).render(
        "--generator=command", "--generator-command=true", source={}, configs={"east/a.sh": ""}
    )
    assert done.codes() == ["generator-failed"]
    assert "wrote no files for 'east'" in done.messages()


@POSIX
def test_a_deployment_target_may_name_a_file(tmp_path: Path) -> None:
    workload = (
        "apiVersion: scheduler.kalypso.io/v1alpha1\nkind: Workload\nmetadata: {name: w}\n"
        "spec:\n  deploymentTargets:\n  - {name: t, labels: {}, environment: dev, manifests: "
        "{repo: 'https://github.com/acme/greeter-gitops', branch: dev, path: ./int/install.yml}}\n"
    )
    done = Application(tmp_path).render(
        "--generator=command",
        f"--generator-command={PLAYBOOK}",
        "--workspace=acme",
        source={"workload/workload.yaml": workload},
        configs={"int/config.sh": ""},
    )
    assert (done.status, done.document["warnings"]) == (0, [])
    assert "path: ./int/install.yml" in done.files["int/descriptor/deployment_descriptor.yaml"]
