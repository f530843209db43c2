"""The entry of every request: it applies the request's faults, and records the exchange."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from werkzeug.wrappers import Request, Response

from kalypso_actions.model.urls import is_loopback
from kalypso_sandbox.faults import PUSH_KINDS, Fault
from kalypso_sandbox.github.endpoints import Answer
from kalypso_sandbox.github.rest import DOCUMENTATION, RequestContext, json_response, refusal
from kalypso_sandbox.interruptions import Interruption
from kalypso_sandbox.lag import unknown_object
from kalypso_sandbox.state import State
from kalypso_sandbox.traffic import Exchange

log = logging.getLogger(__name__)

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

RequestHandler = Callable[[Request, RequestContext], Response]


@dataclass(frozen=True, slots=True)
class Route:
    """The handler of a path; `path` lacks the prefix of the API, so that faults can name it.

    The sandbox's own controls are not `recorded`, and no faults apply to them. No faults apply to a
    `probe` either, the empty push that git sends before a large one.
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
    """Passes requests to the handlers of their paths."""

    def __init__(self, state: State, find: Callable[[Request], Route]) -> None:
        self._state = state
        self._find = find

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
            answer = refusal(unknown_object(request.method, route.template))
            return SentResponse(json_response(answer, {}))
        response = route.handle(request, context)
        if fault.kind == "doubled":
            response = route.handle(request, context)
        part = PARTS.get(fault.kind, "whole")
        if part == "half" and (request.method == "HEAD" or not response.get_data()):
            part = "nothing"  # half of a response without a body would be complete
        return SentResponse(response, part)


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
    return json_response(Answer(status, body), headers)


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
