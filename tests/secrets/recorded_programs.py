"""Programs that record their start before they run."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ALSO: Final = ("bash", "az", "kustomize", "pwsh", "azd")
"""Programs besides git; a missing one is replaced by one that fails."""

SCRIPT: Final = """\
#!/bin/sh
name=${{0##*/}}
printf '%s\\n' "$PPID" "$name" "$@" > "{records}/$$.$name.started"
env > "{records}/$$.$name.environment"
{more}exec "{folder}/$name" "$@"
"""


@dataclass(frozen=True)
class Started:
    """A program: its process id, that of its parent, and its arguments with the name first."""

    number: int
    parent: int
    words: tuple[str, ...]
    environment: Mapping[str, str]

    @property
    def name(self) -> str:
        """The name of the program."""
        return self.words[0]


@dataclass(frozen=True)
class Ended:
    """A run: its exit code, all of its output and files, and the programs that it started."""

    status: int
    output: str
    files: str
    started: Sequence[Started]

    def by_itself(self, program: Started) -> Started:
        """Return the ancestor of a program that the run itself started, or the program itself."""
        numbers = {other.number: other for other in self.started}
        while program.parent in numbers and numbers[program.parent] is not program:
            program = numbers[program.parent]
        return program


class Observatory:
    """Runs `kalypso`, and records all programs that it and git start."""

    def __init__(self, folder: Path) -> None:
        self._records, self._bin = folder / "records", folder / "bin"
        self._job = folder / "job"
        core = folder / "core"
        for made in (self._records, self._bin, core, self._job):
            made.mkdir(parents=True)
        real = Path(subprocess.check_output(["git", "--exec-path"], text=True).strip())
        self._write(core / ".recorder", real, "")
        for program in real.iterdir():
            if os.access(program, os.X_OK) and program.is_file():
                (core / program.name).symlink_to(core / ".recorder")
        more = f'export GIT_EXEC_PATH="{core}"\n'
        for name in ("git", *ALSO):
            path = shutil.which(name)
            place = Path(path).parent if path else folder / "nowhere"
            self._write(self._bin / name, place, more if name == "git" else "")

    def _write(self, path: Path, folder: Path, more: str) -> None:
        path.write_text(SCRIPT.format(records=self._records, folder=folder, more=more))
        path.chmod(0o755)

    def run(
        self, arguments: Sequence[str], environment: Mapping[str, str], *, code: str = ""
    ) -> Ended:
        """Run `kalypso --debug` with these arguments, as a job does.

        `code` is run before it, in the same process.
        """
        for old in (*self._records.iterdir(), *self._job.iterdir()):
            old.unlink()
        start = f"{code}\nfrom kalypso_actions.__main__ import main\nmain()"
        done = subprocess.run(
            [sys.executable, "-c", start, *arguments, "--debug"],
            env={
                **environment,
                **{name: str(self._job / name) for name in ("GITHUB_OUTPUT", "GITHUB_ENV")},
                "GITHUB_STEP_SUMMARY": str(self._job / "summary"),
                "PATH": f"{self._bin}:{os.environ['PATH']}",
                "COLUMNS": "10000",
            },
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        files = "".join(file.read_text() for file in sorted(self._job.iterdir()))
        return Ended(done.returncode, done.stdout + done.stderr, files, list(self._started()))

    def _started(self) -> Iterator[Started]:
        for record in sorted(self._records.glob("*.started")):
            parent, *words = record.read_text().splitlines()
            lines = record.with_suffix(".environment").read_text().splitlines()
            pairs = (line.partition("=") for line in lines)
            environment = {name: value for name, _, value in pairs}
            number = int(record.name.partition(".")[0])
            yield Started(number, int(parent), tuple(words), environment)
