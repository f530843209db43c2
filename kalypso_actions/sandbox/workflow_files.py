"""Workflow files: which there are, what may start them, and which inputs they take."""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

import yaml

from kalypso_actions.sandbox.repositories import BareRepository

FOLDER: Final = ".github/workflows/"
DISPATCH: Final = "workflow_dispatch"
EXPRESSION: Final = re.compile(r"\$\{\{\s*([\w.-]+)\s*\}\}")
"""A context's property and nothing else; operators and functions are not evaluated here."""


@dataclass(frozen=True, slots=True)
class Input:
    """An input of `workflow_dispatch`; `options` are the values of a choice."""

    required: bool = False
    default: str = ""
    options: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Workflow:
    """A file's path and name, the events that start it, and the inputs that it takes."""

    path: str
    name: str
    events: frozenset[str] = frozenset()
    inputs: Mapping[str, Input] = field(default_factory=dict)
    run_name: str = ""

    @property
    def id(self) -> int:
        """A number that stays as long as the file keeps its path."""
        return zlib.crc32(self.path.encode())

    def title(self, inputs: Mapping[str, str]) -> str:
        """Return the title of a run that a dispatch starts with these inputs.

        Only `inputs.*`, `github.event.inputs.*` and `github.event_name` are evaluated.
        https://docs.github.com/actions/reference/workflows-and-actions/workflow-syntax#run-name
        """
        values = {"github.event_name": DISPATCH}
        for name, value in inputs.items():
            values |= {f"inputs.{name}": value, f"github.event.inputs.{name}": value}
        filled = EXPRESSION.sub(lambda found: values.get(found[1], found[0]), self.run_name)
        return filled.strip() or self.name

    def is_called(self, identifier: str) -> bool:
        """Whether a request means this one: by its number or the name of its file."""
        return identifier in {str(self.id), self.path.removeprefix(FOLDER)}


def workflows_of(git: BareRepository, revision: str) -> Sequence[Workflow]:
    """Every workflow of a commit, in the order of their paths. Raises LookupError."""
    return [
        parse(path, content)
        for path, content in sorted(git.files(revision).items())
        if path.startswith(FOLDER) and path.endswith((".yml", ".yaml"))
    ]


@lru_cache(maxsize=256)
def parse(path: str, content: bytes) -> Workflow:
    """What a file says; one that cannot be read is started by nothing."""
    try:
        # Texts stay texts: `on` is no truth value, and inputs are texts anyway.
        document = yaml.load(content, yaml.BaseLoader)  # noqa: S506 (makes nothing but texts)
    except yaml.YAMLError:
        document = None
    if not isinstance(document, dict):
        return Workflow(path, path)
    triggers = document.get("on")
    if isinstance(triggers, str):
        triggers = [triggers]
    if not isinstance(triggers, (list, dict)):
        triggers = []
    told = triggers.get(DISPATCH) if isinstance(triggers, dict) else None
    inputs = told.get("inputs") if isinstance(told, dict) else None
    return Workflow(
        path,
        str(document.get("name") or path),
        frozenset(map(str, triggers)),
        {name: _input(one) for name, one in inputs.items()} if isinstance(inputs, dict) else {},
        str(document.get("run-name") or ""),
    )


def _input(described: Any) -> Input:
    if not isinstance(described, dict):
        return Input()
    options = described.get("options")
    return Input(
        required=described.get("required") == "true",
        default=str(described.get("default", "")),
        options=options if isinstance(options, list) else (),
    )
