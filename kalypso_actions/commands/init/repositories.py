"""Open the repositories of the inputs, through the API or as clones."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from itertools import combinations
from pathlib import Path
from typing import Final, Protocol

from kalypso_actions.clients.git import ProtectedBranchError, RemoteRepositories
from kalypso_actions.clients.git.local import WorkingClone
from kalypso_actions.clients.github import GitHub, GitHubServer, TokenAuth, repositories
from kalypso_actions.commands.shared.carry_out import own_signature
from kalypso_actions.commands.shared.context import Runtime
from kalypso_actions.commands.shared.local_commits import AUTHOR
from kalypso_actions.commands.shared.reading.repositories import MAIN_BRANCH
from kalypso_actions.errors import KalypsoError, Location, UsageError
from kalypso_actions.inputs.local import InitInputs
from kalypso_actions.model.documents import RevisionFiles
from kalypso_actions.model.github import RepositoryFacts
from kalypso_actions.model.object_ids import FileContent
from kalypso_actions.model.urls import name_in, owner_of, repository_key, without_secret
from kalypso_actions.onboarding.setup import RepositoryRole, RepositorySetup

ADVICE: Final = (
    "set the variable KALYPSO_TOKEN, GH_TOKEN or GITHUB_TOKEN to a token that may write contents, "
    "workflows and pull requests of both repositories; `gh auth token` prints one"
)


@dataclass(frozen=True, slots=True)
class InitRepositories:
    """The repositories by role, the chain's own one first.

    `github` and the `facts` of that one are None for clones.
    """

    setups: Mapping[RepositoryRole, RepositorySetup]
    backends: Mapping[RepositoryRole, Backend]
    facts: RepositoryFacts | None
    github: GitHub | None

    @property
    def own(self) -> RepositorySetup:
        """The repository whose main starts the chain: the control plane, or the source."""
        return next(iter(self.setups.values()))

    @property
    def control_plane(self) -> RepositorySetup:
        """The control plane."""
        return self.setups["control plane"]

    @property
    def gitops(self) -> RepositorySetup:
        """The GitOps repository."""
        return self.setups["GitOps repository"]

    @property
    def in_order(self) -> tuple[RepositorySetup, ...]:
        """The repositories in the order of writing, that which starts the chain last."""
        return tuple(self.setups.values())[::-1]

    def backend(self, repository: RepositorySetup) -> Backend:
        """Return the backend that reads and writes a repository."""
        return self.backends[repository.role]

    def commit_of_tag(self, repository: str, tag: str) -> str:
        """Return the commit of a tag in another repository of the server; "" if it has none.

        init in clones asks no server.
        """
        backend = self.backend(self.own)
        if not isinstance(backend, RemoteBackend):
            return ""
        try:
            return backend.remotes.resolve(f"{self.own.server}/{repository}", tag)
        except KalypsoError:
            return ""


@contextmanager
def open_repositories(inputs: InitInputs, runtime: Runtime) -> Iterator[InitRepositories]:
    """Open the repositories of the inputs; fetched copies live as long as the context.

    Raises UsageError for impossible inputs, KalypsoError for an unreachable repository.
    """
    if inputs.control_plane_dir and inputs.gitops_dir:
        yield _clones(inputs, inputs.control_plane_dir, inputs.gitops_dir, runtime)
        return
    names: dict[RepositoryRole, str] = {
        "control plane": inputs.control_plane,
        "GitOps repository": inputs.gitops,
    }
    with open_on_github(names, inputs.token.get_secret_value(), runtime) as repositories:
        yield repositories


@contextmanager
def open_on_github(
    names: Mapping[RepositoryRole, str], token: str, runtime: Runtime
) -> Iterator[InitRepositories]:
    """Open repositories as owner/name by role, the chain's own one first.

    Raises UsageError without a token, KalypsoError for an unreachable repository.
    """
    server = GitHubServer.of_environment(runtime.environment)
    check_token(token)
    github = GitHub(server, TokenAuth(token), runtime.environment, runtime.sleep, runtime.now)
    with RemoteRepositories(
        runtime.programs,
        protocols=server.git_protocols,
        credentials=github.authorize,
        sleep=runtime.sleep,
    ) as remotes:
        yield _remote(names, github, remotes, runtime)


def check_token(token: str) -> None:
    """Check that there is a token. Raises UsageError."""
    if not token:
        raise UsageError("no token is given", advice=ADVICE)


def _remote(
    names: Mapping[RepositoryRole, str],
    github: GitHub,
    remotes: RemoteRepositories,
    runtime: Runtime,
) -> InitRepositories:
    server = github.server.server_url
    known = {role: _facts(github, name) for role, name in names.items()}
    setups = {
        role: RepositorySetup(role, facts.name, f"{server}/{facts.name}", facts.default_branch)
        for role, facts in known.items()
    }
    _check_distinct(setups.values())
    backends: dict[RepositoryRole, Backend] = {
        role: RemoteBackend(github, remotes, repository.name, repository.url, runtime.now)
        for role, repository in setups.items()
    }
    return InitRepositories(setups, backends, next(iter(known.values())), github)


def _facts(github: GitHub, name: str) -> RepositoryFacts:
    facts = repositories.get(github, name)
    if facts.is_archived:
        raise KalypsoError("the repository is archived", Location(name), "unarchive it")
    if not facts.may_push:
        raise KalypsoError(
            "the token may not write to the repository",
            Location(name),
            "give it the permissions contents, workflows and pull requests: write",
        )
    return facts


def _clones(
    inputs: InitInputs, control_plane_dir: Path, gitops_dir: Path, runtime: Runtime
) -> InitRepositories:
    clones = [WorkingClone(folder, runtime.programs) for folder in (control_plane_dir, gitops_dir)]
    control_plane = _setup_of_clone(
        clones[0], "control plane", inputs.control_plane, "--control-plane", runtime
    )
    gitops = _setup_of_clone(clones[1], "GitOps repository", inputs.gitops, "--gitops", runtime)
    _check_distinct((control_plane, gitops))
    for clone in clones:
        clone.check_clean()
    backends: dict[RepositoryRole, Backend] = {
        repository.role: CloneBackend(clone, runtime.now)
        for repository, clone in zip((control_plane, gitops), clones, strict=True)
    }
    setups = {repository.role: repository for repository in (control_plane, gitops)}
    return InitRepositories(setups, backends, None, None)


def _setup_of_clone(
    clone: WorkingClone, role: RepositoryRole, name: str, option: str, runtime: Runtime
) -> RepositorySetup:
    """Take the name of a clone's repository from the option, else from its origin."""
    origin = clone.origin
    server, _, path = repository_key(origin).partition("/") if origin else ("", "", "")
    is_on_server = bool(owner_of(path)) and "." in server.partition(":")[0]
    if not name and not is_on_server:
        reason = f"its origin is {without_secret(origin)}" if origin else "it has no origin"
        raise UsageError(
            f"the clone does not tell its GitHub repository: {reason}",
            Location(clone.repository),
            f"name it with {option} OWNER/NAME",
        )
    server_url = GitHubServer.of_environment(runtime.environment).server_url
    if is_on_server and not runtime.environment.get("GITHUB_SERVER_URL"):
        server_url = f"https://{server}"
    name = name or name_in(origin)
    main = clone.main_branch(MAIN_BRANCH)
    return RepositorySetup(role, name, f"{server_url}/{name}", main, clone.remote)


def _check_distinct(repositories: Iterable[RepositorySetup]) -> None:
    for first, second in combinations(repositories, 2):
        if repository_key(first.url) == repository_key(second.url):
            raise UsageError(
                f"{second.name} is the {first.role} itself",
                advice="use another repository: the two have branches of the same names",
            )


class Backend(Protocol):
    """Reads and writes one repository: it makes a commit first, and then moves a branch to it."""

    def heads(self, branches: Collection[str]) -> Mapping[str, str]:
        """Return the heads of those of the branches that exist. Raises KalypsoError."""

    def files(self, commit: str) -> RevisionFiles:
        """Return the files of a branch's head. Raises KalypsoError."""

    def commit(self, parent: str, changes: Mapping[str, FileContent | None], message: str) -> str:
        """Commit on top of `parent` ("": no parent), without a branch. Raises KalypsoError."""

    def move(self, branch: str, commit: str, expected: str) -> None:
        """Move a branch from `expected` ("": missing) to a commit. Raises KalypsoError."""


@dataclass(frozen=True, slots=True)
class RemoteBackend:
    """A repository on the GitHub server."""

    github: GitHub
    remotes: RemoteRepositories
    name: str
    url: str
    now: Callable[[], datetime]

    def heads(self, branches: Collection[str]) -> Mapping[str, str]:
        """Ask the server."""
        return self.remotes.heads(self.url, branches)

    def files(self, commit: str) -> RevisionFiles:
        """Fetch the commit."""
        return self.remotes.fetch(self.url, commit=commit)

    def commit(self, parent: str, changes: Mapping[str, FileContent | None], message: str) -> str:
        """Commit on this machine; `move` pushes it."""
        return self.remotes.commit(
            self.url,
            parent=parent or None,
            changes=changes,
            message=message,
            author=own_signature(self.github, self.name),
            date=self.now(),
        )

    def move(self, branch: str, commit: str, expected: str) -> None:
        """Push, if the branch is still at `expected`."""
        try:
            self.remotes.push(self.url, commit, branch=branch, expected=expected or None)
        except ProtectedBranchError as error:
            problem = error.problem
            advice = f"{problem.advice}; or use --pull-request"
            raise KalypsoError(problem.message, problem.where, advice) from error


@dataclass(frozen=True, slots=True)
class CloneBackend:
    """A clone, whose commits people push themselves."""

    clone: WorkingClone
    now: Callable[[], datetime]

    def heads(self, branches: Collection[str]) -> Mapping[str, str]:
        """Read local branches, else the fetched ones of origin."""
        return {branch: head for branch in branches if (head := self.clone.head(branch))}

    def files(self, commit: str) -> RevisionFiles:
        """Read the clone's objects."""
        return self.clone.files(commit)

    def commit(self, parent: str, changes: Mapping[str, FileContent | None], message: str) -> str:
        """Commit in the name of the clone's user."""
        return self.clone.commit(parent, changes, message, AUTHOR, self.now())

    def move(self, branch: str, commit: str, expected: str) -> None:
        """Move the local branch, and the work tree if the branch is checked out."""
        self.clone.move(branch, commit, expected)
