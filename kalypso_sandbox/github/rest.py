"""Handle a request to GitHub's API: check it, call its endpoint, and save the store.

The checks, in this order: identity and rate limit, endpoint, visibility of the repository,
permission, archived repository, body.
"""

from __future__ import annotations

import logging
import secrets
from dataclasses import dataclass, field
from typing import Any, Final

from werkzeug.wrappers import Request, Response

from kalypso_sandbox import json_http
from kalypso_sandbox.github.access import ANONYMOUS, allowed, not_accessible, visible
from kalypso_sandbox.github.endpoints import Call, RefusedError, RouteMatch, by_id
from kalypso_sandbox.github.pushes import merge_ready
from kalypso_sandbox.github.tokens import UNDECODABLE, authenticate
from kalypso_sandbox.json_http import Answer
from kalypso_sandbox.state import State
from kalypso_sandbox.store import Identity, Repository

log = logging.getLogger(__name__)

DOCUMENTATION: Final = "https://docs.github.com/rest"
API_VERSION: Final = "2022-11-28"
API_VERSIONS: Final = {"github.com": (API_VERSION, "2026-03-10"), "ghes": (API_VERSION,)}
ENTERPRISE_VERSION: Final = "3.17.0"

GRAPHQL: Final = "/graphql"
RATE_LIMIT: Final = "/rate_limit"
"""The path of the rate limit; reading it does not count as a request."""
TAKES_LIST: Final = "/labels"
"""The end of the paths whose body is a list."""

SECONDARY: Final = (
    "You have exceeded a secondary rate limit and have been temporarily blocked from content "
    "creation. Please retry your request again later."
)


@dataclass
class RequestContext:
    """Facts about a request, for its record."""

    identity: Identity = field(default_factory=lambda: ANONYMOUS)
    permissions: tuple[str, ...] = ()
    push_faults: frozenset[str] = frozenset()


@dataclass
class RestRequest:
    """One request; `path` is below `api_url`, as the client sent it; `match` is its endpoint."""

    state: State
    request: Request
    path: str
    match: RouteMatch | None
    api_url: str
    server_url: str
    context: RequestContext
    headers: dict[str, str] = field(default_factory=dict)

    def answer(self) -> Response:
        """Return GitHub's response."""
        self._add_server_headers()
        try:
            with self.state.lock:
                answer = self._answer()
        except RefusedError as error:
            answer = refusal(error)
        except Exception:
            log.exception("an endpoint of the sandbox failed")
            answer = Answer(500, {"message": "Server Error: this is a bug in the sandbox"})
        return answer.response(self.headers)

    def _answer(self) -> Answer:
        self._check_version()
        identity = self._identify()
        match = self._endpoint()
        self._check_kind(match, identity)
        repository = self._repository(match, identity)
        self._permit(match, identity, repository)
        call = Call(
            store=self.state.store,
            identity=identity,
            target=repository,
            api_url=self.api_url,
            server_url=self.server_url,
            path=self.path,
            parameters=match.parameters,
            query=self.request.args.to_dict(),
            body=self._body(match),
            rate_limits=self.state.rate_limits,
        )
        self._limit_contents(match, identity)
        self.state.before_endpoint()
        answer = match.endpoint.handler(call)
        if match.endpoint.writes and match.endpoint.path != GRAPHQL:
            merge_ready(self.state.store)
            self.state.store.save()
        return answer

    def _add_server_headers(self) -> None:
        self.headers |= {
            "x-github-request-id": "-".join(secrets.token_hex(2).upper() for _ in range(4)),
            "x-github-media-type": "github.v3; format=json",
        }
        if self.state.store.flavour == "ghes":
            self.headers["x-github-enterprise-version"] = ENTERPRISE_VERSION

    def _check_version(self) -> None:
        if not self.request.headers.get("User-Agent"):
            message = "Request forbidden by administrative rules. Please make sure your request "
            raise RefusedError(403, message + "has a User-Agent header")
        version = self.request.headers.get("X-GitHub-Api-Version", API_VERSION)
        if version not in API_VERSIONS[self.state.store.flavour]:
            raise RefusedError(400, f"{version!r} is not a supported API version")
        self.headers["x-github-api-version-selected"] = version

    def _identify(self) -> Identity:
        """Authenticate and count the request; a request with a wrong token counts as anonymous."""
        refusal = None
        try:
            identity = authenticate(self.state.store, self.request.headers.get("Authorization", ""))
        except RefusedError as error:
            refusal, identity = error, ANONYMOUS
        self.context.identity = identity
        if self.state.store.flavour == "github.com":
            self._count(identity)
        if refusal is not None:
            raise refusal
        return identity

    def _count(self, identity: Identity) -> None:
        resource = "graphql" if self.path == GRAPHQL else "core"
        rate_limits = self.state.rate_limits
        measure = rate_limits.usage if self.path == RATE_LIMIT else rate_limits.count
        usage = measure(identity, resource, self.state.store.now)
        self.headers |= usage.headers
        if usage.exceeded:
            subject = {"user": "user", "actions": "installation"}.get(identity.kind, identity.kind)
            raise RefusedError(
                403, f"API rate limit exceeded for {subject} {identity.login}".rstrip()
            )

    def _limit_contents(self, match: RouteMatch, identity: Identity) -> None:
        if match.endpoint.method != "POST" or match.endpoint.path == GRAPHQL:
            return
        if self.state.rate_limits.exceeds_content_limit(identity, self.state.store.now):
            self.headers["retry-after"] = "60"
            raise RefusedError(403, SECONDARY)

    def _endpoint(self) -> RouteMatch:
        if self.match is None:
            raise RefusedError(404, "Not Found")
        permissions = self.match.endpoint.permissions
        self.context.permissions = permissions
        if permissions:
            self.headers["x-accepted-github-permissions"] = "; ".join(
                permission.replace(": ", "=") for permission in permissions
            )
        return self.match

    def _check_kind(self, match: RouteMatch, identity: Identity) -> None:
        """Refuse an App's JWT except for questions about the App itself, which need a JWT."""
        path = match.endpoint.path
        for_apps = path == "/app" or path.startswith("/app/") or path.endswith("/installation")
        if for_apps and identity.kind != "app":
            raise RefusedError(401, UNDECODABLE)
        if not for_apps and identity.kind == "app":
            raise RefusedError(403, "Resource not accessible by integration")

    def _repository(self, match: RouteMatch, identity: Identity) -> Repository | None:
        """Return the repository of the path. An App's endpoints check its installations.

        Raises RefusedError if the repository is missing, hidden or renamed.
        """
        if "repo" not in match.parameters:
            return None
        name = f"{match.parameters['owner']}/{match.parameters['repo']}"
        repository = self.state.store.repository(name)
        seen = repository and (identity.kind == "app" or visible(identity, repository))
        if repository is None or not seen:
            raise RefusedError(404, "Not Found")
        if name.lower() != repository.full_name.lower():
            self._redirect(match, repository)
        return repository

    def _redirect(self, match: RouteMatch, repository: Repository) -> None:
        url = self.api_url + by_id(repository, self.path)
        if self.request.query_string:
            url += "?" + self.request.query_string.decode("latin-1")
        self.headers["location"] = url
        raise MovedError(307 if match.endpoint.writes else 301, "Moved Permanently", url)

    def _permit(self, match: RouteMatch, identity: Identity, repository: Repository | None) -> None:
        endpoint = match.endpoint
        if identity.kind != "app" and not allowed(identity, endpoint.permissions, repository):
            if not identity.login:
                raise RefusedError(401, "Requires authentication")
            raise RefusedError(403, not_accessible(identity))
        if not identity.login and not endpoint.permissions:
            raise RefusedError(401, "Requires authentication")
        if repository and repository.archived and endpoint.writes:
            raise RefusedError(403, "Repository was archived so is read-only.")

    def _body(self, match: RouteMatch) -> Any:
        content = self.request.get_data()
        if not match.endpoint.writes or not content:
            return {}
        try:
            body = json_http.parse(content)
        except ValueError:
            raise RefusedError(400, "Problems parsing JSON") from None
        if isinstance(body, list) and match.endpoint.path.endswith(TAKES_LIST):
            return body
        if not isinstance(body, dict):
            raise RefusedError(400, "Body should be a JSON object")
        return body


class MovedError(RefusedError):
    """The repository was renamed."""

    def __init__(self, status: int, message: str, url: str) -> None:
        super().__init__(status, message)
        self.url = url


def refusal(error: RefusedError) -> Answer:
    """Return the answer of a refused request."""
    body: dict[str, Any] = {"message": error.message}
    if isinstance(error, MovedError):
        return Answer(error.status, {**body, "url": error.url, "documentation_url": DOCUMENTATION})
    if error.errors:
        body["errors"] = list(error.errors)
    return Answer(
        error.status, {**body, "documentation_url": DOCUMENTATION, "status": str(error.status)}
    )
