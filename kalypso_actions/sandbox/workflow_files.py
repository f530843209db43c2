"""Workflow files: which there are, what may start them, and which inputs they take."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

import yaml

from kalypso_actions.sandbox.repositories import BareRepository

FOLDER: Final = ".github/workflows/"
DISPATCH: Final = "workflow_dispatch"


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

    @property
    def id(self) -> int:
        """A number that stays as long as the file keeps its path."""
        return zlib.crc32(self.path.encode())

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
