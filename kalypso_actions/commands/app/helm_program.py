"""The helm program: that of PATH, or in a job a pinned release."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from kalypso_actions.clients.helm import Helm
from kalypso_actions.clients.helm_release import RELEASE, install_release
from kalypso_actions.clients.network import CERTIFICATES
from kalypso_actions.clients.process import Programs
from kalypso_actions.errors import KalypsoError, UsageError

PROXIES: Final = ("https_proxy", "all_proxy", "no_proxy")

Install = Callable[[Path, Mapping[str, str]], Path]


def find_helm(
    programs: Programs, wanted: str, timeout: float, install: Install = install_release
) -> tuple[Helm, str]:
    """Return helm and its version; `wanted` is a version or its first parts, "" for any.

    In a job whose runner has no such helm, install the pinned release if the inputs want it. Raises
    KalypsoError, UsageError for another version.
    """
    helm = Helm(programs, timeout=timeout)
    version = helm.version() if helm.is_installed else ""
    if version and _is_version(version, wanted):
        return helm, version
    folder = programs.variable("RUNNER_TEMP")
    if folder and programs.variable("GITHUB_ACTIONS") == "true" and _is_version(RELEASE, wanted):
        names = (*CERTIFICATES, *PROXIES, *map(str.upper, PROXIES))
        program = install(Path(folder), {name: programs.variable(name) for name in names})
        return Helm(programs, program=str(program), timeout=timeout), RELEASE
    if version:
        raise UsageError(
            f"helm has the version {version}, but helm-version is {wanted}",
            advice="install that version, or correct helm-version",
        )
    advice = "install helm, or correct PATH"
    raise KalypsoError("the source has a chart, which takes the helm program", advice=advice)


def _is_version(version: str, wanted: str) -> bool:
    parts = wanted.removeprefix("v")
    return not parts or f"{version.removeprefix('v')}.".startswith(f"{parts}.")
