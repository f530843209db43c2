"""The types of inputs."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, ClassVar, Final, Literal, TypeVar

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
from pydantic.fields import FieldInfo
from pydantic_core import PydanticCustomError

from kalypso_actions.model.kinds import MAX_TARGETS, DeliveryRules, RegistrationText
from kalypso_actions.model.kubernetes_names import object_name_fault
from kalypso_actions.model.object_ids import is_commit_id
from kalypso_actions.model.urls import owner_of

Value = TypeVar("Value")

DURATION: Final = re.compile(r"([0-9]{1,6})(s|m|h)")
UNITS: Final = {"s": 1, "m": 60, "h": 3600}
PERCENT: Final = re.compile(r"([0-9]{1,3})%?")


def kebab(name: str) -> str:
    """Return the name of an action's input for a field."""
    return to_snake(name).replace("_", "-")


@dataclass(frozen=True, slots=True)
class Option:
    """An input for people: its text, and how the command line takes it.

    metavar      the name of the value in the help
    short        a short name, such as `-v`
    argument     the input is given without a name
    also_option  the help of an option that has the same name as the argument
    repeatable   the input may be given several times
    completes    what a shell completes: `environment`, `cluster_type` or `target`
    """

    text: str
    metavar: str = ""
    short: str = ""
    argument: bool = False
    also_option: str = ""
    repeatable: bool = False
    completes: str = ""


def option_of(field: FieldInfo) -> Option:
    """Return the option of an input; the outermost one of its type counts."""
    return next(item for item in reversed(field.metadata) if isinstance(item, Option))


Output = Literal["text", "json"]
OutputInput = Annotated[Output, Option("The format of standard output.")]


class OutputInputs(BaseModel):
    """The base of the inputs of all commands.

    Its fields, and those of the classes below it, are the only declaration of a command's inputs:
    the options and their help, `action.yml` and the pages of the reference are made from them.
    """

    # A command starts faster without building the models of other commands.
    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        defer_build=True,
        alias_generator=kebab,
        validate_by_name=True,
        validate_by_alias=True,
    )

    as_texts: ClassVar[bool] = False
    """Whether the model alone checks the inputs, as those of an action, which are texts."""

    output: OutputInput = "text"


class Inputs(OutputInputs):
    """The base of the inputs of commands that start programs or call an API."""

    verbose: Annotated[
        bool, Option("Show notes, acknowledged warnings and, for preview, diffs.", short="-v")
    ] = False
    debug: Annotated[
        bool, Option("Log each program started and API call to standard error, with its time.")
    ] = False


def inputs_of(model: type[OutputInputs]) -> dict[str, FieldInfo]:
    """Return the inputs by field: a command's own, then shared ones, then those about output."""
    names = [name for cls in model.__mro__ for name in getattr(cls, "__annotations__", ())]
    last = Inputs.model_fields
    ordered = sorted(dict.fromkeys(names), key=lambda name: name in last)
    return {name: model.model_fields[name] for name in ordered if name in model.model_fields}


def described(field: FieldInfo, separators: str) -> str:
    """Return the description of an input; that of a list names what separates its items."""
    option = option_of(field)
    text = option.text.removesuffix(".")
    if field.annotation == tuple[str, ...] and not option.repeatable:
        what, *default = text.split("; ", 1)
        text = "; ".join([f"{what} (separated by {separators})", *default])
    return f"{text}."


def default_text(field: FieldInfo) -> str:
    """Return the text that the model reads as the default of an input; "" if there is none."""
    value: Any = None if field.is_required() else field.default
    if isinstance(value, tuple):
        value = ",".join(value)
    match value:
        case bool():
            return str(value).lower()
        case int():
            is_percentage = any(getattr(bound, "le", None) == 100 for bound in field.metadata)
            return f"{value}%" if is_percentage else str(value)
        case str():
            return value
        case timedelta():
            seconds = int(value.total_seconds())
            is_days = seconds and seconds % 86400 == 0
            unit = "h" if is_days else "m" if seconds % 60 == 0 else "s"
            return f"{seconds // UNITS[unit]}{unit}"
        case None if field.annotation == timedelta | None:
            return "off"
    return ""


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
Percent = Annotated[int, BeforeValidator(_texts(_percent)), Field(ge=0, le=100)]
Number = Annotated[int, BeforeValidator(_texts(_number)), Field(ge=0)]
Split = BeforeValidator(_texts(split_list))
"""Split a text at commas and line ends; any other value stays."""

List = Annotated[tuple[str, ...], Split]
MaskedKeys = Annotated[List, Option("More globs of keys whose values are shown as ***.", "GLOBS")]
RepositoryName = Annotated[str, BeforeValidator(_texts(_repository))]
Secret = SecretStr
"""Its repr is asterisks, in case somebody prints it by mistake."""
Wheelhouse = Annotated[
    str, Option("A folder of wheels from which to install, without the network.")
]


Strict = Annotated[
    Flag, Option("Fail for warnings, too, unless they are acknowledged or stood before the change.")
]


class DeliveryInputs(Inputs):
    """The inputs about what registered repositories may deliver."""

    registration_text: Annotated[
        RegistrationText,
        Option(
            "Texts of registered repositories that Templates should not print (line "
            "breaks, template text): strict, or any (a warning on each)."
        ),
    ] = "strict"
    max_targets: Annotated[
        Number,
        Option(
            "The most deployment targets that one registration may deliver to an environment.",
            "NUMBER",
        ),
    ] = MAX_TARGETS

    @property
    def delivery(self) -> DeliveryRules:
        """The rules that these inputs give."""
        return DeliveryRules(self.registration_text, self.max_targets)


class PlanningInputs(DeliveryInputs):
    """The inputs of all planning: which findings are problems, and who decides where."""

    missing_values: Annotated[
        Literal["warn", "error"], Option("For <no value> in a rendered file: warn, or error.")
    ] = "warn"
    manifests: Annotated[
        Literal["warn", "strict"],
        Option(
            "For rendered files that kustomize or Kubernetes would refuse: warn, or strict (an "
            "error, by schemas as well)."
        ),
    ] = "warn"
    scheduler: Annotated[
        str,
        Option(
            "labels, placement, or the entry point of a plugin; default: as annotated "
            "on the Environment, or else labels.",
            "NAME",
        ),
    ] = ""
    now: Annotated[
        Annotated[AwareDatetime, AfterValidator(whole_minutes)] | None,
        Option(
            "The time at which Placements are decided, such as 2026-03-01T12:00:00Z, "
            "in whole minutes; default: the start of the run.",
            "TIME",
        ),
    ] = None


class TreeInputs(PlanningInputs):
    """The inputs of planning that names the files and namespaces of GitOps trees."""

    namespace_scheme: Annotated[
        Literal["current", "legacy"],
        Option("Namespaces: current, or legacy (<environment>-<workspace>-<target>)."),
    ] = "current"
    config_file: Annotated[
        Literal["current", "legacy"],
        Option("current, or legacy (config.yaml for platform-config.yaml)."),
    ] = "current"


OnSourceFailure = Annotated[
    Literal["last-good", "block"],
    Option("For an unusable registered repository: use its last-good commit, or block."),
]
OnFailure = Annotated[
    Literal["block", "keep"],
    Option("For a failing assignment: block all, or keep its folder as it is."),
]
