"""The entry of every request: route it, apply its faults, and record the exchange.

A route leads to git, GitHub's API, Azure, or the sandbox's own controls.
"""

from __future__ import annotations

import json
import logging
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from io import BytesIO
from typing import Any, Final, Literal

from flask import Blueprint, Flask
from werkzeug.exceptions import HTTPException
from werkzeug.wrappers import Request, Response

import kalypso_sandbox.github.api  # noqa: F401 - fills the table of endpoints
from kalypso_actions.model.urls import is_loopback
from kalypso_sandbox.controls import CONTROLS
from kalypso_sandbox.faults import PUSH_KINDS, Fault, Interruption
from kalypso_sandbox.git.http import GitHttp, GitRequest
from kalypso_sandbox.github.api.requests import HEAD_MODIFIED, ISSUE_NOT_FOUND
from kalypso_sandbox.github.endpoints import (
    ENDPOINTS,
    RefusedError,
    RouteMatch,
    Routes,
    by_name,
    invalid,
)
from kalypso_sandbox.github.rest import (
    DOCUMENTATION,
    GRAPHQL,
    RequestContext,
    RestRequest,
    refusal,
)
from kalypso_sandbox.json_http import Answer
from kalypso_sandbox.pages import PAGES, is_of_browser
from kalypso_sandbox.state import Exchange, State

log = logging.getLogger(__name__)

ORIGIN: Final = re.compile(r"\Ahttps?://[^/?#]*", re.IGNORECASE)
"""The scheme and host that precede the path in requests to a proxy."""

SECRET_HEADERS: Final = frozenset(
    {"authorization", "cookie", "proxy-authorization", "x-identity-header"}
)
SECRET_ANSWERS: Final = {
    "/access_tokens": "token",
    "/oauth2/v2.0/token": "access_token",
    "/msi/token": "access_token",
    "/_services/oidc/idtoken": "value",
}
"""The end of a path whose response contains a token -> the field that holds it."""
REDACTED: Final = "***"

CHUNK: Final = 1 << 16

API_PREFIX: Final = "/api/v3"
"""The prefix of GitHub Enterprise Server's API; here it is optional."""

REFUSALS: Final = {
    "status": "Server Error",
    "too-many": "API rate limit exceeded",
    "secondary": "You have exceeded a secondary rate limit. Please wait a few minutes before you "
    "try again.",
    "too-quickly": "Validation Failed",
}
TOO_QUICKLY: Final = {
    "resource": "Issue",
    "code": "custom",
    "field": "base",
    "message": "was submitted too quickly",
}
"""The error of cli/cli#4801; other users report the code `abuse` (cloudflare/pint#699)."""

WRONG_HOST: Final = "Address the sandbox as localhost or 127.0.0.1.\n"

Part = Literal["whole", "half", "nothing"]
PARTS: Final[Mapping[str, Part]] = {"lost": "nothing", "truncated": "half"}
NO_NODE: Final = "Could not resolve to a node with the global id of the object."

RequestHandler = Callable[[Request, RequestContext], Response]


@dataclass(frozen=True, slots=True)
class Route:
    """The handler of a path; `path` lacks the prefix of the API, so that faults can name it.

    The sandbox's own controls and pages are not `recorded`, and no faults apply to them. No faults
    apply to a `probe` either, the empty push that git sends before a large one.
    """

    path: str
    template: str
    handle: RequestHandler
    recorded: bool = True
    probe: bool = False


@dataclass(frozen=True, slots=True)
class SentResponse:
    """A response, and the part to send; the connection ends after a part that is not `whole`."""

    response: Response
    part: Part = "whole"


class Dispatcher:
    """Answers requests to everything that a sandbox serves."""

    def __init__(self, state: State, *blueprints: Blueprint) -> None:
        self._state = state
        self._git = GitHttp(state)
        self._routes = Routes(ENDPOINTS)
        self._blueprints = blueprints
        self._lock = threading.Lock()

    def __call__(self, request: Request) -> SentResponse:
        """Serve one request."""
        if not _is_for_this_host(request):
            request.get_data()
            return SentResponse(Response(WRONG_HOST, 421, content_type="text/plain"))
        route = self._find(request)
        context = RequestContext()
        if not route.recorded:
            request.get_data()
            return SentResponse(route.handle(request, context))
        faults: tuple[Fault, ...] = ()
        interruptions: Sequence[Interruption] = ()
        if not route.probe:
            key = (request.method, route.path, route.template)
            faults = self._state.faults.take(*key)
            interruptions = self._state.interruptions.take(*key)
        context.push_faults = frozenset(fault.kind for fault in faults if fault.kind in PUSH_KINDS)
        for interruption in interruptions:
            if not interruption.after:
                interruption.happen()
        sent = self._respond(route, request, context, faults)
        for interruption in interruptions:
            if interruption.after:
                interruption.happen()
        received = b"" if any(fault.kind == "cut" for fault in faults) else request.get_data()
        exchange = _exchange(route, request, received, context, faults, sent)
        self._state.traffic.add(exchange)
        log.info("%s %a %d %a", request.method, exchange.path, exchange.status, exchange.identity)
        return sent

    def _respond(
        self, route: Route, request: Request, context: RequestContext, faults: tuple[Fault, ...]
    ) -> SentResponse:
        self._state.pause(sum(fault.seconds for fault in faults if fault.kind == "slow"))
        fault = next((fault for fault in faults if fault.kind != "slow"), None)
        if fault is None:
            request.get_data()
            return SentResponse(route.handle(request, context))
        if fault.kind == "cut":
            _read_half(request)
            return SentResponse(Response(), "nothing")
        request.get_data()
        if fault.kind == "dropped":
            return SentResponse(Response(), "nothing")
        if fault.kind in REFUSALS:
            if fault.acts:
                route.handle(request, context)
            return SentResponse(_refused(fault))
        if fault.kind == "lag":
            answer = refusal(_unknown_object(request.method, route.template))
            return SentResponse(answer.response())
        response = route.handle(request, context)
        if fault.kind == "doubled":
            response = route.handle(request, context)
        part = PARTS.get(fault.kind, "whole")
        if part == "half" and (request.method == "HEAD" or not response.get_data()):
            part = "nothing"  # half of a response without a body would be complete
        return SentResponse(response, part)

    @cached_property
    def _flask(self) -> Flask:
        """The Flask app for Azure and the controls. Set up on first use, because that is slow."""
        flask = Flask(__name__, static_folder=None)
        for blueprint in self._blueprints:
            flask.register_blueprint(blueprint)
        return flask

    def _find(self, request: Request) -> Route:
        path = _path(request.environ["RAW_URI"])
        git_request = GitRequest.of(request, path)
        if git_request is not None:
            by_git = partial(self._git.answer, git_request)
            return Route(path, "git", by_git, probe=git_request.is_probe(request))
        mounted = path.startswith(f"{API_PREFIX}/") or path == f"/api{GRAPHQL}"
        api_path = (GRAPHQL if path == f"/api{GRAPHQL}" else path.removeprefix(API_PREFIX)) or "/"
        with self._state.lock:
            path_by_name = by_name(self._state.store, api_path)
        match = self._routes.find(request.method, path_by_name)
        blueprint = "" if match else self._blueprint(request)
        if blueprint == PAGES and is_of_browser(request):
            return Route(path, blueprint, self._by_page, recorded=False)
        if blueprint not in {"", PAGES}:
            return Route(path, blueprint, self._by_flask, recorded=blueprint != CONTROLS)
        template = match.endpoint.path if match else ""
        by_rest = self._by_rest(api_path, match, API_PREFIX if mounted else "")
        return Route(api_path, template, by_rest)

    def _blueprint(self, request: Request) -> str:
        """Return the name of the blueprint that serves the request, or ""."""
        with self._lock:
            urls = self._flask.url_map.bind("localhost")
        try:
            endpoint, _ = urls.match(request.path, request.method)
        except HTTPException:
            return ""
        return str(endpoint).partition(".")[0]

    def _by_rest(self, path: str, match: RouteMatch | None, mount: str) -> RequestHandler:
        def handle(request: Request, context: RequestContext) -> Response:
            server_url = request.host_url.rstrip("/")
            return RestRequest(
                self._state, request, path, match, server_url + mount, server_url, context
            ).answer()

        return handle

    def _by_page(self, request: Request, context: RequestContext) -> Response:
        with self._state.lock:
            self._state.before_endpoint()
            return self._by_flask(request, context)

    def _by_flask(self, request: Request, _context: RequestContext) -> Response:
        content = request.get_data()
        environ = {
            **request.environ,
            "wsgi.input": BytesIO(content),
            "CONTENT_LENGTH": str(len(content)),
        }
        return Response.from_app(self._flask, environ, buffered=True)


def _path(target: str) -> str:
    """Return the path as the client sent it, without the query."""
    return ORIGIN.sub("", target).partition("?")[0]


def _is_for_this_host(request: Request) -> bool:
    """Return whether the request names this machine as its host.

    A web page can let its own name resolve to this machine, but the browser then sends that name.
    """
    try:
        return is_loopback(request.host_url)
    except ValueError:
        return False


def _read_half(request: Request) -> None:
    """Read the first half of a body, or some of it if its length is unknown."""
    length = request.content_length
    request.stream.read(CHUNK if length is None else length // 2)


def _refused(fault: Fault) -> Response:
    statuses = {"too-many": 429, "secondary": 403, "too-quickly": 422}
    status = statuses.get(fault.kind, fault.status)
    headers = {} if fault.retry_after is None else {"retry-after": str(fault.retry_after)}
    body: dict[str, Any] = {"message": REFUSALS[fault.kind]}
    if fault.kind == "too-quickly":
        body["errors"] = [TOO_QUICKLY]
    if fault.kind != "status":
        body |= {"documentation_url": DOCUMENTATION, "status": str(status)}
    return Answer(status, body).response(headers)


def _unknown_object(method: str, template: str) -> RefusedError:
    """Return the refusal of an endpoint that does not know of a write yet; `template` is its path.

    Reported in googleapis/release-please#2782, peter-evans/create-pull-request#4321 (new pull
    requests), tanium/octobot#418 (new branches) and freed-project/freed#2023 (moved heads).
    """
    match method, template.removeprefix("/repos/{owner}/{repo}"):
        case "POST", "/issues/{issue_number}/labels":
            return RefusedError(422, "Validation Failed", (ISSUE_NOT_FOUND,))
        case ("POST", "/issues/{issue_number}/comments") | ("PATCH", "/pulls/{pull_number}"):
            return RefusedError(422, NO_NODE)
        case "POST", "/pulls":
            return invalid("PullRequest", "head")
        case "PUT", "/pulls/{pull_number}/merge":
            return RefusedError(409, HEAD_MODIFIED)
        case "POST", "/statuses/{sha}":
            return RefusedError(422, "No commit found for SHA")
    return RefusedError(404, "Not Found")


def _exchange(
    route: Route,
    request: Request,
    received: bytes,
    context: RequestContext,
    faults: tuple[Fault, ...],
    sent: SentResponse,
) -> Exchange:
    is_answered = sent.part != "nothing"
    query = request.query_string.decode("latin-1")
    login = context.identity.login
    return Exchange(
        method=request.method,
        path=route.path + (f"?{query}" if query else ""),
        template=route.template,
        query=request.args.to_dict(),
        request_headers={
            name.lower(): value
            for name, value in request.headers.items()
            if name.lower() not in SECRET_HEADERS
        },
        request_content=_json(received),
        status=sent.response.status_code if is_answered else 0,
        response_headers={name.lower(): value for name, value in sent.response.headers.items()}
        if is_answered
        else {},
        response_content=_response_content(route, sent.response) if sent.part == "whole" else b"",
        identity=f"{login} ({context.identity.kind})" if login else "",
        permissions=context.permissions,
        fault=", ".join(fault.kind for fault in faults),
    )


def _response_content(route: Route, response: Response) -> bytes:
    """Return the JSON of a response, with its token hidden."""
    content = _json(response.get_data())
    for end, field in SECRET_ANSWERS.items():
        if content and route.path.endswith(end):
            body = json.loads(content)
            content = json.dumps(body | {field: REDACTED} if field in body else body).encode()
    return content


def _json(content: bytes) -> bytes:
    """Return a body that begins as JSON does, else nothing: do not record git's packs and forms."""
    return content if content[:1] in {b"{", b"["} else b""
