"""The two repositories of the inputs, opened: who they are, and how they are written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from kalypso_actions.clients.git import RemoteRepositories
from kalypso_actions.clients.git.urls import without_secret
from kalypso_actions.clients.git.working_clone import WorkingClone
from kalypso_actions.clients.github import GitHub, GitHubServer, TokenAuth, repositories
from kalypso_actions.clients.process import Programs
from kalypso_actions.commands.init.backends import Backend, CloneBackend, RemoteBackend
from kalypso_actions.errors import KalypsoError, Location, UsageError
from kalypso_actions.inputs.init import InitInputs
from kalypso_actions.model.github import RepositoryFacts
from kalypso_actions.model.urls import name_in, owner_of, repository_key
from kalypso_actions.onboarding import Identity, RepositorySetup
from kalypso_actions.onboarding.setup import RepositoryRole
from kalypso_actions.snapshot.repositories import DEFAULT_BRANCH

ADVICE: Final = (
    "set the variable KALYPSO_TOKEN, GH_TOKEN or GITHUB_TOKEN to a token that may write contents, "
    "workflows and pull requests of both repositories; `gh auth token` prints one"
)


@dataclass(frozen=True, slots=True)
class Machine:
    """What `cli` hands to init: the environment's variables, programs, and the clock."""

    environment: Mapping[str, str]
    programs: Programs
    now: Callable[[], datetime]
    sleep: Callable[[float], None]


@dataclass(frozen=True, slots=True)
class InitRepositories:
    """Both repositories, by their roles; `github` is None for clones."""

    control_plane: RepositorySetup
    gitops: RepositorySetup
    backends: Mapping[RepositoryRole, Backend]
    identity: Identity
    github: GitHub | None

    def backend(self, repository: RepositorySetup) -> Backend:
        """Where a repository is read and written."""
        return self.backends[repository.role]


@contextmanager
def open_repositories(inputs: InitInputs, machine: Machine) -> Iterator[InitRepositories]:
    """The repositories of the inputs; fetched copies live as long as this.

    Raises UsageError for what cannot be meant, KalypsoError for what cannot be reached.
    """
    if inputs.control_plane_dir and inputs.gitops_dir:
        yield _clones(inputs, inputs.control_plane_dir, inputs.gitops_dir, machine)
        return
    server = GitHubServer.of_environment(machine.environment)
    token = inputs.token.get_secret_value()
    check_token(token)
    github = GitHub(server, TokenAuth(token), machine.environment, machine.sleep, machine.now)
    with RemoteRepositories(
        machine.programs,
        protocols=server.git_protocols,
        credentials=github.authorize,
        sleep=machine.sleep,
    ) as remotes:
        yield _remote(inputs, github, remotes, machine)


def check_token(token: str) -> None:
    """Raises UsageError where there is none."""
    if not token:
        raise UsageError("no token is given", advice=ADVICE)


def _remote(
    inputs: InitInputs, github: GitHub, remotes: RemoteRepositories, machine: Machine
) -> InitRepositories:
    server = github.server.server_url
    facts = [_facts(github, name) for name in (inputs.control_plane, inputs.gitops)]
    roles: tuple[RepositoryRole, ...] = ("control plane", "GitOps repository")
    control_plane, gitops = (
        RepositorySetup(role, one.name, f"{server}/{one.name}", one.default_branch)
        for role, one in zip(roles, facts, strict=True)
    )
    _check_apart(control_plane, gitops)
    return InitRepositories(
        control_plane,
        gitops,
        {
            one.role: RemoteBackend(github, remotes, one.name, one.url, machine.now)
            for one in (control_plane, gitops)
        },
        Identity(facts[0].owner_id, facts[0].id, facts[0].is_organization),
        github,
    )


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
    inputs: InitInputs, control_plane: Path, gitops: Path, machine: Machine
) -> InitRepositories:
    ours, theirs = (WorkingClone(folder, machine.programs) for folder in (control_plane, gitops))
    first = _setup_of_clone(ours, "control plane", inputs.control_plane, "--control-plane", machine)
    second = _setup_of_clone(theirs, "GitOps repository", inputs.gitops, "--gitops", machine)
    _check_apart(first, second)
    for clone in (ours, theirs):
        clone.check_clean()
    backends: dict[RepositoryRole, Backend] = {
        first.role: CloneBackend(ours, machine.now),
        second.role: CloneBackend(theirs, machine.now),
    }
    return InitRepositories(first, second, backends, Identity(), None)


def _setup_of_clone(
    clone: WorkingClone, role: RepositoryRole, name: str, option: str, machine: Machine
) -> RepositorySetup:
    """Its name by the option, else by where it was cloned from."""
    origin = clone.origin
    server, _, path = repository_key(origin).partition("/") if origin else ("", "", "")
    is_on_server = bool(owner_of(path)) and "." in server.partition(":")[0]
    if not name and not is_on_server:
        said = f"its origin is {without_secret(origin)}" if origin else "it has no origin"
        raise UsageError(
            f"the clone does not say which repository of GitHub it is: {said}",
            Location(clone.repository),
            f"name it with {option} OWNER/NAME",
        )
    server_url = GitHubServer.of_environment(machine.environment).server_url
    if is_on_server and not machine.environment.get("GITHUB_SERVER_URL"):
        server_url = f"https://{server}"
    name = name or name_in(origin)
    main = clone.main_branch(DEFAULT_BRANCH)
    return RepositorySetup(role, name, f"{server_url}/{name}", main)


def _check_apart(control_plane: RepositorySetup, gitops: RepositorySetup) -> None:
    if repository_key(control_plane.url) == repository_key(gitops.url):
        raise UsageError(
            f"{gitops.name} is the control plane itself",
            advice="the GitOps repository is another one: its branches have the same names",
        )
