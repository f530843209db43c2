"""Inputs of diff."""

from __future__ import annotations

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from kalypso_actions.inputs.paths import Place, Sources
from kalypso_actions.inputs.values import (
    ConfigFile,
    DeliveryInputs,
    EnvironmentName,
    MaskedKeys,
    Minute,
    MissingValues,
    NamespaceScheme,
)


class DiffInputs(DeliveryInputs):
    """Inputs of `kalypso diff`; without a control plane, it reads the current clone.

    It compares two environments, the newer one first, or two commits of one environment.
    """

    environments: tuple[EnvironmentName, ...] = Field((), max_length=2)
    control_plane: Place | None = None
    source: Sources = ()
    from_: str = Field("", alias="from")
    to: str = ""
    deployed: bool = False
    namespace_scheme: NamespaceScheme = "current"
    config_file: ConfigFile = "current"
    missing_values: MissingValues = "warn"
    scheduler: str = ""
    now: Minute | None = None
    mask: MaskedKeys = ()

    @model_validator(mode="after")
    def _two_sides(self) -> DiffInputs:
        if not self.environments:
            message = "name two environments, such as dev stage, or one and --from or --to"
            raise PydanticCustomError("environments", message)
        if len(self.environments) == 2 and (self.from_ or self.to):
            message = "--from and --to compare two commits of one environment: name only one"
            raise PydanticCustomError("from", message)
        return self
