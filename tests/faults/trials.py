"""Where writes are tried: a sandbox, and in it a new repository for each trial."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from kalypso_actions.clients.git import RemoteRepositories, Signature
from kalypso_actions.clients.github import AppAuth, GitHub, GitHubServer, TokenAuth
from kalypso_actions.sandbox import Sandbox
from tests.clients.git.remotes import remotes
from tests.clients.github.connections import Clock
from tests.git_repositories import programs

AUTHOR: Final = Signature("Kalypso", "kalypso@example.com")
WORKFLOW: Final = "on: workflow_dispatch\njobs: {}\n"
FILES: Final = {"README.md": "fleet\n", ".github/workflows/poll.yaml": WORKFLOW}


class Ground:
    """A running sandbox; its clock and the clients' is one, and stands but for those who wait."""

    def __init__(self, sandbox: Sandbox, clock: Clock) -> None:
        self.sandbox = sandbox
        self.clock = clock
        self.token = sandbox.create_token(owner="acme")
        number, key = sandbox.create_app("acme")
        self.app = AppAuth(str(number), key)
        self._numbers = itertools.count(1)

    @contextmanager
    def trial(self) -> Iterator[Trial]:
        """In a repository that nobody else uses; afterwards it is forgotten."""
        name = f"acme/fleet-{next(self._numbers)}"
        self.sandbox.create_repository(name, FILES)
        try:
            yield Trial(self, name)
        finally:
            with self.sandbox.lock:
                del self.sandbox.store.repositories[name]
                self.sandbox.store.events.clear()


@dataclass
class Trial:
    """One write in a repository; `known` is what the preparation wants to tell the write."""

    ground: Ground
    repository: str
    known: dict[str, str] = field(default_factory=dict)

    @property
    def sandbox(self) -> Sandbox:
        """Where the repository is."""
        return self.ground.sandbox

    @property
    def url(self) -> str:
        """What git calls the repository."""
        return f"{self.sandbox.url}/{self.repository}"

    def github(self) -> GitHub:
        """A new connection, as each job makes one; nobody waits for real."""
        return self._connected(TokenAuth(self.ground.token))

    def app(self) -> GitHub:
        """One of an App, which has no token yet."""
        return self._connected(self.ground.app)

    def _connected(self, auth: TokenAuth | AppAuth) -> GitHub:
        environment = self.sandbox.environment()
        server, clock = GitHubServer.of_environment(environment), self.ground.clock
        return GitHub(server, auth, environment, clock.sleep, lambda: clock.now)

    def remotes(self) -> RemoteRepositories:
        """git, likewise."""
        return remotes(credentials=self.github().authorize, sleep=self.ground.clock.sleep)

    def head(self, branch: str = "main") -> str:
        """Where a branch stands, which must exist."""
        commit = self.sandbox.git(self.repository).head(branch)
        assert commit is not None
        return commit

    def commit(self, branch: str, path: str = "new.txt") -> str:
        """Somebody's commit on a branch, which begins at main's head; its id."""
        git = self.sandbox.git(self.repository)
        if git.head(branch) is None:
            git.update_ref(f"refs/heads/{branch}", self.head(), None)
        return self.sandbox.commit(self.repository, {path: f"{branch}\n"}, branch=branch)


Act = Callable[[Trial], object]


@contextmanager
def ground(folder: Path) -> Iterator[Ground]:
    """A sandbox in a folder."""
    clock = Clock()
    with Sandbox(folder / "sandbox", programs(), now=lambda: clock.now) as sandbox:
        yield Ground(sandbox, clock)
