"""What people would make in a GitHub: repositories and commits, tokens, Apps, rules."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final, Literal

from kalypso_actions.sandbox import pushes, tokens
from kalypso_actions.sandbox.entities import RunStatus
from kalypso_actions.sandbox.git_commits import Person
from kalypso_actions.sandbox.repositories import BareRepository
from kalypso_actions.sandbox.state import State
from kalypso_actions.sandbox.world import (
    App,
    Identity,
    Installation,
    Permissions,
    Repository,
    WorkflowRun,
    World,
)

EVERYTHING: Final[Permissions] = {
    "actions": "write",
    "actions_variables": "write",
    "administration": "write",
    "contents": "write",
    "environments": "write",
    "issues": "write",
    "metadata": "read",
    "pull_requests": "write",
    "secrets": "write",
    "statuses": "write",
    "workflows": "write",
}

OF_JOB: Final[Permissions] = {
    "actions": "write",
    "contents": "write",
    "issues": "write",
    "metadata": "read",
    "pull_requests": "write",
    "statuses": "write",
}
"""What a job can ask for; workflows, variables and settings are not among it."""

LOGINS: Final = {"user": "somebody", "actions": "github-actions[bot]"}
LIFE: Final = timedelta(hours=1)
"""How long the tokens of jobs and installations are valid."""


class Contents:
    """Fills the world of a state, and saves it each time."""

    def __init__(self, state: State) -> None:
        self.state = state

    @property
    def world(self) -> World:
        """What exists; whoever looks while requests come holds the lock."""
        return self.state.world

    @property
    def lock(self) -> threading.RLock:
        """Held by whoever reads or changes the world."""
        return self.state.lock

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

    def rename_repository(self, full_name: str, name: str) -> None:
        """Give a repository another name in its account; it is found by the old one as well.

        Raises LookupError, and ValueError when the new name is taken or cannot be one.
        """
        with self.lock:
            repository = self.repository(full_name)
            self.world.check_free(repository.owner, name)
            folder = self.world.git(repository).git_dir
            del self.world.repositories[repository.full_name.lower()]
            repository.former_names = [*repository.former_names, repository.full_name]
            repository.name = name
            folder.rename(self.world.git(repository).git_dir)
            self.world.repositories[repository.full_name.lower()] = repository
            self.world.save()

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
            found = self.repository(repository)
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
            return self.world.git(self.repository(repository))

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
        """A token; without `permissions` it may do everything that one of its kind may.

        That of a job or an installation is valid for an hour unless `expires_at` says otherwise.
        """
        with self.lock:
            app = self.world.apps.get(app_id)
            everything = OF_JOB if kind == "actions" else EVERYTHING
            identity = Identity(
                kind=kind,
                login=login or (f"{app.slug}[bot]" if app else LOGINS.get(kind, "app[bot]")),
                permissions=everything if permissions is None else permissions,
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

    def app_of_key(self, private_key: str) -> int | None:
        """The id of the App whose private key this is (in PEM); None where it is nobody's."""
        try:
            public = tokens.public_key(private_key)
        except ValueError:
            return None
        with self.lock:
            apps = self.world.apps.values()
            return next((app.id for app in apps if app.public_key == public), None)

    def install(self, app_id: int, owner: str, *, repositories: list[str] | None = None) -> None:
        """Install an App in one more account."""
        with self.lock:
            installation = Installation(id=self.world.new_id(), repositories=repositories)
            self.world.apps[app_id].installations[owner] = installation
            self.world.save()

    def runs(self, repository: str) -> tuple[WorkflowRun, ...]:
        """Return copies of the runs that dispatches started, oldest first. Raises LookupError."""
        with self.lock:
            return tuple(run.model_copy() for run in self.repository(repository).runs)

    def change_run(self, run_id: int, status: RunStatus, conclusion: str | None = None) -> None:
        """Give a run another status; a completed one has a conclusion (`cancelled`, …).

        Nothing is executed or stopped. Raises LookupError, and ValueError for a conclusion of an
        unfinished run or none of a completed one.
        """
        if (status == "completed") != (conclusion is not None):
            raise ValueError("a run has a conclusion where it is completed, and nowhere else")
        with self.lock:
            every = (run for one in self.world.repositories.values() for run in one.runs)
            run = next((one for one in every if one.id == run_id), None)
            if run is None:
                raise LookupError(f"the sandbox has no run {run_id}")
            run.status, run.conclusion = status, conclusion
            self.world.save()

    def repository(self, name: str) -> Repository:
        """`owner/name`. Raises LookupError."""
        repository = self.world.repository(name)
        if repository is None:
            raise LookupError(f"the sandbox has no repository {name}")
        return repository

    def _person(self) -> Person:
        login = LOGINS["user"]
        return Person(login, f"{login}@users.noreply.github.com", self.world.now)
