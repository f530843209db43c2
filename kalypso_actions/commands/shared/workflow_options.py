"""The options of planning that nobody gives: those of the workflow files on a control plane's main.

    options = workflow_options(clone, {"scheduler", "missing-values"}, programs)
    options.values  # {"missing-values": "error"}

Without them, a command on a person's machine would judge the fleet by other rules than `schedule`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import yaml

from kalypso_actions.clients.git import GitRepository, is_path, is_repository
from kalypso_actions.clients.git.local import local_files
from kalypso_actions.clients.process import Programs
from kalypso_actions.commands.shared.reading.repositories import MAIN_BRANCH
from kalypso_actions.commands.shared.workflow_templates import our_actions
from kalypso_actions.errors import KalypsoError
from kalypso_actions.model.workflow_files import FOLDER

ACTIONS: Final = ("schedule", "ci", "preview")
"""The actions that plan; the first one that main uses decides, since it reaches the clusters."""

USES: Final = re.compile(rf"(?:^|/)actions/({'|'.join(ACTIONS)})(?:@|$)")

Steps = list[tuple[str, Mapping[str, str]]]
"""The steps of one action: the path of the workflow file, and the inputs."""


@dataclass(frozen=True, slots=True)
class WorkflowOptions:
    """Values by the inputs' names, and what to say about them; `paths` are those of the files."""

    values: dict[str, str] = field(default_factory=dict)
    paths: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()


def workflow_options(
    place: str,
    names: Collection[str],
    programs: Programs,
    *,
    is_current: bool = False,
    skips_invalid: bool = False,
) -> WorkflowOptions:
    """Return these options as main's workflow files give them; none without a repository there.

    `is_current`: the place is the clone that contains the current folder, whose working tree is
    read if main is checked out. A command that tells of invalid values itself `skips_invalid`.
    """
    path = Path(place)
    if not place or not is_path(place) or not is_repository(path):
        return WorkflowOptions()
    repository = GitRepository(path, programs)
    try:
        main = MAIN_BRANCH if repository.has_branch(MAIN_BRANCH) else repository.default_branch()
        is_here = is_current and main == repository.checked_out
        files = local_files(path, programs) if is_here else repository.at_branch(main)
        paths = [path for path in files.entries() if re.fullmatch(rf"{FOLDER}[^/]+\.ya?ml", path)]
        texts = files.read(paths)
    except KalypsoError:
        return WorkflowOptions()  # whatever reads the control plane reports the error
    return options_of(texts, main, names, skips_invalid=skips_invalid)


def options_of(
    texts: Mapping[str, bytes], main: str, names: Collection[str], *, skips_invalid: bool = False
) -> WorkflowOptions:
    """Return the options of workflow files by path; `main` is the branch that has them."""
    steps: dict[str, Steps] = {}
    for path, text in sorted(texts.items()):
        for action, inputs in _steps(text):
            steps.setdefault(action, []).append((path, inputs))
    action = next(filter(steps.__contains__, ACTIONS), "")
    values: dict[str, str] = {}
    used: dict[str, None] = {}
    unclear: list[str] = []
    for name in sorted(names):
        given = [(path, inputs.get(name, "")) for path, inputs in steps.get(action, ())]
        choices = {value for _, value in given}
        path = next((path for path, value in given if value), "")
        if not path:
            continue
        if len(choices) > 1:
            reason = f"steps of {action} give different values"
        elif "${{" in (value := choices.pop()):
            reason = f"{action} gets it from an expression"
        elif skips_invalid and value not in _valid(action, name, value):
            reason = f"{value!r} is none of {', '.join(_valid(action, name, value))}"
        else:
            values[name] = value
            used[path] = None
            continue
        unclear.append(f"--{name} is the default: in {path} on {main}, {reason}.")
    lines = list(unclear)
    if values:
        shown = ", ".join(f"{name} {value}" for name, value in values.items())
        lines.insert(0, f"As in {', '.join(used)} on {main}: {shown}.")
    return WorkflowOptions(values, tuple(used), tuple(lines))


def _valid(action: str, name: str, value: str) -> Collection[str]:
    """Return the values that an input takes; this one, if it takes any."""
    return our_actions()[action].choices.get(name, (value,))


def _steps(text: bytes) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Yield the steps that use an action of `ACTIONS`: its name, and its inputs."""
    try:
        document = yaml.load(text, yaml.BaseLoader)  # noqa: S506 (it makes only strings)
    except (yaml.YAMLError, RecursionError, ValueError):
        return  # GitHub does not run it either
    for job in _values(_get(document, "jobs")):
        steps = _get(job, "steps")
        for step in steps if isinstance(steps, list) else ():
            uses = _get(step, "uses")
            match = USES.search(uses) if isinstance(uses, str) else None
            if match:
                inputs = _get(step, "with")
                items = inputs.items() if isinstance(inputs, dict) else ()
                yield match[1], {key: value for key, value in items if isinstance(value, str)}


def _get(value: Any, key: str) -> Any:
    return value.get(key) if isinstance(value, dict) else None


def _values(value: Any) -> Collection[Any]:
    return value.values() if isinstance(value, dict) else ()
