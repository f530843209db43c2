"""The artifacts of runs: files that GitHub keeps for later jobs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path


class Artifacts:
    """The artifacts by run and name. Safe to use from several threads."""

    def __init__(self) -> None:
        self._files: dict[tuple[str, str], Mapping[str, bytes]] = {}

    def do(self, action: str, inputs: Mapping[str, str], workspace: Path, run_id: int) -> bool:
        """Do what `actions/upload-artifact` or `download-artifact` does; return whether it worked.

        Paths are relative to the workspace. A download names its run by `run-id`.
        """
        folder = workspace / inputs.get("path", ".")
        if action == "upload-artifact":
            files = {
                file.relative_to(folder).as_posix(): file.read_bytes()
                for file in folder.rglob("*")
                if file.is_file()
            }
            if files:
                self._files[str(run_id), inputs["name"]] = files
            return bool(files) or inputs.get("if-no-files-found", "warn") != "error"
        stored = self._files.get((inputs.get("run-id") or str(run_id), inputs["name"]))
        for name, content in (stored or {}).items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)
        return stored is not None

    def replace(self, run_id: int, name: str, files: Mapping[str, bytes]) -> None:
        """Replace the files of an artifact, as the author of a fork can."""
        self._files[str(run_id), name] = files
