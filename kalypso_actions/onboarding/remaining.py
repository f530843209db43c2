"""What only people can do: each with the exact page or command.

Pages that are filled in by their URL:
https://docs.github.com/apps/sharing-github-apps/registering-a-github-app-using-url-parameters
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, urlencode, urlsplit

from kalypso_actions.onboarding.setup import RepositorySetup, Setup
from kalypso_actions.onboarding.starter import scalar

GITHUB: Final = "https://github.com"
AZURE_APPS: Final = (
    "https://portal.azure.com/#view/Microsoft_AAD_RegisteredApps/ApplicationsListBlade"
)
AUDIENCE: Final = "api://AzureADTokenExchange"
NAME_LIMIT: Final = 34
"""Characters of an App's name."""


@dataclass(frozen=True, slots=True)
class Identity:
    """What GitHub says of the control plane; None where it was not asked."""

    owner_id: int | None = None
    repository_id: int | None = None
    is_organization: bool | None = None


@dataclass(frozen=True, slots=True)
class Task:
    """Something to do: where (pages, by what they are for), and what to type there."""

    title: str
    text: str
    links: Mapping[str, str]
    lines: tuple[str, ...] = ()


def remaining_tasks(
    setup: Setup,
    identity: Identity,
    app_permissions: Mapping[str, str],
    *,
    jobs_propose: bool = False,
) -> tuple[Task, ...]:
    """What is to be done on GitHub and in Azure, in a good order.

    `app_permissions` are those of a GitHub App for the whole chain, by the names of GitHub's API.
    `jobs_propose`: a job's own token opens pull requests in the control plane.
    """
    return (
        _app(setup, identity, app_permissions),
        _credentials(setup),
        *([_job_token(setup, identity)] if jobs_propose else []),
        _environments(setup),
        _azure(setup, identity),
        *_chain(setup),
    )


def obsolete_task(repository: RepositorySetup, branch: str, paths: Iterable[str]) -> Task:
    """Upstream's files that are no longer used, which nobody has agreed to delete."""
    return Task(
        "Delete upstream's workflow files",
        f"They are no longer used on {branch} of {repository.name}. "
        "kalypso init --delete-upstream-workflows does it, too.",
        {"files": _files_page(repository, branch, ".github/workflows")},
        tuple(paths),
    )


def server_of(url: str) -> str:
    """The GitHub server in a repository's URL."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def subjects(
    repository: RepositorySetup, environment: str, identity: Identity
) -> tuple[tuple[str, str], ...]:
    """The two subjects that a job in a GitHub environment may have, each with a name for it.

    By names, and by names with ids that never change, which repositories have that were created,
    renamed or moved since July 2026, and those that have chosen it. GitHub Enterprise Server has
    names alone. https://docs.github.com/actions/reference/security/oidc
    """
    owner, _, name = repository.name.partition("/")
    by_name = (f"kalypso-{environment}", f"repo:{owner}/{name}:environment:{environment}")
    if _is_enterprise_server(server_of(repository.url)):
        return (by_name,)
    owner_id = identity.owner_id or "OWNER-ID"
    repository_id = identity.repository_id or "REPOSITORY-ID"
    subject = f"repo:{owner}@{owner_id}/{name}@{repository_id}:environment:{environment}"
    return by_name, (f"kalypso-{environment}-by-id", subject)


def issuer(server: str) -> str:
    """Who signs the tokens of jobs."""
    host = urlsplit(server).netloc
    if server == GITHUB:
        return "https://token.actions.githubusercontent.com"
    if host.endswith(".ghe.com"):
        return f"https://token.actions.{host}"
    return f"{server}/_services/token"


def app_url(setup: Setup, permissions: Mapping[str, str], *, personal: bool) -> str:
    """The page that registers a GitHub App, filled in."""
    repository = setup.control_plane
    server = server_of(repository.url)
    account = "" if personal else f"/organizations/{repository.owner}"
    parameters = {
        "name": f"kalypso-{repository.owner}"[:NAME_LIMIT],
        "url": repository.url,
        "public": "false",
        "webhook_active": "false",
        **permissions,
    }
    return f"{server}{account}/settings/apps/new?{urlencode(parameters)}"


def _app(setup: Setup, identity: Identity, permissions: Mapping[str, str]) -> Task:
    links = {}
    if identity.is_organization is not False:
        links["for the organization"] = app_url(setup, permissions, personal=False)
    if identity.is_organization is not True:
        links["for a personal account"] = app_url(setup, permissions, personal=True)
    return Task(
        "Create a GitHub App",
        "The permissions are filled in. Generate a private key on the page that follows, then "
        f"install the App for {setup.control_plane.name}, {setup.gitops.name} and the repositories "
        "that are registered.",
        links,
        tuple(f"{name}: {level}" for name, level in permissions.items()),
    )


def _credentials(setup: Setup) -> Task:
    links = {}
    for repository in (setup.control_plane, setup.gitops):
        links[f"variable of {repository.name}"] = _settings(repository, "variables/actions/new")
        links[f"secret of {repository.name}"] = _settings(repository, "secrets/actions/new")
    server = server_of(setup.control_plane.url)
    links["tokens, without an App"] = f"{server}/settings/personal-access-tokens/new"
    return Task(
        "Give both repositories the App's credentials",
        "The App's id and key are the same in both. With tokens in their place, the workflow files "
        "say which lines to change.",
        links,
        (
            "variable KALYPSO_APP_ID: the App's id",
            "secret KALYPSO_APP_PRIVATE_KEY: the whole text of its private key",
            "or, without an App, tokens that may do the same:",
            f"secret GITOPS_REPO_TOKEN of {setup.control_plane.name}",
            f"secret CONTROL_PLANE_TOKEN of {setup.gitops.name}",
        ),
    )


def _job_token(setup: Setup, identity: Identity) -> Task:
    """Off by default, and an organization can forbid it to its repositories."""
    repository = setup.control_plane
    links = {f"settings of {repository.name}": _settings(repository, "actions")}
    if identity.is_organization is not False:
        page = f"organizations/{repository.owner}/settings/actions"
        links[f"settings of {repository.owner}"] = f"{server_of(repository.url)}/{page}"
    return Task(
        "Allow GitHub Actions to create and approve pull requests",
        "cd.yaml has `mode: pull-request`: the job's own token proposes to the environments' "
        "branches.",
        links,
    )


def _environments(setup: Setup) -> Task:
    names = [environment.name for environment in setup.environments]
    return Task(
        "Protect the environments",
        "A GitHub environment of each name, with the people who must approve. Those that do not "
        "exist are created by the first run, without any protection.",
        {"environments": _settings(setup.control_plane, "environments/new")},
        tuple(names),
    )


def _azure(setup: Setup, identity: Identity) -> Task:
    repository = setup.control_plane
    lines = ["variables AZURE_CLIENT_ID, AZURE_TENANT_ID, AZURE_SCOPES (subscription ids)"]
    for environment in setup.environments:
        for name, subject in subjects(repository, environment.name, identity):
            lines.append(_federated_credential(name, subject, server_of(repository.url)))
    lines.append(
        'az role assignment create --assignee "$AZURE_CLIENT_ID" --role Reader '
        '--scope "/subscriptions/<subscription id>"'
    )
    return Task(
        "Let the chain see the clusters",
        "Where clusters report to Azure (AKS, Arc): an app registration with federated credentials "
        "and the role Reader. A repository signs in by its names or by its ids, depending on its "
        "age and settings: both credentials fit all. Without Azure, leave the annotation "
        "kalypso.io/compliance: none on the cluster types.",
        {
            "app registrations": AZURE_APPS,
            f"variables of {repository.name}": _settings(repository, "variables/actions/new"),
            **_ids_link(repository, identity),
        },
        tuple(lines),
    )


def _federated_credential(name: str, subject: str, server: str) -> str:
    parameters = {
        "name": name,
        "issuer": issuer(server),
        "subject": subject,
        "audiences": [AUDIENCE],
    }
    return (
        'az ad app federated-credential create --id "$AZURE_CLIENT_ID" '
        f"--parameters {shlex.quote(json.dumps(parameters))}"
    )


def _ids_link(repository: RepositorySetup, identity: Identity) -> dict[str, str]:
    """Where the ids are, for whom GitHub was not asked."""
    server = server_of(repository.url)
    if identity.repository_id or _is_enterprise_server(server):
        return {}
    host = urlsplit(server).netloc
    return {"the ids (id and owner.id)": f"https://api.{host}/repos/{repository.name}"}


def _chain(setup: Setup) -> Iterator[Task]:
    """New environments of an existing control plane: which one they come after, people say."""
    new = [one for one in setup.environments if one.is_new]
    old = [one for one in setup.environments if not one.is_new]
    if new and old:
        first = new[0].name
        yield Task(
            f"Say what comes before {first}",
            f"Nothing is promoted to {first} until an Environment object of main names it.",
            {
                "files": f"{setup.control_plane.url}/tree/{quote(setup.control_plane.main)}/.environments"
            },
            ("metadata:", "  annotations:", f"    kalypso.io/next-environment: {scalar(first)}"),
        )


def _files_page(repository: RepositorySetup, branch: str, folder: str) -> str:
    return f"{repository.url}/tree/{quote(branch)}/{folder}"


def _settings(repository: RepositorySetup, page: str) -> str:
    return f"{repository.url}/settings/{page}"


def _is_enterprise_server(server: str) -> bool:
    return server != GITHUB and not urlsplit(server).netloc.endswith(".ghe.com")


def push_task(folders: Mapping[str, tuple[str, ...]]) -> Task:
    """Branches of clones that have commits of ours: by the clone's folder."""
    return Task(
        "Push the commits",
        "The push of the control plane's main starts the chain: do the above before.",
        {},
        tuple(
            f"git -C {shlex.quote(folder)} push --atomic origin {shlex.join(branches)}"
            for folder, branches in folders.items()
        ),
    )


def merge_task(urls: Mapping[str, str]) -> Task:
    """Pull requests, by repository and branch, in the order in which they should be merged."""
    return Task(
        "Merge the pull requests",
        "In this order: the merge into main of the control plane starts the chain.",
        urls,
    )


def start_task(setup: Setup) -> Task:
    """How the chain begins when everything was pushed."""
    url = setup.control_plane.url
    return Task(
        "Look at the first run",
        "The push to main has started CI. Where it came before the App's credentials, run it "
        "again; then merge the pull request that schedule opens in the GitOps repository.",
        {
            "CI": f"{url}/actions/workflows/ci.yaml",
            "pull requests": f"{setup.gitops.url}/pulls",
        },
    )
