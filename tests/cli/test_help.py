"""Help and completion."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kalypso_actions.cli.command_list import ALL_COMMANDS, COMMANDS, GROUPS, load
from kalypso_actions.commands.registry import CHAIN, ChainCommand
from tests.command_line import PLUGINS, call_kalypso, command_named, start_kalypso
from tests.git_repositories import commit_branch

ENVIRONMENT = """\
apiVersion: scheduler.kalypso.io/v1alpha1
kind: Environment
metadata: {{name: {name}}}
spec: {{controlPlane: {{repo: any, branch: {name}, path: .}}}}
"""

FLEET = """\
apiVersion: scheduler.kalypso.io/v1alpha1
kind: ClusterType
metadata: {{name: edge-{name}}}
spec: {{reconciler: flux, namespaceService: namespace, configType: config}}
---
apiVersion: scheduler.kalypso.io/v1alpha1
kind: DeploymentTarget
metadata: {{name: clock-{name}, labels: {{workload: clock}}}}
spec: {{environment: {name}, manifests: {{}}}}
"""


ALL = ALL_COMMANDS


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a clone of a control plane with two environments."""
    folder = tmp_path_factory.mktemp("clones") / "clone"
    for name in ("dev", "stage"):
        commit_branch(folder, {"fleet.yaml": FLEET.format(name=name)}, name)
    commit_branch(
        folder, {f"{name}.yaml": ENVIRONMENT.format(name=name) for name in ("dev", "stage")}
    )
    return folder


@pytest.mark.parametrize("arguments", [["help", "render"], ["render", "-h"]], ids=str)
def test_the_help_of_a_command(arguments: list[str]) -> None:
    assert call_kalypso(*arguments).stdout == call_kalypso("render", "--help").stdout


def test_help_alone_lists_the_commands() -> None:
    for arguments in (["help"], ["-h"]):
        done = call_kalypso(*arguments)
        assert done.returncode == 0
        visible = [name for name, each in COMMANDS.items() if not each.hidden]
        assert all(name in done.stdout for name in (*visible, *PLUGINS))


def test_the_list_has_groups_and_whole_summaries() -> None:
    shown = call_kalypso("--help", variables={"COLUMNS": "80"}).stdout
    titles = [*GROUPS, "Plug-ins"]
    assert [line[:-1] for line in shown.splitlines() if line[:-1] in titles] == titles
    words = " ".join(shown.split())
    visible = {name: each for name, each in COMMANDS.items() if not each.hidden}
    assert all(f"{name} {each.summary}" in words for name, each in visible.items())
    assert {name for group in GROUPS.values() for name in group} >= visible.keys()


@pytest.mark.parametrize("name", [*ALL, *PLUGINS])
def test_options_have_their_whole_names_in_a_narrow_terminal(name: str) -> None:
    command = load(name) if name in ALL else command_named(name)
    shown = call_kalypso("help", *name.split(), variables={"COLUMNS": "80"}).stdout
    names = {option for each in command.params for option in each.opts if option[:2] == "--"}
    assert names - set(shown.split()) - {f"{word}," for word in shown.split()} == set()
    assert "<bool>" not in shown


def test_defaults_of_check_promote() -> None:
    shown = " ".join(call_kalypso("help", "check-promote").stdout.split())
    for default in ("60m", "15s", "2m", "1m", "off", "100%", "fail", "true", "cd.yaml"):
        assert f"[default: {default}]" in shown


def test_help_of_an_unknown_command() -> None:
    done = call_kalypso("help", "rendr")
    assert done.returncode == 2
    assert "No such command 'rendr'" in done.stderr


@pytest.mark.parametrize(
    ("name", "example"),
    [(name, each) for name, command in ALL.items() for each in command.examples],
)
def test_examples_are_right_calls(name: str, example: str) -> None:
    assert example.startswith(f"kalypso {name}")
    arguments = example.removeprefix(f"kalypso {name}").split()
    load(name).make_context(name, arguments)


@pytest.mark.parametrize("name", PLUGINS)
def test_the_examples_of_an_entry_point_s_command(name: str) -> None:
    command = command_named(name)
    examples = re.findall(rf"^kalypso {name} (.*)$", command.epilog, re.MULTILINE)
    for example in examples:
        command.make_context(name, example.split())
    assert examples


@pytest.mark.parametrize(
    ("command", "example"),
    [(command, example) for command in CHAIN for example in command.examples],
    ids=[example for command in CHAIN for example in command.examples],
)
def test_examples_give_what_is_required(command: ChainCommand, example: str) -> None:
    required = [field.alias for field in command.model.model_fields.values() if field.is_required()]
    assert [name for name in required if f"--{name}" not in example.split()] == []


def test_the_text_of_options() -> None:
    """Required options come first; brackets are no markup."""
    shown = " ".join(call_kalypso("app", "render", "-h").stdout.replace("│", " ").split())
    assert shown.index("--source ") < shown.index("--compatibility ")
    assert "or URL[@REV]. [required]" in shown
    assert "[default: vendored]" in shown


def test_the_end_of_help() -> None:
    shown = " ".join(call_kalypso("help", "check-promote").stdout.split())
    assert "Example: kalypso check-promote --control-plane acme/control-plane" in shown
    assert "Exit codes: 0 done, 1 problems, or clusters that do not comply, 2 wrong" in shown
    with_examples = {name for name, command in ALL.items() if command.examples}
    assert with_examples == {name for name, each in ALL.items() if not each.hidden} - {"app", "hub"}


def test_a_value_that_is_no_choice() -> None:
    done = call_kalypso("render", "dev", "--namespace-scheme", "old")
    assert done.returncode == 2
    assert "'--namespace-scheme': 'old' is not one of 'current', 'legacy'" in done.stderr


@pytest.mark.parametrize(
    ("words", "completed"),
    [
        ("kalypso render ", ["dev", "stage"]),
        ("kalypso render --environment s", ["stage"]),
        ("kalypso schedule --environment d", ["dev"]),
        ("kalypso explain dev --cluster-type ", ["edge-dev"]),
        ("kalypso explain --cluster-type e", ["edge-dev", "edge-stage"]),
        ("kalypso explain stage --target ", ["clock-stage"]),
        ("kalypso templ", ["template"]),
        ("kalypso help val", ["validate"]),
    ],
)
def test_completion(
    clone: Path, monkeypatch: pytest.MonkeyPatch, words: str, completed: list[str]
) -> None:
    monkeypatch.chdir(clone)
    variables = {
        "_KALYPSO_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": str(words.count(" ")),
    }
    done = call_kalypso(variables=variables)
    assert (done.stdout.split(), done.stderr) == (completed, "")


def test_completion_outside_of_a_clone_is_silent(tmp_path: Path) -> None:
    variables = {
        "_KALYPSO_COMPLETE": "complete_bash",
        "COMP_WORDS": "kalypso render ",
        "COMP_CWORD": "2",
    }
    done = start_kalypso(variables=variables, folder=tmp_path)
    assert (done.stdout.strip(), done.stderr) == ("", "")
