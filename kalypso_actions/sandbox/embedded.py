"""An embedded GitHub: the world of a folder, served while the context lasts."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import Final, Literal, Self

from kalypso_actions.clients.process import Programs
from kalypso_actions.sandbox import pushes, tokens
from kalypso_actions.sandbox.application import Application
from kalypso_actions.sandbox.certificates import server_context
from kalypso_actions.sandbox.faults import Faults
from kalypso_actions.sandbox.front import MOUNT
from kalypso_actions.sandbox.repositories import BareRepository, Person
from kalypso_actions.sandbox.server import Server
from kalypso_actions.sandbox.state import State
from kalypso_actions.sandbox.traffic import Traffic
from kalypso_actions.sandbox.world import (
    App,
    Identity,
    Installation,
    Permissions,
    Repository,
    World,
)

Flavour = Literal["github.com", "ghes"]

EVERYTHING: Final[Permissions] = {
    "actions": "write",
    "actions_variables": "write",
    "administration": "write",
    "contents": "write",
    "environments": "write",
    "issues": "write",
    "metadata": "read",
    "pull_requests": "write",
    "statuses": "write",
    "workflows": "write",
}

LOGINS: Final = {"user": "somebody", "actions": "github-actions[bot]"}
LIFE: Final = timedelta(hours=1)
"""How long the tokens of jobs and installations are valid."""


class Sandbox:
    """An embedded GitHub and Azure on a loopback port; a context manager.

    What is in `folder` is there again the next time. Raises KalypsoError where the port is taken.
    """

    def __init__(
        self,
        folder: Path,
        programs: Programs,
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        port: int = 0,
        tls: bool = False,
        flavour: Flavour = "github.com",
    ) -> None:
        self._folder = folder.absolute()
        self._port = port
        self._tls = tls
        self._authority: Path | None = None
        self._stopping = threading.Event()
        self._stack = ExitStack()
        world = World.open(self._folder, now, programs)
        world.flavour = flavour
        self.state = State(world, programs, self._stopping.wait)
        self.url = ""

    def __enter__(self) -> Self:
        context = None
        if self._tls:
            context, self._authority = server_context(self._folder / "tls", datetime.now(UTC))
        application = Application(self.state)
        server = Server(application.front, port=self._port, tls=context)
        self._stack.enter_context(server)
        self.url = server.url
        self.world.server_url = self.url
        self.world.api_url = self.api_url
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stopping.set()
        self._stack.close()
        with self.lock:
            self.world.save()

    @property
    def world(self) -> World:
        """What exists; whoever looks while requests come holds the lock."""
        return self.state.world

    @property
    def lock(self) -> threading.RLock:
        """Held by whoever reads or changes the world."""
        return self.state.lock

    @property
    def faults(self) -> Faults:
        """What can be switched on."""
        return self.state.faults

    @property
    def traffic(self) -> Traffic:
        """What was asked and answered."""
        return self.state.traffic

    @property
    def api_url(self) -> str:
        """Where the REST API begins, as this flavour has it."""
        return self.url + (MOUNT if self.world.flavour == "ghes" else "")

    def environment(self, token: str = "") -> dict[str, str]:
        """Variables for those who shall take this for GitHub and for Azure."""
        enterprise = self.world.flavour == "ghes"
        variables = {
            "GITHUB_API_URL": self.api_url,
            "GITHUB_GRAPHQL_URL": f"{self.url}/api/graphql"
            if enterprise
            else f"{self.url}/graphql",
            "GITHUB_SERVER_URL": self.url,
        }
        if token:
            variables["GITHUB_TOKEN"] = token
        if self._authority is not None:
            variables["SSL_CERT_FILE"] = str(self._authority)
        return variables

    def create_repository(
        self,
        name: str,
        files: Mapping[str, str | bytes | None] | None = None,
        *,
        private: bool = True,
        default_branch: str = "main",
    ) -> Repository:
        """`owner/name`, with a first commit of these files where there are any."""
        owner, _, short = name.partition("/")
        with self.lock:
            repository = self.world.add_repository(
                owner, short, private=private, default_branch=default_branch
            )
            if files:
                git = self.world.git(repository)
                git.commit_files(default_branch, files, "Initial commit", self._person())
            self.world.save()
        return repository

    def commit(
        self,
        repository: str,
        files: Mapping[str, str | bytes | None],
        *,
        branch: str = "main",
        message: str = "Change",
    ) -> str:
        """Somebody pushes a commit of these changes (None deletes); its id."""
        with self.lock:
            found = self._repository(repository)
            git = self.world.git(found)
            before = git.head(branch)
            after = git.commit_files(branch, files, message, self._person())
            who = Identity(kind="user", login=LOGINS["user"], permissions=EVERYTHING)
            pushes.pushed(self.world, found, f"refs/heads/{branch}", before, after, who)
            self.world.save()
        return after

    def git(self, repository: str) -> BareRepository:
        """A repository's files and commits."""
        with self.lock:
            return self.world.git(self._repository(repository))

    def create_token(
        self,
        kind: Literal["user", "actions", "installation"] = "user",
        permissions: Permissions | None = None,
        *,
        login: str = "",
        owner: str = "",
        repositories: list[str] | None = None,
        app_id: int = 0,
        expires_at: datetime | None = None,
    ) -> str:
        """A token; without `permissions` it may do everything that the sandbox knows.

        That of a job or an installation is valid for an hour unless `expires_at` says otherwise.
        """
        with self.lock:
            app = self.world.apps.get(app_id)
            identity = Identity(
                kind=kind,
                login=login or (f"{app.slug}[bot]" if app else LOGINS.get(kind, "app[bot]")),
                permissions=EVERYTHING if permissions is None else permissions,
                owner=owner,
                repositories=repositories,
                app_id=app_id,
                expires_at=expires_at if kind == "user" or expires_at else self.world.now + LIFE,
            )
            token = tokens.issue(self.world, identity)
            self.world.save()
        return token

    def create_app(
        self,
        owner: str,
        permissions: Permissions | None = None,
        *,
        repositories: list[str] | None = None,
        slug: str = "kalypso",
    ) -> tuple[int, str]:
        """A GitHub App that is installed in an account: its id and private key in PEM.

        `repositories` are full names; None means all of the owner's.
        """
        private, public = tokens.new_key()
        with self.lock:
            app = App(
                id=self.world.new_id(),
                slug=slug,
                public_key=public,
                permissions=EVERYTHING if permissions is None else permissions,
            )
            self.world.apps[app.id] = app
            self.world.account(owner, "Organization")
            self.world.account(f"{slug}[bot]")
            self.install(app.id, owner, repositories=repositories)
        return app.id, private

    def install(self, app_id: int, owner: str, *, repositories: list[str] | None = None) -> None:
        """Install an App in one more account."""
        with self.lock:
            installation = Installation(id=self.world.new_id(), repositories=repositories)
            self.world.apps[app_id].installations[owner] = installation
            self.world.save()

    def _repository(self, name: str) -> Repository:
        repository = self.world.repository(name)
        if repository is None:
            raise LookupError(f"the sandbox has no repository {name}")
        return repository

    def _person(self) -> Person:
        login = LOGINS["user"]
        return Person(login, f"{login}@users.noreply.github.com", self.world.now)
