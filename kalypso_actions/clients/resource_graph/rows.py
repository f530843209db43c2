"""The queries, in KQL, and their rows: Flux configurations, clusters and subscriptions.

The fields are those of Azure's own API for Flux configurations (Microsoft.KubernetesConfiguration,
2022-03-01 to 2025-04-01). As Azure's own libraries declare, each field except the id and the
repository's URL may be null or absent, and entries of lists may be null. A field of another type is
an error, because the row's cluster must not vanish from the count.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import UTC, datetime
from typing import Annotated, Final, TypeVar

from pydantic import AliasGenerator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from kalypso_actions.errors import KalypsoError, Problem
from kalypso_actions.model.cluster_reports import (
    BranchFollower,
    ClusterReport,
    Condition,
    ObjectReference,
    ReportedObject,
    ReportedPath,
)
from kalypso_actions.model.urls import repository_key

log = logging.getLogger(__name__)

PROPERTIES: Final = (
    *("complianceState", "provisioningState", "suspend", "errorMessage"),
    *("sourceSyncedCommitId", "sourceUpdatedAt", "statusUpdatedAt", "kustomizations", "statuses"),
)
"""Only the properties that are read here: an answer may have 16 MiB (microsoft/ARI#199)."""

COLUMNS: Final = ", ".join(f"{name} = properties.{name}" for name in PROPERTIES)

QUERY: Final = """\
kubernetesconfigurationresources
| where type =~ 'microsoft.kubernetesconfiguration/fluxconfigurations'
| where tostring(properties.gitRepository.repositoryRef.branch) == {branch}
| where tostring(properties.gitRepository.url) contains {repository}
| project id, url = properties.gitRepository.url, {columns}
| order by id asc"""
"""One query for all states, because Azure allows about 15 queries in 5 seconds. `contains` ignores
case and matches URLs of any form; `cluster_report` decides which name the repository. The order,
and the id among the columns, keep pages from repeating and skipping rows."""

ALL: Final = """\
kubernetesconfigurationresources
| where type =~ 'microsoft.kubernetesconfiguration/fluxconfigurations'
| project id, url = properties.gitRepository.url, \
branch = properties.gitRepository.repositoryRef.branch, {columns}
| order by id asc"""

FOLLOWERS: Final = """\
kubernetesconfigurationresources
| where type =~ 'microsoft.kubernetesconfiguration/fluxconfigurations'
| where tostring(properties.gitRepository.repositoryRef.branch) == {branch}
| project id, url = properties.gitRepository.url, kustomizations = properties.kustomizations
| order by id asc"""

LOST_CLUSTERS: Final = """\
resources
| where type =~ 'microsoft.kubernetes/connectedclusters' or \
type =~ 'microsoft.containerservice/managedclusters'
| where tostring(properties.connectivityStatus) =~ 'Offline' or \
tostring(properties.connectivityStatus) =~ 'Expired' or \
tostring(properties.powerState.code) =~ 'Stopped'
| project id, connectivity = properties.connectivityStatus, power = properties.powerState.code
| order by id asc"""
"""The clusters of the scope that are stopped or have lost their connection, usually few."""

SUBSCRIPTIONS: Final = """\
resourcecontainers
| where type =~ 'microsoft.resources/subscriptions'
| project subscriptionId
| order by subscriptionId asc"""
"""The subscriptions of the scope that the identity may read."""

ESCAPES: Final = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
LINE_SEPARATORS: Final = "\x85\u2028\u2029"


def flux_configurations_query(repository: str, branch: str) -> str:
    """Return the query; all URLs of the repository contain `repository`, such as `owner/name`."""
    return QUERY.format(
        branch=string_literal(branch), repository=string_literal(repository), columns=COLUMNS
    )


def all_configurations_query() -> str:
    """Return the query for the configurations that follow any branch of any repository."""
    return ALL.format(columns=COLUMNS)


def followers_query(branch: str) -> str:
    """Return the query for the configurations that follow a branch of any repository."""
    return FOLLOWERS.format(branch=string_literal(branch))


def string_literal(text: str) -> str:
    """Return a text as a KQL string literal, which nothing in the text can end.

    KQL has the escapes of C# in `'…'`, and requires escaped line ends.
    """
    return "'" + "".join(map(_escaped, text)) + "'"


def _escaped(character: str) -> str:
    if character in ESCAPES:
        return ESCAPES[character]
    if character < " " or character == "\x7f" or character in LINE_SEPARATORS:
        return f"\\u{ord(character):04x}"
    return character


Value = TypeVar("Value")

BranchKey = tuple[str, str]
"""The key of a repository, and a branch of it."""

PROVIDER: Final = re.compile(r"/providers/Microsoft\.KubernetesConfiguration/", re.IGNORECASE)
"""Ends the cluster's part of a configuration's resource id."""


def cluster_report(row: object, place: int, repository: str) -> ClusterReport | Problem | None:
    """Return the report of a row, or the problem of one that cannot be read.

    Return None if the row's URL does not name the repository of this key. `place` counts from 1.
    """
    if not _may_be_of(row, repository):
        return None
    try:
        return _Row.model_validate(row).report()
    except ValidationError as error:
        return _unreadable(row, place, error)


def placed_report(row: object, place: int) -> tuple[BranchKey, ClusterReport | Problem] | None:
    """Return the report of a row, or its problem, with the repository's key and the branch.

    Return None for a row that follows no branch of a Git repository. A row whose repository or
    branch cannot be read has ("", "").
    """
    match row:
        case {"url": None} | {"url": ""} | {"branch": None} | {"branch": ""}:
            return None
        case {"url": str(url), "branch": str(branch)}:
            key = repository_key(url), branch
        case _:
            key = "", ""
    try:
        return key, _Row.model_validate(row).report()
    except ValidationError as error:
        return key, _unreadable(row, place, error)


def fleet_answer(
    results: Iterable[tuple[BranchKey, ClusterReport | Problem] | None],
) -> tuple[Mapping[BranchKey, list[ClusterReport]], Mapping[BranchKey, tuple[Problem, ...]]]:
    """Return the reports, and the problems, by repository and branch."""
    reports: dict[BranchKey, list[ClusterReport]] = {}
    problems: dict[BranchKey, tuple[Problem, ...]] = {}
    for key, result in filter(None, results):
        if isinstance(result, Problem):
            problems[key] = (*problems.get(key, ()), result)
        else:
            reports.setdefault(key, []).append(result)
    return reports, problems


def cluster_reports(
    results: Collection[ClusterReport | Problem | None],
) -> tuple[ClusterReport, ...]:
    """Return the reports among the results of `cluster_report`.

    Raise KalypsoError with every row that cannot be read.
    """
    problems = [result for result in results if isinstance(result, Problem)]
    if problems:
        raise KalypsoError.of(problems)
    return tuple(result for result in results if isinstance(result, ClusterReport))


def branch_followers(rows: Iterable[object]) -> tuple[BranchFollower, ...]:
    """Return the followers of a branch; skip rows of an unknown form, which explain nothing."""
    followers = []
    for row in rows:
        try:
            followers.append(_FollowerRow.model_validate(row).follower())
        except ValidationError as error:
            log.debug("Azure Resource Graph gave a row of an unknown form: %s", error)
    return tuple(followers)


def lost_connections(rows: Iterable[object]) -> Mapping[str, str]:
    """Return Azure's word for each lost connection, by the cluster's id in lower case."""
    connections = {}
    for row in rows:
        match row:
            case {"id": str(cluster), "connectivity": str(word)} | {
                "id": str(cluster),
                "power": str(word),
            }:
                connections[cluster.lower()] = word
    return connections


def subscription_ids(rows: Iterable[object]) -> frozenset[str]:
    """Return the subscriptions in lower case. Raise KalypsoError for any other row."""
    subscriptions: set[str] = set()
    for place, row in enumerate(rows, 1):
        match row:
            case {"subscriptionId": str(name)}:
                subscriptions.add(name.lower())
            case _:
                raise KalypsoError(
                    f"Azure Resource Graph describes the subscription in row {place} of its answer "
                    "in a form that is not known",
                    advice="please report this form",
                )
    return frozenset(subscriptions)


def _may_be_of(row: object, repository: str) -> bool:
    """Return False for a row that certainly names another repository."""
    match row:
        case {"url": str(url)}:
            return repository_key(url) == repository
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
        advice="if the configuration works, please report this form; the state of its cluster is "
        "unknown",
    )


def _cluster(configuration: str) -> str:
    """Return the cluster's part of a configuration's resource id."""
    return PROVIDER.split(configuration)[0]


def _moment(text: object) -> object:
    """Return a time of Azure in UTC; its seconds have 0 to 7 decimals, its offset may be absent."""
    if text is None or text == "":
        return None
    if not isinstance(text, str):
        raise ValueError("must be a string")  # noqa: TRY004 - pydantic takes no TypeError
    try:
        moment = datetime.fromisoformat(text)
        moment = moment.replace(tzinfo=moment.tzinfo or UTC)
        # .NET and Go write the year 1 for "never".
        return None if moment.year == 1 else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        raise ValueError(f"{text!r} is not a time") from None


def _or(fallback: Callable[[], Value]) -> BeforeValidator:
    """Treat null like an absent field."""
    return BeforeValidator(lambda given: fallback() if given is None else given)


def _entries(given: object) -> object:
    """Return a list without its null entries; null is an empty list."""
    if isinstance(given, list):
        return [entry for entry in given if entry is not None]
    return [] if given is None else given


Text = Annotated[str, _or(str)]
Moment = Annotated[datetime | None, BeforeValidator(_moment)]


class _Part(BaseModel):
    """A part of a row; unknown fields are ignored, and types are not converted."""

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

    def condition(self) -> Condition:
        return Condition(
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
    status_conditions: Annotated[list[_Condition], BeforeValidator(_entries)] = Field(
        default_factory=list
    )

    def reported_object(self) -> ReportedObject:
        conditions = tuple(
            status_condition.condition() for status_condition in self.status_conditions
        )
        by = self.applied_by
        return ReportedObject(
            self.kind,
            self.name,
            self.compliance_state,
            conditions,
            self.namespace,
            ObjectReference(by.name, by.namespace) if by and by.name else None,
        )


class _Kustomization(_Part):
    path: Text = ""


Kustomizations = Annotated[dict[str, Annotated[_Kustomization, _or(_Kustomization)]], _or(dict)]


def _paths(kustomizations: Mapping[str, _Kustomization]) -> tuple[ReportedPath, ...]:
    return tuple(
        ReportedPath(kustomization.path, name) for name, kustomization in kustomizations.items()
    )


class _FollowerRow(_Part):
    id: Annotated[str, Field(min_length=1)]
    url: Text = ""
    kustomizations: Kustomizations = Field(default_factory=dict)

    def follower(self) -> BranchFollower:
        return BranchFollower(_cluster(self.id), self.url, _paths(self.kustomizations))


class _Row(_Part):
    id: Annotated[str, Field(min_length=1)]
    url: str
    compliance_state: Text = ""
    provisioning_state: Text = ""
    suspend: Annotated[bool, _or(bool)] = False
    source_synced_commit_id: Text = ""
    source_updated_at: Moment = None
    status_updated_at: Moment = None
    error_message: Text = ""
    kustomizations: Kustomizations = Field(default_factory=dict)
    statuses: Annotated[list[_Object], BeforeValidator(_entries)] = Field(default_factory=list)

    def report(self) -> ClusterReport:
        return ClusterReport(
            cluster=_cluster(self.id),
            configuration=self.id.rstrip("/").rpartition("/")[2],
            paths=_paths(self.kustomizations),
            revision=self.source_synced_commit_id,
            state=self.compliance_state,
            suspended=self.suspend,
            message=self.error_message,
            source_updated_at=self.source_updated_at,
            reported_at=self.status_updated_at,
            provisioning_state=self.provisioning_state,
            objects=tuple(status.reported_object() for status in self.statuses),
        )
