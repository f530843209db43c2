"""Route requests to git, GitHub's API, Azure, or the sandbox's own controls."""

from __future__ import annotations

import re
import threading
from functools import cached_property
from io import BytesIO
from typing import Final

from flask import Blueprint, Flask
from werkzeug.exceptions import HTTPException
from werkzeug.utils import redirect
from werkzeug.wrappers import Request, Response

import kalypso_sandbox.github.api  # noqa: F401 - fills the table of endpoints
from kalypso_sandbox.controls import CONTROLS
from kalypso_sandbox.dispatcher import API_PREFIX, Dispatcher, RequestHandler, Route
from kalypso_sandbox.git.http import GitHttp, GitRequest
from kalypso_sandbox.github.endpoints import ENDPOINTS
from kalypso_sandbox.github.rest import GRAPHQL, RequestContext, RestRequest
from kalypso_sandbox.github.routing import RouteMatch, Routes, by_name
from kalypso_sandbox.page import address_on_page
from kalypso_sandbox.server import HOST
from kalypso_sandbox.state import State

ORIGIN: Final = re.compile(r"\Ahttps?://[^/?#]*", re.IGNORECASE)
"""The scheme and host that precede the path in requests to a proxy."""


class Application:
    """Routes requests to everything that a sandbox serves."""

    def __init__(self, state: State, *blueprints: Blueprint) -> None:
        self._state = state
        self._git = GitHttp(state)
        self._routes = Routes(ENDPOINTS)
        self._blueprints = blueprints
        self._lock = threading.Lock()
        self.dispatcher = Dispatcher(state, self._find)

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
            return Route(
                path, "git", self._by_git(git_request), probe=git_request.is_probe(request)
            )
        mounted = path.startswith(f"{API_PREFIX}/") or path == f"/api{GRAPHQL}"
        api_path = (GRAPHQL if path == f"/api{GRAPHQL}" else path.removeprefix(API_PREFIX)) or "/"
        with self._state.lock:
            path_by_name = by_name(self._state.store, api_path)
        match = self._routes.find(request.method, path_by_name)
        blueprint = "" if match else self._blueprint(request)
        if blueprint:
            return Route(path, blueprint, self._by_flask, recorded=blueprint != CONTROLS)
        address = (
            "" if match else address_on_page(path, request.headers.get("Accept", ""), self._state)
        )
        if address:
            return Route(path, CONTROLS, lambda *_: redirect(address), recorded=False)
        template = match.endpoint.path if match else ""
        return Route(
            api_path, template, self._by_rest(api_path, match, API_PREFIX if mounted else "")
        )

    def _blueprint(self, request: Request) -> str:
        """Return the name of the blueprint that serves the request, or ""."""
        with self._lock:
            urls = self._flask.url_map.bind(HOST)
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

    def _by_git(self, git_request: GitRequest) -> RequestHandler:
        def handle(request: Request, context: RequestContext) -> Response:
            return self._git.answer(git_request, request, context)

        return handle

    def _by_flask(self, request: Request, _note: RequestContext) -> Response:
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
