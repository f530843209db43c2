"""Each action.yml and its documentation agree with the models of the command."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic.fields import FieldInfo

from kalypso_actions.commands import set_up
from kalypso_actions.commands.registry import ACTIONS
from kalypso_actions.inputs.chain import ChainInputs, SetUpInputs, ValidateWorkloadInputs
from kalypso_actions.inputs.values import Inputs, option_of
from kalypso_actions.report.validate_document import OUTPUTS as VALIDATE_OUTPUTS

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "reference" / "actions.md").read_text(encoding="utf-8")
HEADINGS = {"all actions": "Common inputs", "set-up": "Any other command"}

MODELS: dict[str, type[Inputs]] = {
    "set-up": SetUpInputs,
    "validate-workload": ValidateWorkloadInputs,
    **{chain.name: chain.model for chain in ACTIONS.values()},
}
OUTPUTS = {
    "set-up": dict(set_up.OUTPUTS),
    "validate-workload": dict(VALIDATE_OUTPUTS),
    **{chain.name: dict(chain.document.OUTPUTS) for chain in ACTIONS.values()},
}
NAMES = (
    *("set-up", "ci", "cd", "schedule", "check-promote", "notify", "poll", "observe"),
    *("preview", "preview-comment", "rollback", "app-ci", "app-deploy", "app-notify"),
    *("app-preview", "app-poll", "app-check", "validate-workload"),
)
OF_THE_JOB = dict.fromkeys(("token", "job-token"), "${{ github.token }}")
ROW = re.compile(r"^\| (.*) \|$", re.MULTILINE)


def folder_of(name: str) -> Path:
    return ROOT if name == "set-up" else ROOT / "actions" / name


def action_of(name: str) -> Any:
    return yaml.safe_load((folder_of(name) / "action.yml").read_text(encoding="utf-8"))


def own_first(model: type[Inputs]) -> list[FieldInfo]:
    """Return the inputs of a command: its own first, then the common ones."""
    inputs = [name for name in model.model_fields if name not in {"output", "verbose", "debug"}]
    depth = {
        name: next(
            (place, list(base.__annotations__).index(name))
            for place, base in enumerate(model.__mro__)
            if name in base.__annotations__
        )
        for name in inputs
    }
    return [model.model_fields[name] for name in sorted(inputs, key=lambda name: depth[name])]


def table(name: str, head: str) -> list[list[str]]:
    """Return the cells of the table with this head in the section of an action."""
    part = PAGE.partition(f"\n## {HEADINGS.get(name, name)}\n")[2].partition("\n## ")[0]
    rows = part.partition(f"| {head} |")[2].partition("\n\n")[0]
    return [row.split(" | ") for row in ROW.findall(rows)][1:]


def cell(text: str) -> str:
    return text.replace("<", "&lt;").replace("|", "\\|")


@pytest.mark.parametrize("name", NAMES)
def test_model_action_and_page_agree(name: str) -> None:
    """Names, order, required, defaults and descriptions of inputs; names and texts of outputs."""
    model, action = MODELS[name], action_of(name)
    fields = own_first(model)
    assert list(action["inputs"]) == [field.alias for field in fields]
    shared = {field.alias for field in ChainInputs.model_fields.values()}
    rows = {row[0]: row[1:] for row in table(name, "input | default | ")}
    rows |= {row[0]: row[1:] for row in table("all actions", "input | default | ")}
    for field in fields:
        alias, declared = str(field.alias), action["inputs"][field.alias]
        assert declared.get("required", False) is field.is_required()
        default = declared.get("default", "")
        if alias not in OF_THE_JOB and not field.is_required():
            assert value_of(model, alias, default) == field.default, alias
        assert default or field.is_required() or not field.default or alias in OF_THE_JOB
        for part in option_of(field).text.removesuffix(".").split("; "):
            assert part in declared["description"]
        for allowed in allowed_values(field):
            assert allowed in declared["description"], f"{alias}: {allowed}"
        required = ", required" if field.is_required() else ""
        shown = f"`{default}`" if default else ""
        assert rows.pop(f"`{alias}`{required}") == [shown, cell(declared["description"])]
    assert {row.strip("`") for row in rows} <= shared
    outputs = {key: output["description"] for key, output in action["outputs"].items()}
    assert list(outputs.items()) == list(OUTPUTS[name].items())
    assert table(name, "output | ") == [[f"`{key}`", cell(text)] for key, text in outputs.items()]


def value_of(model: type[Inputs], alias: str, text: str) -> Any:
    """Parse an input like the model; GitHub sends a missing input as an empty text."""
    name = next(name for name, field in model.model_fields.items() if field.alias == alias)
    required = {
        str(field.alias): "a/b"
        if field.alias and field.alias.endswith(("-repository", "-plane"))
        else {"environment": "dev"}.get(str(field.alias), "0" * 40)
        for field in model.model_fields.values()
        if field.is_required()
    }
    inputs = {**required, **({alias: text} if text else {})}
    return getattr(model.model_validate(inputs), name)


def allowed_values(field: FieldInfo) -> Iterator[str]:
    if field.annotation is bool:
        yield from ("true", "false")
    yield from map(str, getattr(field.annotation, "__args__", ()) if literal(field) else ())


def literal(field: FieldInfo) -> bool:
    return "Literal" in str(field.annotation)


@pytest.mark.parametrize("name", [name for name in NAMES if name in ACTIONS])
def test_the_page_says_which_permissions_a_command_needs(name: str) -> None:
    rows = table(name, "permission | in the | because it")
    assert [row[:2] for row in rows] == [
        [f"`{row.name}: {row.level}`", row.place] for row in ACTIONS[name].permissions
    ]


def test_every_action_is_one_of_these() -> None:
    folders = {path.parent.name for path in (ROOT / "actions").glob("*/action.yml")}
    assert folders == set(NAMES) - {"set-up"}


@pytest.mark.parametrize("name", NAMES)
def test_an_action_is_one_step_that_gives_its_inputs_in_one_variable(name: str) -> None:
    script = "actions/launch.sh" if name == "set-up" else "../launch.sh"
    action = action_of(name)
    assert action["runs"] == {
        "using": "composite",
        "steps": [
            {
                "id": "run",
                "run": f'exec "$GITHUB_ACTION_PATH/{script}" {name}',
                "shell": "bash",
                "env": {"KALYPSO_INPUTS": "${{ toJSON(inputs) }}"},
            }
        ],
    }
    assert {key: output["value"] for key, output in action["outputs"].items()} == {
        key: f"${{{{ steps.run.outputs.{key} }}}}" for key in action["outputs"]
    }
    assert (folder_of(name) / script).resolve() == ROOT / "actions" / "launch.sh"


def test_runners_get_a_script_that_may_be_executed() -> None:
    command = ["git", "ls-files", "--stage", "actions/launch.sh"]
    entry = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert entry.startswith("100755 ")


def test_no_script_of_any_action_or_workflow_holds_an_expression() -> None:
    """An expression in a script is code injection; values belong in `env:` or `with:`."""
    files = [
        ROOT / "action.yml",
        *(ROOT / "actions").rglob("action.yml"),
        *(ROOT / "workflows-templates").rglob("*.y*ml"),
        *(ROOT / "kalypso_actions" / "samples").rglob(".github/workflows/*"),
        *(ROOT / ".github").rglob("*.y*ml"),
    ]
    scripts = [(path, script) for path in files for script in scripts_in(yaml_of(path))]
    assert len(scripts) >= len(NAMES)
    assert [str(path) for path, script in scripts if "${{" in script] == []


def yaml_of(path: Path) -> Any:
    return list(yaml.safe_load_all(path.read_text(encoding="utf-8")))


def scripts_in(node: Any) -> Iterator[str]:
    match node:
        case dict():
            for key, value in node.items():
                if key == "run" and isinstance(value, str):
                    yield value
                yield from scripts_in(value)
        case list():
            for value in node:
                yield from scripts_in(value)
