"""A row of Resource Graph → a Flux configuration, or a subscription.

The fields are those of Azure's own API for Flux configurations (Microsoft.KubernetesConfiguration,
2022-03-01 to 2025-04-01); each may be null or absent, but for the id and the URL that was asked
for. What is of another type than there makes the row an error: a cluster that is not understood
must not vanish from the count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Annotated, TypeVar

from pydantic import AliasGenerator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from kalypso_actions.errors import KalypsoError, Problem
from kalypso_actions.model.flux import (
    FluxCondition,
    FluxConfiguration,
    FluxKustomization,
    FluxObject,
    FluxReference,
)
from kalypso_actions.model.urls import repository_key

Value = TypeVar("Value")


def flux_configurations(rows: Iterable[object], repository: str) -> tuple[FluxConfiguration, ...]:
    """The configurations among the rows whose URL names a repository, given by its key.

    Raises KalypsoError that names every row which cannot be read.
    """
    found: list[FluxConfiguration] = []
    problems: list[Problem] = []
    for place, row in enumerate(rows, 1):
        if not _may_be_of(row, repository):
            continue
        try:
            found.append(_Row.model_validate(row).configuration())
        except ValidationError as error:
            problems.append(_unreadable(row, place, error))
    if problems:
        raise KalypsoError.of(problems)
    return tuple(found)


def subscription_ids(rows: Iterable[object]) -> frozenset[str]:
    """The subscriptions among the rows, in lower case. Raises KalypsoError for any other row."""
    found: set[str] = set()
    for place, row in enumerate(rows, 1):
        match row:
            case {"subscriptionId": str(name)}:
                found.add(name.lower())
            case _:
                raise KalypsoError(
                    f"Azure Resource Graph describes the subscription in row {place} of its answer "
                    "in a form that is not known",
                    advice="please report this form",
                )
    return frozenset(found)


def _may_be_of(row: object, repository: str) -> bool:
    """False where the row is certainly another repository's, whatever else is in it."""
    match row:
        case {"properties": {"gitRepository": {"url": str(url)}}}:
            try:
                return repository_key(url) == repository
            except ValueError:  # no URL at all, which no cluster can follow
                return False
    return True


def _unreadable(row: object, place: int, error: ValidationError) -> Problem:
    match row:
        case {"id": str(name)} if name:
            pass
        case _:
            name = f"row {place} of the answer"
    faults = [
        f"{'.'.join(map(str, fault['loc'])) or 'the row'}: {fault['msg']}"
        for fault in error.errors(include_url=False, include_input=False)
    ]
    return Problem(
        f"Azure Resource Graph describes {name} in a form that is not known: {'; '.join(faults)}",
        advice="its cluster cannot be judged; if the configuration works, please report this form",
    )


def _moment(text: object) -> object:
    """A time of Azure's in UTC; it has 0 to 7 digits behind the second, an offset or none."""
    if text is None or text == "":
        return None
    if not isinstance(text, str):
        raise ValueError("must be a text")  # noqa: TRY004 - pydantic takes no TypeError
    try:
        moment = datetime.fromisoformat(text)
        moment = moment.replace(tzinfo=moment.tzinfo or UTC)
        # .NET and Go write the year 1 for "never".
        return None if moment.year == 1 else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        raise ValueError(f"{text!r} is no time") from None


def _or(fallback: Callable[[], Value]) -> BeforeValidator:
    """Null means the same as an absent field."""
    return BeforeValidator(lambda given: fallback() if given is None else given)


Text = Annotated[str, _or(str)]
Moment = Annotated[datetime | None, BeforeValidator(_moment)]


class _Part(BaseModel):
    """A part of a row: fields that we do not use are passed over, types are not converted."""

    model_config = ConfigDict(
        frozen=True,
        strict=True,
        alias_generator=AliasGenerator(validation_alias=to_camel),
        defer_build=True,  # few commands read rows
    )


class _Condition(_Part):
    type: Text = ""
    status: Text = ""
    reason: Text = ""
    message: Text = ""
    last_transition_time: Moment = None

    def condition(self) -> FluxCondition:
        return FluxCondition(
            self.type, self.status, self.reason, self.message, self.last_transition_time
        )


class _Reference(_Part):
    name: Text = ""
    namespace: Text = ""


class _Object(_Part):
    kind: Text = ""
    name: Text = ""
    namespace: Text = ""
    applied_by: _Reference | None = None
    compliance_state: Text = ""
    status_conditions: Annotated[list[_Condition], _or(list)] = Field(default_factory=list)

    def flux_object(self) -> FluxObject:
        conditions = tuple(one.condition() for one in self.status_conditions)
        by = self.applied_by
        return FluxObject(
            self.kind,
            self.name,
            self.compliance_state,
            conditions,
            self.namespace,
            FluxReference(by.name, by.namespace) if by and by.name else None,
        )


class _Kustomization(_Part):
    path: Text = ""


class _Branch(_Part):
    branch: Text = ""


class _GitRepository(_Part):
    url: str
    repository_ref: Annotated[_Branch, _or(_Branch)] = Field(default_factory=_Branch)


class _Properties(_Part):
    git_repository: _GitRepository
    compliance_state: Text = ""
    provisioning_state: Text = ""
    suspend: Annotated[bool, _or(bool)] = False
    source_synced_commit_id: Text = ""
    source_updated_at: Moment = None
    status_updated_at: Moment = None
    error_message: Text = ""
    kustomizations: Annotated[
        dict[str, Annotated[_Kustomization, _or(_Kustomization)]], _or(dict)
    ] = Field(default_factory=dict)
    statuses: Annotated[list[_Object], _or(list)] = Field(default_factory=list)


class _Row(_Part):
    id: Annotated[str, Field(min_length=1)]
    properties: _Properties

    def configuration(self) -> FluxConfiguration:
        given = self.properties
        return FluxConfiguration(
            id=self.id,
            repository_url=given.git_repository.url,
            branch=given.git_repository.repository_ref.branch,
            compliance_state=given.compliance_state,
            provisioning_state=given.provisioning_state,
            suspended=given.suspend,
            synced_revision=given.source_synced_commit_id,
            source_updated_at=given.source_updated_at,
            status_updated_at=given.status_updated_at,
            error_message=given.error_message,
            kustomizations=tuple(
                FluxKustomization(name, one.path) for name, one in given.kustomizations.items()
            ),
            objects=tuple(one.flux_object() for one in given.statuses),
        )
