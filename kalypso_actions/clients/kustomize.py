"""The kustomize program, for kustomizations that do more than list files."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from kalypso_actions.clients.process import ProcessError, Programs, no_network, write_file
from kalypso_actions.errors import KalypsoError

PROGRAM = "kustomize"

TIMEOUT = 600
"""Seconds of a build: 10,000 objects, those of 5,000 cluster types, take 50 to 100."""
MAX_OUTPUT = 1 << 26
"""Bytes of output, far more than the limit of a YAML file."""
MAX_MEMORY = 1 << 30
"""The memory limit of kustomize, in bytes; a usual build takes less than a tenth of it."""
KILLED = -9
"""The status of a program that Linux ended at its limit of processor time."""
REFUSED = 1
"""The exit code of kustomize after an error; other codes mean a crash."""
SIMPLER = "deliver the documents as files, or by a simpler kustomization"


class Kustomize:
    """Builds folders with the kustomize program, in a temporary copy and without the network."""

    def __init__(self, programs: Programs) -> None:
        self._programs = programs

    def __call__(
        self,
        files: Mapping[str, bytes],
        folder: str,
        /,
        *,
        cpu_seconds: int | None = None,
        max_memory: int | None = None,
        timeout: float = TIMEOUT,
    ) -> bytes:
        """Return the output of `kustomize build` for a folder among these files.

        By default, kustomize reads only files below the folder of a kustomization, and runs neither
        plugins nor Helm. Linux ends it after `cpu_seconds` of processor time. Raises KalypsoError
        with the program's error message.
        """
        with tempfile.TemporaryDirectory(prefix="kalypso-kustomize-") as temporary:
            top = Path(temporary).resolve()
            root, home = top / "repository", top / "home"
            home.mkdir()
            for path, content in files.items():
                write_file(root, path, content)
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
                    timeout=timeout,
                    max_output=MAX_OUTPUT,
                    max_memory=max_memory or MAX_MEMORY,
                    cpu_seconds=cpu_seconds,
                )
            except ProcessError as error:
                if error.status == KILLED and cpu_seconds:
                    reason = f"it takes more than {cpu_seconds} s of the processor"
                    raise KalypsoError(f"kustomize build: {reason}", advice=SIMPLER) from error
                if error.status not in {None, REFUSED}:
                    limit = (max_memory or MAX_MEMORY) >> 20
                    reason = f"it crashed, and probably needs more than {limit} MB of memory"
                    raise KalypsoError(f"kustomize build: {reason}", advice=SIMPLER) from error
                reason = (error.stderr or error.problem.message).replace(f"{root}{os.sep}", "")
                without = "kustomize runs without network, plugins and Helm"
                advice = without if error.stderr else SIMPLER
                raise KalypsoError(f"kustomize build failed: {reason}", advice=advice) from error

    def version(self) -> str:
        """Return the version, as `v5.8.1`. Raises KalypsoError."""
        with tempfile.TemporaryDirectory(prefix="kalypso-kustomize-") as temporary:
            home = Path(temporary)
            output = self._programs.run([PROGRAM, "version"], extra=_environment(home), timeout=60)
        return output.decode("utf-8", "replace").strip()


def find_kustomize(programs: Programs) -> Kustomize | None:
    """Return the program; None if it is not installed."""
    return Kustomize(programs) if programs.find(PROGRAM) else None


def _environment(home: Path) -> dict[str, str]:
    return {
        **no_network(),
        # Without PATH, kustomize finds no git to fetch remote bases.
        "PATH": "",
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home),
    }
