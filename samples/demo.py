"""Render the sample control plane onto its GitOps tree, and show what came out.

    python samples/demo.py

Works on plain folders: no network, no cluster, no account.
"""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

from rich.console import Console
from rich.text import Text
from rich.tree import Tree

ROOT = Path(__file__).resolve().parent.parent
HOST = "https://github.northline.example"

SOURCES = {
    f"{HOST}/platform/control-plane": "samples/control-plane/main",
    f"{HOST}/passengers/departure-boards": "samples/apps/departure-boards",
    f"{HOST}/rolling-stock/wheel-inspection": "samples/apps/wheel-inspection",
}
"""Each repository that the control plane refers to, and the folder that stands for it here."""

BEFORE, AFTER = "samples/gitops", "out/dev"
SHOWN = "halt/departure-boards-low-power/platform-config.sh"


def main() -> int:
    """Check, render, show; the exit code of the first command that fails."""
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 100)
    console.rule("The platform team's branches, checked together")
    branches = [f"samples/control-plane/{branch}" for branch in ("main", "dev", "stage")]
    status = kalypso(console, ["validate", *branches])
    if status:
        return status
    console.rule("What belongs into the GitOps repository of the environment dev")
    options = [f"--source={url}={folder}" for url, folder in SOURCES.items()]
    options += [f"--gitops={BEFORE}", f"--out={AFTER}"]
    status = kalypso(
        console, ["render", "dev", "--environment-dir=samples/control-plane/dev", *options]
    )
    if status:
        return status
    console.rule(f"The tree in {AFTER}")
    console.print(tree(ROOT / BEFORE, ROOT / AFTER))
    console.rule(SHOWN)
    console.print((ROOT / AFTER / SHOWN).read_text(encoding="utf-8").rstrip(), markup=False)
    return 0


def kalypso(console: Console, arguments: list[str]) -> int:
    """Show the command as one would type it, and run it."""
    words = [shlex.quote(argument) for argument in arguments]
    options = [f"\\\n    {word}" if word.startswith("--") else word for word in words]
    console.print(" ".join(["$ kalypso", *options]), soft_wrap=True)
    command = [sys.executable, "-m", "kalypso_actions", *arguments]
    return subprocess.run(command, cwd=ROOT, check=False).returncode


def tree(before: Path, after: Path) -> Tree:
    """The files of `after`, marked by how they differ from `before`; what went is shown too."""
    old, new = files(before), files(after)
    root = Tree(after.name)
    folders: dict[str, Tree] = {"": root}
    for path in sorted(old.keys() | new.keys()):
        parent = root
        *above, name = path.split("/")
        for depth, folder in enumerate(above, start=1):
            place = "/".join(above[:depth])
            if place not in folders:
                folders[place] = parent.add(folder)
            parent = folders[place]
        parent.add(label(name, old.get(path), new.get(path)))
    return root


def label(name: str, old: bytes | None, new: bytes | None) -> Text:
    """The name of a file and what became of it."""
    if new is None:
        return Text(f"{name}  deleted", style="red strike")
    if old is None:
        return Text(f"{name}  added", style="green")
    return Text(name, style="dim") if old == new else Text(f"{name}  modified", style="yellow")


def files(folder: Path) -> dict[str, bytes]:
    """Every file below `folder` by its path."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


if __name__ == "__main__":
    sys.exit(main())
