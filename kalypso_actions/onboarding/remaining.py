"""What only people can do: each with the exact page or command.

Pages that are filled in by their URL:
https://docs.github.com/apps/sharing-github-apps/registering-a-github-app-using-url-parameters
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping
from typing import Final
from urllib.parse import urlencode

from kalypso_actions.model.workflow_placeholders import FOLDER
from kalypso_actions.onboarding.azure import azure_task
from kalypso_actions.onboarding.setup import RepositorySetup, Setup
from kalypso_actions.onboarding.starter import scalar
from kalypso_actions.onboarding.tasks import Identity, Task

NAME_LIMIT: Final = 34
"""Characters of an App's name."""


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
        azure_task(setup, identity),
        *_chain(setup),
    )


def obsolete_task(repository: RepositorySetup, branch: str, paths: Iterable[str]) -> Task:
    """Upstream's files that are no longer used, which nobody has agreed to delete."""
    return Task(
        "Delete upstream's workflow files",
        f"They are no longer used on {branch} of {repository.name}. "
        "kalypso init --delete-upstream-workflows does it, too.",
        {"files": repository.files(branch, FOLDER.rstrip("/"))},
        tuple(paths),
    )


def app_url(setup: Setup, permissions: Mapping[str, str], *, personal: bool) -> str:
    """The page that registers a GitHub App, filled in."""
    repository = setup.control_plane
    server = repository.server
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
        links[f"variable of {repository.name}"] = repository.settings("variables/actions/new")
        links[f"secret of {repository.name}"] = repository.settings("secrets/actions/new")
    server = setup.control_plane.server
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
    links = {f"settings of {repository.name}": repository.settings("actions")}
    if identity.is_organization is not False:
        page = f"organizations/{repository.owner}/settings/actions"
        links[f"settings of {repository.owner}"] = f"{repository.server}/{page}"
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
        f"A GitHub environment of each name: with the people who must approve, and "
        f"{setup.control_plane.main} as the only deployment branch. Those that do not exist are "
        "created by the first run, without any protection.",
        {"environments": setup.control_plane.settings("environments/new")},
        tuple(names),
    )


def _chain(setup: Setup) -> Iterator[Task]:
    """The Environment objects that people have written: which one is first, and what follows it."""
    new = [one for one in setup.environments if one.is_new]
    old = [one for one in setup.environments if not one.is_new]
    files = {"files": setup.control_plane.files(setup.control_plane.main, ".environments")}
    if not any(one.is_first for one in setup.environments):
        yield Task(
            "Say which environment comes first",
            "No Environment object of main says so. CI then goes by names, or asks: annotate the "
            "one that new commits of main come to.",
            files,
            ("metadata:", "  annotations:", '    kalypso.io/first-environment: "true"'),
        )
    if new and old:
        first = new[0].name
        yield Task(
            f"Say what comes before {first}",
            f"Nothing is promoted to {first} until an Environment object of main names it.",
            files,
            ("metadata:", "  annotations:", f"    kalypso.io/next-environment: {scalar(first)}"),
        )


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
        "A push to main starts CI, and so does a merge. Where it came before the App's "
        "credentials, run it again; then merge the pull request that schedule opens in the GitOps "
        "repository.",
        {
            "CI": f"{url}/actions/workflows/ci.yaml",
            "pull requests": f"{setup.gitops.url}/pulls",
        },
    )
