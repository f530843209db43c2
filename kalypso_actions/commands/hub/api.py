"""The hub over HTTP: read-only questions, metrics of Prometheus, and the call of upstream's hub.

Texts of requests are compared in Python, or are parameters of statements; none becomes SQL.
"""

from __future__ import annotations

import hmac
import posixpath
import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Final, Generic, Protocol, TypeVar

from fastapi import Depends, FastAPI, HTTPException, Query, Request, Response
from fastapi.responses import JSONResponse
from prometheus_client import CollectorRegistry, Gauge, generate_latest
from pydantic import BaseModel, Field

from kalypso_actions import __version__
from kalypso_actions.errors import KalypsoError, UsageError
from kalypso_actions.observations import delivery, drift, histories, questions
from kalypso_actions.observations.delivery import Figures
from kalypso_actions.observations.drift import Drift
from kalypso_actions.observations.histories import ClusterPeriod, TargetPeriod
from kalypso_actions.observations.projection import Database
from kalypso_actions.observations.questions import ClusterState, at_second, seconds_of

Answer = TypeVar("Answer")
Item = TypeVar("Item")

PAGE: Final = 500
LARGEST_BODY: Final = 64 << 10
LONGEST_LENGTH: Final = 9
LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "[::1]"})
COMMIT: Final = re.compile(r"(?:^|[@:/])([0-9a-f]{40}|[0-9a-f]{64})$", re.IGNORECASE)
"""A commit, also as Flux writes it: `dev@sha1:<id>`, `sha1:<id>`, `dev/<id>`."""

Text = Annotated[str, Query(max_length=2304, pattern="^[^\\x00]*$")]
Since = Annotated[str, Query(max_length=40, description="A time, or an age such as 3h.")]
Offset = Annotated[int, Query(ge=0, le=10_000_000, description="`next` of the page before.")]


def _asked(at: Since = "", offset: Offset = 0) -> tuple[str, int]:
    return at, offset


Asked = Annotated[tuple[str, int], Depends(_asked)]


class TablesSource(Protocol):
    """Where the tables are: a database, or the record."""

    def ask(self, question: Callable[[Database], Answer]) -> Answer:
        """Return the answer to a question. Raises KalypsoError."""


class Page(BaseModel, Generic[Item]):
    """At most 500 items; `next` is the offset of the next page, null at the end."""

    at: datetime
    observed_at: datetime | None = Field(description="The newest look until `at`.")
    items: list[Item]
    next: int | None


class DeploymentStateRequest(BaseModel):
    """A target, as `<URL>/<branch>/<path>`, and a commit of its branch."""

    manifests_endpoint: str = Field(max_length=4096)
    commit_id: str = Field(max_length=400)
    at: str = Field("", max_length=40)


class Subscriber(BaseModel):
    """A cluster that follows the target."""

    name: str
    status_message: str


class DeploymentState(BaseModel):
    """What became of a commit on the clusters that follow a target."""

    total_subscribers: int
    total_succeeded_subscribers: int
    total_failed_subscribers: int
    total_in_progress_subscribers: int
    succeeded_subscribers: list[Subscriber]
    failed_subscribers: list[Subscriber]
    in_progress_subscribers: list[Subscriber]


@dataclass(frozen=True, slots=True)
class Rollout:
    """How a desired period reached the clusters of a type, with the seconds it took."""

    environment: str
    target: str
    version: str
    gitops_commit: str
    cluster_type: str
    since: datetime
    clusters: int
    arrived: int
    failed: int
    first_after: int | None
    all_after: int | None


ROLLOUTS: Final = """
select e.name, t.name, coalesce(v.version, ''), d.commit_id, r.cluster_type, d.from_, count(*),
    count(y.arrived), sum(coalesce(y.failed, 0)), min(y.arrived), max(y.arrived)
from desired d
join target t on t.id = d.target
join environment e on e.id = t.environment
left join version v on v.id = d.version
join reconciler r on r.environment = t.environment and r.follows = t.follows
left join (
    select y.desired, p.reconciler,
        min(case when p.status <> 'success' then null when p.from_ > d.from_ then p.from_
            else d.from_ end) as arrived,
        max(case when p.status = 'failure' then 1 else 0 end) as failed
    from delivery y join period p on p.id = y.period join desired d on d.id = y.desired
    where p.from_ <= ?
    group by y.desired, p.reconciler
) y on y.desired = d.id and y.reconciler = r.id
where d.content <> '' and d.from_ <= ? and exists (
    select 1 from period p where p.reconciler = r.id and p.from_ <= ?
        and (d.until is null or p.from_ < d.until) and (p.until is null or p.until > d.from_)
)
group by e.name, t.id, d.id, v.version, r.cluster_type, t.name, d.commit_id, d.from_
order by d.from_ desc, d.id desc, r.cluster_type
"""

FOLLOWERS: Final = """
select c.name, p.status, p.reason from reconciler r
join cluster c on c.id = r.cluster
left join period p on p.id = (
    select p.id from period p
    left join delivery y on y.period = p.id
    left join desired d on d.id = y.desired
    where p.reconciler = r.id and p.from_ <= ? and coalesce(d.commit_id, p.commit_id) = ?
    order by p.number desc limit 1
)
where r.environment = ? and r.follows = ? and exists (
    select 1 from period o
    where o.reconciler = r.id and o.from_ <= ? and (o.until is null or o.until > ?)
)
order by c.key, r.name
"""


def create_app(  # noqa: C901 - a function for each route
    source: TablesSource, now: Callable[[], datetime], token: str = ""
) -> FastAPI:
    """Return the application; without a token, it answers to loopback's names alone."""
    app = FastAPI(
        title="Kalypso's hub",
        version=__version__,
        description="What runs where, since when, and is it what should run. Read-only.",
        docs_url=None,
        redoc_url=None,
    )
    app.middleware("http")(_guard(token))

    @app.exception_handler(KalypsoError)
    def _refused(_: Request, error: KalypsoError) -> JSONResponse:
        status = 400 if isinstance(error, UsageError) else 503
        return JSONResponse({"detail": error.problem.message}, status)

    def moment(text: str) -> datetime:
        return questions.moment(text, now()) if text else now()

    def page(asked: Asked, find: Callable[[Database, datetime], Iterable[Item]]) -> Page[Item]:
        when, begin = moment(asked[0]), asked[1]

        def question(tables: Database) -> Page[Item]:
            found = list(find(tables, when))
            end = begin + PAGE
            return Page(
                at=when,
                observed_at=questions.last_look(tables, when),
                items=found[begin:end],
                next=end if end < len(found) else None,
            )

        return source.ask(question)

    @app.get("/v1/state")
    def state(
        *,
        name: Text = "",
        environment: Text = "",
        target: Text = "",
        cluster: Text = "",
        cluster_type: Text = "",
        status: Text = "",
        relation: Text = "",
        asked: Asked,
    ) -> Page[ClusterState]:
        """What each cluster runs of each target; `name` is one that `kalypso where` knows."""

        def find(tables: Database, when: datetime) -> Iterable[ClusterState]:
            found: Iterable[ClusterState] = questions.states(tables, when)
            for each in matching(
                questions.where(found, name) if name else found,
                environment=environment,
                cluster_type=cluster_type,
                status=status,
                relation=relation,
            ):
                clusters = {"", each.cluster.lower(), each.cluster_name.lower()}
                if cluster.lower() in clusters and target in {"", *each.names}:
                    yield each

        return page(asked, find)

    @app.get("/v1/history")
    def history(
        target: Text = "",
        cluster: Text = "",
        environment: Text = "",
        since: Since = "",
        *,
        asked: Asked,
    ) -> Page[TargetPeriod | ClusterPeriod]:
        """The periods of a target, or of a cluster, newest first."""
        begin = moment(since) if since else None

        def find(tables: Database, when: datetime) -> Iterable[TargetPeriod | ClusterPeriod]:
            if cluster:
                found = histories.cluster_periods(tables, cluster, when, begin, target)
                return matching(found, environment=environment)
            return histories.target_periods(tables, target, when, begin, environment)

        return page(asked, find)

    @app.get("/v1/drift")
    def drifts(environment: Text = "", kind: Text = "", *, asked: Asked) -> Page[Drift]:
        """What is not as it should be, the worst first."""
        wanted = {"environment": environment, "kind": kind}
        return page(asked, lambda *given: matching(drift.drift(*given), **wanted))

    @app.get("/v1/delivery")
    def figures(environment: Text = "", since: Since = "", *, asked: Asked) -> Page[Figures]:
        """The figures of delivery of environments, applications and cluster types."""
        begin = moment(since) if since else None

        def find(tables: Database, when: datetime) -> Iterable[Figures]:
            found = delivery.figures(tables, when, begin)
            return (each for each in found if environment in {"", each.scope.environment})

        return page(asked, find)

    @app.get("/v1/rollouts")
    def rollouts(environment: Text = "", target: Text = "", *, asked: Asked) -> Page[Rollout]:
        """How each desired period reached the clusters of a type, newest first."""
        wanted = {"environment": environment, "target": target}
        return page(asked, lambda *given: matching(rollouts_until(*given), **wanted))

    @app.post("/deployment_state")
    def deployment_state(wanted: DeploymentStateRequest) -> DeploymentState:
        """What became of a commit on the clusters that follow a target."""
        commit = COMMIT.search(wanted.commit_id)
        if not commit:
            raise HTTPException(400, "commit_id is no commit: write its 40 digits")
        when = seconds_of(moment(wanted.at))

        def question(tables: Database) -> list[tuple[str, str | None, str | None]]:
            rows = tables.rows(
                "select environment, follows, repository_key, branch, path from target"
            )
            places = {row[:2] for row in rows if is_endpoint(wanted.manifests_endpoint, *row[2:])}
            return [
                follower
                for place in sorted(map(tuple, places))
                for follower in tables.rows(FOLLOWERS, when, commit[1].lower(), *place, when, when)
            ]

        return _deployment_state(source.ask(question))

    @app.get("/metrics", response_class=Response)
    def metrics() -> Response:
        """Prometheus's metrics."""
        text = source.ask(lambda tables: _metrics(tables, now()))
        return Response(text, media_type="text/plain; version=0.0.4; charset=utf-8")

    @app.get("/healthz")
    def healthz() -> dict[str, str]:
        """Whether the tables can be read."""
        source.ask(lambda tables: tables.rows("select 1 from loaded"))
        return {"status": "ok"}

    return app


Next = Callable[[Request], Awaitable[Response]]


def _guard(token: str) -> Callable[[Request, Next], Awaitable[Response]]:
    """Return the middleware that refuses foreign hosts, wrong tokens and large bodies."""

    async def guard(request: Request, following: Next) -> Response:
        host = request.headers.get("host", "")
        name = re.sub(r":\d{1,5}$", "", host).lower()
        if not token and name not in LOOPBACK:
            return JSONResponse({"detail": "without a token, only loopback is served"}, 403)
        given = request.headers.get("authorization", "").encode()
        is_known = hmac.compare_digest(given, f"Bearer {token}".encode())
        if token and not is_known and request.url.path != "/healthz":
            headers = {"www-authenticate": "Bearer"}
            return JSONResponse({"detail": "the token is missing or wrong"}, 401, headers)
        length = request.headers.get("content-length", "")
        if (
            "transfer-encoding" in request.headers
            or len(length) > LONGEST_LENGTH
            or (length.isdigit() and int(length) > LARGEST_BODY)
        ):
            return JSONResponse({"detail": "the body has more than 64 kB"}, 413)
        response = await following(request)
        response.headers["cache-control"] = "no-store"
        response.headers["x-content-type-options"] = "nosniff"
        return response

    return guard


def is_endpoint(text: str, repository_key: str, branch: str, path: str) -> bool:
    """Return whether a text is `<URL>/<branch>/<path>` of a target, however it is spelled."""
    place = re.sub(r"^[a-z+]+://(?:[^@/]*@)?", "", text.strip(), flags=re.IGNORECASE)
    if not place.lower().startswith(repository_key.lower()):
        return False
    rest = place[len(repository_key) :].removeprefix(".git")
    folder = rest.removeprefix(f"/{branch}")
    if folder == rest or folder[:1] not in {"", "/"}:
        return False
    normal = posixpath.normpath(folder.strip("/") or ".")
    return normal == posixpath.normpath(path or ".")


def _deployment_state(rows: Sequence[tuple[str, str | None, str | None]]) -> DeploymentState:
    groups: dict[str, list[Subscriber]] = {"succeeded": [], "failed": [], "in_progress": []}
    words = {"success": "succeeded", "failure": "failed"}
    for name, status, reason in rows:
        if status:
            group = groups[words.get(status, "in_progress")]
            group.append(Subscriber(name=name, status_message=reason or ""))
    totals = {f"total_{name}_subscribers": len(group) for name, group in groups.items()}
    lists = {f"{name}_subscribers": group for name, group in groups.items()}
    return DeploymentState.model_validate({"total_subscribers": len(rows), **totals, **lists})


def matching(found: Iterable[Item], **wanted: str) -> Iterator[Item]:
    """Yield what has these values; "" stands for each."""
    for each in found:
        if all(value in {"", getattr(each, name)} for name, value in wanted.items()):
            yield each


def rollouts_until(tables: Database, when: datetime) -> Iterator[Rollout]:
    """Yield how far each desired period had reached the clusters of a type, newest first."""
    for row in tables.rows(ROLLOUTS, *[seconds_of(when)] * 3):
        *names, began, clusters, arrived, failed, first, last = row
        first_after = None if first is None else first - began
        all_after = last - began if arrived == clusters else None
        numbers = clusters, arrived, int(failed), first_after, all_after
        yield Rollout(*(*names, at_second(began), *numbers))


def _metrics(tables: Database, now: datetime) -> bytes:
    registry = CollectorRegistry()

    def gauge(name: str, text: str, *labels: str) -> Gauge:
        return Gauge(f"kalypso_{name}", text, labels, registry=registry)

    clusters = gauge(
        *("clusters", "Clusters by their worst state"),
        *("environment", "cluster_type", "status", "relation"),
    )
    for labels in _worst(questions.states(tables, now)):
        clusters.labels(*labels).inc()
    age = gauge("observation_age_seconds", "Age of the newest look", "environment")
    for environment, seen in questions.looks(tables, now).items():
        age.labels(environment).set((now - seen).total_seconds())
    waiting = gauge("waiting_seconds", "The longest that a commit waits", "for")
    for name, seconds in _waits(tables, now).items():
        waiting.labels(name).set(seconds)
    total = gauge("deployments_total", "Deployments that reached a cluster", "environment")
    for figures in delivery.figures(tables, now, parts=False):
        total.labels(figures.scope.environment).set(sum(figures.deployments.values()))
    return generate_latest(registry)


def _waits(tables: Database, now: datetime) -> Mapping[str, float]:
    """Return the longest time that a commit waits for people, and for clusters, in seconds."""
    waits = {"people": 0.0, "clusters": 0.0}
    for commits in delivery.promoted(tables).values():
        for each in commits:
            begun, name = each.merged_at, "clusters"
            if not begun:
                begun, name = each.proposed_at, "people"
            if begun and not each.deployed_at and not each.failed_at:
                waits[name] = max(waits[name], now.timestamp() - begun)
    return waits


def _worst(found: Iterable[ClusterState]) -> Iterator[tuple[str, str, str, str]]:
    """Yield the labels of each cluster in an environment, with its worst status and relation."""
    statuses = ("success", "in_progress", "suspended", "unreachable", "failure")
    relations = ("current", "unknown", "behind", "off")
    clusters: dict[tuple[str, str], list[ClusterState]] = {}
    for each in found:
        clusters.setdefault((each.environment, each.cluster.lower()), []).append(each)
    for (environment, _), its in clusters.items():
        yield (
            environment,
            max(each.cluster_type for each in its),
            max((each.status for each in its), key=statuses.index),
            max((each.relation for each in its), key=relations.index),
        )
