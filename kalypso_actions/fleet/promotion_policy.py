"""The fields of a PromotionPolicy, and its value of `model.promotion_policy`."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Annotated, ClassVar, Final, Literal, TypeVar
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema, model_validator
from pydantic_core import PydanticCustomError

from kalypso_actions.fleet.schemas import Resource, StrictModel
from kalypso_actions.model import promotion_policy as model
from kalypso_actions.model.documents import Document
from kalypso_actions.model.object_ids import is_commit_id

DURATION: Final = re.compile(r"([0-9]{1,5})([smhd])")
UNITS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86400}
LONGEST: Final = timedelta(days=366)


def _fault(text: str) -> PydanticCustomError:
    return PydanticCustomError("policy", "{text}", {"text": text})


def _filled(text: str) -> str:
    if not text.strip():
        raise _fault("must not be empty")
    return text.strip()


def _time(value: object) -> object:
    """Return the time that a text gives, in UTC; other values are faults of their type."""
    if not isinstance(value, str):
        raise _fault("must be a time with an offset, such as 2026-12-24T00:00:00+01:00")
    try:
        time = datetime.fromisoformat(value.strip())
        in_utc = time.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise _fault(f"{value!r} is no time: write, for example, 2026-12-24T00:00:00Z") from error
    if time.tzinfo is None:
        raise _fault(f"{value!r} has no offset: write Z or, for example, +01:00 behind it")
    return in_utc


def _duration(value: object) -> object:
    match = DURATION.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise _fault("must be a duration: write, for example, 90s, 5m, 2h or 7d")
    duration = timedelta(seconds=int(match[1]) * UNITS[match[2]])
    if not timedelta() < duration <= LONGEST:
        raise _fault(f"must be longer than nothing, and at most {LONGEST.days} days")
    return duration


def _zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError) as error:  # unknown, or no name of a file
        raise _fault(
            f"there is no time zone {name!r}: write, for example, Europe/Berlin"
        ) from error
    return name


def _cron(text: str) -> str:
    from cronsim import CronSim, CronSimError  # noqa: PLC0415 - few runs read a policy

    if len(text.split()) != 5:
        raise _fault("must have five fields: minute, hour, day, month, day of the week")
    try:
        next(CronSim(text, datetime(2026, 1, 1, tzinfo=UTC)), None)
    except CronSimError as error:
        raise _fault(f"{text!r} is no cron expression: {error}") from error
    return text


def _commit(text: str) -> str:
    if not is_commit_id(text):
        raise _fault("must be a full commit id, 40 hexadecimal digits in lower case")
    return text


def _none_is_empty(value: object) -> object:
    return [] if value is None else value


def _null_is_absent(value: object) -> object:
    return {} if value is None else value


Filled = Annotated[str, AfterValidator(_filled)]
Time = Annotated[
    datetime, BeforeValidator(_time), WithJsonSchema({"type": "string", "format": "date-time"})
]
Duration = Annotated[
    timedelta,
    BeforeValidator(_duration),
    WithJsonSchema({"type": "string", "pattern": f"^{DURATION.pattern}$"}),
]


Item = TypeVar("Item")
Items = Annotated[list[Item], BeforeValidator(_none_is_empty)]
"""A list, which people may leave empty as in Kubernetes."""


class CheckSpec(StrictModel):
    """A commit status or check run."""

    name: Filled = Field(description="The context of the status, or the name of the check run.")
    source: Filled = Field(
        alias="from", description="The slug of the App, or the login, that posts it."
    )


class RequiresSpec(StrictModel):
    """What must be true of the commit."""

    deployed: Items[Filled] = Field(
        default_factory=list, description="Environments in which the commit must be Deployed."
    )
    soak: Duration | None = Field(
        None, description="How long ago the last of them must have deployed it, such as 24h or 7d."
    )
    checks: Items[CheckSpec] = Field(
        default_factory=list, description="Statuses or check runs of the commit that succeeded."
    )

    @model_validator(mode="after")
    def _soaks_somewhere(self) -> RequiresSpec:
        if self.soak and not self.deployed:
            raise _fault("needs deployed beside soak: the environments in which the commit soaks")
        return self


class FreezeSpec(StrictModel):
    """A time in which nothing enters: once by from and to, or repeated by cron and duration."""

    reason: Filled = Field(description="Shown to everybody who waits.")
    begins: Time | None = Field(None, alias="from", description="The beginning, with an offset.")
    ends: Time | None = Field(None, alias="to", description="The end, with an offset.")
    cron: Annotated[str, AfterValidator(_cron)] | None = Field(
        None, description="The beginnings, in local time: minute, hour, day, month, weekday."
    )
    duration: Duration | None = Field(None, description="How long each of them lasts.")
    timezone: Annotated[str, AfterValidator(_zone)] | None = Field(
        None, description="The time zone of cron, such as Europe/Berlin; default: UTC."
    )
    allow: Items[Filled] = Field(
        default_factory=list,
        description="Labels: commits whose merged pull requests all have one of them enter.",
    )

    @model_validator(mode="after")
    def _has_one_form(self) -> FreezeSpec:
        once, repeated = (self.begins, self.ends), (self.cron, self.duration)
        used = [form for form in (once, repeated) if any(form)]
        if len(used) != 1 or not all(used[0]) or (used[0] is once and self.timezone):
            raise _fault("needs either from and to, or cron and duration with its timezone")
        if self.begins and self.ends and self.begins >= self.ends:
            raise _fault("ends before it begins")
        return self


class HoldSpec(StrictModel):
    """A person's word that nothing enters."""

    reason: Filled = Field(description="Shown to everybody who waits.")
    by: Filled = Field(description="The login of the person who holds.")
    until: Time | None = Field(None, description="The end, with an offset; default: no end.")
    at: Annotated[str, AfterValidator(_commit)] | None = Field(
        None, description="The only commit that enters all the same."
    )


class PromotionPolicySpec(StrictModel):
    """Spec of a PromotionPolicy."""

    requires: Annotated[RequiresSpec, BeforeValidator(_null_is_absent)] = Field(
        default_factory=RequiresSpec, description="What must be true of a commit."
    )
    queue: Literal["newest", "oldest"] = Field(
        "newest", description="Which of the commits that wait enters: newest, or oldest."
    )
    freezes: Items[FreezeSpec] = Field(
        default_factory=list, description="Times in which nothing enters."
    )
    holds: Items[HoldSpec] = Field(
        default_factory=list, description="People's words that nothing enters."
    )


class PromotionPolicyResource(Resource):
    """When a commit of main may enter an environment."""

    API_VERSION: ClassVar[str] = model.POLICY_API

    spec: PromotionPolicySpec

    def build(self, document: Document) -> model.PromotionPolicy:
        """Build a PromotionPolicy."""
        spec = self.spec
        freezes = (
            model.Freeze(
                item.reason,
                item.begins,
                item.ends,
                item.cron or "",
                item.duration or timedelta(),
                item.timezone or "UTC",
                tuple(item.allow),
                document.at("spec", "freezes", number),
            )
            for number, item in enumerate(spec.freezes)
        )
        deployed = [*enumerate(spec.requires.deployed)]
        return model.PromotionPolicy(
            deployed=tuple(dict.fromkeys(spec.requires.deployed)),
            soak=spec.requires.soak or timedelta(),
            checks=tuple(model.RequiredCheck(c.name, c.source) for c in spec.requires.checks),
            queue=spec.queue,
            freezes=tuple(freezes),
            holds=tuple(
                model.Hold(
                    h.reason, h.by, h.until, h.at or "", document.at("spec", "holds", number)
                )
                for number, h in enumerate(spec.holds)
            ),
            where=document.where,
            name=document.name,
            places={
                name: document.at("spec", "requires", "deployed", number)
                for number, name in reversed(deployed)
            },
        )
