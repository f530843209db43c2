"""Validate configurations by their schemas, and trace each violation to the files behind it.

Upstream's message names neither the schema nor the ConfigMap that set the value.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from kalypso_actions import config_schemas, rendering
from kalypso_actions.errors import Location
from kalypso_actions.model.config import MergedConfig
from kalypso_actions.model.kinds import Assignment
from kalypso_actions.platform_config import AppliedSchema, PlatformConfig

MAX_TRACED = 5
"""Violations of one configuration; more are rarely read."""

_Places = Mapping[str, tuple[Location, ...]]


class ConfigValidator:
    """Validates configurations by their schemas; many assignments share both."""

    def __init__(self, platform_config: PlatformConfig) -> None:
        self._platform_config = platform_config
        self._messages: dict[tuple[int, tuple[str, ...]], str] = {}
        self._failures: dict[tuple[int, tuple[AppliedSchema, ...]], rendering.Failure] = {}

    def failure(self, assignment: Assignment, config: MergedConfig) -> rendering.Failure | None:
        """Return a failure with upstream's message if the schemas refuse the configuration."""
        texts = self._platform_config.schemas_of(assignment)
        if not texts:
            return None
        seen = (id(config), texts)  # `platform_config` keeps every configuration alive
        message = self._messages.get(seen)
        if message is None:
            message = self._messages[seen] = config_schemas.validate(config.values, texts)
        return self._traced(message, assignment, config) if message else None

    def _traced(
        self, message: str, assignment: Assignment, config: MergedConfig
    ) -> rendering.Failure:
        """Return the failure at the first value that is wrong, else at the target."""
        schemas = self._platform_config.applied_schemas(assignment)
        seen = (id(config), schemas)
        if seen not in self._failures:
            places = {".".join(map(str, path)): origins for path, origins in config.origins.items()}
            traces = list(_traces(schemas, config, places))
            where = next((where for where, _ in traces if where), assignment.target.where)
            shown = [text for _, text in traces[:MAX_TRACED]]
            if len(traces) > MAX_TRACED:
                shown.append(f"and {len(traces) - MAX_TRACED} more")
            self._failures[seen] = rendering.Failure(
                message, where, "; ".join(shown), code="config-refused"
            )
        return self._failures[seen]


def _traces(
    schemas: Sequence[AppliedSchema], config: MergedConfig, places: _Places
) -> Iterator[tuple[Location | None, str]]:
    """Yield the place of each wrong value, if it is known, and a sentence on where it comes from.

    Violations of one schema follow each other.
    """
    for schema in schemas:
        message = config_schemas.validate(config.values, (schema.text,))
        for line in message.splitlines()[1:]:
            field, _, violation = line.strip().removeprefix("- ").partition(": ")
            where = _place(field, places) if violation else None
            if where:
                yield where, f"{field} is set in {_file(where)}, {schema.name} demands otherwise"
            elif line.strip():
                layers = ", ".join(config.config_maps) or "none"
                yield None, f"{schema.name} demands it; the ConfigMaps that apply: {layers}"


def _place(field: str, places: _Places) -> Location | None:
    """Return the last place that set a field, or the value that contains it."""
    while field:
        if field in places:
            return places[field][-1]
        field = field.rpartition(".")[0]
    return None


def _file(where: Location) -> str:
    return f"{where.path}:{where.line}"
