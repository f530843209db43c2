"""Options that nobody gives come from the workflow files of main, and that is said."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kalypso_actions.commands.shared.workflow_options import options_of
from tests.command_line import call_kalypso
from tests.commands.control_plane_clones import MAIN, environment, make_clone, template
from tests.git_repositories import commit_branch, git

FOLDER = ".github/workflows/"
NAMES = ("missing-values", "scheduler")


def step(action: str, **inputs: str) -> str:
    lines = "".join(
        f"          {name.replace('_', '-')}: {text}\n" for name, text in inputs.items()
    )
    return f"      - uses: acme/kalypso/actions/{action}@v1\n        with:\n{lines}"


def workflow(*steps: str) -> bytes:
    return ("on: push\njobs:\n  one:\n    steps:\n      - run: x\n" + "".join(steps)).encode()


ERROR = {"missing-values": "error"}
STEP = step("schedule", missing_values="error", environment="dev")
SAID = f"As in {FOLDER}schedule.yaml on main: missing-values error."
FILE = f"{FOLDER}schedule.yaml"


@pytest.mark.parametrize(
    ("files", "values", "said"),
    [
        ({}, {}, ""),
        ({FILE: workflow(STEP)}, ERROR, SAID),
        ({FILE: workflow(STEP, STEP)}, ERROR, SAID),
        ({FILE: workflow(STEP), f"{FOLDER}ci.yaml": workflow(step("ci", scheduler="x"))}, ERROR, SAID),
        (
            {f"{FOLDER}ci.yaml": workflow(step("ci", scheduler="placement", strict="true"))},
            {"scheduler": "placement"},
            f"As in {FOLDER}ci.yaml on main: scheduler placement.",
        ),
        (
            {FILE: workflow(step("schedule", missing_values="${{ vars.MISSING }}"))},
            {},
            f"--missing-values is the default: in {FILE} on main, schedule gets it from an expression.",
        ),
        (
            {FILE: workflow(STEP, step("schedule", environment="stage"))},
            {},
            f"--missing-values is the default: in {FILE} on main, steps of schedule give different values.",
        ),
        ({FILE: workflow(step("check-promote", scheduler="x"))}, {}, ""),
        ({FILE: b"jobs: {a: {steps: [{uses: x/actions/schedule@v1, with: none}]}}"}, {}, ""),
        ({FILE: b"jobs: [{steps: 1}]"}, {}, ""),
        ({FILE: b"jobs: {a: 1, b: {steps: [1, {uses: [x]}]}}"}, {}, ""),
        ({FILE: b"a: [", f"{FOLDER}other.yml": workflow(STEP)}, ERROR, "other.yml on main"),
        ({FILE: b"\xff\xfe\x00"}, {}, ""),
    ],
    ids=str,
)  # fmt: skip
def test_the_files_give_options(files: dict[str, bytes], values: dict[str, str], said: str) -> None:
    options = options_of(files, "main", NAMES)
    assert options.values == values
    assert said in "\n".join(options.lines) and bool(said) == bool(options.lines)


GAP = template("reconciler").replace("kind: reconciler", "kind: '{{ .ConfigData.GAP }}'")


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a clone whose dev has a Template with a missing value."""
    folder = make_clone(tmp_path)
    files = {**MAIN, "templates.yaml": GAP + template("namespace", "namespace")}
    promoted = commit_branch(folder, files, "promoted")
    git(folder, "checkout", "--quiet", "dev")
    base = (folder / "base-repo.yaml").read_text()
    (folder / "base-repo.yaml").write_text(
        base[: base.index("commit: ")] + f"commit: {promoted}}}\n"
    )
    monkeypatch.chdir(folder)
    return folder


def set_workflow(clone: Path, *steps: str) -> None:
    files = {**MAIN, ".environments/dev.yaml": environment("dev")}
    commit_branch(clone, {**files, FILE: workflow(*steps)}, "main")
    git(clone, "checkout", "--quiet", "dev")


def test_a_command_in_a_clone_takes_them(clone: Path) -> None:
    (clone / "base-repo.yaml").write_text((clone / "base-repo.yaml").read_text())
    git(clone, "commit", "--quiet", "-am", "promote")
    without = call_kalypso("render", "--json")
    set_workflow(clone, STEP)
    done = call_kalypso("render", "--json")
    assert SAID in done.stderr and SAID not in without.stderr
    assert [bool(json.loads(each.stdout)["problems"]) for each in (without, done)] == [False, True]
    given = call_kalypso("render", "--json", "--missing-values", "warn")
    assert (given.stderr, json.loads(given.stdout)["problems"]) == (without.stderr, [])
    elsewhere = call_kalypso("render", "dev", "--json", "--control-plane", str(clone))
    assert SAID in elsewhere.stderr


def test_a_value_that_no_command_accepts_is_located(clone: Path) -> None:
    git(clone, "commit", "--quiet", "-am", "promote")
    set_workflow(clone, step("schedule", missing_values="loud"))
    done = call_kalypso("render")
    assert done.returncode == 2
    assert f"{FILE} on main: --missing-values: " in done.stderr
    assert call_kalypso("render", "--missing-values", "warn").returncode == 0
    checked = call_kalypso("validate", "--json")  # the rest is checked, too
    problems = json.loads(checked.stdout)["problems"]
    (problem,) = [item for item in problems if "refuses missing-values: loud" in item["message"]]
    assert (checked.returncode, problem["where"]["path"]) == (1, FILE)


def test_other_commands_take_them(clone: Path) -> None:
    git(clone, "commit", "--quiet", "-am", "promote")
    set_workflow(clone, STEP)
    for arguments in (
        ("validate",),
        ("explain", "dev", "--key", "GAP"),
        ("diff", "dev", "stage"),
        ("preview",),
        ("report", "--out", str(clone.parent / "page")),
    ):
        assert SAID in call_kalypso(*arguments).stderr, arguments
    for named in (("validate", "."), ("render", "dev", "--environment-dir", ".")):
        assert SAID not in call_kalypso(*named).stderr, named


def test_a_filter_of_paths_is_judged_by_the_documents(clone: Path) -> None:
    git(clone, "commit", "--quiet", "-am", "promote")
    ci = workflow(step("ci")).replace(b"on: push", b"on: {push: {paths: [docs/**]}}")
    files = {**MAIN, ".environments/dev.yaml": environment("dev")}
    commit_branch(clone, {**files, f"{FOLDER}ci.yaml": ci}, "main")
    warnings = json.loads(call_kalypso("validate", "--json").stdout)["warnings"]
    (message,) = [item["message"] for item in warnings if "filter of paths" in item["message"]]
    assert message.startswith("no push that changes only .environments/dev.yaml, ")
