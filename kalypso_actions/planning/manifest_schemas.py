"""Check objects by the schemas of Kubernetes, Flux, Argo CD and Rancher Fleet, without the network.

`tools.manifest_schemas` makes the schemas, and describes their form. They have the names and types
of fields, so they refuse what no release accepts. `manifest_values` has the rules that no schema
has.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Final

from kalypso_actions.model.application import SchemaFault
from kalypso_actions.model.documents import Path
from kalypso_actions.model.nearest import misspelled, nearest
from kalypso_actions.model.urls import split
from kalypso_actions.planning.manifest_values import VALUE_INVALID, rule_words, rules_of

REQUIRED: Final = "!"
TYPES: Final[Mapping[str, tuple[type, ...]]] = {
    "text": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "integer or text": (int, str),
}


@cache
def _content() -> Any:
    return json.loads(files(__package__).joinpath("manifest_schemas.json").read_text("utf-8"))


@cache
def schema_words() -> tuple[str, ...]:
    """Return all texts of the schemas: names of kinds and fields, and values."""
    content = _content()
    parts = content["kinds"], content["shared"], rule_words()
    return tuple(sorted({word for part in parts for word in _words(part)}))


def _words(schema: Any) -> Iterator[str]:
    if isinstance(schema, str):
        yield schema
    elif isinstance(schema, list):
        for inner in schema:
            yield from _words(inner)
    else:
        for name, inner in schema.items():
            yield name
            yield from _words(inner)


def schema_faults(body: Mapping[str, Any]) -> Iterator[SchemaFault]:
    """Yield the faults of an object. An object of an unknown group or kind has none.

    What a newer release might accept is not certain: another field, or an older version.
    """
    api_version, kind = str(body["apiVersion"]), str(body["kind"])
    schema = _content()["kinds"].get(f"{api_version} {kind}")
    rules = rules_of(f"{api_version} {kind}")
    if schema is not None:
        for fault in _faults(body, schema, (), _origin(api_version)):
            at = [rule.advice for rule in rules if rule.certain and rule.is_at(fault.path)]
            advice = at[0] if at else ""
            yield fault._replace(advice=advice) if advice else fault
    elif of_kind := _fault_of_kind(api_version, kind):
        yield of_kind
    for rule in rules:
        yield from rule.faults(body)


def _fault_of_kind(api_version: str, kind: str) -> SchemaFault | None:
    group = api_version.rpartition("/")[0]
    known = [name.split(" ") for name in _content()["kinds"]]
    of_group = [(version, name) for version, name in known if version.rpartition("/")[0] == group]
    versions = [version for version, name in of_group if name == kind]
    path: Path = ("apiVersion",)
    if versions:
        message = f"{api_version} is not a version of {kind}: {', '.join(sorted(versions))}"
        is_newer = all(_age(api_version) > _age(version) for version in versions)
        is_certain = is_newer or api_version in REMOVED
        return SchemaFault(path, f"{message} ({_origin(api_version)})", is_certain=is_certain)
    close = misspelled(kind, sorted({name for _, name in of_group}))
    if close and (group or api_version == "v1"):
        message = f"{group or api_version} has no kind {kind}: did you mean {close}?"
        return SchemaFault(("kind",), message, is_certain=True)
    elsewhere = ", ".join(sorted(version for version, name in known if name == kind))
    if api_version in REMOVED or (of_group and elsewhere and group not in _OTHERS):
        fault = f"{api_version} has no kind {kind}"
        message = f"{fault}: {elsewhere} has one" if elsewhere else f"{fault} any longer"
        return SchemaFault(path, f"{message} ({_origin(api_version)})", is_certain=True)
    return None


REMOVED: Final = frozenset(
    {
        *("extensions/v1beta1", "apps/v1beta1", "apps/v1beta2"),
        *("apiextensions.k8s.io/v1beta1", "rbac.authorization.k8s.io/v1beta1"),
        *("batch/v1beta1", "policy/v1beta1", "discovery.k8s.io/v1beta1", "events.k8s.io/v1beta1"),
        *("autoscaling/v2beta1", "autoscaling/v2beta2"),
    }
)
"""The versions that Kubernetes 1.26 and later do not serve for any kind.

https://kubernetes.io/docs/reference/using-api/deprecation-guide/
"""

_OTHERS: Final = {
    "kustomize.toolkit.fluxcd.io": "fluxcd/kustomize-controller",
    "source.toolkit.fluxcd.io": "fluxcd/source-controller",
    "helm.toolkit.fluxcd.io": "fluxcd/helm-controller",
    "argoproj.io": "argoproj/argo-cd",
    "fleet.cattle.io": "rancher/fleet",
}
"""The groups of other projects, which have more kinds than those with a schema."""


def _age(api_version: str) -> tuple[int, int, int]:
    """Return the place of a version in Kubernetes' order: v1alpha1, v1beta1, v1, v2."""
    name = api_version.rpartition("/")[2].removeprefix("v")
    for rank, stage in enumerate(("alpha", "beta")):
        major, found, minor = name.partition(stage)
        if found and major.isdigit() and minor.isdigit():
            return int(major), rank, int(minor)
    return (int(name), 2, 0) if name.isdigit() else (0, 0, 0)


def _origin(api_version: str) -> str:
    group = api_version.rpartition("/")[0]
    name = _OTHERS.get(group, "kubernetes")
    return f"{name} {_content()['origins'][name]}"


def _faults(value: Any, schema: Any, path: Path, origin: str) -> Iterator[SchemaFault]:
    if isinstance(schema, str) and schema.startswith("#"):
        schema = _content()["shared"][schema]
    if value is None or schema == "any":
        return
    if isinstance(schema, Mapping):
        yield from _field_faults(value, schema, path, origin)
    elif isinstance(schema, str):
        yield from _scalar_faults(value, schema, path)
    elif schema[0] == "enum":
        if value not in schema[1:] and value != "" and "$" not in str(value):
            known = f"{', '.join(filter(None, schema[1:]))} ({origin})"
            close = misspelled(str(value), schema[1:])
            meant = f"did you mean {close}? It is" if close else "it is"
            message = f"{value!r} is not known: {meant} one of {known}"
            yield SchemaFault(path, message, is_certain=bool(close), code=VALUE_INVALID)
    elif schema[0] == "pattern":
        yield from _pattern_faults(value, schema[1], path)
    else:
        kind, inner = schema
        if not isinstance(value, list if kind == "list" else Mapping):
            yield _wrong(path, value, kind)
            return
        items: Iterable[tuple[str | int, Any]]
        items = value.items() if isinstance(value, Mapping) else enumerate(value)
        for key, item in items:
            yield from _faults(item, inner, (*path, key), origin)


def _scalar_faults(value: Any, schema: str, path: Path) -> Iterator[SchemaFault]:
    if schema != "quantity":
        if not isinstance(value, TYPES[schema]) or (type(value) is bool) != (schema == "boolean"):
            yield _wrong(path, value, schema)
    elif not _is_quantity(value):
        near = _near_quantity(value)
        meant = f": did you mean {near}?" if near else ""
        message = f"{value!r} is no quantity of Kubernetes, such as 500m or 2Gi{meant}"
        yield SchemaFault(path, message, is_certain=True, code="manifest-quantity-invalid")


DURATION: Final = "^([0-9]+(\\.[0-9]+)?(ms|s|m"
"""The start of the pattern of durations in the custom resources of Flux."""


def _pattern_faults(value: Any, pattern: str, path: Path) -> Iterator[SchemaFault]:
    is_duration = pattern.startswith(DURATION)
    advice = 'write a number with its unit, such as "5m"' if is_duration else ""
    if not isinstance(value, str):
        fault = _wrong(path, value, "text")
        yield fault._replace(advice=advice) if advice else fault
    elif value and "$" not in value and not re.search(pattern, value):
        message = f"{value!r} is no duration" if is_duration else f"{value!r} is not {pattern}"
        fault = SchemaFault(path, message, code=VALUE_INVALID)
        advice = advice or _url_advice(value, pattern)
        yield fault._replace(advice=advice) if advice else fault


_SERVER: Final = re.compile(r"[\w-]+(\.[\w-]+)+/")
"""The start of a URL without its scheme."""


def _url_advice(text: str, pattern: str) -> str:
    """Return advice for a URL without a scheme, such as `git@host:owner/name`; "" without one."""
    if "://" not in pattern:
        return ""
    url = f"https://{text}" if _SERVER.match(text) else split(text).geturl()
    schemes = " or ".join(f"{name}://" for name in re.findall(r"[a-z]+", pattern))
    return f"write {url}" if re.search(pattern, url) else f"begin it with {schemes}"


_QUANTITY: Final = re.compile(
    r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[KMGTPE]i|[numkMGTPE]|[eE][+-]?\d+)?"
)
"""https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/"""


def _is_quantity(value: Any) -> bool:
    """Return whether a value is a quantity, or has a variable that Flux substitutes."""
    if isinstance(value, str):
        return "$" in value or bool(_QUANTITY.fullmatch(value))
    return isinstance(value, int | float) and type(value) is not bool


def _near_quantity(value: Any) -> str:
    """Return the quantity that `2GB`, `512mb` or `1gi` probably mean; "" for another text."""
    unit = re.fullmatch(r"(\d+(?:\.\d+)?) ?([kmgtp])(?:i?b|i)", str(value), re.IGNORECASE)
    return f"{unit[1]}{unit[2].upper()}i" if unit else ""


def _field_faults(
    value: Any, schema: Mapping[str, Any], path: Path, origin: str
) -> Iterator[SchemaFault]:
    if not isinstance(value, Mapping):
        yield _wrong(path, value, "map")
        return
    fields = {name.removeprefix(REQUIRED): inner for name, inner in schema.items()}
    given = set(map(str, value))
    for key, item in value.items():
        name = str(key)
        if name in fields:
            yield from _faults(item, fields[name], (*path, name), origin)
            continue
        absent = [field for field in fields if field not in given]
        close = misspelled(name, absent)
        if close:
            message = f"there is no field {name}: did you mean {close}?"
            yield SchemaFault((*path, name), message, is_certain=True)
        else:
            message = f"{origin} has no such field"
            yield SchemaFault((*path, name), message, is_certain=False)
    misspelled_fields = [field for field in given if field not in fields]
    for name in schema:
        field = name.removeprefix(REQUIRED)
        if name != field and field not in given and not nearest(field, misspelled_fields):
            yield SchemaFault(path, f"the field {field} is missing", is_certain=True)


def _wrong(path: Path, value: Any, wanted: str) -> SchemaFault:
    names: dict[type, str] = {str: "a text", bool: "a boolean", list: "a list"}
    shown = names.get(type(value), "a map" if isinstance(value, Mapping) else "a number")
    return SchemaFault(path, f"it is {shown} where a {wanted} belongs", is_certain=True)
