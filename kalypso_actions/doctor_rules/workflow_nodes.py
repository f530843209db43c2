"""Workflow files as YAML nodes, with their lines.

for key, job in file.jobs():
    yield file.finding("…", key, "…", "workflow-invalid")
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import yaml

from kalypso_actions.doctor_rules.workflows import BranchWorkflows
from kalypso_actions.errors import Finding, Level, Location

NOT_STARTED: Final = "workflow-not-started"
EXPRESSION: Final = "workflow-expression-unknown"
INPUT: Final = "workflow-input-unknown"
INVALID: Final = "workflow-invalid"
PERMISSION: Final = "workflow-permission-missing"
UNPROTECTED: Final = "workflow-unprotected"
CANCELLED: Final = "workflow-cancelled"
SECRET: Final = "workflow-secret"  # noqa: S105 - the code of a problem
VERSIONS: Final = "workflow-versions-differ"

MOST_FILES: Final = 256
"""The number of Kalypso's workflow files to remember; fifty environments have a hundred."""

MOST_BRACKETS: Final = 100
"""The depth of lists and mappings in brackets; a matrix of jobs has four."""
TOO_DEEP: Final = "its lists and mappings are nested too deeply"


@dataclass(frozen=True, slots=True)
class WorkflowFile:
    """A workflow file of Kalypso."""

    files: BranchWorkflows
    path: str
    text: str
    root: yaml.Node

    @property
    def name(self) -> str:
        """The name of the file, without its folder."""
        return self.path.rpartition("/")[2]

    def finding(
        self, message: str, node: yaml.Node, advice: str, code: str, level: Level = "warning"
    ) -> Finding:
        """Return a finding at a node."""
        mark = node.start_mark
        where = place_of(self.files, self.path, mark.line + 1, mark.column + 1)
        return Finding(message, where, advice, code, level=level)

    def refused(self, message: str, node: yaml.Node, advice: str) -> Finding:
        """Return the finding that GitHub does not run the file."""
        return self.finding(f"GitHub does not run {self.path}: {message}", node, advice, INVALID)

    def jobs(self) -> list[tuple[yaml.ScalarNode, yaml.Node]]:
        """Return the jobs, each with the node of its name."""
        return pairs(get(self.root, "jobs"))


class _Loader(yaml.SafeLoader):
    """Reads no deep lists and mappings in brackets: PyYAML needs the square of their depth."""

    def fetch_flow_collection_start(self, token: type[yaml.Token]) -> None:
        if self.flow_level > MOST_BRACKETS:
            raise yaml.YAMLError(TOO_DEEP)
        super().fetch_flow_collection_start(token)


@lru_cache(maxsize=MOST_FILES)
def composed(text: str) -> yaml.Node | None:
    """Return the nodes of a workflow file; each rule asks for them. Raises YAMLError."""
    try:
        node: yaml.Node | None = yaml.compose(text, Loader=_Loader)
    except RecursionError as error:
        raise yaml.YAMLError(TOO_DEEP) from error
    return node


def place_of(files: BranchWorkflows, path: str, line: int, column: int) -> Location:
    """Return a place in a file of a branch."""
    return Location(files.repository, path, line, column, files.branch)


def pairs(node: yaml.Node | None) -> list[tuple[yaml.ScalarNode, yaml.Node]]:
    """Return the keys of a mapping with their values; none of another node."""
    if not isinstance(node, yaml.MappingNode):
        return []
    return [(key, value) for key, value in node.value if isinstance(key, yaml.ScalarNode)]


def get(node: yaml.Node | None, name: str) -> yaml.Node | None:
    """Return the value of a key; None without one."""
    return next((value for key, value in pairs(node) if key.value == name), None)


def items(node: yaml.Node | None) -> list[yaml.Node]:
    """Return the items of a list; none of another node."""
    return list(node.value) if isinstance(node, yaml.SequenceNode) else []


def scalars(node: yaml.Node | None) -> list[yaml.ScalarNode]:
    """Return a text, or the texts of a list, as nodes."""
    nodes = node.value if isinstance(node, yaml.SequenceNode) else [node]
    return [each for each in nodes if isinstance(each, yaml.ScalarNode)]


def texts_of(node: yaml.Node | None) -> list[str]:
    """Return a text, or the texts of a list."""
    return [each.value for each in scalars(node)]


def text_of(node: yaml.Node | None) -> str:
    """Return a text; "" for another node."""
    return str(node.value) if isinstance(node, yaml.ScalarNode) else ""


def texts_below(node: yaml.Node) -> Iterator[tuple[str, yaml.ScalarNode]]:
    """Yield the texts of a node, each with its key, or "" in a list.

    A node that aliases repeat comes once for each key: a file can repeat it a million times.
    """
    seen: set[tuple[str, int]] = set()
    left = [("", node)]
    while left:
        key, each = left.pop()
        if (key, id(each)) in seen:
            continue
        seen.add((key, id(each)))
        if isinstance(each, yaml.ScalarNode):
            yield key, each
        elif isinstance(each, yaml.SequenceNode):
            left += [("", item) for item in reversed(each.value)]
        elif isinstance(each, yaml.MappingNode):
            left += [(text_of(name), value) for name, value in reversed(each.value)]


def name_of(text: str) -> str:
    """Return the name of a workflow; "" without one."""
    try:
        name = get(composed(text), "name")
    except yaml.YAMLError:
        return ""
    return str(name.value) if isinstance(name, yaml.ScalarNode) else ""


def events_of(root: yaml.Node | None) -> dict[str, yaml.Node | None]:
    """Return the triggers of a workflow by event, in each form of `on`."""
    on = get(root, "on")
    if isinstance(on, yaml.MappingNode):
        return {key.value: value for key, value in pairs(on)}
    return {node.value: None for node in scalars(on)}
