"""The kustomize program, for kustomizations that do more than list files."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from kalypso_actions.clients.process import ProcessError, Programs
from kalypso_actions.errors import KalypsoError

PROGRAM = "kustomize"

NO_NETWORK = "http://127.0.0.1:9"
"""A proxy on which nothing listens (port 9, discard), so that every request fails at once."""

TIMEOUT = 60
MAX_OUTPUT = 1 << 26
"""Bytes; far more than the limit of a YAML file."""


class Kustomize:
    """Builds folders with the kustomize program, in a temporary copy and without the network."""

    def __init__(self, programs: Programs) -> None:
        self._programs = programs

    def __call__(self, files: Mapping[str, bytes], folder: str) -> bytes:
        """Return the output of `kustomize build` for a folder among these files.

        kustomize reads only files below the folder of a kustomization (its default), and runs
        neither plugins nor Helm. Raises KalypsoError with the program's error message.
        """
        with tempfile.TemporaryDirectory(prefix="kalypso-kustomize-") as temporary:
            top = Path(temporary).resolve()
            root, home = top / "repository", top / "home"
            home.mkdir()
            for path, content in files.items():
                _write(root, path, content)
            arguments = [
                "build",
                "--load-restrictor",
                "LoadRestrictionsRootOnly",
                str(root / folder),
            ]
            try:
                return self._programs.run(
                    [PROGRAM, *arguments],
                    folder=root,
                    extra=_environment(home),
                    timeout=TIMEOUT,
                    max_output=MAX_OUTPUT,
                )
            except ProcessError as error:
                reason = (error.stderr or error.problem.message).replace(f"{root}{os.sep}", "")
                advice = "kustomize runs without network, plugins and Helm"
                raise KalypsoError(f"kustomize build failed: {reason}", advice=advice) from error


def find_kustomize(programs: Programs) -> Kustomize | None:
    """Return the program; None if it is not installed."""
    return Kustomize(programs) if programs.find(PROGRAM) else None


def _environment(home: Path) -> dict[str, str]:
    proxies = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")
    return {
        **dict.fromkeys(proxies, NO_NETWORK),
        **dict.fromkeys(("NO_PROXY", "no_proxy"), ""),
        # Without PATH, kustomize finds no git to fetch remote bases.
        "PATH": "",
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home),
    }


def _write(root: Path, path: str, content: bytes) -> None:
    """Write a file. Raises ValueError if its path leaves the folder, which is a bug of ours."""
    file = root / path
    if not file.resolve().is_relative_to(root):
        raise ValueError(f"{path!r} leaves the repository")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)
