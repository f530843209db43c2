"""Dependencies of charts: vendored, in the source, or fetched by Chart.lock."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from kalypso_actions.errors import Location
from kalypso_actions.planning.application.chart import check_dependencies
from tests.planning.application import applications
from tests.planning.application.applications import CHART, POSIX, PROGRAMS, Application

LIBRARY = {
    "charts/redis/Chart.yaml": "apiVersion: v2\nname: redis\nversion: 1.0.0\n",
    "charts/redis/values.yaml": "image: $IMAGE_NAME\n",
    "charts/redis/templates/map.yaml": (
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: redis}\n"
        "data: {image: {{ .Values.image }}}\n"
    ),
}
DEPENDENCY = "dependencies:\n- name: redis\n  version: '>=1.0.0 <2'\n  repository: {}\n"
CONFIGS = {"a/values.yaml": ""}


def chart(repository: str) -> dict[str, str]:
    text = CHART["helm/Chart.yaml"] + DEPENDENCY.format(repository)
    return {**CHART, "helm/Chart.yaml": text}


def vendored(repository: str = "https://charts.example") -> dict[str, str]:
    return chart(repository) | {f"helm/{path}": text for path, text in LIBRARY.items()}


def locked(folder: Path) -> str:
    """Return the Chart.lock that helm itself writes for a dependency in ../library."""
    helm = shutil.which("helm", path=PROGRAMS)
    assert helm
    done = subprocess.run(
        [helm, "dependency", "update", "helm"],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "HOME": str(folder.parent)},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    shutil.rmtree(folder / "helm" / "charts")
    return (folder / "helm" / "Chart.lock").read_text()


@pytest.fixture
def source(application: Application) -> Path:
    """A chart that depends on another one of the source, with helm's Chart.lock."""
    library = {path.replace("charts/", "library/"): text for path, text in LIBRARY.items()}
    folder = application.write("source", chart("file://../library/redis") | library)
    locked(folder)
    return folder


def test_vendored_charts_and_their_variables(application: Application) -> None:
    done = application.render(source=vendored(), configs=CONFIGS)
    assert done.status == 0, done.messages()
    assert "image: ghcr.io/acme/greeter/greeter}" in done.files["a/gen_manifests.yaml"]


def test_a_chart_of_the_source_by_helms_own_lock(application: Application, source: Path) -> None:
    done = application.render(source={}, configs=CONFIGS)
    assert done.status == 0, done.messages()
    assert "name: redis" in done.files["a/gen_manifests.yaml"]


def test_a_lock_of_other_dependencies_is_refused(application: Application, source: Path) -> None:
    file = source / "helm" / "Chart.yaml"
    file.write_text(file.read_text().replace("<2", "<3"))
    done = application.render(source={}, configs=CONFIGS)
    assert done.places() == [("chart-dependency", "helm/Chart.lock", 5)]
    assert "digest differs" in done.messages()


def test_a_vendored_version_that_the_lock_does_not_name(
    application: Application, source: Path
) -> None:
    version = LIBRARY["charts/redis/Chart.yaml"].replace("1.0.0", "1.5.0")
    files = {f"helm/{path}": text for path, text in LIBRARY.items()}
    done = application.render(
        source={**files, "helm/charts/redis/Chart.yaml": version}, configs=CONFIGS
    )
    assert done.places() == [("chart-dependency", "helm/Chart.yaml", 5)]
    assert "redis 1.5.0, but Chart.lock names 1.0.0" in done.messages()


LOCK = """\
dependencies:
- name: redis
  repository: https://127.0.0.1:9/charts
  version: 1.0.0
digest: sha256:2520f87f7dc03ca817afdb0a2249bb83cfa73dc5012f105dfe3162af35bc0574
"""
"""A Chart.lock with the digest that helm computes for the dependency and this version."""


def test_a_chart_of_the_network_is_fetched_only_by_a_lock(application: Application) -> None:
    """Nothing listens at this address, so `fetch` fails with helm's message."""
    source = chart("https://127.0.0.1:9/charts")
    done = application.render(source=source, configs=CONFIGS)
    assert done.places() == [("chart-dependency", "helm/Chart.yaml", 5)]
    assert "not in its folder charts" in done.messages()
    done = application.render("--dependencies=fetch", source=source, configs=CONFIGS)
    assert done.places() == [("chart-dependency", "helm/Chart.yaml", 5)]
    assert "there is no Chart.lock" in done.messages()
    done = application.render(
        "--dependencies=fetch", source={**source, "helm/Chart.lock": LOCK}, configs=CONFIGS
    )
    assert done.places() == [("chart-dependency", "helm/Chart.yaml", 5)]
    assert "127.0.0.1:9" in done.messages()


@POSIX
def test_fetched_charts_are_recorded_since_the_lock_has_no_content(
    application: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    """This helm fetches an archive of the disk; all else is done by the real one."""
    helm = shutil.which("helm", path=PROGRAMS)
    library = application.write(
        "library", {f"redis/{Path(p).relative_to('charts/redis')}": t for p, t in LIBRARY.items()}
    )
    subprocess.run([str(helm), "package", "redis"], cwd=library, check=True, capture_output=True)
    archive = library / "redis-1.0.0.tgz"
    script = (
        f'#!/bin/bash\nPATH=/usr/bin:/bin\n[ "$1 $2" = "repo add" ] && exit\n'
        f"[ $1 = dependency ] && mkdir -p chart/charts && exec cp {archive} chart/charts/\n"
        f'exec {helm} "$@"\n'
    )
    folder = application.write("bin", {"helm": script})
    (folder / "helm").chmod(0o755)
    monkeypatch.setattr(applications, "PROGRAMS", f"{folder}{os.pathsep}{PROGRAMS}")
    source = {**chart("https://127.0.0.1:9/charts"), "helm/Chart.lock": LOCK}
    done = application.render("--dependencies=fetch", source=source, configs=CONFIGS)
    assert done.status == 0, done.messages()
    assert "name: redis" in done.files["a/gen_manifests.yaml"]
    digest = f"sha256:{hashlib.sha256(archive.read_bytes()).hexdigest()}"
    record = json.loads(done.files[".github/tracking/application.json"])
    assert record["dependencies"] == {"charts/redis-1.0.0.tgz": digest}
    assert done.places("warnings") == [("chart-content-unlocked", "helm/Chart.yaml", 5)]
    assert f"redis-1.0.0.tgz {digest}" in done.messages("warnings")
    vendored_files = {"helm/charts/redis-1.0.0.tgz": archive.read_bytes()}
    done = application.render("--dependencies=fetch", source=vendored_files)
    assert "chart-content-unlocked" not in done.codes("warnings")
    record = json.loads(done.files[".github/tracking/application.json"])
    assert record["dependencies"] == {}


def test_archives_have_their_versions_in_their_names() -> None:
    text = chart("https://charts.example")["helm/Chart.yaml"].encode()
    lock = b"dependencies:\n- name: redis\n  repository: https://charts.example\n  version: 1.2.3\n"
    where = Location("source", "helm")
    for name, faults in (("redis-1.2.3.tgz", 0), ("redis-1.2.4.tgz", 1)):
        files = {"Chart.yaml": text, "Chart.lock": lock, f"charts/{name}": b""}
        missing, problems = check_dependencies(files, where)
        assert (len(missing), len(problems)) == (0, faults)
    assert (
        check_dependencies({"Chart.yaml": text, "Chart.lock": lock}, where)[0][0].locked == "1.2.3"
    )
