"""HTTP controls of a sandbox: `/_sandbox/…`. They take and return JSON, one after the other.

GET                       /_sandbox/                the page for people (`page`)
GET, DELETE               /_sandbox/requests        recorded requests and responses
GET, POST, DELETE         /_sandbox/faults          faults of the next requests
GET                       /_sandbox/events          events for workflows
GET, PATCH                /_sandbox/limits          rate limits
POST                      /_sandbox/tokens          create a token, by kind and permissions
POST                      /_sandbox/apps            create an App and install it in an account
PATCH                     /_sandbox/repositories/{owner}/{name}   settings, rename, branch rules
GET                       /_sandbox/repositories/{owner}/{name}/runs, …/statuses   of a repository
PATCH                     /_sandbox/runs/{id}       set a run's status and conclusion
POST                      /_sandbox/runs/{id}/{cancel,again,approve}   what people do to a run
GET, POST                 /_sandbox/crons           the cron expressions, and start one's workflow
GET                       /_sandbox/clock           the time, its speed, whether a run goes on
GET, POST, PATCH, DELETE  /_sandbox/clusters[/{name}]   simulated clusters
PUT, DELETE               /_sandbox/clusters/{name}/fault   let one fail, stall or go offline
GET                       /_sandbox/states          what each cluster runs now
GET, PATCH                /_sandbox/azure           settings of the simulated Azure
POST, DELETE              /_sandbox/azure/faults    faults of the next queries
POST, DELETE              /_sandbox/argocd/{server}/tokens        of an Argo CD server
POST                      /_sandbox/argocd/{server}/applications  further Applications
POST                      /_sandbox/azure/applications, /_sandbox/azure/jobs   identities
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Literal

from flask import Blueprint, Response, abort, request
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError, validate_call

from kalypso_sandbox import json_http
from kalypso_sandbox.administration import Administration
from kalypso_sandbox.argocd import ArgoCD
from kalypso_sandbox.azure import Azure, Cluster, JobIdentity, QueryFault, Settings, clusters
from kalypso_sandbox.azure.identity import Application
from kalypso_sandbox.clusters import Clusters
from kalypso_sandbox.faults import FAULT
from kalypso_sandbox.github.endpoints import number
from kalypso_sandbox.state import State
from kalypso_sandbox.store import PERSON, BranchRule

if TYPE_CHECKING:
    from kalypso_sandbox.workflow_runner.background import BackgroundRunner

CONTROLS: Final = "controls"

REPORTED: Final = ("complianceState", "provisioningState", "suspend", "sourceSyncedCommitId")
"""The properties of a configuration in the list of clusters."""


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class RepositoryChanges(_Body):
    """Changes of a repository; a field that is None changes nothing."""

    name: str | None = None
    private: bool | None = None
    internal: bool | None = None
    archived: bool | None = None
    actions_may_open_pull_requests: bool | None = None
    allow_auto_merge: bool | None = None
    rules: list[BranchRule] | None = None


class LimitChanges(_Body):
    """New limits (see `RateLimits`); omitted fields stay as they are."""

    per_hour: dict[Literal["user", "actions", "installation", "app", ""], int] = {}
    contents_per_minute: int | None = None
    contents_per_hour: int | None = None


Control = Callable[[Callable[..., Any]], Callable[..., Any]]


def controls(contents: Administration, azure: Azure, argocd: ArgoCD) -> Blueprint:
    """Return all controls, including those of the simulated Azure."""
    routes = Blueprint(CONTROLS, __name__)
    routes.before_request(_refuse_browsers)

    control = partial(_control, routes, contents.lock)
    _add_records(control, contents)
    _add_faults(control, contents)
    _add_contents(control, contents)
    _add_runs(control, contents.state)
    _add_faults_of_clusters(control, contents.state.clusters)
    _add_argocd(control, argocd)
    add_azure_controls(routes, azure)
    return routes


def add_azure_controls(routes: Blueprint, azure: Azure) -> None:
    """Add the controls of the simulated Azure."""
    control = partial(_control, routes, azure.lock)
    _add_clusters(control, azure)
    _add_azure(control, azure)


def _refuse_browsers() -> None:
    """Refuse forms, so that no web page can use the controls."""
    if request.get_data() and not request.is_json:
        abort(Response("Send JSON with the Content-Type application/json.\n", 415))


def _control(
    routes: Blueprint, lock: AbstractContextManager[Any], method: str, path: str
) -> Control:
    """Add the decorated function to the routes.

    It runs under the lock, and returns the body (None: an empty one). It raises LookupError for an
    unknown name, and ValueError for an invalid request.
    """

    def add(handler: Callable[..., Any]) -> Callable[..., Any]:
        def view(**parameters: str) -> Response:
            try:
                with lock:
                    body = handler(**parameters)
            except ValidationError as error:
                errors = error.errors(include_url=False, include_context=False, include_input=False)
                return _response(422, {"message": "The body is not valid.", "errors": errors})
            except LookupError as error:
                return _response(404, {"message": str(error)})
            except ValueError as error:
                return _response(422, {"message": str(error)})
            if body is None:
                return Response(status=204)
            return _response(201 if method == "POST" else 200, body)

        routes.add_url_rule(f"/_sandbox/{path}", handler.__name__, view, methods=[method])
        return handler

    return add


def _response(status: int, body: Any) -> Response:
    return Response(json.dumps(body, default=str) + "\n", status, mimetype="application/json")


def _body() -> Any:
    """Return the parsed JSON of the request. Raises ValueError."""
    return json_http.parse(request.get_data())


def _changes() -> dict[str, Any]:
    """Return the JSON object of the request. Raises ValidationError."""
    return TypeAdapter(dict[str, Any]).validate_python(_body())


def _call(function: Callable[..., Any], **known: Any) -> Any:
    """Call a function with the fields of the request. Raises ValidationError for invalid ones."""
    return validate_call(function)(**known, **_changes())


def _add_records(control: Callable[[str, str], Control], contents: Administration) -> None:
    """Add the controls of recorded requests and events."""
    state = contents.state

    @control("GET", "requests")
    def requests() -> Any:
        return [dataclasses.asdict(exchange) for exchange in state.traffic]

    @control("DELETE", "requests")
    def forget_requests() -> None:
        state.traffic.clear()

    @control("GET", "events")
    def events() -> Any:
        return [event.model_dump(mode="json") for event in state.store.events]


def _add_faults(control: Callable[[str, str], Control], contents: Administration) -> None:
    """Add the controls of the faults and limits of requests."""
    state = contents.state

    @control("GET", "faults")
    def faults() -> Any:
        return [dataclasses.asdict(fault) for fault in state.faults]

    @control("POST", "faults")
    def add_fault() -> Any:
        state.faults.add(FAULT.validate_python(_body()))
        return faults()

    @control("DELETE", "faults")
    def end_faults() -> None:
        state.faults.clear()

    @control("GET", "limits")
    def rate_limits() -> Any:
        return {name: getattr(state.rate_limits, name) for name in LimitChanges.model_fields}

    @control("PATCH", "limits")
    def change_limits() -> Any:
        changes = LimitChanges.model_validate(_body())
        for kind, limit in changes.per_hour.items():
            state.rate_limits.per_hour[kind] = limit
        for name in changes.model_fields_set - {"per_hour"}:
            setattr(state.rate_limits, name, getattr(changes, name))
        return rate_limits()


def _add_contents(control: Callable[[str, str], Control], contents: Administration) -> None:
    """Add the controls of tokens, Apps, repositories and runs."""

    @control("POST", "tokens")
    def create_token() -> Any:
        return {"token": _call(contents.create_token)}

    @control("POST", "apps")
    def create_app() -> Any:
        app_id, key = _call(contents.create_app)
        return {"id": app_id, "private_key": key}

    @control("PATCH", "repositories/<owner>/<name>")
    def change_repository(owner: str, name: str) -> Any:
        changes = RepositoryChanges.model_validate(_body())
        repository = contents.repository(f"{owner}/{name}")
        for field in changes.model_fields_set - {"name"}:
            value = getattr(changes, field)
            if value is not None:
                setattr(repository, field, value)
        contents.store.save()
        if changes.name is not None:
            contents.rename_repository(repository.full_name, changes.name)
        return {"full_name": repository.full_name}

    @control("GET", "repositories/<owner>/<name>/runs")
    def runs(owner: str, name: str) -> Any:
        return [run.model_dump(mode="json") for run in contents.runs(f"{owner}/{name}")]

    @control("GET", "repositories/<owner>/<name>/statuses")
    def statuses(owner: str, name: str) -> Any:
        listed = contents.repository(f"{owner}/{name}").statuses
        return [status.model_dump(mode="json") for status in listed]

    @control("PATCH", "runs/<run_id>")
    def change_run(run_id: str) -> Any:
        _call(contents.change_run, run_id=number(run_id))
        return {"id": number(run_id), **_changes()}


def _add_runs(control: Callable[[str, str], Control], state: State) -> None:
    """Add the controls of the runner, and of its clock."""

    def runner() -> BackgroundRunner:
        if state.runner is None:
            raise LookupError("nothing runs workflows here: start the sandbox with --run")
        return state.runner

    @control("POST", "runs/<run_id>/cancel")
    def cancel_run(run_id: str) -> None:
        runner().cancel(number(run_id), PERSON)

    @control("POST", "runs/<run_id>/again")
    def run_again(run_id: str) -> None:
        runner().run_again(number(run_id), PERSON)

    @control("POST", "runs/<run_id>/approve")
    def approve_run(run_id: str) -> None:
        runner().approve(number(run_id))

    @control("GET", "crons")
    def crons() -> Any:
        return [dataclasses.asdict(cron) for cron in runner().crons()]

    @control("POST", "crons")
    def start_cron() -> None:
        _call(runner().start_cron)

    @control("GET", "clock")
    def clock() -> Any:
        idle = state.runner.is_idle() if state.runner else True
        return {"now": state.store.now.isoformat(), "speed": state.speed, "idle": idle}


def _add_faults_of_clusters(control: Callable[[str, str], Control], clusters: Clusters) -> None:
    """Add the controls of what clusters run, and of their faults."""

    @control("GET", "states")
    def states() -> Any:
        return [dataclasses.asdict(state) for state in clusters.states()]

    @control("PUT", "clusters/<name>/fault")
    def break_cluster(name: str) -> None:
        changes = _changes()
        match changes.pop("kind", ""):
            case "fails":
                validate_call(clusters.fail)(name, **changes)
            case "stalls":
                validate_call(clusters.stall)(name, **changes)
            case "offline":
                validate_call(clusters.take_offline)(name, **changes)
            case other:
                raise ValueError(f"{other!r} is no fault: write fails, stalls or offline")

    @control("DELETE", "clusters/<name>/fault")
    def mend_cluster(name: str) -> None:
        clusters.mend(name)


def _add_argocd(control: Callable[[str, str], Control], argocd: ArgoCD) -> None:
    """Add the controls of Argo CD servers, which the server does not save."""

    @control("POST", "argocd/<server>/tokens")
    def create_argocd_token(server: str) -> Any:
        return {"token": _call(argocd.create_token, server=server)}

    @control("DELETE", "argocd/<server>/tokens")
    def revoke_argocd_tokens(server: str) -> None:
        argocd.revoke_tokens(server)

    @control("POST", "argocd/<server>/applications")
    def put_application(server: str) -> Any:
        return argocd.put(server, _changes())


def _add_clusters(control: Callable[[str, str], Control], azure: Azure) -> None:
    """Add the controls of clusters, which save the store after each change."""

    def saved(cluster: Cluster) -> Any:
        azure.store.save()
        return cluster.model_dump(mode="json")

    @control("GET", "clusters")
    def list_clusters() -> Any:
        states = _sync_states(azure)
        listed = [
            {**cluster.model_dump(mode="json"), "state": states.get(cluster.id, {})}
            for cluster in clusters.clusters(azure.store)
        ]
        return {"clusters": listed}

    @control("POST", "clusters")
    def add_cluster() -> Any:
        return saved(azure.put(Cluster.model_validate(_body())))

    @control("PATCH", "clusters/<name>")
    def change_cluster(name: str) -> Any:
        changes = _changes()
        configuration = str(changes.pop("configuration", ""))
        return saved(clusters.change(azure.store, name, changes, configuration))

    @control("DELETE", "clusters/<name>")
    def delete_cluster(name: str) -> None:
        azure.delete(name)
        azure.store.save()


def _sync_states(azure: Azure) -> dict[str, dict[str, Any]]:
    """Return resource id of a cluster -> name of a configuration -> its state."""
    states: dict[str, dict[str, Any]] = {}
    for row in azure.tables()["kubernetesconfigurationresources"]:
        cluster, name = row["id"].rpartition("/providers/")[0], row["name"]
        if "complianceState" in row["properties"]:
            properties = {key: row["properties"][key] for key in REPORTED}
            states.setdefault(cluster, {})[name] = properties
    return states


def _add_azure(control: Callable[[str, str], Control], azure: Azure) -> None:
    """Add the controls of limits, faults and identities, which the server does not save."""

    @control("GET", "azure")
    def read_settings() -> Any:
        return azure.settings.model_dump(mode="json")

    @control("PATCH", "azure")
    def change_settings() -> Any:
        azure.settings = Settings.model_validate({**azure.settings.model_dump(), **_changes()})
        return read_settings()

    @control("POST", "azure/faults")
    def add_query_fault() -> Any:
        azure.settings.faults.append(QueryFault.model_validate(_body()))
        return read_settings()

    @control("DELETE", "azure/faults")
    def clear_query_faults() -> None:
        azure.settings.faults.clear()

    @control("POST", "azure/applications")
    def add_application() -> Any:
        def register(subjects: list[str] | None = None, secret: str = "") -> Application:
            return azure.register(*(subjects or ()), secret=secret)

        application = _call(register)
        return {"clientId": application.client_id, "tenantId": azure.tenant}

    @control("POST", "azure/jobs")
    def start_job() -> Any:
        job = TypeAdapter(JobIdentity).validate_python(_body())
        return azure.job_environment(request.host_url.rstrip("/"), job)
