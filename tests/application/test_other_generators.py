"""Kustomizations, plain manifests and commands instead of a chart."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.application.applications import POSIX, Application, find_program

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
