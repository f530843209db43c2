"""CEL expressions: checked by cel-cpp, evaluated here with cel-go's costs.

The extra `placement` installs the checker.
"""

from __future__ import annotations

import functools
import itertools
import json
import re
from array import array
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from kalypso_actions.errors import KalypsoError, MissingExtraError
from kalypso_placement.cel.kubernetes import LIBRARIES, OPAQUE, OPTIONALS
from kalypso_placement.cel.limits import (
    BUDGET,
    FLEET_BUDGET,
    LIMIT,
    USUAL,
    CostLimitError,
    Meter,
    TooLargeError,
    checked,
)
from kalypso_placement.cel.operators import STANDARD, to_string
from kalypso_placement.cel.program import (
    ExpressionError,
    Step,
    UnsupportedError,
    compile_expression,
)
from kalypso_placement.cel.signatures import Overload, dispatcher, overloads
from kalypso_placement.cel.strings import STANDARD_STRINGS, STRINGS
from kalypso_placement.cel.values import EvaluationError, Function, Value
from kalypso_placement.hub import Hub
from kalypso_placement.instants import SECOND, format_instant, parse_instant
from kalypso_placement.objects import Cluster

VARIABLE: Final = "managedCluster"
MAX_LENGTH: Final = 100_000
MOST_SHOWN: Final = 200

_UNKNOWN: Final = -1
_ADDRESS_TEXT: Final = "addressToString"
_NO_OVERLOAD: Final = re.compile(
    r"<input>:(\d+):(\d+): found no matching overload for 'string' applied to "
    r"'\(net\.(?:IP|CIDR)\)'"
)
_TOO_DEEP: Final = re.compile(r"max recursion depth of|recursion limit exceeded")
_OWN: Final = ("dyn:scores(string) -> list<dyn>", "string:parseJSON() -> dyn")

Matcher = Callable[[Cluster], bool]


class UnsupportedExpressionError(KalypsoError):
    """A CEL expression cannot be evaluated as OCM does."""


class CelExpressions:
    """The expressions of placements on one hub; each is evaluated once for each cluster."""

    def __init__(self, hub: Hub, budget: int = FLEET_BUDGET) -> None:
        """Prepare for a hub.

        `budget` is the cost of all expressions for all its clusters, beyond `USUAL` of each.
        """
        self._limit = self._budget = budget
        self._functions: dict[str, Function] = {
            **_functions(),
            "scores": functools.partial(_scores, hub),
        }
        self._steps: dict[str, Step] = {}
        self._values: dict[str, dict[str, Value]] = {}
        self._numbers = {name: number for number, name in enumerate(hub.clusters)}
        self._answers: dict[str, array[int]] = {}

    def matcher(self, expressions: Sequence[str]) -> Matcher:
        """Return a matcher for all of the expressions, within the budget of one predicate.

        Raises ExpressionError for an expression that does not compile, and
        UnsupportedExpressionError for one that cannot be evaluated as in OCM. The matcher raises
        UnsupportedExpressionError for an expression with too large a value or too high a cost.
        """
        for expression in expressions:
            self._compile(expression)

        def matches(cluster: Cluster) -> bool:
            budget = BUDGET
            for expression in expressions:
                matched, cost = self._answer(expression, cluster)
                budget -= cost
                if not matched or budget < 0:
                    return False
            return True

        return matches

    def why_not(self, expression: str, cluster: Cluster) -> str:
        """Return why a cluster does not match an expression that compiles; "" if it does."""
        self._compile(expression)
        try:
            return self._evaluate(expression, cluster)[0]
        except TooLargeError:
            return "has too large a value"

    def _compile(self, expression: str) -> None:
        if expression in self._steps:
            return
        try:
            self._steps[expression] = compile_expression(_check(expression), self._functions)
        except UnsupportedError as error:
            message = f"the CEL expression uses {error}, which is not evaluated here: {expression}"
            raise UnsupportedExpressionError(message) from error

    def _answer(self, expression: str, cluster: Cluster) -> tuple[bool, int]:
        """Return whether an expression matches, and its cost; keep both as one number."""
        answers = self._answers.get(expression)
        if answers is None:
            answers = self._answers[expression] = array("q", [_UNKNOWN]) * len(self._numbers)
        number = self._numbers[cluster.name]
        answer = answers[number]
        if answer == _UNKNOWN:
            try:
                fault, cost = self._evaluate(expression, cluster)
            except TooLargeError as error:
                message = f"a value of the CEL expression is too large: {expression[:MOST_SHOWN]}"
                raise UnsupportedExpressionError(message, advice="simplify it") from error
            self._budget -= max(0, cost - USUAL)
            if self._budget < 0:
                message = (
                    f"{len(self._answers)} CEL expressions of Placements cost too much for "
                    f"{len(self._numbers)} cluster types: more than {self._limit:,} beyond "
                    f"{USUAL} for each evaluation"
                )
                raise UnsupportedExpressionError(message, advice="simplify them, or use labels")
            answer = answers[number] = cost * 2 + (not fault)
        return bool(answer % 2), answer // 2

    def _evaluate(self, expression: str, cluster: Cluster) -> tuple[str, int]:
        """Return why an expression does not match, "" if it does, and its cost."""
        meter = Meter()
        try:
            value = self._steps[expression](self._variables(cluster), meter)
        except EvaluationError as error:
            return f"fails: {error}", meter.cost
        except CostLimitError:
            return f"costs more than {LIMIT}", LIMIT
        if value is not True:
            return "is false" if value is False else "is neither true nor false", meter.cost
        return "" if meter.cost <= LIMIT else f"costs more than {LIMIT}", meter.cost

    def _variables(self, cluster: Cluster) -> dict[str, Value]:
        variables = self._values.get(cluster.name)
        if variables is None:
            variables = self._values[cluster.name] = {VARIABLE: checked(cluster_value(cluster))}
        return variables


def _check(expression: str) -> bytes:
    """Return the checked expression, serialized. Raises ExpressionError."""
    if len(expression) > MAX_LENGTH:
        raise ExpressionError(f"the expression has more than {MAX_LENGTH} characters")
    text = expression
    while True:
        try:
            serialized: bytes = _environment().compile(text).serialize()
        except RuntimeError as error:
            renamed = _with_address_text(text, str(error))
            if renamed is None:
                if ".existsOne(" in text:
                    raise UnsupportedError("the macro existsOne") from error
                if _TOO_DEEP.search(str(error)):
                    raise UnsupportedError("more than 32 levels of nesting") from error
                message = str(error).removeprefix("INVALID_ARGUMENT: ")
                raise ExpressionError(message.removesuffix(" [INVALID_ARGUMENT]")) from error
            text = renamed
        else:
            return serialized


def _with_address_text(text: str, message: str) -> str | None:
    """Rename the call of `string` on an address: the checker allows no new overload of `string`."""
    match = _NO_OVERLOAD.search(message)
    if match is None:
        return None
    lines = text.split("\n")
    line, at = lines[int(match[1]) - 1], int(match[2]) - 1
    start = line.rfind("string", 0, at)
    if start < 0:
        return None
    lines[int(match[1]) - 1] = line[:start] + _ADDRESS_TEXT + line[start + len("string") :]
    return "\n".join(lines)


@functools.cache
def _environment() -> Any:
    """Return the checker with all declarations. Raises MissingExtraError."""
    try:
        from cel_expr_python import cel  # noqa: PLC0415 - an extra
        from cel_expr_python.ext import ext_optional  # noqa: PLC0415
    except ModuleNotFoundError as error:
        message, extra = "CEL expressions need cel-expr-python", "placement"
        advice = f"install kalypso-actions[{extra}]; in a job, list it in the input plugins"
        raise MissingExtraError(message, extra, advice) from error

    def declared(name: str) -> Any:
        if "optional_type" in name:  # the package cannot declare optional types
            name = "list<dyn>" if name.startswith("list") else "dyn"
        return cel.Type.AbstractType(name) if name in OPAQUE else cel.Type(name)

    def overload(number: int, choice: Overload) -> Any:
        return cel.Overload(
            f"{choice.name}_{number}",
            return_type=declared(choice.result),
            parameters=[declared(parameter) for parameter in choice.parameters],
            is_member=choice.is_member,
        )

    functions = [
        cel.FunctionDecl(name, list(itertools.starmap(overload, enumerate(choices))))
        for name, choices in _declared().items()
    ]
    return cel.NewEnv(
        variables={VARIABLE: cel.Type.Map(cel.Type.STRING, cel.Type.DYN)},
        extensions=[ext_optional.ExtOptional()],
        functions=functions,
    )


def _declared() -> dict[str, list[Overload]]:
    """Return the overloads that the checker does not know, by function."""
    address = {f"{_ADDRESS_TEXT}({kind}) -> string": to_string for kind in ("net.IP", "net.CIDR")}
    own = dict.fromkeys(_OWN, to_string)
    tables = overloads({**STRINGS, **LIBRARIES, **address, **own})
    return _by_name(item for item in tables if item.name not in STANDARD_STRINGS)


def _by_name(items: Any) -> dict[str, list[Overload]]:
    grouped: dict[str, list[Overload]] = {}
    for item in items:
        grouped.setdefault(item.name, []).append(item)
    return grouped


@functools.cache
def _functions() -> Mapping[str, Function]:
    libraries = _by_name(overloads({**STRINGS, **LIBRARIES, **OPTIONALS}))
    dispatched = {name: dispatcher(choices) for name, choices in libraries.items()}
    return {**STANDARD, **dispatched, _ADDRESS_TEXT: to_string, "parseJSON": _parse_json}


def _scores(hub: Hub, cluster: Value, resource: Value) -> Value:
    """Return the published scores of the cluster, valid or not."""
    metadata = cluster.get("metadata") if isinstance(cluster, dict) else None
    name = metadata.get("name") if isinstance(metadata, dict) else None
    published = hub.scores.get((name, resource)) if isinstance(name, str) else None
    if published is None:
        raise EvaluationError("failed to get score")
    return [{"name": score, "value": value} for score, value in published.scores]


def _parse_json(text: Value) -> Value:
    if not isinstance(text, str):
        raise EvaluationError("no such overload")
    try:
        return json.loads(text, parse_int=float, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise EvaluationError("not JSON") from error


def _no_constant(text: str) -> Value:
    raise ValueError(f"{text} is not JSON")


def cluster_value(cluster: Cluster) -> dict[str, Any]:
    """Return the object without kind and apiVersion, and without empty optional fields.

    `status.conditions` is null without conditions; `spec.hubAcceptsClient` and `status.version` are
    always present.
    """
    body = cluster.body
    metadata, spec, status = (body.get(part) or {} for part in ("metadata", "spec", "status"))
    spec_value: dict[str, Any] = {"hubAcceptsClient": bool(spec.get("hubAcceptsClient"))}
    for name in ("leaseDurationSeconds", "managedClusterClientConfigs"):
        if spec.get(name):
            spec_value[name] = spec[name]
    if spec.get("taints"):
        spec_value["taints"] = [_taint(taint) for taint in spec["taints"]]
    status_value: dict[str, Any] = {
        "conditions": [_condition(c) for c in status.get("conditions") or ()] or None,
        "version": _non_empty(status.get("version") or {}),
    }
    for name, resources in (("capacity", cluster.capacity), ("allocatable", cluster.allocatable)):
        if resources:
            status_value[name] = {key: each.canonical for key, each in resources.items()}
    if status.get("clusterClaims"):
        status_value["clusterClaims"] = [_non_empty(claim) for claim in status["clusterClaims"]]
    return {"metadata": _metadata(metadata), "spec": spec_value, "status": status_value}


def _metadata(metadata: Mapping[str, Any]) -> dict[str, Any]:
    return {
        key: _time(value) if key in {"creationTimestamp", "deletionTimestamp"} else value
        for key, value in metadata.items()
        if value not in (None, "", {}, [])
    }


def _taint(taint: Mapping[str, Any]) -> dict[str, Any]:
    value = {"key": taint.get("key", ""), "effect": taint.get("effect", "")}
    if taint.get("value"):
        value["value"] = taint["value"]
    return {**value, "timeAdded": _time(taint.get("timeAdded"))}


def _condition(condition: Mapping[str, Any]) -> dict[str, Any]:
    names = ("type", "status", "reason", "message")
    value = {name: condition.get(name, "") for name in names}
    if condition.get("observedGeneration"):
        value["observedGeneration"] = condition["observedGeneration"]
    return {**value, "lastTransitionTime": _time(condition.get("lastTransitionTime"))}


def _time(text: object) -> str | None:
    instant = parse_instant(text) if isinstance(text, str) else None
    return None if instant is None else format_instant(instant // SECOND * SECOND)


def _non_empty(body: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in body.items() if value not in (None, "")}
