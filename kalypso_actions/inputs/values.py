"""The types of inputs."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Annotated, Final, Literal, TypeVar

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
)
from pydantic.alias_generators import to_snake
from pydantic_core import PydanticCustomError

from kalypso_actions.model.delivery import MAX_TARGETS, DeliveryRules, RegistrationText
from kalypso_actions.model.kubernetes_names import object_name_fault
from kalypso_actions.model.object_ids import is_commit_id
from kalypso_actions.model.urls import owner_of

Value = TypeVar("Value")

NamespaceScheme = Literal["current", "legacy"]
ConfigFile = Literal["current", "legacy"]
OnFailure = Literal["block", "keep"]
OnSourceFailure = Literal["last-good", "block"]
MissingValues = Literal["warn", "error"]

DURATION: Final = re.compile(r"([0-9]{1,6})(s|m|h)")
UNITS: Final = {"s": 1, "m": 60, "h": 3600}
PERCENT: Final = re.compile(r"([0-9]{1,3})%?")


def kebab(name: str) -> str:
    """Return the name of an action's input for a field."""
    return to_snake(name).replace("_", "-")


class Inputs(BaseModel):
    """The base of the inputs of all commands."""

    # A command starts faster without building the models of other commands.
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    output: Literal["text", "json"] = "text"
    verbose: bool = False


def fault(kind: str, value: object, wanted: str) -> PydanticCustomError:
    """Return the error for a wrong value."""
    return PydanticCustomError(kind, "{value} {wanted}", {"value": repr(value), "wanted": wanted})


def _environment_name(name: str) -> str:
    wrong = object_name_fault(name)
    if wrong:
        raise fault("environment", name, wrong)
    return name


def _commit(text: str | None) -> str | None:
    if text is not None and not is_commit_id(text):
        raise fault("commit", text, "is not a full commit id")
    return text


def _texts(parse: Callable[[str], Value]) -> Callable[[object], object]:
    """Parse strings; keep parsed values."""
    return lambda given: parse(given.strip()) if isinstance(given, str) else given


def _flag(text: str) -> bool:
    if text not in {"true", "false"}:
        raise fault("flag", text, "is neither true nor false")
    return text == "true"


def _duration(text: str) -> timedelta:
    match = DURATION.fullmatch(text)
    if not match:
        raise fault("duration", text, "is not a duration; write, for example, 90s, 5m or 2h")
    return timedelta(seconds=int(match[1]) * UNITS[match[2]])


def _duration_or_off(text: str) -> timedelta | None:
    return None if text == "off" else _duration(text)


def whole_minutes(time: datetime) -> datetime:
    """Round a time down to its minute, in UTC: Placements are decided at whole minutes."""
    return time.astimezone(UTC).replace(second=0, microsecond=0)


def _percent(text: str) -> int:
    match = PERCENT.fullmatch(text)
    if not match or int(match[1]) > 100:
        raise fault("percent", text, "is not a percentage from 0% to 100%")
    return int(match[1])


def _number(text: str) -> int:
    if not re.fullmatch("[0-9]{1,6}", text):
        raise fault("number", text, "is not a number from 0 to 999999")
    return int(text)


def split_list(text: str) -> tuple[str, ...]:
    """Split at commas and line ends."""
    return tuple(item.strip() for item in re.split(r"[,\n]", text) if item.strip())


def _repository(text: str) -> str:
    if text and owner_of(text) is None:
        raise fault("repository", text, "is not of the form owner/name")
    return text


EnvironmentName = Annotated[str, BeforeValidator(_environment_name)]
CommitId = Annotated[str | None, BeforeValidator(_commit)]
Commit = Annotated[str, BeforeValidator(_commit)]
Flag = Annotated[bool, BeforeValidator(_texts(_flag))]
Duration = Annotated[timedelta, BeforeValidator(_texts(_duration))]
DurationOrOff = Annotated[timedelta | None, BeforeValidator(_texts(_duration_or_off))]
Minute = Annotated[AwareDatetime, AfterValidator(whole_minutes)]
Percent = Annotated[int, BeforeValidator(_texts(_percent)), Field(ge=0, le=100)]
Number = Annotated[int, BeforeValidator(_texts(_number)), Field(ge=0)]
List = Annotated[tuple[str, ...], BeforeValidator(_texts(split_list))]
MaskedKeys = Annotated[List, Field(description="More globs of keys whose values are shown as ***.")]
RepositoryName = Annotated[str, BeforeValidator(_texts(_repository))]
Secret = SecretStr
"""Its repr is asterisks, in case somebody prints it by mistake."""
Wheelhouse = Annotated[
    str, Field(description="A folder of wheels from which to install, without the network.")
]


class DeliveryInputs(Inputs):
    """The inputs about what registered repositories may deliver."""

    registration_text: Annotated[
        RegistrationText,
        Field(
            description="Texts of registered repositories that Templates should not print (line "
            "breaks, template text): strict, or any (a warning on each)."
        ),
    ] = "strict"
    max_targets: Annotated[
        Number,
        Field(
            description="The most deployment targets that one registration may deliver to an "
            "environment."
        ),
    ] = MAX_TARGETS

    @property
    def delivery(self) -> DeliveryRules:
        """The rules that these inputs give."""
        return DeliveryRules(self.registration_text, self.max_targets)
