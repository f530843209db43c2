"""What the README shows is what happens.

python -m tests.test_readme     write the outputs of its commands anew
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
BLOCK = re.compile(r"```console\n(.*?)```", re.DOTALL)
COMMAND = re.compile(r"^\$ ((?:.*\\\n)*.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)


def sessions() -> list[str]:
    """The console blocks."""
    return [match[1] for match in BLOCK.finditer(README.read_text(encoding="utf-8"))]


def replayed(session: str, folder: Path) -> str:
    """A console block with what its commands print, in a folder that has the samples."""
    if not (folder / "samples").exists():
        (folder / "samples").symlink_to(ROOT / "samples")
    return "".join(
        f"$ {match[1]}\n{output_of(match[1], folder)}" for match in COMMAND.finditer(session)
    )


def output_of(command: str, folder: Path) -> str:
    """What a command prints, run by this Python."""
    program, *arguments = shlex.split(command.replace("\\\n", " "))
    if program == "kalypso":
        arguments = [sys.executable, "-m", "kalypso_actions", *arguments]
    else:
        arguments = [program, *arguments]
    done = subprocess.run(
        arguments,
        cwd=folder,
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=True,
    )
    return "".join(f"{line.rstrip()}\n" for line in done.stdout.splitlines())


@pytest.mark.parametrize("session", sessions(), ids=lambda session: session.split()[2])
def test_a_console_block_shows_what_its_commands_print(session: str, tmp_path: Path) -> None:
    assert replayed(session, tmp_path) == session


def options_in_the_readme() -> Iterator[str]:
    text = README.read_text(encoding="utf-8").partition("| option | |")[2].partition("\n\n")[0]
    return (match[1] for match in re.finditer(r"`(--[a-z-]+)", text))


def test_the_table_names_every_option_of_render() -> None:
    commands = (ROOT / "docs" / "reference" / "commands.md").read_text(encoding="utf-8")
    render = commands.partition("## kalypso render")[2].partition("## kalypso")[0]
    assert [*options_in_the_readme(), "--help"] == re.findall(
        r"^│ (--[a-z-]+)", render, re.MULTILINE
    )


def main() -> None:
    """Replay every block and put what was printed into the README."""
    with tempfile.TemporaryDirectory() as folder:
        text = README.read_text(encoding="utf-8")
        for session in sessions():
            text = text.replace(session, replayed(session, Path(folder)))
    README.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
