"""The services that a platform runs on its clusters: each is a chart of a repository, by digest."""

from __future__ import annotations

import hashlib
import io
import posixpath
import re
import tarfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from kalypso_actions.errors import Location, Problem
from kalypso_actions.model.application import Compatibility
from kalypso_actions.model.documents import Document
from kalypso_actions.model.kubernetes_names import dns_label_fault
from kalypso_actions.model.urls import is_loopback
from kalypso_actions.planning.application.helm import CHART_FILE
from kalypso_actions.sources.yaml_documents import parse_yaml

CHART: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]*")
VERSION: Final = re.compile(r"v?[0-9]+\.[0-9]+\.[0-9]+[0-9A-Za-z.+-]*")
"""An exact version: a range would name another chart tomorrow."""
DIGEST: Final = re.compile(r"sha256:[0-9a-f]{64}")

CODE: Final = "service-invalid"
DIGEST_CODE: Final = "service-digest"


@dataclass(frozen=True, slots=True)
class PlatformService:
    """A service: the name of its release and of its folder in the configs, and its chart.

    `digest` is that of the chart's archive, `sha256:…`; "" if the file names none.
    """

    name: str
    repository: str
    chart: str
    version: str
    digest: str
    where: Location

    @property
    def archive(self) -> str:
        """The name of the chart's archive, by which its digest is recorded."""
        return f"services/{self.name}/{posixpath.basename(self.chart)}-{self.version}.tgz"


def read_services(
    repository: str, files: Mapping[str, bytes], compatibility: Compatibility
) -> tuple[list[PlatformService], list[Problem]]:
    """Return the services of YAML files, and all problems in them.

    A file has `name` and `helm` with `repository`, `chart`, `version`, as upstream's; `digest` is
    ours, and required with the compatibility `none`.
    """
    services: dict[str, PlatformService] = {}
    problems: list[Problem] = []
    for path in sorted(files):
        parsed = parse_yaml(repository, path, files[path])
        problems += parsed.problems
        for document in parsed.documents:
            service, faults = _service(document, compatibility)
            problems += faults
            if service.name in services:
                message = f"the service {service.name!r} is also in another file"
                problems.append(Problem(message, document.at("name"), "rename one", CODE))
            services[service.name] = service
    return list(services.values()), problems


def _service(
    document: Document, compatibility: Compatibility
) -> tuple[PlatformService, list[Problem]]:
    helm = document.body.get("helm")
    given = helm if isinstance(helm, dict) else {}
    fields = {name: str(given.get(name, "")) for name in ("repository", "chart", "version")}
    service = PlatformService(
        name=str(document.body.get("name", "")),
        digest=str(given.get("digest", "")),
        where=document.at("helm"),
        **fields,
    )
    return service, list(_faults(service, document, compatibility))


def _faults(
    service: PlatformService, document: Document, compatibility: Compatibility
) -> Iterator[Problem]:
    name_fault = dns_label_fault(service.name)
    if name_fault:
        message = f"the name {service.name!r} {name_fault}"
        yield Problem(message, document.at("name"), "correct the name", CODE)
    checks = (
        ("repository", _is_repository(service.repository), "write https://… or oci://…"),
        ("chart", bool(CHART.fullmatch(service.chart)), "write the chart's name"),
        ("version", bool(VERSION.fullmatch(service.version)), "write one version, such as 25.8.0"),
    )
    for field, is_right, advice in checks:
        if not is_right:
            given = getattr(service, field)
            message = f"helm.{field} {given!r} is missing or wrong"
            yield Problem(message, document.at("helm", field), advice, CODE)
    if service.digest and not DIGEST.fullmatch(service.digest):
        message = f"helm.digest {service.digest!r} is no digest of an archive"
        advice = "write sha256: and its 64 digits"
        yield Problem(message, document.at("helm", "digest"), advice, CODE)
    elif not service.digest and compatibility == "none":
        yield Problem(
            f"the service {service.name!r} names no digest of its chart: another content may come "
            "under the same version",
            service.where,
            "add helm.digest; `sha256sum` of the archive that `helm pull` fetches",
            DIGEST_CODE,
        )


def _is_repository(url: str) -> bool:
    parts = urlsplit(url)
    is_plain = parts.scheme == "http" and is_loopback(url)
    return (parts.scheme in {"https", "oci"} or is_plain) and bool(parts.hostname)


def digest_of(archive: bytes) -> str:
    """Return the digest of an archive."""
    return f"sha256:{hashlib.sha256(archive).hexdigest()}"


def digest_problem(service: PlatformService, archive: bytes) -> Problem | None:
    """Return the problem of a chart with another digest than the file names."""
    digest = digest_of(archive)
    if service.digest in {"", digest}:
        return None
    return Problem(
        f"the archive of {service.chart} {service.version} has the digest {digest}, not "
        f"{service.digest}",
        service.where,
        "if its owner has published it again, review what changed, and write the new digest",
        DIGEST_CODE,
    )


def changed_digests(
    before: Mapping[str, str], now: Mapping[str, str], where: Location
) -> Iterator[Problem]:
    """Yield a problem for each archive of a chart whose content changed under one version."""
    for path, digest in now.items():
        if before.get(path, digest) != digest:
            yield Problem(
                f"the content of {posixpath.basename(path)} changed under the same version: it was "
                f"{before[path]}, and is {digest}",
                where,
                "use a new version, or remove the archive's line from application.json after a "
                "review",
                DIGEST_CODE,
            )


def files_of_archive(archive: bytes, max_bytes: int) -> dict[str, bytes]:
    """Return the regular files of a chart's archive, by their path in the chart.

    Other members, and paths that lead out of the chart, are left out. Raises ValueError for an
    archive that cannot be read, has more than `max_bytes` of files, or is no chart.
    """
    files: dict[str, bytes] = {}
    size = 0
    try:
        with tarfile.open(fileobj=io.BytesIO(archive), mode="r:gz") as members:
            for member in members:
                size += member.size
                if size > max_bytes:
                    raise ValueError(f"its files have more than {max_bytes >> 20} MB")
                folder, _, path = posixpath.normpath(member.name).partition("/")
                if not member.isreg() or not path or folder in {"", ".."}:
                    continue
                content = members.extractfile(member)
                files[path] = content.read() if content else b""
    except (tarfile.TarError, zlib.error, EOFError, OSError) as error:
        raise ValueError(f"it is no archive: {error}") from error
    if CHART_FILE not in files:
        raise ValueError(f"it has no {CHART_FILE}")
    return files
