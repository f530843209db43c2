"""The data of a template: upstream's `dataType`, built once for each assignment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final, Literal

from kalypso_actions.model.kinds import Assignment
from kalypso_go.gotemplate import DEFAULT_LIMITS
from kalypso_go.gotemplate.budget import Budget, work_of
from kalypso_go.gotemplate.sprig.coercion import check_depth
from kalypso_go.gotemplate.values import (
    ANY_MAP,
    STRING,
    STRING_MAP,
    UINT64,
    YAML_MAP,
    Function,
    FunctionError,
    GoInt,
    GoMap,
    GoSlice,
    GoStruct,
    Type,
    keep_results,
    plain_key,
)

MAX_INT64: Final = (1 << 63) - 1


def to_template_value(value: object) -> object:
    """Copy a value of `goyaml.parse` into yaml.v2's Go types; templates may change the copy.

    A mapping with the keys 1 and true (or 1 and 1.0, 0 and false) keeps the keys of `goyaml.parse`,
    because Python's plain keys are equal.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        copy = GoMap(YAML_MAP)
        for key, inner in value.items():
            # Texts are most of the keys and values, and need no call.
            own_key = key if type(key) is str else plain_key(_unsigned(key))
            copy[own_key] = inner if type(inner) is str else to_template_value(inner)
        if len(copy) == len(value):
            return copy
        pairs = [(_unsigned(key), to_template_value(inner)) for key, inner in value.items()]
        return GoMap(YAML_MAP, pairs)
    if isinstance(value, list):
        return [to_template_value(item) for item in value]
    return _unsigned(value)


def _unsigned(value: object) -> object:
    """Give an integer beyond int64 its Go type."""
    if isinstance(value, int) and value > MAX_INT64:
        return GoInt(UINT64, value)
    return value


DATA_TYPE = Type("struct", "scheduler.dataType")

FIELDS = (
    "DeploymentTargetName",
    "Namespace",
    "Environment",
    "Workspace",
    "Workload",
    "Labels",
    "Manifests",
    "ClusterType",
    "ConfigData",
    "Repo",
    "Branch",
    "Path",
)
"""The names that a Go template can use after the first dot."""

_OLD_NAMES = {"Repo": "repo", "Branch": "branch", "Path": "path"}
"""Fields that the first templates used; now they are `.Manifests.repo` and so on."""

JINJA_NAMES = tuple(name for name in FIELDS if name not in _OLD_NAMES)
"""The names that a Jinja2 template can use."""


class SharedConfig:
    """A configuration as Go templates see it, shared by assignments whose Templates change nothing.

    `work` is the work of reading it.
    """

    __slots__ = ("go", "work")

    def __init__(self, values: Mapping[str, object]) -> None:
        self.go = go_config(values)
        keep_results(self.go)
        self.work = work_of(values, DEFAULT_LIMITS.work)


class SharedTexts:
    """The labels and manifests of a target, which its assignments share.

    `work` is the work of reading them; `methods` are the data's methods, which depend only on them.
    """

    __slots__ = ("methods", "work")

    def __init__(self, labels: Mapping[str, str], manifests: Mapping[str, str]) -> None:
        limit = DEFAULT_LIMITS.work
        self.work = work_of(labels, limit) + work_of(manifests, limit)
        self.methods = {
            name: Function(name, partial(_manifest_entry, manifests, key), result=STRING)
            for name, key in _OLD_NAMES.items()
        }


def _manifest_entry(manifests: Mapping[str, str], key: str) -> str:
    if key not in manifests:
        raise FunctionError(f"the deployment target's manifests have no {key!r}")
    return manifests[key]


@dataclass(slots=True)
class TemplateData:
    """The data of one assignment.

    All manifests and Templates of the assignment share `go`, which is built once: functions such as
    sprig's `set` change it for the manifests rendered later. They also share `budget`, which limits
    the work of the assignment, whatever other assignments take.
    """

    target: str
    namespace: str
    environment: str
    workspace: str
    workload: str
    labels: Mapping[str, str]
    manifests: Mapping[str, str]
    cluster_type: str
    config: Mapping[str, object]
    budget: Budget = field(default_factory=lambda: Budget(DEFAULT_LIMITS), repr=False)
    later_templates: list[int] = field(default_factory=list, compare=False)
    """The number of actions in each output that was rendered again."""
    shared: SharedConfig | None = field(default=None, repr=False, compare=False)
    """The configuration that assignments share; None if Templates may change it."""
    shared_texts: SharedTexts | None = field(default=None, repr=False, compare=False)
    texts: SharedTexts = field(init=False, repr=False, compare=False)
    """The `shared_texts`, or new ones if these are None."""
    _go: GoStruct | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        """Count the data once, because Templates may read it; calls count large data again."""
        limit = self.budget.limits.work
        of_config = self.shared.work if self.shared else work_of(self.config, limit)
        self.texts = self.shared_texts or SharedTexts(self.labels, self.manifests)
        self.budget.work += of_config + self.texts.work

    @property
    def go(self) -> GoStruct:
        """The data as a Go value, with a copy of the configuration, which templates may change."""
        if self._go is None:
            self._go = GoStruct(
                DATA_TYPE,
                {
                    "DeploymentTargetName": self.target,
                    "Namespace": self.namespace,
                    "Environment": self.environment,
                    "Workspace": self.workspace,
                    "Workload": self.workload,
                    "Labels": GoMap(STRING_MAP, self.labels),
                    "Manifests": GoMap(STRING_MAP, self.manifests),
                    "ClusterType": self.cluster_type,
                    "ConfigData": self.shared.go if self.shared else go_config(self.config),
                },
                self.texts.methods,
            )
        return self._go

    def copy_of_go(self) -> GoStruct:
        """Copy the data as earlier templates have left it. Raises LimitError.

        A text of the configuration that is a template gets the copy, so it changes no data.
        """
        go = self.go
        copies: dict[int, object] = {}
        fields = {name: _copy(value, copies, 0) for name, value in go.fields.items()}
        return GoStruct(go.type, fields, go.methods)

    def with_manifests(
        self, manifests: Mapping[str, str], budget: Budget | None = None
    ) -> TemplateData:
        """Return the assignment's data with other `manifests`, before any template changes it."""
        own = budget or Budget(self.budget.limits)
        return replace(
            self, manifests=manifests, budget=own, later_templates=[], shared_texts=None, _go=None
        )


def go_config(values: Mapping[str, object]) -> GoMap:
    """Copy a configuration as templates see it."""
    config = GoMap(ANY_MAP, values)
    for key, value in values.items():
        if type(value) is not str:  # texts are most of the values
            config[key] = to_template_value(value)
    return config


def _copy(value: object, copies: dict[int, object], depth: int) -> object:
    """Copy maps and lists, each once; `copies` maps the identity of an original to its copy."""
    if not isinstance(value, dict | list):
        return value
    if id(value) in copies:
        return copies[id(value)]
    check_depth(depth, "the data")
    if isinstance(value, dict):
        mapping = GoMap(value.type, nil=value.nil) if isinstance(value, GoMap) else {}
        copies[id(value)] = mapping
        mapping.update((key, _copy(inner, copies, depth + 1)) for key, inner in value.items())
        return mapping
    items = GoSlice(value.type, nil=value.nil) if isinstance(value, GoSlice) else []
    copies[id(value)] = items
    items.extend(_copy(inner, copies, depth + 1) for inner in value)
    return items


NamespaceScheme = Literal["current", "legacy"]


def namespace_of(assignment: Assignment, environment: str, scheme: NamespaceScheme) -> str:
    """Return `<environment>-<cluster type>-<target>`; `legacy` has the workspace in the middle."""
    legacy = scheme == "legacy"
    middle = assignment.target.workspace if legacy else assignment.cluster_type.name
    return f"{environment}-{middle}-{assignment.target.name}"
