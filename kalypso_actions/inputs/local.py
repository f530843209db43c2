"""Inputs of the commands that read and write on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, AliasGenerator, BaseModel, ConfigDict, Field, model_validator
from pydantic.alias_generators import to_pascal
from pydantic_core import PydanticCustomError

from kalypso_actions.inputs.paths import Folder, GitOpsPath, Place, Sources, check_commit_to
from kalypso_actions.inputs.values import (
    ConfigFile,
    DeliveryInputs,
    EnvironmentName,
    Inputs,
    MaskedKeys,
    Minute,
    MissingValues,
    NamespaceScheme,
    OnFailure,
    OnSourceFailure,
)


class EnvironmentInputs(DeliveryInputs):
    """The inputs for planning one environment.

    Without a control plane, a command reads the current clone.
    """

    environment: EnvironmentName | Literal[""] = ""
    control_plane: Place | None = None
    environment_dir: Folder | None = None
    source: Sources = ()
    base_commit: str | None = None
    namespace_scheme: NamespaceScheme = "current"
    config_file: ConfigFile = "current"
    missing_values: MissingValues = "warn"
    scheduler: str = ""
    now: Minute | None = None
    mask: MaskedKeys = ()

    @model_validator(mode="after")
    def _at_most_one_control_plane(self) -> Self:
        if self.control_plane is not None and self.environment_dir is not None:
            raise PydanticCustomError(
                "control_plane", "only one of --control-plane and --environment-dir is possible"
            )
        if not self.environment and (self.control_plane or self.environment_dir):
            raise PydanticCustomError("environment", "name the environment, such as dev")
        return self


class ExplainInputs(EnvironmentInputs):
    """Inputs of `kalypso explain`: the subject to explain in an environment."""

    target: str = ""
    cluster_type: str = ""
    key: str = ""
    file: str = ""

    @model_validator(mode="after")
    def _one_question(self) -> Self:
        if self.key and self.file:
            raise PydanticCustomError("file", "ask about a --key or a --file, not about both")
        return self


class ReportInputs(DeliveryInputs):
    """Inputs of `kalypso report`; without a control plane, it reads the current clone."""

    out: Folder
    title: str = ""
    control_plane: Place | None = None
    source: Sources = ()
    namespace_scheme: NamespaceScheme = "current"
    config_file: ConfigFile = "current"
    missing_values: MissingValues = "warn"
    scheduler: str = ""
    now: Minute | None = None
    mask: MaskedKeys = ()


class RenderInputs(EnvironmentInputs):
    """Inputs of `kalypso render`."""

    gitops: GitOpsPath = None
    out: Folder | None = None
    commit_to: GitOpsPath = None
    verify: bool = False
    on_failure: OnFailure = "block"
    on_source_failure: OnSourceFailure = "last-good"
    diff: bool = False
    stat: bool = False
    exit_code: bool = False
    notes: bool = False

    @property
    def compares(self) -> bool:
        """Whether the result is the difference from the GitOps branch, even without `gitops`."""
        return self.diff or self.stat or self.exit_code

    @model_validator(mode="after")
    def _one_result(self) -> Self:
        check_commit_to(self.commit_to, {"--out": self.out, "--gitops": self.gitops})
        return self

    @model_validator(mode="after")
    def _out_apart(self) -> Self:
        """Refuse an output inside an input: the next run would read it as documents."""
        if self.out is None:
            return self
        read = [self.environment_dir, self.gitops and self.gitops.path, self.control_plane]
        read += [source.path for source in self.source]
        out = self.out.resolve()
        for place in (Path(item).resolve() for item in read if item):
            if place.exists() and out.is_relative_to(place):
                raise PydanticCustomError(
                    "out",
                    "--out {out} lies in {place}, which render reads; choose a folder outside",
                    {"out": str(self.out), "place": str(place)},
                )
        return self


class ValidateInputs(DeliveryInputs):
    """Inputs of `kalypso validate`; without any place, it checks the current clone or folder.

    In a control plane, it checks main and the branches of the environments. With `workload`, the
    places have the Workloads of an application team.
    """

    places: tuple[Place, ...] = ()
    control_plane: Place | None = None
    source: Sources = ()
    workload: bool = False
    notes: bool = False
    missing_values: MissingValues = "warn"
    scheduler: str = ""
    now: Minute | None = None

    @model_validator(mode="after")
    def _control_plane_alone(self) -> ValidateInputs:
        if self.control_plane and (self.places or self.workload):
            raise PydanticCustomError(
                "control_plane", "with --control-plane, neither places nor --workload are possible"
            )
        return self

    @model_validator(mode="after")
    def _workloads_alone(self) -> ValidateInputs:
        if self.workload and self.source:
            raise PydanticCustomError(
                "source",
                "--source replaces repositories that a control plane names; with "
                "--workload, nothing names one",
            )
        return self


class TemplateInputs(Inputs):
    """Inputs of `kalypso template`."""

    file: Path
    values: Path | None = None
    name: str | None = None


def _text_or_structure(value: object) -> object:
    """Accept strings, like values of a ConfigMap, and lists and objects in their place."""
    if not isinstance(value, str | list | dict):
        raise PydanticCustomError("string_type", "must be a text")
    return value


ConfigValue = Annotated[object, AfterValidator(_text_or_structure)]


class TemplateValues(BaseModel):
    """The content of the file of `--values`: data by the names that templates use."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        alias_generator=AliasGenerator(to_pascal),
        defer_build=True,
    )

    environment: str = "dev"
    workspace: str = "team"
    workload: str = "app"
    cluster_type: str = "large"
    deployment_target_name: str | None = None
    namespace: str | None = None
    labels: dict[str, str] | None = None
    manifests: dict[str, str] = Field(default_factory=dict)
    config_data: dict[str, ConfigValue] = Field(default_factory=dict)
