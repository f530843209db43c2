"""Validate configurations by their schemas, and trace each violation to the files behind it.

Upstream's message names neither the schema nor the ConfigMap that set the value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from kalypso_actions import config_schemas, rendering
from kalypso_actions.errors import Location
from kalypso_actions.model.config import MergedConfig
from kalypso_actions.model.kinds import Assignment
from kalypso_actions.platform_config import AppliedSchema, PlatformConfig

MAX_TRACED = 5
"""Violations of a schema; more are rarely read."""

STEP: Final = 10
COMPILING: Final = 10
"""The work of a step of an evaluation, and of a character that is compiled, in characters."""

_Places = Mapping[str, tuple[Location, ...]]


class ConfigValidator:
    """Validates configurations by their schemas; many assignments share both."""

    def __init__(self, platform_config: PlatformConfig) -> None:
        self._platform_config = platform_config
        self._messages: dict[tuple[int, tuple[str, ...]], str] = {}
        self._traces: dict[tuple[int, tuple[AppliedSchema, ...]], _Trace] = {}

    def failure(
        self,
        assignment: Assignment,
        config: MergedConfig,
        spend: rendering.Spend = lambda _: None,
    ) -> rendering.Failure | None:
        """Return a failure with upstream's message if the schemas refuse the configuration.

        `spend` counts the work for schemas of the target's own.
        """
        texts = self._platform_config.schemas_of(assignment)
        if not texts:
            return None
        seen = (id(config), texts)  # `platform_config` keeps every configuration alive
        message = self._messages.get(seen)
        count = _steps(spend) if assignment.target.config_schemas else _nothing
        if message is None:
            for text in assignment.target.config_schemas:
                spend(COMPILING * len(text))
            message = self._messages[seen] = config_schemas.validate(config.values, texts, count)
        return self._traced(message, assignment, config, count) if message else None

    def _traced(
        self, message: str, assignment: Assignment, config: MergedConfig, spend: rendering.Spend
    ) -> rendering.Failure:
        """Return the failure at the first value that is wrong, else at the schema."""
        schemas = self._platform_config.applied_schemas(assignment)
        seen = (id(config), schemas)
        if seen not in self._traces:
            self._traces[seen] = _trace_all(schemas, config, spend)
        trace = self._traces[seen]
        return rendering.Failure(message, trace.where, trace.text, code="config-refused")


@dataclass(frozen=True, slots=True)
class _Trace:
    """A place to look at, and a sentence about the wrong values and their schema."""

    where: Location
    text: str
    is_value: bool = False


def _nothing(_: int) -> None:
    """Count the schemas of the platform for nobody."""


def _steps(spend: rendering.Spend) -> rendering.Spend:
    return lambda steps: spend(STEP * steps)


def _trace_all(
    schemas: Sequence[AppliedSchema], config: MergedConfig, spend: rendering.Spend
) -> _Trace:
    """Trace the violations of all schemas, of which at least one is violated."""
    places = {".".join(map(str, path)): origins for path, origins in config.origins.items()}
    traces = [trace for schema in schemas if (trace := _trace(schema, config, places, spend))]
    first = next((trace for trace in traces if trace.is_value), traces[0])
    return _Trace(first.where, "; ".join(trace.text for trace in traces))


def _trace(
    schema: AppliedSchema, config: MergedConfig, places: _Places, spend: rendering.Spend
) -> _Trace | None:
    """Trace the violations of one schema; None if there are none."""
    message = config_schemas.validate(config.values, (schema.text,), spend)
    lines = [line.strip() for line in message.splitlines()[1:] if line.strip()]
    if not lines:
        return None
    wrong: dict[str, Location] = {}
    for line in lines:
        field, separator, _ = line.removeprefix("- ").partition(": ")
        where = _place(field, places) if separator else None
        if where:
            wrong[field] = where
    causes = [f"{field} is set in {_file(where)}" for field, where in wrong.items()][:MAX_TRACED]
    if len(wrong) < len(lines):
        layers = ", ".join(config.config_maps)
        causes.append(
            f"the ConfigMaps that apply are {layers}" if layers else "no ConfigMap applies"
        )
    where = next(iter(wrong.values()), schema.where)
    text = f"refused by {schema.name}: {', '.join(causes)}"
    return _Trace(where, text, is_value=bool(wrong))


def _place(field: str, places: _Places) -> Location | None:
    """Return the last place that set a field, or the value that contains it."""
    while field:
        if field in places:
            return places[field][-1]
        field = field.rpartition(".")[0]
    return None


def _file(where: Location) -> str:
    return f"{where.path}:{where.line}"
