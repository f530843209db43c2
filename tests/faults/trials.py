"""A sandbox for trials of writes, with a new repository for each trial."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from kalypso_actions.clients.git import RemoteRepositories, Signature
from kalypso_actions.clients.github import AppAuth, GitHub, GitHubServer, TokenAuth
from kalypso_sandbox import Sandbox
from tests.clients.git.remotes import remotes
from tests.clients.github.connections import Clock
from tests.git_repositories import programs

FORMER: Final = "ada"
"""An account that wrote for Kalypso before."""

AUTHOR: Final = Signature("Kalypso", "kalypso@example.com")
WORKFLOW: Final = "on: workflow_dispatch\njobs: {}\n"
FILES: Final = {"README.md": "fleet\n", ".github/workflows/poll.yaml": WORKFLOW}


class Ground:
    """A running sandbox; it shares a clock with the clients, which only sleep moves."""

    def __init__(self, sandbox: Sandbox, clock: Clock) -> None:
        self.sandbox = sandbox
        self.clock = clock
        self.token = sandbox.create_token(owner="acme")
        number, key = sandbox.create_app("acme")
        self.app = AppAuth(str(number), key)
        self._numbers = itertools.count(1)

    @contextmanager
    def trial(self) -> Iterator[Trial]:
        """Yield a trial in a repository of its own."""
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
    """A write in a repository; `known` has values of the preparation for the write."""

    ground: Ground
    repository: str
    known: dict[str, str] = field(default_factory=dict)

    @property
    def sandbox(self) -> Sandbox:
        """The URL of the repository."""
        return self.ground.sandbox

    @property
    def url(self) -> str:
        """The URL of the repository for git."""
        return f"{self.sandbox.url}/{self.repository}"

    def github(self) -> GitHub:
        """Return a new connection, as each job makes one, without real sleeps."""
        return self._connected(TokenAuth(self.ground.token))

    def app(self) -> GitHub:
        """Return a new connection of an App, without a token."""
        return self._connected(self.ground.app)

    def _connected(self, auth: TokenAuth | AppAuth) -> GitHub:
        environment = self.sandbox.environment()
        server, clock = GitHubServer.of_environment(environment), self.ground.clock
        return GitHub(
            server,
            auth,
            environment,
            clock.sleep,
            lambda: clock.now,
            former_identities=[FORMER],
        )

    def remotes(self) -> RemoteRepositories:
        """Return new remote repositories for git."""
        return remotes(credentials=self.github().authorize, sleep=self.ground.clock.sleep)

    def head(self, branch: str = "main") -> str:
        """Return the head of an existing branch."""
        commit = self.sandbox.git(self.repository).head(branch)
        assert commit is not None
        return commit

    def commit(self, branch: str, path: str = "new.txt") -> str:
        """Commit to a branch, created at main's head if missing; return the commit."""
        git = self.sandbox.git(self.repository)
        if git.head(branch) is None:
            git.update_ref(f"refs/heads/{branch}", self.head(), None)
        return self.sandbox.commit(self.repository, {path: f"{branch}\n"}, branch=branch)


Act = Callable[[Trial], object]


@contextmanager
def ground(folder: Path) -> Iterator[Ground]:
    """Start a sandbox in a folder."""
    clock = Clock()
    with Sandbox(folder / "sandbox", programs(), now=lambda: clock.now) as sandbox:
        yield Ground(sandbox, clock)
