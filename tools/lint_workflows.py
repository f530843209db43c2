"""Lint what runs in GitHub Actions: the workflow templates, our own workflows, actions and scripts.

python -m tools.lint_workflows

The templates are filled in as `kalypso init` does it, each place in a folder that looks like a
repository. A finding that is none has its reason beside it: in the file, or in .github/zizmor.yml.
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

from kalypso_actions.commands.runtime.workflow_templates import Place, workflow_files
from kalypso_actions.model.workflow_placeholders import Placeholders

ROOT: Final = Path(__file__).resolve().parents[1]
PATH: Final = f"{Path(sys.executable).parent}{os.pathsep}{ROOT / '.build' / 'bin'}"
"""Where the linters lie: in this environment, and what `make` has built."""

MARKS: Final = Placeholders("kalypso-actions/kalypso-actions", "1" * 40, "acme/control-plane")
"""A commit in place of a tag, as it is recommended."""


def main() -> int:
    """Run all linters, each to its end; 1 where one has found anything."""
    with tempfile.TemporaryDirectory(prefix="kalypso-lint-") as folder:
        templates = fill_in(Path(folder))
        failed = [words for words in commands(templates) if run(words)]
    return 1 if failed else 0


def fill_in(folder: Path) -> list[Path]:
    """The templates with their marks filled in, in repositories below `folder`."""
    written = []
    for place in get_args(Place):
        for path, text in workflow_files(place, MARKS).items():
            file = folder / place / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
            written.append(file)
    return written


def commands(templates: Sequence[Path]) -> Iterator[list[str | Path]]:
    """The linters with what they are to look at."""
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
    """A schema that comes with check-jsonschema."""
    return ["check-jsonschema", "--quiet", "--builtin-schema", f"vendor.{name}"]


def run(words: Sequence[str | Path]) -> int:
    """Run a linter; its exit code."""
    name, *arguments = words
    places = sum(isinstance(one, Path) for one in arguments)
    print(f"{name}: {places} files or folders", flush=True)
    return subprocess.run([program(str(name)), *arguments], cwd=ROOT, check=False).returncode


def program(name: str) -> str:
    """A linter by its name. Raises FileNotFoundError."""
    found = shutil.which(name, path=PATH)
    if found is None:
        raise FileNotFoundError(f"{name} is missing: `make lint-workflows` installs it")
    return found


if __name__ == "__main__":
    sys.exit(main())
