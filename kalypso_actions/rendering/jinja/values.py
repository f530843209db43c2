"""The data of a template and Kalypso's own functions, for Jinja2."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from kalypso_actions.rendering.data import TemplateData, go_config
from kalypso_actions.rendering.functions import FUNCTIONS, to_template_value
from kalypso_actions.rendering.jinja.meter import current_meter
from kalypso_go.gotemplate.values import (
    ANY_MAP,
    STRING_MAP,
    YAML_MAP,
    FunctionError,
    GoMap,
    plain_key,
)

_INT64_MIN: Final = -(1 << 63)
_UINT64_MAX: Final = (1 << 64) - 1


def variables(data: TemplateData) -> dict[str, object]:
    """Return the fields of a Go template's dot, with every mapping sorted by its keys."""
    return {
        "DeploymentTargetName": data.target,
        "Namespace": data.namespace,
        "Environment": data.environment,
        "Workspace": data.workspace,
        "Workload": data.workload,
        "Labels": _sorted(GoMap(STRING_MAP, data.labels)),
        "Manifests": _sorted(GoMap(STRING_MAP, data.manifests)),
        "ClusterType": data.cluster_type,
        "ConfigData": _sorted(go_config(data.config)),
    }


def _sorted(value: object) -> object:
    """Copy a value with its mappings sorted by their keys.

    Raises `FunctionError` for a mapping with the keys 1 and true, which are equal in Python.
    """
    match value:
        case GoMap():
            if any(plain_key(key) is not key for key in value):
                raise FunctionError("a mapping has keys that only Go can tell apart: 1 and true")
            items = sorted(value.items(), key=lambda item: _rank(item[0]))
            return GoMap(value.type, [(key, _sorted(inner)) for key, inner in items])
        case list():
            return [_sorted(item) for item in value]
        case _:
            return value


def _rank(key: object) -> tuple[int, Any]:
    """Order keys of several types: none, booleans, numbers, texts."""
    match key:
        case None:
            return 0, 0
        case bool():
            return 1, key
        case int() | float():
            return 2, key
        case _:
            return 3, key


def _own_function(name: str) -> Callable[[object], object]:
    """Adapt Kalypso's function of Go templates to values of Jinja2."""
    function = FUNCTIONS[name]

    def call(value: object) -> object:
        meter = current_meter()
        meter.measure(value)
        arguments = (
            (meter.budget, _go_value(value)) if function.takes_budget else (_go_value(value),)
        )
        result = function.call(*arguments)
        meter.measure(result)
        return result

    call.__name__ = call.__qualname__ = name
    return call


def _go_value(value: object) -> object:
    """Return a value as Go sees it; maps from the data keep their type."""
    match value:
        case dict():
            entries = {key: _go_value(inner) for key, inner in value.items()}
            if isinstance(value, GoMap):
                return GoMap(value.type, entries)
            has_text_keys = all(isinstance(key, str) for key in value)
            return GoMap(ANY_MAP if has_text_keys else YAML_MAP, entries)
        case list() | tuple() | range():
            return [_go_value(item) for item in value]
        case int() if not _INT64_MIN <= value <= _UINT64_MAX:
            raise ValueError(f"Go has no integer as large as {value}")
        case int():
            return to_template_value(value)
        case _:
            return value


OWN_FUNCTIONS: Final[Mapping[str, Callable[[object], object]]] = {
    name: _own_function(name) for name in ("toYaml", "stringify", "hash", "unquote")
}
