"""How users and demos control a sandbox over HTTP: `/_sandbox/…`.

GET, DELETE         /_sandbox/requests              what was asked and answered
GET, POST, DELETE   /_sandbox/faults                what goes wrong next
GET                 /_sandbox/events                what workflows would be told
GET, PATCH          /_sandbox/limits                rate limits
POST                /_sandbox/tokens                a token, by kind and permissions
POST                /_sandbox/apps                  an App that is installed in an account
PATCH               /_sandbox/repositories/{owner}/{name}   settings, rename, branch rules
GET                 /_sandbox/repositories/{owner}/{name}/runs      runs that dispatches started
PATCH               /_sandbox/runs/{id}             another status of a run, with its conclusion
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from typing import Any, Final, Literal

from flask import Blueprint, Response, abort, request
from pydantic import BaseModel, ConfigDict, ValidationError

from kalypso_actions.sandbox import strict_json
from kalypso_actions.sandbox.administration import Administration
from kalypso_actions.sandbox.azure import Azure, add_controls
from kalypso_actions.sandbox.faults import FAULT
from kalypso_actions.sandbox.routing import number
from kalypso_actions.sandbox.store import BranchRule, Permissions

CONTROLS: Final = "controls"


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class NewToken(_Body):
    """What a token is made of; see `Contents.create_token`."""

    kind: Literal["user", "actions", "installation"] = "user"
    permissions: Permissions | None = None
    login: str = ""
    owner: str = ""
    repositories: list[str] | None = None
    app_id: int = 0


class NewApp(_Body):
    """What an App is made of; see `Contents.create_app`."""

    owner: str
    permissions: Permissions | None = None
    repositories: list[str] | None = None
    slug: str = "kalypso"


class RepositoryChanges(_Body):
    """What becomes different; None stays as it is."""

    name: str | None = None
    private: bool | None = None
    archived: bool | None = None
    actions_may_open_pull_requests: bool | None = None
    rules: list[BranchRule] | None = None


class RunChanges(_Body):
    """See `Contents.change_run`."""

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
    """See `RateLimits`; what is not named stays as it is."""

    per_hour: dict[Literal["user", "actions", "installation", "app", ""], int] = {}
    contents_per_minute: int | None = None


def controls(contents: Administration, azure: Azure) -> Blueprint:
    """All of them, those of the simulated Azure included."""
    routes = Blueprint(CONTROLS, __name__)
    routes.before_request(_refuse_browsers)
    _add_records(routes, contents)
    _add_faults(routes, contents)
    _add_contents(routes, contents)
    _add_runs(routes, contents)
    add_controls(routes, azure)
    return routes


def _refuse_browsers() -> None:
    """No page on the internet reaches the controls by a form."""
    if request.get_data() and not request.is_json:
        abort(Response("The body is JSON, and its Content-Type says so.\n", 415))


def _add_records(routes: Blueprint, contents: Administration) -> None:
    state = contents.state

    def requests() -> Any:
        return [dataclasses.asdict(one) for one in state.traffic]

    def forget_requests() -> Any:
        state.traffic.clear()

    def events() -> Any:
        return [one.model_dump(mode="json") for one in state.store.events]

    _add(routes, contents, "GET", "/_sandbox/requests", requests)
    _add(routes, contents, "DELETE", "/_sandbox/requests", forget_requests)
    _add(routes, contents, "GET", "/_sandbox/events", events)


def _add_faults(routes: Blueprint, contents: Administration) -> None:
    state = contents.state

    def faults() -> Any:
        return [dataclasses.asdict(one) for one in state.faults]

    def add_fault() -> Any:
        state.faults.add(FAULT.validate_python(_body()))
        return faults()

    def end_faults() -> Any:
        state.faults.clear()

    def rate_limits() -> Any:
        return {
            "per_hour": state.rate_limits.per_hour,
            "contents_per_minute": state.rate_limits.contents_per_minute,
        }

    def change_limits() -> Any:
        changes = LimitChanges.model_validate(_body())
        for kind, limit in changes.per_hour.items():
            state.rate_limits.per_hour[kind] = limit
        if "contents_per_minute" in changes.model_fields_set:
            state.rate_limits.contents_per_minute = changes.contents_per_minute
        return rate_limits()

    _add(routes, contents, "GET", "/_sandbox/faults", faults)
    _add(routes, contents, "POST", "/_sandbox/faults", add_fault)
    _add(routes, contents, "DELETE", "/_sandbox/faults", end_faults)
    _add(routes, contents, "GET", "/_sandbox/limits", rate_limits)
    _add(routes, contents, "PATCH", "/_sandbox/limits", change_limits)


def _add_contents(routes: Blueprint, contents: Administration) -> None:
    def create_token() -> Any:
        wanted = NewToken.model_validate(_body())
        return {"token": contents.create_token(**dict(wanted))}

    def create_app() -> Any:
        wanted = NewApp.model_validate(_body())
        number, key = contents.create_app(**dict(wanted))
        return {"id": number, "private_key": key}

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

    _add(routes, contents, "POST", "/_sandbox/tokens", create_token)
    _add(routes, contents, "POST", "/_sandbox/apps", create_app)
    path = "/_sandbox/repositories/<owner>/<name>"
    _add(routes, contents, "PATCH", path, change_repository)


def _add_runs(routes: Blueprint, contents: Administration) -> None:
    def runs(owner: str, name: str) -> Any:
        return [run.model_dump(mode="json") for run in contents.runs(f"{owner}/{name}")]

    def change_run(run_id: str) -> Any:
        changes = RunChanges.model_validate(_body())
        contents.change_run(number(run_id), changes.status, changes.conclusion)
        return {"id": number(run_id), **changes.model_dump()}

    _add(routes, contents, "GET", "/_sandbox/repositories/<owner>/<name>/runs", runs)
    _add(routes, contents, "PATCH", "/_sandbox/runs/<run_id>", change_run)


def _add(
    routes: Blueprint, contents: Administration, method: str, path: str, handler: Callable[..., Any]
) -> None:
    """A route whose handler works under the lock and says with None that it has nothing to say."""

    def view(**parameters: str) -> Response:
        try:
            with contents.lock:
                body = handler(**parameters)
        except ValidationError as error:
            wrong = error.errors(include_url=False, include_context=False, include_input=False)
            return _json(422, {"message": "The body is not valid.", "errors": wrong})
        except LookupError as error:
            return _json(404, {"message": str(error)})
        except ValueError as error:
            return _json(422, {"message": str(error)})
        if body is None:
            return Response(status=204)
        return _json(201 if method == "POST" else 200, body)

    routes.add_url_rule(path, handler.__name__, view, methods=[method])


def _body() -> Any:
    """The JSON of the request. Raises ValueError."""
    return strict_json.loads(request.get_data())


def _json(status: int, body: Any) -> Response:
    return Response(json.dumps(body, default=str) + "\n", status, mimetype="application/json")
