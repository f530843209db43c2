"""Services: charts of a repository and of an OCI registry on loopback, by their digests."""

from __future__ import annotations

import io
import json
import shutil
import socket
import subprocess
import tarfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from kalypso_actions.planning.application.services import (
    changed_digests,
    digest_of,
    files_of_archive,
    read_services,
)
from tests.breaks import breaks, turned
from tests.command_line import WIDE
from tests.planning.application.applications import CHART as APPLICATION_CHART
from tests.planning.application.applications import PROGRAMS, Application, find_program
from tests.planning.application.chart_repository import (
    ChartRepository,
    chart_repository,
    helm,
    packaged,
    service,
)

LOGIN = "reader:s3cret-of-charts"


@pytest.fixture
def charts(application: Application, tmp_path: Path) -> Iterator[ChartRepository]:
    with chart_repository(tmp_path / "charts") as repository:
        yield repository


CONFIGS = {
    "monitoring/values.yaml": "retention: 5d\n",
    "monitoring/eu/values.yaml": "retention: 7d\n",
    "monitoring/us/values.yaml": "",
}


def files(text: str, **more: str) -> dict[str, str]:
    return {"services/monitoring.yaml": text, **more}


def test_a_service_is_rendered_for_each_target(
    application: Application, charts: ChartRepository
) -> None:
    digest = charts.publish()
    source = files(service(charts.url, digest))
    options = ("--generator=services", "--namespace=observability")
    rendered = application.render(*options, source=source, configs=CONFIGS)
    assert rendered.status == 0, rendered.document
    eu = rendered.files["monitoring/eu/gen_manifests.yaml"]
    us = rendered.files["monitoring/us/gen_manifests.yaml"]
    assert "name: monitoring" in eu
    assert "namespace: observability" in eu
    assert "retention: 7d" in eu
    assert "retention: 5d" in us
    record = json.loads(rendered.files[".github/tracking/application.json"])
    assert record["dependencies"] == {"services/monitoring/metrics-1.2.3.tgz": digest}
    assert [path for path in charts.asked if path.endswith(".tgz")] == ["/metrics-1.2.3.tgz"]


def test_services_beside_other_generators(
    application: Application, charts: ChartRepository
) -> None:
    digest = charts.publish()
    source = {**APPLICATION_CHART, **files(service(charts.url, digest))}
    configs = {**CONFIGS, "shop/values.yaml": "replicas: 2\n"}
    rendered = application.render("--generator=helm,services", source=source, configs=configs)
    assert rendered.status == 0, rendered.document
    assert rendered.document["generator"] == "helm, services"
    assert "kind: Deployment" in rendered.files["shop/gen_manifests.yaml"]
    assert "retention: 7d" in rendered.files["monitoring/eu/gen_manifests.yaml"]


@breaks(
    "a chart of any content is deployed",
    turned(
        "kalypso_actions.planning.application.services.digest_problem",
        "service.digest in {'', digest}",
        "True",
    ),
)
def test_a_chart_with_another_digest_is_refused(
    application: Application, charts: ChartRepository
) -> None:
    charts.publish()
    wrong = f"sha256:{'0' * 64}"
    options = ("--generator=services",)
    for compatibility in ("none", "current"):
        rendered = application.render(
            *options,
            f"--compatibility={compatibility}",
            source=files(service(charts.url, wrong)),
            configs=CONFIGS,
        )
        assert rendered.codes() == ["service-digest"]
    rendered = application.render(*options, source=files(service(charts.url)), configs=CONFIGS)
    assert rendered.codes() == ["service-digest"]
    assert "names no digest" in rendered.messages()


@breaks(
    "a chart is published again under its version",
    turned(changed_digests, "before.get(path, digest) != digest", "False"),
)
def test_a_version_keeps_its_content(application: Application, charts: ChartRepository) -> None:
    """Upstream's form of the file names no digest, so that the record of the tree decides."""
    charts.publish()
    options = ("--generator=services", "--compatibility=current")
    source = files(service(charts.url))
    first = application.render(*options, source=source, configs=CONFIGS)
    assert first.status == 0, first.document
    same = application.render(*options, source=source, configs=CONFIGS, gitops=first.files)
    assert same.status == 0, same.document
    charts.publish({"values.yaml": "retention: 2d\n"})
    again = application.render(*options, source=source, configs=CONFIGS, gitops=first.files)
    assert again.codes() == ["service-digest"]
    assert "changed under the same version" in again.messages()


def test_upstreams_lines_of_the_default_namespace_go(
    application: Application, charts: ChartRepository
) -> None:
    charts.publish()
    source = files(service(charts.url))
    options = ("--generator=services", "--compatibility=current")
    rendered = application.render(*options, source=source, configs=CONFIGS)
    assert "namespace:" not in rendered.files["monitoring/eu/gen_manifests.yaml"]
    assert "monitoring/eu/kustomization.yaml" not in rendered.files
    digest = digest_of((charts.folder / "metrics-1.2.3.tgz").read_bytes())
    source = files(service(charts.url, digest))
    rendered = application.render("--generator=services", source=source, configs=CONFIGS)
    assert "namespace: default" in rendered.files["monitoring/eu/gen_manifests.yaml"]


def test_a_private_repository_needs_a_login(
    application: Application, charts: ChartRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = files(service(charts.url, charts.publish()))
    charts.require(LOGIN)
    refused = application.render("--generator=services", source=source, configs=CONFIGS)
    assert refused.codes() == ["chart-dependency"]
    monkeypatch.setitem(WIDE, "KALYPSO_CHART_CREDENTIALS", f"{charts.url}={LOGIN}")
    rendered = application.render("--generator=services", source=source, configs=CONFIGS)
    assert rendered.status == 0, rendered.document
    password = LOGIN.partition(":")[2]
    assert password not in json.dumps(rendered.document) + "".join(rendered.files.values())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name: monitoring\n", "helm.repository '' is missing or wrong"),
        (service("https://charts.example", version="^1.2"), "helm.version '^1.2'"),
        (service("https://charts.example", chart="--post-renderer"), "helm.chart '--post-ren"),
        (service("file:///etc"), "helm.repository 'file:///etc'"),
        (service("http://charts.example"), "helm.repository 'http://charts.example'"),
        (service("https://charts.example", digest="sha256:1"), "is no digest of an archive"),
        (service("https://charts.example").replace("monitoring", "Mon_1"), "the name 'Mon_1'"),
        ("name: [", ""),
    ],
)
def test_a_faulty_service_is_told(text: str, message: str) -> None:
    _, problems = read_services("acme/platform", {"services/a.yaml": text.encode()}, "none")
    assert problems
    assert any(message in problem.message for problem in problems)
    assert all(problem.where and problem.where.line for problem in problems)


def test_two_services_of_a_name() -> None:
    text = service("https://charts.example", f"sha256:{'0' * 64}").encode()
    services, problems = read_services(
        "a/b", {"services/a.yaml": text, "services/b.yaml": text}, "none"
    )
    assert [problem.message for problem in problems] == [
        "the service 'monitoring' is also in another file"
    ]
    assert len(services) == 1


def test_a_target_without_a_service_and_a_service_without_a_target(
    application: Application, charts: ChartRepository
) -> None:
    digest = charts.publish()
    source = files(service(charts.url, digest))
    rendered = application.render(
        "--generator=services", source=source, configs={"other/values.yaml": ""}
    )
    assert rendered.codes() == ["service-invalid"]
    assert "no service makes the target 'other'" in rendered.messages()
    source |= {"services/logs.yaml": service(charts.url, digest).replace("monitoring", "logs")}
    shutil.rmtree(application.folder / "configs")
    rendered = application.render("--generator=services", source=source, configs=CONFIGS)
    assert rendered.status == 0
    assert "service-without-target" in rendered.codes("warnings")


def archive_of(*members: tuple[str, bytes, bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, kind, content in members:
            info = tarfile.TarInfo(name)
            info.type, info.size = kind, len(content)
            archive.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


def test_a_hostile_archive_writes_nothing_elsewhere() -> None:
    archive = archive_of(
        ("metrics/Chart.yaml", tarfile.REGTYPE, b"a"),
        ("metrics/../../etc/passwd", tarfile.REGTYPE, b"b"),
        ("/etc/shadow", tarfile.REGTYPE, b"c"),
        ("../up.yaml", tarfile.REGTYPE, b"d"),
        ("metrics/link", tarfile.SYMTYPE, b""),
    )
    names = set(files_of_archive(archive, 1000))
    assert "Chart.yaml" in names
    assert not any(name.startswith(("/", "..")) for name in names)
    assert "link" not in names
    with pytest.raises(ValueError, match="more than"):
        files_of_archive(archive_of(("a/b", tarfile.REGTYPE, b"x" * 2000)), 1000)
    with pytest.raises(ValueError, match=r"no Chart\.yaml"):
        files_of_archive(archive_of(("a/b", tarfile.REGTYPE, b"x")), 1000)
    with pytest.raises(ValueError, match="no archive"):
        files_of_archive(b"text", 1000)


def test_an_archive_that_was_damaged_on_its_way_is_told() -> None:
    text = " ".join(str(number**5) for number in range(50_000)).encode()
    archive = archive_of(("metrics/Chart.yaml", tarfile.REGTYPE, text))
    for position in range(0, len(archive), len(archive) // 50):
        damaged = bytearray(archive)
        damaged[position] ^= 0xFF
        with suppress(ValueError):  # a changed letter is not found: the digest of a service is
            files_of_archive(bytes(damaged), len(text))
    end = len(archive) // 2
    with pytest.raises(ValueError, match="no archive"):
        files_of_archive(archive[:end] + bytes(end), len(text))


@pytest.fixture
def registry(application: Application, tmp_path: Path) -> Iterator[str]:
    """Run an OCI registry on loopback; return its host."""
    find_program("registry")
    program = shutil.which("registry", path=PROGRAMS)
    assert program
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        host = f"127.0.0.1:{free.getsockname()[1]}"
    settings = tmp_path / "registry.yaml"
    settings.write_text(
        f"version: 0.1\nstorage: {{filesystem: {{rootdirectory: {tmp_path / 'blobs'}}}}}\n"
        f"http: {{addr: {host}}}\n"
    )
    process = subprocess.Popen(
        [program, "serve", str(settings)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        for _ in range(300):
            with (
                suppress(OSError),
                socket.create_connection(("127.0.0.1", int(host.rpartition(":")[2])), timeout=1),
            ):
                break
            time.sleep(0.1)
        yield host
    finally:
        process.terminate()
        process.wait()


def test_a_chart_of_an_oci_registry(
    application: Application, registry: str, tmp_path: Path
) -> None:
    folder = tmp_path / "oci"
    folder.mkdir()
    digest = digest_of(packaged(folder))
    url = f"oci://{registry}/charts"
    helm(folder, "push", "metrics-1.2.3.tgz", url, "--plain-http")
    source = files(service(url, digest))
    rendered = application.render("--generator=services", source=source, configs=CONFIGS)
    assert rendered.status == 0, rendered.document
    assert "retention: 7d" in rendered.files["monitoring/eu/gen_manifests.yaml"]
    other = files(service(url, f"sha256:{'0' * 64}"))
    assert application.render("--generator=services", source=other, configs=CONFIGS).codes() == [
        "service-digest"
    ]
