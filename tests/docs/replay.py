"""Run the commands in the console blocks of the documentation.

python -m tests.docs.replay [FILE…]     write what they print into the pages

The blocks of a page run one after the other in one folder, which holds the files that the page
shows and the repository's samples. A command may fail where `echo $?` follows it.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.docs.pages import ROOT, Page, pages

BLOCK: Final = re.compile(r"```console\n(.*?)```", re.DOTALL)
COMMAND: Final = re.compile(r"^\$ ((?:.*\\\n)*.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
STATUS: Final = "echo $?"
PROGRESS: Final = re.compile(r"[a-z]+: \d+ of \d+")
"""Progress of a slow step; it appears only on slow machines, so pages leave it out."""


@dataclass
class Shell:
    """Runs a page's commands in a folder."""

    folder: Path
    status: int = 0

    @classmethod
    def for_page(cls, page: Page, folder: Path) -> Shell:
        """Create a folder with the inputs of the page's commands."""
        for path, text in page.files().items():
            file = folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        if not (folder / "samples").exists():
            (folder / "samples").symlink_to(ROOT / "samples")
        programs = folder / ".programs"
        programs.mkdir()
        kalypso = programs / "kalypso"
        kalypso.write_text(f'#!/bin/sh\nexec {sys.executable} -m kalypso_actions "$@"\n')
        kalypso.chmod(0o755)
        return cls(folder)

    def replay(self, session: str) -> str:
        """Return a console block with the present output of its commands."""
        return "".join(
            f"$ {match[1]}\n{self._output_of(match[1])}" for match in COMMAND.finditer(session)
        )

    def _output_of(self, command: str) -> str:
        if command == STATUS:
            status, self.status = self.status, 0
            return f"{status}\n"
        assert self.status == 0, f"before {command!r}, a command ended with {self.status}"
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=self.folder,
            env={
                "HOME": os.devnull,
                "PATH": f"{self.folder / '.programs'}:/usr/bin:/bin",
                "PYTHONPATH": str(ROOT),
                "PYTHONUTF8": "1",
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            check=False,
        )
        self.status = done.returncode
        lines = (line.rstrip() for line in done.stdout.splitlines())
        return "".join(f"{line}\n" for line in lines if not PROGRESS.fullmatch(line))


def replayed(page: Page, folder: Path) -> str:
    """Return the page with the present output of its commands."""
    shell = Shell.for_page(page, folder)
    text = BLOCK.sub(lambda match: f"```console\n{shell.replay(match[1])}```", page.text)
    assert shell.status == 0, f"the last command of {page} ended with {shell.status}"
    return text


def main() -> None:
    """Replay all pages, or the given ones."""
    named = {Path(name).resolve() for name in sys.argv[1:]}
    for page in pages():
        if BLOCK.search(page.text) and (not named or page.path in named):
            with tempfile.TemporaryDirectory() as folder:
                page.path.write_text(replayed(page, Path(folder)), encoding="utf-8")


if __name__ == "__main__":
    main()
