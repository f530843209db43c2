"""Act as people do on GitHub: create repositories, commits, tokens and Apps."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Final, Literal

from kalypso_sandbox.git.objects import Person
from kalypso_sandbox.git.repositories import BRANCHES, BareRepository, RefUpdate
from kalypso_sandbox.github import events, tokens
from kalypso_sandbox.github.access import RepositoryAccess, access_of_event
from kalypso_sandbox.github.pushes import handle_push, merge_ready
from kalypso_sandbox.state import State
from kalypso_sandbox.store import (
    ACTIONS,
    PERSON,
    App,
    Identity,
    Installation,
    Permissions,
    Repository,
    RunConclusion,
    RunStatus,
    WorkflowRun,
)

ALL_PERMISSIONS: Final[Permissions] = {
    "actions": "write",
    "actions_variables": "write",
    "administration": "write",
    "checks": "write",
    "contents": "write",
    "environments": "write",
    "issues": "write",
    "metadata": "read",
    "pages": "write",
    "pull_requests": "write",
    "secrets": "write",
    "statuses": "write",
    "workflows": "write",
}

JOB_PERMISSIONS: Final[Permissions] = {
    "actions": "write",
    "checks": "write",
    "contents": "write",
    "issues": "write",
    "metadata": "read",
    "pull_requests": "write",
    "statuses": "write",
}
"""The permissions that a job can request; workflows, variables and settings are not among them."""

DEFAULT_LOGINS: Final = {"user": PERSON, "actions": ACTIONS}


class Administration:
    """Changes the `store` of a state, and saves it after each change.

    Hold the `lock` to read the store while the server handles requests.
    """

    def __init__(self, state: State) -> None:
        self.state = state
        self.store = state.store
        self.lock = state.lock

    def create_repository(
        self,
        name: str,
        files: Mapping[str, str | bytes | None] | None = None,
        *,
        private: bool = True,
        default_branch: str = "main",
    ) -> Repository:
        """Create `owner/name`; with files, also create a first commit."""
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

    def fork(self, full_name: str, owner: str) -> Repository:
        """Create the fork of a repository in another account, with its branches.

        Raises LookupError, and ValueError if it exists.
        """
        with self.lock:
            original = self.repository(full_name)
            self.store.account(owner)
            fork = self.store.add_repository(
                owner,
                original.name,
                private=original.private,
                default_branch=original.default_branch,
            )
            fork.parent = original.full_name
            fork.actions_enabled = False
            git = self.store.git(fork)
            git.copy_objects(self.store.git(original))
            for branch, commit in self.store.git(original).branches().items():
                git.update_ref(BRANCHES + branch, commit, None)
            self.store.save()
        return fork

    def rename_repository(self, full_name: str, name: str) -> None:
        """Rename a repository. Its former name still leads to it.

        Raises LookupError, and ValueError if the new name is invalid or in use.
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
        """Push a commit of these changes (None deletes), and return its id."""
        with self.lock:
            access = self.access(repository)
            before = access.git.head(branch)
            after = access.git.commit_files(branch, files, message, self._person())
            handle_push(access, RefUpdate(BRANCHES + branch, before, after))
            merge_ready(self.store)
            self.store.save()
        return after

    def queue(self, repository: str, number: int) -> str:
        """Put a pull request into the merge queue of its base; return the group's commit.

        Raises LookupError.
        """
        with self.lock:
            access = self.access(repository)
            pull_request = access.repository.issues[number].pull_request
            if pull_request is None or not pull_request.merge_commit:
                raise LookupError(f"{repository} has no pull request {number} to merge")
            group, branch = pull_request.merge_commit, pull_request.base_branch
            events.merge_group(access, branch, access.git.head(branch) or "", group)
            self.store.save()
        return group

    def git(self, repository: str) -> BareRepository:
        """Return the bare repository of a repository."""
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
        """Create a token. By default it has every permission that its kind can have.

        The token of a job or an installation expires after an hour unless `expires_at` is set.
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
                else self.store.now + tokens.TOKEN_LIFETIME,
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
        """Create a GitHub App and install it in an account; return its id and private key (PEM).

        `repositories` are full names; None means all repositories of the owner.
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
        """Return the id of the App with this private key (PEM), or None."""
        try:
            public = tokens.public_key(private_key)
        except ValueError:
            return None
        with self.lock:
            apps = self.store.apps.values()
            return next((app.id for app in apps if app.public_key == public), None)

    def install(self, app_id: int, owner: str, *, repositories: list[str] | None = None) -> None:
        """Install an App in another account."""
        with self.lock:
            installation = Installation(id=self.store.new_id(), repositories=repositories)
            self.store.apps[app_id].installations[owner] = installation
            self.store.save()

    def runs(self, repository: str) -> tuple[WorkflowRun, ...]:
        """Return copies of the runs that dispatches started, oldest first. Raises LookupError."""
        with self.lock:
            return tuple(run.model_copy() for run in self.repository(repository).runs)

    def change_run(
        self, run_id: int, status: RunStatus, conclusion: RunConclusion | None = None
    ) -> None:
        """Set the status of a run; a completed one has a conclusion (`cancelled`, …).

        This neither starts nor stops anything. Raises LookupError; ValueError for a conclusion
        without `completed`, or `completed` without a conclusion.
        """
        if (status == "completed") != (conclusion is not None):
            raise ValueError("a run has a conclusion if, and only if, it is completed")
        with self.lock:
            repositories = self.store.repositories.values()
            runs = (run for repository in repositories for run in repository.runs)
            run = next((run for run in runs if run.id == run_id), None)
            if run is None:
                raise LookupError(f"the sandbox has no run {run_id}")
            run.status, run.conclusion = status, conclusion
            self.store.save()

    def repository(self, name: str) -> Repository:
        """Return `owner/name`. Raises LookupError."""
        repository = self.store.repository(name)
        if repository is None:
            raise LookupError(f"the sandbox has no repository {name}")
        return repository

    def access(self, name: str) -> RepositoryAccess:
        """Return the access of a person to a repository. Raises LookupError."""
        person = Identity(kind="user", login=DEFAULT_LOGINS["user"], permissions=ALL_PERMISSIONS)
        return access_of_event(self.store, self.repository(name), person)

    def _person(self) -> Person:
        login = DEFAULT_LOGINS["user"]
        return Person(login, f"{login}@users.noreply.github.com", self.store.now)
