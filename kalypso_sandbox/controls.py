"""HTTP controls of a sandbox: `/_sandbox/…`.

GET                 /_sandbox/                      the page for people (`page`)
GET, DELETE         /_sandbox/requests              recorded requests and responses
GET, POST, DELETE   /_sandbox/faults                faults of the next requests
GET                 /_sandbox/events                events for workflows
GET, PATCH          /_sandbox/limits                rate limits
POST                /_sandbox/tokens                create a token, by kind and permissions
POST                /_sandbox/apps                  create an App and install it in an account
PATCH               /_sandbox/repositories/{owner}/{name}   settings, rename, branch rules
GET                 /_sandbox/repositories/{owner}/{name}/runs      runs that dispatches started
PATCH               /_sandbox/runs/{id}             set a run's status and conclusion

`azure.routes` adds those of the simulated Azure.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Final, Literal

from flask import Blueprint, Response, abort, request
from pydantic import BaseModel, ConfigDict

from kalypso_sandbox.administration import Administration
from kalypso_sandbox.azure import Azure, add_controls
from kalypso_sandbox.control_routes import add_control, request_body
from kalypso_sandbox.faults import FAULT
from kalypso_sandbox.github.routing import number
from kalypso_sandbox.page import FOLDER, add_page
from kalypso_sandbox.store import BranchRule, Permissions

CONTROLS: Final = "controls"


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class NewToken(_Body):
    """The body of a new token; see `Administration.create_token`."""

    kind: Literal["user", "actions", "installation"] = "user"
    permissions: Permissions | None = None
    login: str = ""
    owner: str = ""
    repositories: list[str] | None = None
    app_id: int = 0


class NewApp(_Body):
    """The body of a new App; see `Administration.create_app`."""

    owner: str
    permissions: Permissions | None = None
    repositories: list[str] | None = None
    slug: str = "kalypso"


class RepositoryChanges(_Body):
    """Changes of a repository; a field that is None changes nothing."""

    name: str | None = None
    private: bool | None = None
    internal: bool | None = None
    archived: bool | None = None
    actions_may_open_pull_requests: bool | None = None
    allow_auto_merge: bool | None = None
    rules: list[BranchRule] | None = None


class RunChanges(_Body):
    """The body of a change of a run; see `Administration.change_run`."""

    status: Literal["queued", "in_progress", "waiting", "completed"]
    conclusion: (
        Literal[
            "action_required",
            "cancelled",
            "failure",
            "neutral",
            "skipped",
            "stale",
            "success",
            "timed_out",
        ]
        | None
    ) = None


class LimitChanges(_Body):
    """New limits (see `RateLimits`); omitted fields stay as they are."""

    per_hour: dict[Literal["user", "actions", "installation", "app", ""], int] = {}
    contents_per_minute: int | None = None
    contents_per_hour: int | None = None


def controls(contents: Administration, azure: Azure) -> Blueprint:
    """Return all controls, including those of the simulated Azure."""
    routes = Blueprint(CONTROLS, __name__, template_folder=FOLDER)
    routes.before_request(_refuse_browsers)
    _add_records(routes, contents)
    _add_faults(routes, contents)
    _add_contents(routes, contents)
    _add_runs(routes, contents)
    add_controls(routes, azure)
    add_page(routes, contents.state)
    return routes


def _refuse_browsers() -> None:
    """Refuse forms, so that no web page can use the controls."""
    if request.get_data() and not request.is_json:
        abort(Response("Send JSON with the Content-Type application/json.\n", 415))


def _add_records(routes: Blueprint, contents: Administration) -> None:
    state = contents.state

    def requests() -> Any:
        return [dataclasses.asdict(exchange) for exchange in state.traffic]

    def forget_requests() -> Any:
        state.traffic.clear()

    def events() -> Any:
        return [event.model_dump(mode="json") for event in state.store.events]

    add_control(routes, contents.lock, "GET", "/_sandbox/requests", requests)
    add_control(routes, contents.lock, "DELETE", "/_sandbox/requests", forget_requests)
    add_control(routes, contents.lock, "GET", "/_sandbox/events", events)


def _add_faults(routes: Blueprint, contents: Administration) -> None:
    state = contents.state

    def faults() -> Any:
        return [dataclasses.asdict(fault) for fault in state.faults]

    def add_fault() -> Any:
        state.faults.add(FAULT.validate_python(request_body()))
        return faults()

    def end_faults() -> Any:
        state.faults.clear()

    def rate_limits() -> Any:
        return {
            "per_hour": state.rate_limits.per_hour,
            "contents_per_minute": state.rate_limits.contents_per_minute,
            "contents_per_hour": state.rate_limits.contents_per_hour,
        }

    def change_limits() -> Any:
        changes = LimitChanges.model_validate(request_body())
        for kind, limit in changes.per_hour.items():
            state.rate_limits.per_hour[kind] = limit
        if "contents_per_minute" in changes.model_fields_set:
            state.rate_limits.contents_per_minute = changes.contents_per_minute
        if "contents_per_hour" in changes.model_fields_set:
            state.rate_limits.contents_per_hour = changes.contents_per_hour
        return rate_limits()

    add_control(routes, contents.lock, "GET", "/_sandbox/faults", faults)
    add_control(routes, contents.lock, "POST", "/_sandbox/faults", add_fault)
    add_control(routes, contents.lock, "DELETE", "/_sandbox/faults", end_faults)
    add_control(routes, contents.lock, "GET", "/_sandbox/limits", rate_limits)
    add_control(routes, contents.lock, "PATCH", "/_sandbox/limits", change_limits)


def _add_contents(routes: Blueprint, contents: Administration) -> None:
    def create_token() -> Any:
        new_token = NewToken.model_validate(request_body())
        return {"token": contents.create_token(**dict(new_token))}

    def create_app() -> Any:
        new_app = NewApp.model_validate(request_body())
        app_id, key = contents.create_app(**dict(new_app))
        return {"id": app_id, "private_key": key}

    def change_repository(owner: str, name: str) -> Any:
        changes = RepositoryChanges.model_validate(request_body())
        repository = contents.repository(f"{owner}/{name}")
        for field in changes.model_fields_set - {"name"}:
            value = getattr(changes, field)
            if value is not None:
                setattr(repository, field, value)
        contents.store.save()
        if changes.name is not None:
            contents.rename_repository(repository.full_name, changes.name)
        return {"full_name": repository.full_name}

    add_control(routes, contents.lock, "POST", "/_sandbox/tokens", create_token)
    add_control(routes, contents.lock, "POST", "/_sandbox/apps", create_app)
    path = "/_sandbox/repositories/<owner>/<name>"
    add_control(routes, contents.lock, "PATCH", path, change_repository)


def _add_runs(routes: Blueprint, contents: Administration) -> None:
    def runs(owner: str, name: str) -> Any:
        return [run.model_dump(mode="json") for run in contents.runs(f"{owner}/{name}")]

    def change_run(run_id: str) -> Any:
        changes = RunChanges.model_validate(request_body())
        contents.change_run(number(run_id), changes.status, changes.conclusion)
        return {"id": number(run_id), **changes.model_dump()}

    add_control(routes, contents.lock, "GET", "/_sandbox/repositories/<owner>/<name>/runs", runs)
    add_control(routes, contents.lock, "PATCH", "/_sandbox/runs/<run_id>", change_run)
