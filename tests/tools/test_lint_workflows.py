"""The linters find faults in templates, and check every file."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.lint_workflows import ROOT, commands, fill_in, run

GOOD = """\
name: Good
on: push
permissions: {}
concurrency: {group: "${{ github.ref }}", cancel-in-progress: false}
jobs:
  one:
    name: One
    runs-on: ubuntu-latest
    steps:
      - run: echo done
"""
FAULTS = {
    "check-jsonschema": GOOD.replace("runs-on: ubuntu-latest", "steps-on: 1"),
    "zizmor": GOOD.replace("echo done", "echo ${{ github.event.head_commit.message }}"),
}


def workflow(folder: Path, text: str) -> list[Path]:
    file = folder / "control-plane" / ".github" / "workflows" / "one.yaml"
    file.parent.mkdir(parents=True)
    file.write_text(text)
    return [file]


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_of_a_template_is_found(tmp_path: Path, name: str) -> None:
    for number, text in enumerate((GOOD, FAULTS[name])):
        files = workflow(tmp_path / str(number), text)
        first = next(words for words in commands(files) if words[0] == name)
        own = [
            argument
            for argument in first
            if not (isinstance(argument, Path) and ROOT in argument.parents)
        ]
        assert bool(run(own)) == bool(number)


def test_everything_that_runs_in_actions_is_linted(tmp_path: Path) -> None:
    looked_at = {word for words in commands(fill_in(tmp_path)) for word in words}
    wanted = [
        ROOT / "action.yml",
        *ROOT.glob("actions/*/action.yml"),
        *ROOT.glob("actions/*.sh"),
        *ROOT.glob(".github/workflows/*"),
        ROOT / ".github" / "dependabot.yml",
        ROOT / ".ci" / "run",
        *tmp_path.rglob("*.yaml"),
    ]
    assert set(wanted) <= looked_at
    assert len(list(tmp_path.rglob("*.yaml"))) == 14
