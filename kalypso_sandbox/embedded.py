"""The sandbox as a context manager: it serves the store of a folder."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from ssl import SSLContext
from types import TracebackType
from typing import Final, Literal, Self
from urllib.parse import urlsplit

from werkzeug.wrappers import Request

from kalypso_actions.clients.process import Programs
from kalypso_actions.errors import KalypsoError
from kalypso_sandbox.administration import Administration
from kalypso_sandbox.argocd import ARGOCD_PATH, ArgoCD, argocd_api
from kalypso_sandbox.azure import Azure
from kalypso_sandbox.azure.routes import blueprint
from kalypso_sandbox.certificates import server_context
from kalypso_sandbox.clusters import Clusters
from kalypso_sandbox.commit_statuses import ClusterStatuses
from kalypso_sandbox.controls import controls
from kalypso_sandbox.dispatcher import API_PREFIX, Dispatcher, SentResponse
from kalypso_sandbox.pages import Draw, github_pages
from kalypso_sandbox.server import HOST, Server
from kalypso_sandbox.state import State
from kalypso_sandbox.store import FolderLock, Store
from kalypso_sandbox.workflow_runner.clock import FastClock

Flavour = Literal["github.com", "ghes"]

log = logging.getLogger(__name__)

USUAL_LAG: Final = 3.0
"""Seconds of lag in tests of the whole chain. Each read after a write is repeated for this time."""

AUTHORITY: Final = ("SSL_CERT_FILE", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO", "REQUESTS_CA_BUNDLE")
"""Variables that lead programs to the file of trusted certificate authorities."""


class Sandbox(Administration):
    """An embedded GitHub and Azure on a loopback port; a context manager.

    `folder` keeps the data. If `port` is 0, the sandbox uses its last port again if that is free.
    With `sign_in`, sign-in to Azure uses https on another port: Azure's libraries require https.
    Some endpoints lag `lag` seconds behind a write. `draw` draws the pipeline of the first page.
    Raises KalypsoError if the port or the folder is in use.
    """

    def __init__(
        self,
        folder: Path,
        programs: Programs,
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        port: int = 0,
        tls: bool = False,
        sign_in: bool = False,
        flavour: Flavour = "github.com",
        lag: float = 0.0,
        draw: Draw | None = None,
    ) -> None:
        self._folder = folder.absolute()
        self._port = port
        self._tls = tls
        self._sign_in = sign_in
        self._sign_in_url = ""
        self.draw = draw
        self._authority: Path | None = None
        self._dispatcher: Dispatcher
        self._stopping = threading.Event()
        self._stack = ExitStack()
        folder_lock = FolderLock(self._folder)
        try:
            store = Store.open(self._folder, now, programs)
        except KalypsoError:
            folder_lock.release()
            raise
        if isinstance(now, FastClock) and store.saved_at:
            now.not_before(store.saved_at)
        store.flavour = flavour
        store.lag = lag
        super().__init__(State(store, programs, self._stopping.wait))
        self.faults = self.state.faults
        self.interruptions = self.state.interruptions
        self.traffic = self.state.traffic
        self._stack.callback(folder_lock.release)
        self._stack.callback(self._save)
        self.state.speed = now.speed if isinstance(now, FastClock) else 1.0
        self.azure = Azure(self.store, self.lock)
        self.clusters = self.state.clusters = Clusters(self.azure)
        self.argocd = ArgoCD(self.store, self.lock)
        self._statuses = ClusterStatuses(self.store, self.state.rate_limits)
        self.state.before_endpoint = self._statuses.post
        self.url = ""

    def __enter__(self) -> Self:
        try:
            self._serve()
        except BaseException:
            self._stack.close()
            raise
        return self

    def _serve(self) -> None:
        context = None
        if self._tls or self._sign_in:
            context, self._authority = server_context(self._folder / "tls", datetime.now(UTC))
        blueprints = (
            blueprint(self.azure),
            argocd_api(self.argocd),
            controls(self, self.azure, self.argocd),
            github_pages(self, self.draw),
        )
        dispatcher = Dispatcher(self.state, *blueprints)
        self._dispatcher = dispatcher
        server = self._listen(dispatcher, context if self._tls else None)
        self._stack.enter_context(server)
        self.url = server.url
        if self._sign_in:
            sign_in_server = Server(dispatcher, port=0, tls=context)
            self._sign_in_url = self._stack.enter_context(sign_in_server).url
        self.store.server_url = self.url
        self.store.api_url = self.api_url

    def _listen(self, dispatcher: Dispatcher, tls: SSLContext | None) -> Server:
        """Listen on the given port, or on the last one, since URLs in repositories contain it."""
        last = urlsplit(self.store.server_url)
        if not self._port and last.hostname == HOST and last.port:
            try:
                return Server(dispatcher, port=last.port, tls=tls)
            except KalypsoError:
                log.warning(
                    "the last port %d is in use: URLs with it do not lead to this sandbox",
                    last.port,
                )
        return Server(dispatcher, port=self._port, tls=tls)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stopping.set()
        self._stack.close()

    def answer(self, request: Request) -> SentResponse:
        """Answer a request without the server, as if it had come over HTTP."""
        return self._dispatcher(request)

    def post_cluster_statuses(self) -> None:
        """Post the commit statuses of clusters that are due; each request to GitHub does so."""
        with self.lock:
            self._statuses.post()

    def argocd_url(self, server: str) -> str:
        """Return the URL of an Argo CD server, whose name is one of the clusters' Applications."""
        return self.url + ARGOCD_PATH + server

    def _save(self) -> None:
        with self.lock:
            self.store.save()

    @property
    def api_url(self) -> str:
        """Return the base URL of the REST API for this flavour."""
        return self.url + (API_PREFIX if self.store.flavour == "ghes" else "")

    @property
    def page_url(self) -> str:
        """Return the first page for people."""
        return f"{self.url}/"

    def environment(self, token: str = "") -> dict[str, str]:
        """Return variables that make programs use this sandbox as GitHub and Azure."""
        enterprise = self.store.flavour == "ghes"
        variables = {
            "GITHUB_API_URL": self.api_url,
            "GITHUB_GRAPHQL_URL": self.url + ("/api/graphql" if enterprise else "/graphql"),
            "GITHUB_SERVER_URL": self.url,
            **self.azure.environment(self.url),
        }
        if self._sign_in_url:
            variables["AZURE_AUTHORITY_HOST"] = self._sign_in_url
        if token:
            variables["GITHUB_TOKEN"] = token
        if self._authority is not None:
            variables |= dict.fromkeys(AUTHORITY, str(self._authority))
        return variables
