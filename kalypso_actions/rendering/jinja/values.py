"""The data of a template and Kalypso's own functions, for Jinja2."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from kalypso_actions.gotemplate.values import ANY_MAP, STRING_MAP, YAML_MAP, GoMap, GoSlice
from kalypso_actions.rendering.data import TemplateData
from kalypso_actions.rendering.functions import FUNCTIONS, to_template_value
from kalypso_actions.rendering.jinja.meter import current_meter

_INT64_MIN: Final = -(1 << 63)
_UINT64_MAX: Final = (1 << 64) - 1


def variables(data: TemplateData) -> dict[str, object]:
    """What a Go template has as fields of dot; mappings sorted, however they were merged."""
    config = {key: to_template_value(value) for key, value in data.config.items()}
    return {
        "DeploymentTargetName": data.target,
        "Namespace": data.namespace,
        "Environment": data.environment,
        "Workspace": data.workspace,
        "Workload": data.workload,
        "Labels": _sorted(GoMap(STRING_MAP, data.labels)),
        "Manifests": _sorted(GoMap(STRING_MAP, data.manifests)),
        "ClusterType": data.cluster_type,
        "ConfigData": _sorted(GoMap(ANY_MAP, config)),
    }


def _sorted(value: object) -> object:
    """A copy, its mappings sorted by their keys."""
    match value:
        case GoMap():
            items = sorted(value.items(), key=lambda item: _rank(item[0]))
            return GoMap(value.type, [(key, _sorted(inner)) for key, inner in items])
        case GoSlice():
            return GoSlice(value.type, map(_sorted, value))
        case dict():
            return {key: _sorted(value[key]) for key in sorted(value, key=_rank)}
        case list():
            return [_sorted(item) for item in value]
        case _:
            return value


def _rank(key: object) -> tuple[int, Any]:
    """Keys of several types: none, booleans, numbers, texts."""
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
    """Kalypso's function of Go templates, for values of Jinja2."""
    function = FUNCTIONS[name]

    def call(value: object) -> object:
        meter = current_meter()
        meter.weigh(value)
        arguments = (meter.budget, _go_value(value)) if function.bounded else (_go_value(value),)
        result = function.call(*arguments)
        meter.weigh(result)
        return result

    call.__name__ = call.__qualname__ = name
    return call


def _go_value(value: object) -> object:
    """What comes from the data keeps its type.

    A list or mapping that a template has made is `[]interface {}` or `map[string]interface {}`.
    """
    match value:
        case GoMap():
            return GoMap(value.type, {key: _go_value(inner) for key, inner in value.items()})
        case dict():
            type_ = ANY_MAP if all(isinstance(key, str) for key in value) else YAML_MAP
            return GoMap(type_, {key: _go_value(inner) for key, inner in value.items()})
        case GoSlice():
            return GoSlice(value.type, map(_go_value, value))
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
