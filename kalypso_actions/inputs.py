"""What each command is given: one small model per command, checked before anything is read."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Literal

from pydantic import (
    AfterValidator,
    AliasGenerator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    model_validator,
)
from pydantic.alias_generators import to_pascal
from pydantic_core import PydanticCustomError

from kalypso_actions.model.names import object_name_fault
from kalypso_actions.model.object_ids import is_commit_id

NamespaceScheme = Literal["current", "legacy"]
ConfigFile = Literal["current", "legacy"]
OnFailure = Literal["block", "keep"]
OnSourceFailure = Literal["last-good", "block"]

_AUTHORITY = re.compile(
    r"(?:[a-z][a-z0-9+.-]*://[^/]*|[^@/\s]+@[^:/\s]+:|[A-Za-z]:(?=[\\/]))", re.IGNORECASE
)
"""What of a URL or path may hold an `@` that does not begin a branch: user and host."""


def _usable(path: Path) -> Path:
    """A path that the system can look up; whether anything is there is another question."""
    try:
        path.exists()
    except OSError as error:
        raise PydanticCustomError(
            "path", "{path}: {fault}", {"path": str(path), "fault": error.strerror}
        ) from error
    return path


def _usable_place(place: str) -> str:
    """The same where a URL may stand."""
    if "://" not in place:
        _usable(Path(place))
    return place


class PathAtBranch(BaseModel):
    """`PATH[@BRANCH]`: a local repository or folder; "" is the branch that fits best."""

    model_config = ConfigDict(frozen=True)

    path: Path
    branch: str = ""

    @classmethod
    def parse(cls, text: str) -> PathAtBranch:
        """A folder's name may hold an `@` itself: the longest name that exists is meant."""
        if _usable(Path(text)).is_dir():
            return cls(path=Path(text))
        for match in reversed(list(re.finditer("@", text))):
            path, branch = text[: match.start()], text[match.end() :]
            if branch and Path(path).is_dir():
                return cls(path=Path(path), branch=branch)
        return cls(path=Path(text))


class Source(BaseModel):
    """`URL[@BRANCH]=PATH`: a path that stands for a repository."""

    model_config = ConfigDict(frozen=True)

    url: str
    branch: str = ""
    path: Path

    @classmethod
    def parse(cls, text: str) -> Source:
        """Raises PydanticCustomError saying what is missing."""
        place, equals, path = text.partition("=")
        url, branch = split_branch(place)
        if not (equals and url and path):
            raise PydanticCustomError(
                "source", "{text} is not of the form URL[@BRANCH]=PATH", {"text": repr(text)}
            )
        return cls(url=url, branch=branch, path=_usable(Path(path)))


def split_branch(place: str) -> tuple[str, str]:
    """`URL[@BRANCH]` in its two parts; the `@` of a user name in the URL is not meant."""
    authority = _AUTHORITY.match(place)
    start = authority.end() if authority else 0
    path, _, branch = place[start:].partition("@")
    return place[:start] + path, branch


def _environment_name(name: str) -> str:
    fault = object_name_fault(name)
    if fault:
        raise PydanticCustomError(
            "environment", "{name} {fault}", {"name": repr(name), "fault": fault}
        )
    return name


def _commit(text: str | None) -> str | None:
    if text is not None and not is_commit_id(text):
        raise PydanticCustomError("commit", "{text} is not a full commit id", {"text": repr(text)})
    return text


def _each_text(parse: Callable[[str], object]) -> Callable[[object], object]:
    """Parse the texts among what is given; values that are parsed already stay."""

    def parse_all(given: object) -> object:
        match given:
            case str():
                return parse(given)
            case list() | tuple():
                return tuple(parse_all(item) for item in given)
            case _:
                return given

    return parse_all


EnvironmentName = Annotated[str, BeforeValidator(_environment_name)]
Folder = Annotated[Path, AfterValidator(_usable)]
Place = Annotated[str, AfterValidator(_usable_place)]
CommitId = Annotated[str | None, BeforeValidator(_commit)]
Sources = Annotated[tuple[Source, ...], BeforeValidator(_each_text(Source.parse))]
GitOpsPath = Annotated[PathAtBranch | None, BeforeValidator(_each_text(PathAtBranch.parse))]


class Inputs(BaseModel):
    """Common to all commands."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    output: Literal["text", "json"] = "text"
    verbose: bool = False


class RenderInputs(Inputs):
    """Inputs of `kalypso render`."""

    environment: EnvironmentName
    control_plane: Place | None = None
    environment_dir: Folder | None = None
    source: Sources = ()
    base_commit: CommitId = None
    gitops: GitOpsPath = None
    out: Folder | None = None
    namespace_scheme: NamespaceScheme = "current"
    config_file: ConfigFile = "current"
    on_failure: OnFailure = "block"
    on_source_failure: OnSourceFailure = "last-good"

    @model_validator(mode="after")
    def _one_control_plane(self) -> RenderInputs:
        if (self.control_plane is None) == (self.environment_dir is None):
            raise PydanticCustomError(
                "control_plane", "one of --control-plane and --environment-dir is needed"
            )
        return self

    @model_validator(mode="after")
    def _out_apart(self) -> RenderInputs:
        """Rendered files inside what is read would be read as documents the next time."""
        if self.out is None:
            return self
        read = [self.environment_dir, self.gitops and self.gitops.path, self.control_plane]
        read += [source.path for source in self.source]
        out = self.out.resolve()
        for place in (Path(item).resolve() for item in read if item):
            if place.exists() and out.is_relative_to(place):
                raise PydanticCustomError(
                    "out",
                    "--out {out} lies in {place}, which is read; choose a folder outside",
                    {"out": str(self.out), "place": str(place)},
                )
        return self


class ValidateInputs(Inputs):
    """Inputs of `kalypso validate`."""

    places: tuple[Place, ...] = (".",)
    source: Sources = ()


class TemplateInputs(Inputs):
    """Inputs of `kalypso template`."""

    file: Path
    values: Path | None = None
    name: str | None = None


def _text_or_structure(value: object) -> object:
    """Values of a ConfigMap are texts; what a text may spell can also be written out."""
    if not isinstance(value, str | list | dict):
        raise PydanticCustomError("string_type", "must be a text")
    return value


ConfigValue = Annotated[object, AfterValidator(_text_or_structure)]


class TemplateValues(BaseModel):
    """What the file of `--values` may hold: a template's data, under the names they have there."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, alias_generator=AliasGenerator(to_pascal)
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
