"""Lint the workflow templates, our own workflows, actions and scripts.

python -m tools.lint_workflows

The tool fills in the templates as `kalypso init` does, each kind in a folder that looks like a
repository. A suppressed finding has its reason beside it: in the file, or in .github/zizmor.yml.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, get_args

from kalypso_actions.commands.shared.workflow_templates import Place, workflow_files
from kalypso_actions.model.workflow_files import Placeholders

ROOT: Final = Path(__file__).resolve().parents[1]
PATH: Final = f"{Path(sys.executable).parent}{os.pathsep}{ROOT / '.build' / 'bin'}"
"""The folders of the linters: this environment's, and that of `make`."""

MARKS: Final = Placeholders("kalypso-actions/kalypso-actions", "1" * 40, "acme/control-plane")
"""A commit instead of a tag, as recommended."""


def main() -> int:
    """Run all linters; return 1 if one fails."""
    with tempfile.TemporaryDirectory(prefix="kalypso-lint-") as folder:
        templates = fill_in(Path(folder))
        failed = [words for words in commands(templates) if run(words)]
    return 1 if failed else 0


def fill_in(folder: Path) -> list[Path]:
    """Write the filled-in templates to repositories below `folder`, and return their paths."""
    written = []
    for place in get_args(Place):
        for path, text in workflow_files(place, MARKS).items():
            file = folder / place / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
            written.append(file)
    return written


def commands(templates: Sequence[Path]) -> Iterator[list[str | Path]]:
    """Yield the linters' command lines; paths are their inputs."""
    own = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
    actions = [ROOT / "action.yml", *sorted((ROOT / "actions").glob("*/action.yml"))]
    scripts = [ROOT / ".ci" / "run", *sorted((ROOT / "actions").rglob("*.sh"))]
    workflows = [*templates, *own]
    yield ["actionlint", "-shellcheck", program("shellcheck"), "-pyflakes", "", *workflows]
    yield [*schema("github-workflows"), *workflows]
    yield [*schema("github-actions"), *actions]
    yield [*schema("dependabot"), ROOT / ".github" / "dependabot.yml"]
    repositories = sorted({file.parents[2] for file in templates})
    yield [*ZIZMOR, *repositories]
    yield [*ZIZMOR, ROOT / ".github", *actions]
    yield ["shellcheck", *scripts]


ZIZMOR: Final = ("zizmor", "--offline", "--quiet", "--persona", "auditor")


def schema(name: str) -> list[str]:
    """Return the command line that checks against a schema of check-jsonschema."""
    return ["check-jsonschema", "--quiet", "--builtin-schema", f"vendor.{name}"]


def run(words: Sequence[str | Path]) -> int:
    """Run a linter, and return its exit code."""
    name, *arguments = words
    places = sum(isinstance(argument, Path) for argument in arguments)
    print(f"{name}: {places} files or folders", flush=True)
    return subprocess.run([program(str(name)), *arguments], cwd=ROOT, check=False).returncode


def program(name: str) -> str:
    """Return the path of a linter. Raises FileNotFoundError."""
    path = shutil.which(name, path=PATH)
    if path is None:
        raise FileNotFoundError(f"{name} is missing: `make lint-workflows` installs it")
    return path


if __name__ == "__main__":
    sys.exit(main())
