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
"""Nothing listens there (port 9, discard): every request by way of this proxy fails at once."""

TIMEOUT = 60
MAX_OUTPUT = 1 << 26
"""Bytes; far more than is read as YAML."""


class Kustomize:
    """Builds folders with the kustomize program, away from the repository and the network."""

    def __init__(self, programs: Programs) -> None:
        self._programs = programs

    def __call__(self, files: Mapping[str, bytes], folder: str) -> bytes:
        """The output of `kustomize build` on a folder among these files.

        Only files in or below a kustomization's own folder are read (kustomize's default), and
        neither plugins nor Helm run. Raises KalypsoError with the program's words.
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
                words = (error.stderr or error.problem.message).replace(f"{root}{os.sep}", "")
                advice = "kustomize is run without network, plugins and Helm"
                raise KalypsoError(f"kustomize build failed: {words}", advice=advice) from error


def find_kustomize(programs: Programs) -> Kustomize | None:
    """The program, if the machine has it."""
    return Kustomize(programs) if programs.find(PROGRAM) else None


def _environment(home: Path) -> dict[str, str]:
    proxies = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")
    return {
        **dict.fromkeys(proxies, NO_NETWORK),
        **dict.fromkeys(("NO_PROXY", "no_proxy"), ""),
        # Without a PATH it finds no git to fetch remote bases with.
        "PATH": "",
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home),
    }


def _write(root: Path, path: str, content: bytes) -> None:
    """Write one file; a path that leaves the folder is our own mistake, and ends here."""
    file = root / path
    if not file.resolve().is_relative_to(root):
        raise ValueError(f"{path!r} leaves the repository")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)
