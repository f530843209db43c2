"""Tasks that only people can do, each with the exact page or command.

URLs that fill in a form:
https://docs.github.com/apps/sharing-github-apps/registering-a-github-app-using-url-parameters
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final
from urllib.parse import urlencode

from kalypso_actions.model.github import RepositoryFacts
from kalypso_actions.model.workflow_placeholders import FOLDER
from kalypso_actions.onboarding.azure import azure_task
from kalypso_actions.onboarding.changes import BranchPlan, Consent, WrittenBranch
from kalypso_actions.onboarding.setup import RepositoryRole, Setup
from kalypso_actions.onboarding.starter import scalar
from kalypso_actions.onboarding.tasks import Task

NAME_LIMIT: Final = 34
"""The longest name of an App, in characters."""


def remaining_tasks(
    setup: Setup,
    facts: RepositoryFacts | None,
    app_permissions: Mapping[str, str],
    *,
    jobs_propose: bool = False,
) -> tuple[Task, ...]:
    """Return the tasks on GitHub and in Azure, in a sensible order.

    `facts` are those of the control plane; None if init did not ask GitHub. `app_permissions` are
    those that the chain needs, by the names of GitHub's API. `jobs_propose`: cd opens pull requests
    with its job's token.
    """
    return (
        _app(setup, facts, app_permissions),
        _credentials(setup),
        *([_job_token(setup, facts)] if jobs_propose else []),
        _environments(setup),
        azure_task(setup, facts),
        *_chain(setup),
    )


def obsolete_tasks(plans: Iterable[BranchPlan], consent: Consent) -> Iterator[Task]:
    """Return the task to delete upstream's unused files, for each branch that still has some."""
    if consent.covers("delete"):
        return
    for plan in plans:
        paths = tuple(change.path for change in plan.changes if change.action == "delete")
        if paths:
            yield Task(
                "Delete upstream's workflow files",
                f"{plan.branch} of {plan.repository.name} no longer uses them. "
                "kalypso init --delete-upstream-workflows deletes them, too.",
                {"files": plan.repository.files(plan.branch, FOLDER.rstrip("/"))},
                paths,
            )


def closing_tasks(
    setup: Setup, written: Sequence[WrittenBranch], folders: Mapping[RepositoryRole, str]
) -> Iterator[Task]:
    """Return the tasks that start the chain; `folders` are those of clones, by role."""
    if not any(branch.commit for branch in written):
        return
    if folders:
        yield _push(written, folders)
    elif any(branch.pull_request_url for branch in written):
        yield _merge(written)
    yield _first_run(setup)


def app_url(setup: Setup, permissions: Mapping[str, str], *, personal: bool) -> str:
    """Return the URL of the page that registers a GitHub App, with its form filled in."""
    repository = setup.control_plane
    server = repository.server
    account = "" if personal else f"/organizations/{repository.owner}"
    parameters = {
        "name": f"kalypso-{repository.owner}"[:NAME_LIMIT],
        "url": repository.url,
        # Only the owner's account can install a private App.
        "public": "false" if repository.owner == setup.gitops.owner else "true",
        "webhook_active": "false",
        **permissions,
    }
    return f"{server}{account}/settings/apps/new?{urlencode(parameters)}"


def _app(setup: Setup, facts: RepositoryFacts | None, permissions: Mapping[str, str]) -> Task:
    links = {}
    if facts is None or facts.is_organization:
        links["for the organization"] = app_url(setup, permissions, personal=False)
    if facts is None or not facts.is_organization:
        links["for a personal account"] = app_url(setup, permissions, personal=True)
    return Task(
        "Create a GitHub App",
        "The permissions are filled in. Generate a private key on the page that follows, then "
        f"install the App for {setup.control_plane.name}, {setup.gitops.name} and the registered "
        "repositories.",
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
        "The App's id and key are the same in both. To use tokens instead, change the lines that "
        "the workflow files mark.",
        links,
        (
            "variable KALYPSO_APP_ID: the App's id",
            "secret KALYPSO_APP_PRIVATE_KEY: the whole text of its private key",
            "or, without an App, tokens with the same permissions:",
            f"secret GITOPS_REPO_TOKEN of {setup.control_plane.name}",
            f"secret CONTROL_PLANE_TOKEN of {setup.gitops.name}",
        ),
    )


def _job_token(setup: Setup, facts: RepositoryFacts | None) -> Task:
    """Ask for a setting that is off by default, and that an organization can forbid."""
    repository = setup.control_plane
    links = {f"settings of {repository.name}": repository.settings("actions")}
    if facts is None or facts.is_organization:
        page = f"organizations/{repository.owner}/settings/actions"
        links[f"settings of {repository.owner}"] = f"{repository.server}/{page}"
    return Task(
        "Allow GitHub Actions to create and approve pull requests",
        "cd.yaml has `mode: pull-request`: the job's token opens pull requests to the "
        "environments' branches. Their workflows wait for an approval, so that required checks do "
        "not run: with the App they do.",
        links,
    )


def _environments(setup: Setup) -> Task:
    names = [environment.name for environment in setup.environments]
    return Task(
        "Protect the environments",
        f"Create a GitHub environment of each name: with the people who must approve, and "
        f"{setup.control_plane.main} as the only deployment branch. The first run creates missing "
        "ones, without any protection.",
        {"environments": setup.control_plane.settings("environments/new")},
        tuple(names),
    )


def _chain(setup: Setup) -> Iterator[Task]:
    """Ask for annotations of existing Environment objects: which is first, and which is next."""
    new = [environment for environment in setup.environments if environment.is_new]
    files = {"files": setup.control_plane.files(setup.control_plane.main, ".environments")}
    if not any(environment.is_first for environment in setup.environments):
        yield Task(
            "Say which environment comes first",
            "No Environment object on main says so: CI guesses from the names, or fails. Annotate "
            "the environment that new commits of main reach first.",
            files,
            ("metadata:", "  annotations:", '    kalypso.io/first-environment: "true"'),
        )
    if new and len(new) < len(setup.environments):
        first = new[0].name
        yield Task(
            f"Say what comes before {first}",
            f"Nothing is promoted to {first} until an Environment object of main names it.",
            files,
            ("metadata:", "  annotations:", f"    kalypso.io/next-environment: {scalar(first)}"),
        )


def _push(written: Sequence[WrittenBranch], folders: Mapping[RepositoryRole, str]) -> Task:
    branches: dict[str, list[str]] = {}
    for branch in written:
        if branch.commit:
            folder = folders[branch.plan.repository.role]
            branches.setdefault(folder, []).append(branch.plan.branch)
    return Task(
        "Push the commits",
        "Pushing the control plane's main starts the chain: do the tasks above first.",
        {},
        tuple(
            f"git -C {shlex.quote(folder)} push --atomic origin {shlex.join(names)}"
            for folder, names in branches.items()
        ),
    )


def _merge(written: Sequence[WrittenBranch]) -> Task:
    return Task(
        "Merge the pull requests",
        "In this order: the merge into main of the control plane starts the chain.",
        {
            f"{branch.plan.repository.name}, {branch.plan.branch}": branch.pull_request_url
            for branch in written
            if branch.pull_request_url
        },
    )


def _first_run(setup: Setup) -> Task:
    url = setup.control_plane.url
    return Task(
        "Look at the first run",
        "A push to main starts CI, and so does a merge. If it ran before the App's credentials "
        "were there, run it again. Then merge the pull request that schedule opens in the GitOps "
        "repository.",
        {
            "CI": f"{url}/actions/workflows/ci.yaml",
            "pull requests": f"{setup.gitops.url}/pulls",
        },
    )
