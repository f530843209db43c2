"""Workflow files of a repository: their triggers and their inputs.

https://docs.github.com/actions/reference/workflows-and-actions/workflow-syntax
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

import yaml

from kalypso_actions.model.workflow_files import FOLDER
from kalypso_sandbox.git.repositories import BareRepository

DISPATCH: Final = "workflow_dispatch"
EXPRESSION: Final = re.compile(r"\$\{\{\s*([\w.-]+)\s*\}\}")
"""A property of a context; the sandbox does not evaluate operators and functions."""


@dataclass(frozen=True, slots=True)
class Input:
    """An input of `workflow_dispatch`; `options` are the values of a choice."""

    required: bool = False
    default: str = ""
    options: Sequence[str] = ()
    description: str = ""
    is_boolean: bool = False


@dataclass(frozen=True, slots=True)
class Workflow:
    """A workflow file with its name, its triggers, and the inputs of a dispatch.

    `triggers` are the events that start it, with their filters; an invalid file has none.
    `described` is the whole file, from which the workflow runner reads the jobs.
    """

    path: str
    name: str
    triggers: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    inputs: Mapping[str, Input] = field(default_factory=dict)
    run_name: str = ""
    described: Mapping[str, Any] = field(default_factory=dict)

    @property
    def id(self) -> int:
        """Return a number that depends only on the file's path."""
        return zlib.crc32(self.path.encode())

    def title(self, inputs: Mapping[str, str]) -> str:
        """Return the title of a run that a dispatch started with these inputs.

        This evaluates only `inputs.*`, `github.event.inputs.*` and `github.event_name`.
        https://docs.github.com/actions/reference/workflows-and-actions/workflow-syntax#run-name
        """
        values = {"github.event_name": DISPATCH}
        for name, value in inputs.items():
            values |= {f"inputs.{name}": value, f"github.event.inputs.{name}": value}
        filled = EXPRESSION.sub(lambda match: values.get(match[1], match[0]), self.run_name)
        return filled.strip() or self.name

    def is_called(self, identifier: str) -> bool:
        """Return whether an identifier is the workflow's id or file name."""
        return identifier in {str(self.id), self.path.removeprefix(FOLDER)}


def workflows_of(git: BareRepository, revision: str) -> Sequence[Workflow]:
    """Return every workflow of a commit, sorted by path. Raises LookupError."""
    return [
        parse(path, content)
        for path, content in sorted(git.files(revision).items())
        if path.startswith(FOLDER) and path.endswith((".yml", ".yaml"))
    ]


@lru_cache(maxsize=256)
def parse(path: str, content: bytes) -> Workflow:
    """Parse a file; an invalid one has no triggers."""
    try:
        # BaseLoader reads only strings, so `on` is not a boolean.
        document = yaml.load(content, yaml.BaseLoader)  # noqa: S506 (reads strings only)
    except yaml.YAMLError:
        document = None
    if not isinstance(document, dict):
        return Workflow(path, path)
    triggers = document.get("on")
    if isinstance(triggers, str):
        triggers = [triggers]
    if not isinstance(triggers, dict):
        triggers = dict.fromkeys(map(str, triggers if isinstance(triggers, list) else ()))
    filters = {name: item if isinstance(item, dict) else {} for name, item in triggers.items()}
    inputs = filters.get(DISPATCH, {}).get("inputs")
    return Workflow(
        path,
        str(document.get("name") or path),
        filters,
        {name: _input(described) for name, described in inputs.items()}
        if isinstance(inputs, dict)
        else {},
        str(document.get("run-name") or ""),
        document,
    )


def _input(described: Any) -> Input:
    if not isinstance(described, dict):
        return Input()
    options = described.get("options")
    return Input(
        required=described.get("required") == "true",
        default=str(described.get("default", "")),
        options=options if isinstance(options, list) else (),
        description=str(described.get("description") or ""),
        is_boolean=described.get("type") == "boolean",
    )
