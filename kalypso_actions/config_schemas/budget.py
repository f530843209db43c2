"""The limits of work and of text for the schemas of one configuration."""

from __future__ import annotations

from dataclasses import dataclass

from kalypso_actions.config_schemas.errors import MAX_STEPS, MAX_VIOLATIONS_LENGTH, SchemaError
from kalypso_actions.config_schemas.json_values import Json


@dataclass(slots=True)
class EvaluationBudget:
    """The steps and characters that are left for all schemas of one configuration."""

    steps: int = MAX_STEPS
    characters: int = MAX_VIOLATIONS_LENGTH

    def spend(self, steps: int) -> None:
        """Count steps before an evaluation takes them. Raises SchemaError."""
        self.steps -= steps
        if self.steps < 0:
            raise SchemaError(
                f"the schemas take more than {MAX_STEPS:,} steps to check this configuration: "
                "simplify their combinations of schemas, their patterns, and $refs that lead in a "
                "circle"
            )


def writing_steps(value: Json) -> int:
    """Return how many steps it takes to write a value as JSON."""
    if isinstance(value, str):
        return 1 + (len(value) >> 3)
    if isinstance(value, list):
        return 1 + sum(map(writing_steps, value))
    if isinstance(value, dict):
        return 1 + sum(1 + (len(key) >> 3) + writing_steps(item) for key, item in value.items())
    return 1
