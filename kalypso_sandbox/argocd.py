"""Argo CD servers of the sandbox: the part of their API that tells what clusters run.

    token = sandbox.argocd.create_token("hub", [("applications", "get", "team/*")])
    requests.get(f"{sandbox.argocd_url('hub')}/api/v1/applications", headers=…)

The Applications are those of simulated clusters (`ArgoApplication`), and further documents. As Argo
CD does, lists leave out what the token may not see, with status 200, and are null without items.
`server/application`, `server/rbac` and `util/session` of argo-cd have the undocumented details.
"""

from __future__ import annotations

import functools
import secrets
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from fnmatch import fnmatchcase
from typing import Any, Final

from flask import Blueprint, request
from werkzeug.wrappers import Response

from kalypso_sandbox.azure.clusters import ArgoApplication, Cluster, Configuration, clusters
from kalypso_sandbox.azure.sync import (
    Head,
    RepositoryHistory,
    phase_at,
    reconciliations,
    synced_commits,
    while_following,
)
from kalypso_sandbox.commit_statuses import SYNC_FAILED
from kalypso_sandbox.json_http import Answer, Json, read_signed, sign
from kalypso_sandbox.store import Store

ARGOCD_PATH: Final = "/_argocd/"
IN_CLUSTER: Final = "https://kubernetes.default.svc"
NAMESPACE: Final = "argocd"
VERSION: Final = "v3.1.8+becb020"

Policy = tuple[str, str, str]
"""A resource, an action and the glob of an object, as in `argocd-rbac-cm`; all are allowed."""

EVERYTHING: Final[Sequence[Policy]] = (("applications", "get", "*"), ("clusters", "get", "*"))

RESOURCES: Final = frozenset(
    {"accounts", "applications", "applicationsets", "certificates", "clusters", "exec",
     "extensions", "gpgkeys", "logs", "projects", "repositories", "write-repositories"}
)  # fmt: skip
"""The resources that `can-i` knows."""

FIELDS: Final = {
    name: name
    for name in (
        *("metadata.name", "metadata.namespace", "metadata.annotations", "metadata.labels"),
        *("metadata.creationTimestamp", "metadata.deletionTimestamp", "spec"),
        *("status.sourceHydrator", "status.sync.status", "status.health", "status.summary"),
        *("status.operationState.startedAt", "status.operationState.finishedAt"),
        *("status.resources", "operation.sync", "status.operationState.phase"),
    )
} | {"status.operationState.operation.sync": "status.operationState.syncResult"}
"""The fields that `?fields=items.…` can select, and what Argo CD puts there."""


class DeniedError(Exception):
    """A refusal: a status of HTTP, a code of gRPC, and the message."""

    def __init__(self, status: int, code: int, message: str) -> None:
        super().__init__(message)
        self.answer = Answer(status, {"error": message, "code": code, "message": message})


@dataclass(frozen=True, slots=True)
class AccountToken:
    """A token of an account; `policies` are those of the account."""

    server: str
    policies: Sequence[Policy]

    def may(self, resource: str, action: str, target: str) -> bool:
        """Return whether a policy allows an action; `*` matches slashes, too."""
        return any(
            (resource, action) == policy[:2] and fnmatchcase(target, policy[2])
            for policy in self.policies
        )


@dataclass(eq=False)
class ArgoCD:
    """The Argo CD servers, by name. Tokens and further documents end with the sandbox."""

    store: Store
    lock: AbstractContextManager[Any]
    _key: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)
    _tokens: dict[str, AccountToken] = field(default_factory=dict, repr=False)
    _documents: dict[tuple[str, str], Json] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._repositories = RepositoryHistory(self.store)

    def create_token(
        self,
        server: str,
        policies: list[Policy] | None = None,
        *,
        account: str = "kalypso",
        lifetime: float | None = None,
    ) -> str:
        """Create a token of an account that may see everything, or what the policies allow.

        Without a `lifetime` in seconds, it has no end.
        """
        token_id, now = str(uuid.uuid4()), int(self.store.now.timestamp())
        claims: dict[str, Json] = {
            "iss": "argocd",
            "sub": f"{account}:apiKey",
            "iat": now,
            "nbf": now,
            "jti": token_id,
        }
        if lifetime is not None:
            claims["exp"] = now + int(lifetime)
        with self.lock:
            self._tokens[token_id] = AccountToken(
                server, EVERYTHING if policies is None else policies
            )
        return sign(claims, self._key)

    def revoke_tokens(self, server: str) -> None:
        """Revoke all tokens of a server."""
        with self.lock:
            self._tokens = {
                token_id: token
                for token_id, token in self._tokens.items()
                if token.server != server
            }

    def put(self, server: str, application: Mapping[str, Json]) -> Json:
        """Add an Application of no simulated cluster, or replace the one with its name.

        Raises ValueError if it has no name.
        """
        name = (application.get("metadata") or {}).get("name")
        if not isinstance(name, str) or not name:
            raise ValueError("metadata.name is missing")
        with self.lock:
            self._documents[server, name] = dict(application)
        return dict(application)

    def knows(self, server: str) -> bool:
        """Return whether there is a server with this name."""
        named = {each for each, _ in self._documents} | {each.server for each in self._following()}
        return server in named | {token.server for token in self._tokens.values()}

    def authenticate(self, server: str, authorization: str) -> tuple[AccountToken, str]:
        """Return the token in an Authorization header and its account. Raises DeniedError."""
        scheme, _, value = authorization.partition(" ")
        if scheme.lower() != "bearer" or not value:
            raise DeniedError(401, 16, "no session information")
        claims = read_signed(value, self._key)
        if claims is None:
            raise DeniedError(401, 16, "invalid session: token signature is invalid")
        if claims.get("exp", float("inf")) <= self.store.now.timestamp():
            expired = "invalid session: token has invalid claims: token is expired"
            raise DeniedError(401, 16, expired)
        account, token = claims["sub"].partition(":")[0], self._tokens.get(claims["jti"])
        if token is None or token.server != server:
            missing = f"account {account} does not have token with id {claims['jti']}"
            raise DeniedError(401, 16, f"invalid session: {missing}")
        return token, account

    def applications(self, server: str) -> list[Json]:
        """Return all Applications of a server, sorted by name."""
        made: dict[str, Json] = {}
        heads = functools.cache(self._repositories.heads)
        for cluster in clusters(self.store):
            for configuration in cluster.configurations:
                application = configuration.application
                if application and application.server == server and not cluster.deleted_at:
                    of_branch = heads(configuration.repository, configuration.branch)
                    for document in self._of(cluster, configuration, application, of_branch):
                        made[document["metadata"]["name"]] = document
        made |= {name: each for (of, name), each in self._documents.items() if of == server}
        return [made[name] for name in sorted(made)]

    def clusters(self, server: str) -> list[Json]:
        """Return the clusters that a server knows: those of its Applications, and its own."""
        known: dict[str, Json] = {}
        for cluster in clusters(self.store):
            for configuration in cluster.configurations:
                application = configuration.application
                if application and application.server == server and not cluster.deleted_at:
                    in_cluster = application.destination == "in-cluster"
                    name = "in-cluster" if in_cluster else cluster.name
                    lost = configuration.behaviour == "disconnected"
                    known[name] = _cluster(name, self.store.now, is_lost=lost)
        own = {"in-cluster": _cluster("in-cluster", self.store.now, is_lost=False)}
        return list((own | known).values())

    def _following(self) -> Iterator[ArgoApplication]:
        for cluster in clusters(self.store):
            for configuration in cluster.configurations:
                if configuration.application:
                    yield configuration.application

    def _of(
        self,
        cluster: Cluster,
        configuration: Configuration,
        application: ArgoApplication,
        heads: Sequence[Head],
    ) -> Iterator[Json]:
        """Yield the Application of a configuration, and the one that it applies if `nested`."""
        moment = self.store.now
        following, until = while_following(configuration, moment)
        synced = synced_commits(following, heads, moment)
        begun = reconciliations(following, heads, until)
        given, path = configuration.repository, configuration.paths[0].strip("./")
        is_full_name = given.count("/") == 1 and ":" not in given
        source = {
            "repoURL": f"{self.store.server_url}/{given}" if is_full_name else given,
            "path": path or ".",
            "targetRevision": configuration.branch,
            "directory": {"recurse": True},
        }
        name = application.name or f"platform-{cluster.name}"
        document = _document(name, application, _destination(cluster, application), source)
        child = f"{path.rpartition('/')[2] or 'root'}-app" if configuration.nested else ""
        if not synced:
            yield document
            return
        changed = self._changing(configuration, path, begun)
        is_broken = functools.partial(
            self._repositories.is_broken, configuration.repository, configuration.failure
        )
        status = document["status"] | _status(
            configuration, synced, changed, begun, is_broken, moment, child
        )
        status["sync"]["comparedTo"] = document["status"]["sync"]["comparedTo"]
        document["status"] = status
        if child:
            status["resources"].append(
                {
                    "group": "argoproj.io",
                    "version": "v1alpha1",
                    "kind": "Application",
                    "namespace": NAMESPACE,
                    "name": f"{child}-{cluster.name}",
                    "status": "Synced",
                }
            )
        yield document
        if child and changed:
            yield _child(child, application, cluster, configuration, changed, is_broken, moment)

    def _changing(
        self, configuration: Configuration, path: str, begun: Sequence[tuple[str, datetime]]
    ) -> list[tuple[str, datetime]]:
        """Return the commits that change something below the path: the others need no sync."""
        repository = self._repositories.find(configuration.repository)
        if repository is None:
            return list(begun)
        git = self.store.git(repository)
        changing: list[tuple[str, datetime]] = []
        tree: str | None = ""
        for commit, at in begun:
            own = git.tree_id(commit, path)
            if own != tree:
                changing.append((commit, at))
            tree = own
        return changing


def _cluster(name: str, now: datetime, *, is_lost: bool) -> Json:
    state = {
        "status": "Failed" if is_lost else "Successful",
        "message": "failed to get server version: connection refused" if is_lost else "",
        "attemptedAt": _time(now),
    }
    return {
        "server": IN_CLUSTER if name == "in-cluster" else _server_of(name),
        "name": name,
        "config": {"tlsClientConfig": {"insecure": False}},
        "connectionState": state,
        "serverVersion": "" if is_lost else "1.33",
        "info": {"connectionState": state, "applicationsCount": 0},
    }


def _server_of(cluster: str) -> str:
    return f"https://{cluster}.k8s.example:6443"


def _destination(cluster: Cluster, application: ArgoApplication) -> dict[str, str]:
    match application.destination:
        case "name":
            return {"name": cluster.name, "namespace": NAMESPACE}
        case "server":
            return {"server": _server_of(cluster.name), "namespace": NAMESPACE}
    return {"server": IN_CLUSTER, "namespace": NAMESPACE}


def _document(
    name: str, application: ArgoApplication, destination: Json, source: Json
) -> dict[str, Json]:
    """Return an Application that Argo CD has not compared yet."""
    return {
        "metadata": {
            "name": name,
            "namespace": NAMESPACE,
            "uid": str(uuid.uuid5(uuid.NAMESPACE_DNS, f"{application.server}/{name}")),
            "resourceVersion": "41000000",
            "generation": 1,
            "creationTimestamp": "2026-01-09T08:15:02Z",
            "labels": dict(application.labels),
        },
        "spec": {
            "source": source,
            "destination": destination,
            "project": application.project,
            "syncPolicy": {"automated": {"prune": True, "selfHeal": True}},
        },
        "status": {
            "sync": {"status": "", "comparedTo": {"source": source, "destination": destination}},
            "health": {},
            "summary": {},
        },
    }


def _status(
    configuration: Configuration,
    synced: Sequence[tuple[str, datetime]],
    changed: Sequence[tuple[str, datetime]],
    begun: Sequence[tuple[str, datetime]],
    is_broken: Callable[[str], bool],
    now: datetime,
    child: str,
) -> dict[str, Json]:
    """Return what Argo CD reports of an Application that it has compared.

    `changed` are the syncs, a part of `begun`: a commit that changes nothing is Synced at once. A
    stalled Application is compared with newer commits, and not synced.
    """
    revision, compared_at = synced[-1]
    status: dict[str, Json] = {
        "sync": {"status": "OutOfSync", "revision": revision},
        "health": {"status": "Missing", "lastTransitionTime": _time(compared_at)},
        "sourceType": "Directory",
        "controllerNamespace": NAMESPACE,
        "resources": [{"version": "v1", "kind": "Namespace", "name": "app", "status": "Synced"}],
    }
    moments = [compared_at]
    if changed:
        commit, begun_at = changed[-1]
        applied = begun[-1][0]
        broken = configuration.behaviour == "fail" and is_broken(commit)
        phase, since = phase_at(configuration, begun_at, now, broken=broken)
        moments.append(since)
        failure = configuration.failure
        cannot_sync = phase == "failing" and failure.reason == SYNC_FAILED
        if phase == "failing" and child and failure.kustomization == child:
            phase = "ready"  # a parent is healthy, whatever its children are
        ended_at = begun_at + timedelta(seconds=configuration.settle) / 2
        operation = {
            "operation": {
                "sync": {"revision": commit, "prune": True},
                "initiatedBy": {"automated": True},
                "retry": {"limit": 5},
            },
            "phase": "Running" if phase == "applying" else "Succeeded",
            "startedAt": _time(begun_at),
            "message": "successfully synced (all tasks run)",
            "syncResult": {"revision": commit},
        }
        if phase == "applying":
            operation["message"] = "waiting for healthy state of the resources"
        else:
            operation["finishedAt"] = _time(ended_at)
        if cannot_sync:
            operation |= {"phase": "Failed", "message": failure.message}
            operation["finishedAt"] = _time(since)
        elif applied == revision and phase != "applying":
            status["sync"]["status"] = "Synced"
        health = {"applying": "Progressing", "depending": "Progressing", "failing": "Degraded"}
        status["health"] = {
            "status": "Healthy" if cannot_sync else health.get(phase, "Healthy"),
            "lastTransitionTime": _time(begun_at if cannot_sync else since),
        }
        if status["health"]["status"] == "Degraded":
            status["health"]["message"] = failure.message
        status["operationState"] = operation
    seen_at = now
    match configuration.behaviour:
        case "suspended":
            status["sync"] = {"status": "Synced", "revision": begun[-1][0] if begun else ""}
            status["health"]["status"] = "Suspended"
        case "disconnected":
            seen_at = min(now, configuration.since or now)
            message = "failed to load live state: connection refused"
            status["sync"] = {"status": "Unknown", "revision": begun[-1][0] if begun else ""}
            status["conditions"] = [
                {
                    "type": "ComparisonError",
                    "message": message,
                    "lastTransitionTime": _time(seen_at),
                }
            ]
    every = configuration.reports_every
    refreshed = datetime.fromtimestamp(seen_at.timestamp() // every * every, now.tzinfo)
    status["reconciledAt"] = _time(max([refreshed, *(at for at in moments if at <= seen_at)]))
    return status


def _child(
    name: str,
    application: ArgoApplication,
    cluster: Cluster,
    configuration: Configuration,
    changed: Sequence[tuple[str, datetime]],
    is_broken: Callable[[str], bool],
    now: datetime,
) -> Json:
    """Return the Application that a configuration applies, with a commit of another repository."""
    source = {
        "repoURL": "https://github.com/elsewhere/app",
        "path": "./app",
        "targetRevision": "main",
        "directory": {"recurse": True},
    }
    own_name = f"{name}-{cluster.name}"
    document = _document(own_name, application, _destination(cluster, application), source)
    commit, begun_at = changed[-1]
    may_fail = configuration.behaviour == "fail" and configuration.failure.kustomization == name
    broken = may_fail and is_broken(commit)
    phase, since = phase_at(configuration, begun_at, now, broken=broken)
    health = {"ready": "Healthy", "failing": "Degraded"}.get(phase, "Progressing")
    document["status"] |= {
        "sync": {"status": "Synced", "revision": "5" * 40},
        "health": {"status": health, "lastTransitionTime": _time(since)},
        "reconciledAt": _time(now),
        "sourceType": "Directory",
        "operationState": {
            "operation": {"sync": {"revision": "5" * 40, "prune": True}},
            "phase": "Succeeded",
            "startedAt": _time(begun_at),
            "finishedAt": _time(begun_at),
            "message": "successfully synced (all tasks run)",
            "syncResult": {"revision": "5" * 40},
        },
        "resources": [{"version": "v1", "kind": "Namespace", "name": "app", "status": "Synced"}],
    }
    return document


def argocd_api(argocd: ArgoCD) -> Blueprint:
    """Return the API of all servers, each below its own path. A request holds the lock.

    GET /api/v1/applications[/{name}]   Applications: name, projects, selector, repo, fields
    GET /api/v1/clusters                the clusters that a server knows
    GET /api/v1/account/can-i/{resource}/{action}/{object}
    GET /api/v1/session/userinfo        the account of a token; nothing without a valid one
    GET /api/version                    for everybody
    """
    routes = Blueprint("argocd", __name__)
    for path, handler in (
        ("v1/applications", _list_applications),
        ("v1/applications/<name>", _read_application),
        ("v1/clusters", _list_clusters),
        ("v1/account/can-i/<resource>/<action>/<path:target>", _can_i),
        ("v1/session/userinfo", _user_info),
        ("version", _version),
    ):
        _add(routes, argocd, path, handler)
    return routes


def _add(routes: Blueprint, argocd: ArgoCD, path: str, handler: Callable[..., Answer]) -> None:
    def view(server: str, **parameters: str) -> Response:
        with argocd.lock:
            if not argocd.knows(server):
                return Response("default backend - 404", 404, content_type="text/plain")
            try:
                return handler(argocd, server, **parameters).response()
            except DeniedError as error:
                return error.answer.response()

    rule = f"{ARGOCD_PATH}<server>/api/{path}"
    routes.add_url_rule(rule, handler.__name__, view, methods=["GET"])


def _token(argocd: ArgoCD, server: str) -> AccountToken:
    """Return the token of the request. Raises DeniedError."""
    return argocd.authenticate(server, request.headers.get("Authorization", ""))[0]


def _list_applications(argocd: ArgoCD, server: str) -> Answer:
    token = _token(argocd, server)
    seen = [
        each
        for each in argocd.applications(server)
        if token.may("applications", "get", _object_of(each)) and _is_wanted(each)
    ]
    fields = request.args.get("fields", "")
    items = [_selected(each, fields) for each in seen] if fields else seen
    return Answer(200, {"metadata": {"resourceVersion": "41000000"}, "items": items or None})


def _read_application(argocd: ArgoCD, server: str, name: str) -> Answer:
    """Return an Application; one that is missing is refused as one that may not be seen."""
    token = _token(argocd, server)
    for each in argocd.applications(server):
        may = token.may("applications", "get", _object_of(each))
        if each["metadata"]["name"] == name and may:
            return Answer(200, each)
    raise DeniedError(403, 7, "permission denied")


def _list_clusters(argocd: ArgoCD, server: str) -> Answer:
    token = _token(argocd, server)
    known = argocd.clusters(server)
    seen = [each for each in known if token.may("clusters", "get", each["server"])]
    return Answer(200, {"metadata": {}, "items": seen or None})


def _can_i(argocd: ArgoCD, server: str, resource: str, action: str, target: str) -> Answer:
    token = _token(argocd, server)
    if resource not in RESOURCES:
        raise DeniedError(400, 3, f"{sorted(RESOURCES)} does not contain {resource}")
    return Answer(200, {"value": "yes" if token.may(resource, action, target) else "no"})


def _user_info(argocd: ArgoCD, server: str) -> Answer:
    try:
        _, account = argocd.authenticate(server, request.headers.get("Authorization", ""))
    except DeniedError:
        return Answer(200, {})
    return Answer(200, {"loggedIn": True, "username": account, "iss": "argocd"})


def _version(_argocd: ArgoCD, _server: str) -> Answer:
    return Answer(200, {"Version": VERSION})


def _object_of(application: Json) -> str:
    """Return the name of an Application in policies: `<project>/<name>`."""
    project = (application.get("spec") or {}).get("project") or "default"
    return f"{project}/{application['metadata']['name']}"


def _is_wanted(application: Json) -> bool:
    """Return whether an Application meets the query. Unknown parameters do not count (`limit`).

    `repo` is the exact text of the URL of the first source.
    """
    spec, metadata = application.get("spec") or {}, application["metadata"]
    sources: Sequence[Json] = [spec["source"]] if spec.get("source") else spec.get("sources") or ()
    first = sources[0] if sources else {}
    given = request.args
    projects = given.getlist("projects") + given.getlist("project")
    return (
        given.get("name") in {None, "", metadata["name"]}
        and (not projects or spec.get("project") in projects)
        and given.get("repo") in {None, "", first.get("repoURL")}
        and given.get("appNamespace") in {None, "", metadata.get("namespace", NAMESPACE)}
        and _meets(metadata.get("labels") or {}, given.get("selector", ""))
    )


def _meets(labels: Mapping[str, str], selector: str) -> bool:
    """Return whether labels meet a selector of `key=value`, `key!=value`, `key` and `!key`."""
    for term in filter(None, (part.strip() for part in selector.split(","))):
        key, unequal, value = term.partition("!=")
        if not unequal:
            key, equal, value = term.replace("==", "=").partition("=")
            if not equal:
                if (key.removeprefix("!") in labels) == key.startswith("!"):
                    return False
                continue
        if (labels.get(key.strip()) == value.strip()) == bool(unequal):
            return False
    return True


def _selected(application: Json, fields: str) -> Json:
    """Return the fields `items.…` of the query; Argo CD knows only a few, and leaves out others."""
    selected: dict[str, Json] = {}
    for name in (each.strip().removeprefix("items.") for each in fields.split(",")):
        value = application
        for part in FIELDS.get(name, "nothing").split("."):
            value = value.get(part) if isinstance(value, dict) else None
        if value is None or value == []:
            continue
        *parents, last = name.split(".")
        place = selected
        for part in parents:
            place = place.setdefault(part, {})
        place[last] = value
    return selected


def _time(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
