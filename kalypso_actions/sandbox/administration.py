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
from kalypso_actions.sandbox.store import (
    App,
    Identity,
    Installation,
    Permissions,
    Repository,
    Store,
    WorkflowRun,
)

ALL_PERMISSIONS: Final[Permissions] = {
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

JOB_PERMISSIONS: Final[Permissions] = {
    "actions": "write",
    "contents": "write",
    "issues": "write",
    "metadata": "read",
    "pull_requests": "write",
    "statuses": "write",
}
"""What a job can ask for; workflows, variables and settings are not among it."""

DEFAULT_LOGINS: Final = {"user": "somebody", "actions": "github-actions[bot]"}
TOKEN_LIFETIME: Final = timedelta(hours=1)
"""How long the tokens of jobs and installations are valid."""


class Administration:
    """Fills the world of a state, and saves it each time."""

    def __init__(self, state: State) -> None:
        self.state = state

    @property
    def store(self) -> Store:
        """What exists; whoever looks while requests come holds the lock."""
        return self.state.store

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
            repository = self.store.add_repository(
                owner, short, private=private, default_branch=default_branch
            )
            if files:
                git = self.store.git(repository)
                git.commit_files(default_branch, files, "Initial commit", self._person())
            self.store.save()
        return repository

    def rename_repository(self, full_name: str, name: str) -> None:
        """Give a repository another name in its account; it is found by the old one as well.

        Raises LookupError, and ValueError when the new name is taken or cannot be one.
        """
        with self.lock:
            repository = self.repository(full_name)
            self.store.check_free(repository.owner, name)
            folder = self.store.git(repository).git_dir
            del self.store.repositories[repository.full_name.lower()]
            repository.former_names = [*repository.former_names, repository.full_name]
            repository.name = name
            folder.rename(self.store.git(repository).git_dir)
            self.store.repositories[repository.full_name.lower()] = repository
            self.store.save()

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
            git = self.store.git(found)
            before = git.head(branch)
            after = git.commit_files(branch, files, message, self._person())
            who = Identity(kind="user", login=DEFAULT_LOGINS["user"], permissions=ALL_PERMISSIONS)
            pushes.handle_push(self.store, found, f"refs/heads/{branch}", before, after, who)
            self.store.save()
        return after

    def git(self, repository: str) -> BareRepository:
        """A repository's files and commits."""
        with self.lock:
            return self.store.git(self.repository(repository))

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
            app = self.store.apps.get(app_id)
            everything = JOB_PERMISSIONS if kind == "actions" else ALL_PERMISSIONS
            identity = Identity(
                kind=kind,
                login=login
                or (f"{app.slug}[bot]" if app else DEFAULT_LOGINS.get(kind, "app[bot]")),
                permissions=everything if permissions is None else permissions,
                owner=owner,
                repositories=repositories,
                app_id=app_id,
                expires_at=expires_at
                if kind == "user" or expires_at
                else self.store.now + TOKEN_LIFETIME,
            )
            token = tokens.issue(self.store, identity)
            self.store.save()
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
                id=self.store.new_id(),
                slug=slug,
                public_key=public,
                permissions=ALL_PERMISSIONS if permissions is None else permissions,
            )
            self.store.apps[app.id] = app
            self.store.account(owner, "Organization")
            self.store.account(f"{slug}[bot]")
            self.install(app.id, owner, repositories=repositories)
        return app.id, private

    def app_of_key(self, private_key: str) -> int | None:
        """The id of the App whose private key this is (in PEM); None where it is nobody's."""
        try:
            public = tokens.public_key(private_key)
        except ValueError:
            return None
        with self.lock:
            apps = self.store.apps.values()
            return next((app.id for app in apps if app.public_key == public), None)

    def install(self, app_id: int, owner: str, *, repositories: list[str] | None = None) -> None:
        """Install an App in one more account."""
        with self.lock:
            installation = Installation(id=self.store.new_id(), repositories=repositories)
            self.store.apps[app_id].installations[owner] = installation
            self.store.save()

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
            every = (run for one in self.store.repositories.values() for run in one.runs)
            run = next((one for one in every if one.id == run_id), None)
            if run is None:
                raise LookupError(f"the sandbox has no run {run_id}")
            run.status, run.conclusion = status, conclusion
            self.store.save()

    def repository(self, name: str) -> Repository:
        """`owner/name`. Raises LookupError."""
        repository = self.store.repository(name)
        if repository is None:
            raise LookupError(f"the sandbox has no repository {name}")
        return repository

    def _person(self) -> Person:
        login = DEFAULT_LOGINS["user"]
        return Person(login, f"{login}@users.noreply.github.com", self.store.now)
