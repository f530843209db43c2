"""The clients, the clock and the log of a command of the promotion chain, and who started it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Final

from pydantic import SecretStr

from kalypso_actions.clients.git import RemoteRepositories
from kalypso_actions.clients.git.urls import (
    Authorize,
    CredentialTable,
    basic,
    no_credential,
)
from kalypso_actions.clients.github import (
    AppAuth,
    GitHub,
    GitHubError,
    GitHubServer,
    TokenAuth,
    repositories,
)
from kalypso_actions.clients.kustomize import find_kustomize
from kalypso_actions.clients.process import Programs
from kalypso_actions.commands.shared.local_context import OF_A_PERSON, find_clone
from kalypso_actions.commands.shared.reading.allowed_repositories import (
    AllowedRepositories,
    TrustedRepositories,
)
from kalypso_actions.commands.shared.reading.control_plane import find_environments
from kalypso_actions.commands.shared.reading.document_reader import Reader
from kalypso_actions.commands.shared.reading.repositories import Repositories
from kalypso_actions.errors import KalypsoError, Location, Problem, UsageError
from kalypso_actions.inputs.chain import GitHubInputs, ObserveInputs, PlanInputs
from kalypso_actions.inputs.values import whole_minutes
from kalypso_actions.model.cluster_reports import ClusterReport
from kalypso_actions.model.github import Visibility
from kalypso_actions.model.kinds import Environment
from kalypso_actions.model.processes import Progress
from kalypso_actions.model.urls import name_in, normal_url, owner_of, repository_key
from kalypso_actions.promotion.starter_rights import PersonsInput, RunStart
from kalypso_actions.runner import JobContext, Runner

Place = tuple[str, str, str]
"""The key of a repository, a branch and the folder of a tree."""

SeenClusters = tuple[datetime, Mapping[Place, Sequence[ClusterReport]]]
"""What a look at clusters has seen, and when."""


@dataclass(frozen=True, slots=True)
class Runtime:
    """The machine and the job in which a command runs.

    `log` prints a line for people; `now` and `sleep` are the clock, `started` is when the run
    began, or the time that it replays.
    `installer` is the script of an action that installs extras. `looks` are those of several runs,
    which a later run records; None if each run records its own.
    """

    environment: Mapping[str, str]
    programs: Programs
    runner: Runner
    progress: Progress
    log: Callable[[str], None]
    now: Callable[[], datetime]
    sleep: Callable[[float], None]
    started: datetime | None = None
    installer: Path | None = None
    job: JobContext = field(default_factory=JobContext)
    looks: list[SeenClusters] | None = None


@dataclass(frozen=True, slots=True)
class CommandContext:
    """GitHub, git, the repository of the chain, and the runtime of the command.

    The chain's records stand on commits of this repository, `owner/name`, and its workflows run
    there: it is the `control_plane`, or the source of an application.
    """

    github: GitHub
    remotes: RemoteRepositories
    repositories: Repositories
    control_plane: str
    runtime: Runtime
    trusted_repositories: TrustedRepositories
    ignored_accounts: set[str] = field(default_factory=set)
    """Accounts about whose statuses the run has warned."""
    trusted_dispatchers: Collection[str] = ()
    """Bots that may start runs as people do."""

    @property
    def reader(self) -> Reader:
        """A reader of documents; it reads a branch at the same commit each time."""
        runtime = self.runtime
        start = whole_minutes(runtime.started or runtime.now())
        return Reader(self.repositories, find_kustomize(runtime.programs), now=start)

    def url(self, repository: str) -> str:
        """Return the URL of `owner/name` on this GitHub; another place stays as it is."""
        if not owner_of(repository):
            return repository
        return f"{self.github.server.server_url}/{repository}"

    def is_here(self, url: str) -> bool:
        """Return whether a URL is that of a repository on this GitHub."""
        server, _, path = repository_key(url).partition("/")
        return server == repository_key(self.github.server.server_url) and bool(owner_of(path))

    def repository(self, url: str, where: Location | None = None) -> str:
        """Return `owner/name` of a URL on this GitHub. Raises KalypsoError for another server."""
        url = normal_url(url)
        if not self.is_here(url):
            raise KalypsoError(
                f"{url} is no repository of {self.github.server.server_url}",
                where,
                "pull requests can be opened on the GitHub server of the control plane only",
            )
        return name_in(url)

    def authorization_of_job(self, job_token: SecretStr) -> Authorize:
        """Return the credentials of the job's own token, which are for this server only."""
        token = job_token.get_secret_value().strip()
        if not token:
            return no_credential
        header, server = basic("x-access-token", token), self.github.server
        return lambda url: header if server.owner(url) else ""

    def warn(self, problem: Problem) -> None:
        """Log a warning, and annotate the job with it."""
        self.runtime.log(f"{problem.message} ({problem.advice})")
        self.runtime.runner.annotate([replace(problem, level="warning")], "kalypso")

    def main(self) -> str:
        """Return the control plane's main branch: `main` if it exists, else the default branch."""
        return self.repositories.main_branch(self.url(self.control_plane))

    def environments(self) -> dict[str, Environment]:
        """Return the Environment objects of main by name. Raises KalypsoError."""
        environments, problems = find_environments(
            self.reader, self.url(self.control_plane), self.main()
        )
        if problems:
            raise KalypsoError.of(problems)
        return environments

    def environment(
        self, name: str, environments: Mapping[str, Environment] | None = None
    ) -> Environment:
        """Return an Environment object of main, read before or now.

        Raises UsageError for an unknown name.
        """
        known = self.environments() if environments is None else environments
        if name not in known:
            names = ", ".join(sorted(known)) or "none"
            raise UsageError(
                f"there is no Environment {name!r} on main",
                Location(self.url(self.control_plane)),
                f"write one of those that exist: {names}",
            )
        return known[name]


NO_TOKEN: Final = TokenAuth("none")
"""The token of a client of GitHub that nobody asks."""


@contextmanager
def open_context(inputs: GitHubInputs, runtime: Runtime) -> Iterator[CommandContext]:
    """Connect to GitHub with the credentials of the inputs; delete copies at the end.

    A control plane that is a path or a URL is read without GitHub.

    Raises UsageError for missing or contradictory inputs.
    """
    control_plane = inputs.chain_repository or runtime.job.repository
    if not control_plane:
        raise UsageError(f"{inputs.chain_input} is needed", advice="write it as owner/name")
    server = GitHubServer.of_environment(runtime.environment)
    is_elsewhere = not owner_of(control_plane)
    has_token = inputs.app_id or inputs.token.get_secret_value()
    is_asked = not is_elsewhere or bool(has_token)
    github = GitHub(
        server,
        _auth(inputs) if is_asked else NO_TOKEN,
        runtime.environment,
        runtime.sleep,
        runtime.now,
        former_identities=inputs.former_identities,
        mask=runtime.runner.mask,
    )
    table = CredentialTable.parse(inputs.git_credentials.get_secret_value())

    def authorize(url: str) -> str:
        return table.authorize(url) or (github.authorize(url) if is_asked else "")

    trusted = TrustedRepositories(authorize)
    check: Callable[[str], None] | None = None  # a person may read what they name
    if not is_elsewhere:
        check = AllowedRepositories(
            inputs.allowed_repositories, server.server_url, control_plane, runtime.job.repository
        ).check
    with (
        closing(github),
        RemoteRepositories(
            runtime.programs,
            protocols=OF_A_PERSON if is_elsewhere else server.git_protocols,
            credentials=trusted.authorize,
            sleep=runtime.sleep,
            check=check or (lambda _: None),
            with_files=[f"{server.server_url}/{control_plane}"],
        ) as remotes,
    ):
        given = inputs.source if isinstance(inputs, ObserveInputs) else ()
        repositories = Repositories(given, remotes, runtime.programs, check=check)
        replayed = inputs.now if isinstance(inputs, PlanInputs) else None
        runtime = dataclasses.replace(runtime, started=replayed or runtime.started)
        yield CommandContext(
            github,
            remotes,
            repositories,
            control_plane,
            runtime,
            trusted,
            trusted_dispatchers=inputs.trusted_dispatchers,
        )


def control_plane_of_clone(environment: Mapping[str, str]) -> str:
    """Return owner/name of the clone that contains the current folder; "" if there is none.

    Raises UsageError for a faulty GITHUB_API_URL or GITHUB_SERVER_URL.
    """
    clone = find_clone(Path(), Programs(environment))
    urls = clone[1].remotes() if clone else ()
    return GitHubServer.of_environment(environment).name_of(urls)


def _auth(inputs: GitHubInputs) -> TokenAuth | AppAuth:
    key = inputs.app_private_key.get_secret_value()
    if bool(inputs.app_id) != bool(key):
        missing = "app-private-key" if inputs.app_id else "app-id"
        raise UsageError(f"{missing} is missing", advice="an App needs both its id and its key")
    if key:
        return AppAuth(inputs.app_id, key)
    token = inputs.token.get_secret_value()
    if not token:
        raise UsageError(
            "no token is given",
            advice="set the input token, or app-id and app-private-key; on the command line, the "
            "variable GITHUB_TOKEN",
        )
    return TokenAuth(token)


def visibility_of(context: CommandContext, url: str) -> Visibility | None:
    """Return the visibility of a repository; None if GitHub does not show it.

    Raises GitHubError for errors other than 403 and 404.
    """
    try:
        return repositories.get(context.github, context.repository(url)).visibility
    except GitHubError as error:
        if error.status not in {403, 404}:
            raise
        return None
    except KalypsoError:  # the repository is on another server
        return None


def person_of(context: CommandContext) -> str:
    """Return the login of the account that started the run, or that holds the token."""
    job = context.runtime.job
    if job.in_actions:
        return job.triggering_actor or job.actor
    return context.github.account(owner_of(context.control_plane) or "").login


def checked_start(context: CommandContext, asked: Collection[PersonsInput] = ()) -> RunStart:
    """Return the start of the run.

    `asked` are the rights of people that the run uses. Raises UsageError if the run was started on
    another branch than the default branch, or if an account may not do what is asked.
    """
    job = context.runtime.job
    start = RunStart(
        job.event_name if job.in_actions else "",
        job.ref,
        job.actor,
        job.triggering_actor,
        context.trusted_dispatchers,
    )
    repository = job.event.get("repository")
    default = repository.get("default_branch") if isinstance(repository, dict) else None
    branches = [default] if isinstance(default, str) and default else []
    # The chain starts runs on `main`, which need not be the default branch.
    if start.event == "workflow_dispatch" and job.branch not in branches:
        branches.append(context.main())
    problem = start.refusal(asked, branches, Location(context.url(context.control_plane)))
    if problem:
        raise UsageError.of([problem])
    return start
