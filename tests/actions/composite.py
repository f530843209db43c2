"""Run one composite action as GitHub's runner does, in a job of its own.

As on GitHub, inputs are no variables, a value is filled in once and never read as an expression
again, and an action has only the outputs that it declares.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import yaml

EXPRESSION: Final = re.compile(r"\$\{\{(.*?)\}\}", re.DOTALL)
COMMAND: Final = re.compile(r"^\s*::([a-z-]+)((?: [^:]*)?)::(.*)$")
SHELL: Final = ("bash", "--noprofile", "--norc", "-eo", "pipefail")
FILES: Final = ("GITHUB_OUTPUT", "GITHUB_ENV", "GITHUB_PATH", "GITHUB_STEP_SUMMARY")


@dataclass(frozen=True)
class Command:
    """A workflow command of the log, with its text as the runner understands it."""

    name: str
    properties: str
    text: str


@dataclass
class Job:
    """The state that steps share: variables, PATH, masks.

    Besides `variables`, a step's environment has only the runner's own.
    """

    folder: Path
    variables: dict[str, str]
    token: str = "of-the-job"
    masks: list[str] = field(default_factory=list)
    steps: int = 0

    def __post_init__(self) -> None:
        self.workspace = self.folder / "workspace"
        self.workspace.mkdir(parents=True)

    def uses(self, action: Path, **inputs: str) -> Ran:
        """Run the action in a folder, with these inputs (`-` written as `_`)."""
        return uses(self, action, {name.replace("_", "-"): text for name, text in inputs.items()})

    def shell(self, script: str, variables: Mapping[str, str] | None = None) -> Ran:
        """Run a step of the workflow's own."""
        return _run(self, script, dict(variables or {}))


@dataclass(frozen=True)
class Ran:
    """The results of a step; the `log` hides secrets, as people see it."""

    exit_code: int
    log: str
    commands: Sequence[Command]
    outputs: Mapping[str, str]
    summary: str

    def annotations(self) -> list[tuple[str, str]]:
        """Return level and text of each annotation."""
        levels = {"error", "warning", "notice"}
        return [(command.name, command.text) for command in self.commands if command.name in levels]


def uses(job: Job, folder: Path, inputs: Mapping[str, str]) -> Ran:
    """Run an action's steps up to the first that fails.

    Raises KeyError for an input that the action does not declare (GitHub only warns of it).
    """
    action = yaml.safe_load((folder / "action.yml").read_text(encoding="utf-8"))
    declared = action["inputs"]
    unknown = inputs.keys() - declared.keys()
    if unknown:
        raise KeyError(f"{folder.name} has no input {unknown}")
    contexts: dict[str, Any] = {"github": {"token": job.token}, "steps": {}}
    contexts["inputs"] = {
        name: inputs.get(name, filled(str(declaration.get("default", "")), contexts))
        for name, declaration in declared.items()
    }
    ran = []
    for step in action["runs"]["steps"]:
        assert step["shell"] == "bash"
        variables = {name: filled(text, contexts) for name, text in step["env"].items()}
        # The runner passes this path with the separators of its system.
        ran.append(_run(job, step["run"], variables | {"GITHUB_ACTION_PATH": str(folder)}))
        contexts["steps"][step["id"]] = {"outputs": ran[-1].outputs}
        if ran[-1].exit_code:
            break
    outputs = {
        name: filled(output["value"], contexts) for name, output in action["outputs"].items()
    }
    return Ran(
        ran[-1].exit_code,
        "".join(step_run.log for step_run in ran),
        [command for step_run in ran for command in step_run.commands],
        outputs,
        "".join(step_run.summary for step_run in ran),
    )


def filled(text: str, contexts: Mapping[str, Any]) -> str:
    """Return the text with the values of its expressions. Raises KeyError for an unknown one."""
    return EXPRESSION.sub(lambda match: _value(match[1].strip(), contexts), text)


def _value(expression: str, contexts: Mapping[str, Any]) -> str:
    if expression == "toJSON(inputs)":
        return json.dumps(contexts["inputs"], indent=2, ensure_ascii=False)
    value: Any = contexts
    *path, last = expression.split(".")
    for name in path:
        value = value[name]
    return str(value.get(last, ""))


def _run(job: Job, script: str, variables: Mapping[str, str]) -> Ran:
    if "${{" in script:
        raise ValueError("an expression in a script is code that somebody else may write")
    job.steps += 1
    folder = job.folder / f"step-{job.steps}"
    folder.mkdir()
    files = {name: folder / name for name in FILES}
    for path in [*files.values(), folder / "script.sh"]:
        path.touch()
    (folder / "script.sh").write_text(script, encoding="utf-8")
    process = subprocess.run(
        [*SHELL, str(folder / "script.sh")],
        cwd=job.workspace,
        env={**job.variables, **variables, **{name: str(path) for name, path in files.items()}},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    log, commands = read_log(process.stdout.decode("utf-8", "replace"), job.masks)
    job.variables.update(_assignments(files["GITHUB_ENV"]))
    for line in files["GITHUB_PATH"].read_text(encoding="utf-8").splitlines():
        job.variables["PATH"] = f"{line}:{job.variables['PATH']}"
    return Ran(
        process.returncode,
        log,
        commands,
        _assignments(files["GITHUB_OUTPUT"]),
        files["GITHUB_STEP_SUMMARY"].read_text(encoding="utf-8"),
    )


def read_log(output: str, masks: list[str]) -> tuple[str, list[Command]]:
    """Return the lines that people see, and the commands for the runner, in their order.

    The lines hide `masks`; the function adds those of the log.
    """
    shown, commands = [], []
    for line in output.splitlines():
        match = COMMAND.match(line)
        if match and match[1] == "add-mask":
            masks.append(_unescaped(match[3]))
            commands.append(Command(match[1], match[2].strip(), "***"))
            continue
        if match:
            commands.append(Command(match[1], match[2].strip(), _unescaped(match[3])))
        shown.append(_hidden(line, masks))
    return "".join(f"{line}\n" for line in shown), commands


def _hidden(line: str, secrets: Sequence[str]) -> str:
    for secret in sorted(secrets, key=len, reverse=True):
        line = line.replace(secret, "***")
    return line


def _unescaped(text: str) -> str:
    return text.replace("%0D", "\r").replace("%0A", "\n").replace("%25", "%")


def _assignments(file: Path) -> dict[str, str]:
    """Read `name=value` and `name<<delimiter` as the runner does."""
    values: dict[str, str] = {}
    lines = iter(file.read_text(encoding="utf-8").split("\n"))
    next_line: Callable[[], str] = lambda: next(lines)  # noqa: E731 - read until the delimiter
    for line in lines:
        equals, heredoc = line.find("="), line.find("<<")
        if heredoc >= 0 and (equals < 0 or heredoc < equals):
            name, _, delimiter = line.partition("<<")
            values[name] = "\n".join(iter(next_line, delimiter))
        elif equals >= 0:
            values[line[:equals]] = line[equals + 1 :]
        elif line:
            raise ValueError(f"{file.name}: {line!r} is no assignment")
    return values
