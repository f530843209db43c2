"""Tasks that only people can do, each with the exact page or command.

URLs that fill in a form:
https://docs.github.com/apps/sharing-github-apps/registering-a-github-app-using-url-parameters
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlencode, urlsplit

from kalypso_actions.model.federated_credentials import (
    GITHUB,
    MAX_CREDENTIALS,
    OWNER_ID,
    REPOSITORY_ID,
    is_enterprise_server,
    subject_prefixes,
)
from kalypso_actions.model.github import RepositoryFacts
from kalypso_actions.model.workflow_files import FOLDER
from kalypso_actions.onboarding.branches import BranchPlan, Consent, WrittenBranch
from kalypso_actions.onboarding.files import (
    ARGOCD,
    CLUSTER_TYPE,
    HUB_TEMPLATE,
    REPORTING,
    scalar,
)
from kalypso_actions.onboarding.setup import (
    EnvironmentSetup,
    RepositoryRole,
    RepositorySetup,
    Setup,
)

NAME_LIMIT: Final = 34
"""The longest name of an App, in characters."""


def remaining_tasks(
    setup: Setup,
    facts: RepositoryFacts | None,
    app_permissions: Mapping[str, str],
    *,
    jobs_propose: bool = False,
    annotated: Collection[str] = (),
) -> tuple[Task, ...]:
    """Return the tasks on GitHub and in Azure, in a sensible order.

    `facts` are those of the control plane; None if init did not ask GitHub. `app_permissions` are
    those that the chain needs, by the names of GitHub's API. `jobs_propose`: cd opens pull requests
    with its job's token. `annotated` are the new environments that existing ones name as next.
    """
    return (
        _app(setup, facts, app_permissions),
        _notifier(setup, facts),
        _credentials(setup),
        *([_job_token(setup, facts)] if jobs_propose else []),
        _environments(setup),
        (_clusters if setup.cluster_reports in REPORTING else azure_task)(setup, facts),
        *_chain(setup, annotated),
    )


def sandbox_tasks(setup: Setup, folder: str) -> tuple[Task, ...]:
    """Return what people do next on a sandbox, which has an App, its key and its variables."""
    url = setup.control_plane.url
    return (
        Task(
            "Let the workflows run",
            "Unless the sandbox was started with --run, stop it, and start it again. Its App is "
            "installed, and its jobs have the key.",
            {"runs": f"{url}/actions"},
            (shlex.join(("kalypso", "sandbox", "--run", "--dir", folder)),),
        ),
        Task(
            "Follow the first commit",
            "A push to main starts CI, then CD and schedule. Merge the pull request that schedule "
            "opens in the GitOps repository.",
            {
                "pipeline": f"{setup.control_plane.server}/",
                "pull requests": f"{setup.gitops.url}/pulls",
            },
            (shlex.join(("kalypso", "status", "--control-plane", setup.control_plane.name)),),
        ),
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
        yield merge_task(written, "control plane")
    yield _first_run(setup)


def app_url(
    repository: RepositorySetup,
    permissions: Mapping[str, str],
    *,
    personal: bool,
    name: str = "kalypso",
    is_private: bool = True,
) -> str:
    """Return the URL of the page that registers a GitHub App, with its form filled in.

    The App belongs to the owner of the repository, whose account alone can install a private one.
    """
    server = repository.server
    account = "" if personal else f"/organizations/{repository.owner}"
    parameters = {
        "name": f"{name}-{repository.owner}"[:NAME_LIMIT],
        "url": repository.url,
        "public": "false" if is_private else "true",
        "webhook_active": "false",
        **permissions,
    }
    return f"{server}{account}/settings/apps/new?{urlencode(parameters)}"


def _app(setup: Setup, facts: RepositoryFacts | None, permissions: Mapping[str, str]) -> Task:
    return Task(
        "Create a GitHub App",
        "The permissions are filled in. Generate a private key on the page that follows, then "
        f"install the App for {setup.control_plane.name}, {setup.gitops.name} and the registered "
        "repositories.",
        _app_links(setup, facts, permissions),
        tuple(f"{name}: {level}" for name, level in permissions.items()),
    )


NOTIFIER: Final = "kalypso-notifier"
NOTIFIER_PERMISSIONS: Final = {"actions": "write"}


def _notifier(setup: Setup, facts: RepositoryFacts | None) -> Task:
    return Task(
        "Create the notifier, a second GitHub App",
        f"It tells {setup.control_plane.name} of merges in {setup.gitops.name}. Everybody who may "
        "push a branch there can use its key, so it gets no other permission. Generate a private "
        f"key, then install it for {setup.control_plane.name} alone. Without a notifier, poll "
        "finds merges later.",
        _app_links(setup, facts, NOTIFIER_PERMISSIONS, NOTIFIER),
        tuple(f"{name}: {level}" for name, level in NOTIFIER_PERMISSIONS.items()),
    )


def _app_links(
    setup: Setup,
    facts: RepositoryFacts | None,
    permissions: Mapping[str, str],
    name: str = "kalypso",
) -> dict[str, str]:
    """Return the pages that register an App; the notifier is for the control plane alone."""
    is_private = name == NOTIFIER or setup.control_plane.owner == setup.gitops.owner
    is_organization = facts and facts.is_organization
    return app_links(
        setup.control_plane,
        permissions,
        name=name,
        is_organization=is_organization,
        is_private=is_private,
    )


def app_links(
    repository: RepositorySetup,
    permissions: Mapping[str, str],
    *,
    name: str,
    is_organization: bool | None,
    is_private: bool = True,
) -> dict[str, str]:
    """Return the pages that register an App, by the kind of the account that owns it.

    `is_organization` is None if the kind is unknown.
    """
    accounts = {"for the organization": False, "for a personal account": True}
    return {
        words: app_url(repository, permissions, personal=personal, name=name, is_private=is_private)
        for words, personal in accounts.items()
        if is_organization in {None, not personal}
    }


def _credentials(setup: Setup) -> Task:
    links = {}
    for repository in (setup.control_plane, setup.gitops):
        links[f"variable of {repository.name}"] = repository.settings("variables/actions/new")
        links[f"secret of {repository.name}"] = repository.settings("secrets/actions/new")
    server = setup.control_plane.server
    links["tokens, without an App"] = f"{server}/settings/personal-access-tokens/new"
    return Task(
        "Give each repository the credentials of its App",
        f"Never store the App's key in {setup.gitops.name}: everybody who may push a branch there "
        "could use it. To use tokens instead, change the lines that the workflow files mark.",
        links,
        (
            f"variable KALYPSO_APP_ID of {setup.control_plane.name}: the App's id",
            f"secret KALYPSO_APP_PRIVATE_KEY of {setup.control_plane.name}: the whole text of its "
            "private key",
            f"variable KALYPSO_NOTIFIER_APP_ID of {setup.gitops.name}: the notifier's id",
            f"secret KALYPSO_NOTIFIER_PRIVATE_KEY of {setup.gitops.name}: its private key",
            "or, without Apps, tokens with the same permissions:",
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


def _chain(setup: Setup, annotated: Collection[str]) -> Iterator[Task]:
    """Ask for annotations of existing Environment objects: which is first, and which is next.

    `annotated` are the new environments that init lets an existing one name as next.
    """
    followers = {*annotated, *(each.next_environment for each in setup.environments if each.is_new)}
    new = [each for each in setup.environments if each.is_new and each.name not in followers]
    files = {"files": setup.control_plane.files(setup.control_plane.main, ".environments")}
    if not any(environment.is_first for environment in setup.environments):
        yield Task(
            "Say which environment comes first",
            "No Environment object on main says so: CI guesses from the names, or fails. Annotate "
            "the environment that new commits of main reach first.",
            files,
            ("metadata:", "  annotations:", '    kalypso.io/first-environment: "true"'),
        )
    if new and not all(environment.is_new for environment in setup.environments):
        first = new[0].name
        yield Task(
            f"Say what comes before {first}",
            f"Nothing is promoted to {first} until an Environment object of main names it.",
            files,
            ("metadata:", "  annotations:", f"    kalypso.io/next-environment: {scalar(first)}"),
        )


def _push(written: Sequence[WrittenBranch], folders: Mapping[RepositoryRole, str]) -> Task:
    branches: dict[tuple[str, str], list[str]] = {}
    for branch in written:
        if branch.commit:
            repository = branch.plan.repository
            place = folders[repository.role], repository.remote
            branches.setdefault(place, []).append(branch.plan.branch)
    return Task(
        "Push the commits",
        "Pushing the control plane's main starts the chain: do the tasks above first.",
        {},
        tuple(
            f"git -C {shlex.quote(folder)} push --atomic {shlex.quote(remote)} {shlex.join(names)}"
            for (folder, remote), names in branches.items()
        ),
    )


def merge_task(written: Sequence[WrittenBranch], last: RepositoryRole) -> Task:
    """Return the task to merge the pull requests; `last` is the repository that starts a chain."""
    return Task(
        "Merge the pull requests",
        f"In this order: the merge into main of the {last} starts the chain.",
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


@dataclass(frozen=True, slots=True)
class Task:
    """A task: pages by purpose, and lines to type."""

    title: str
    text: str
    links: Mapping[str, str]
    lines: tuple[str, ...] = ()


Prefixes = Sequence[tuple[str, str]]
"""The possible prefixes of subjects, each with a suffix for the credential's name."""

AZURE_APPS: Final = (
    "https://portal.azure.com/#view/Microsoft_AAD_RegisteredApps/ApplicationsListBlade"
)
AUDIENCE: Final = "api://AzureADTokenExchange"
OTHER_AUDIENCES: Final = f"US Government: {AUDIENCE}USGov; China: {AUDIENCE}China"


def _clusters(setup: Setup, facts: RepositoryFacts | None) -> Task:
    """Return the task that lets check-promote see clusters that do not report to Azure."""
    control_plane, gitops = setup.control_plane, setup.gitops
    links = {
        f"variables of {control_plane.name}": control_plane.settings("variables/actions/new"),
        f"files of {gitops.name}": gitops.files(gitops.main, "clusters"),
    }
    lines = [f"variable KALYPSO_CLUSTER_REPORTS: {setup.cluster_reports}"]
    if setup.cluster_reports == ARGOCD:
        links[f"secrets of {control_plane.name}"] = control_plane.settings("secrets/actions/new")
        text = (
            "Create a read-only account of Argo CD, which sees all Applications, name the clusters "
            "to Argo CD by labels, and apply the file of each environment."
        )
        lines += ARGOCD_LINES
    else:
        permissions = {"statuses": "write", "metadata": "read"}
        links |= {
            f"the clusters' App {kind}": link
            for kind, link in _app_links(setup, facts, permissions, CLUSTERS_APP).items()
        }
        text = (
            "Create a GitHub App for the clusters, another one than the two above: it posts commit "
            f"statuses. Install it in {gitops.name} alone, and give its key to the clusters. One "
            "App for each environment is safer. Then apply the file of each cluster."
        )
        lines += STATUSES_LINES
    for environment in setup.environments:
        lines += _lines_of_clusters(environment, setup.cluster_reports)
    lines += [_record(setup), f"# all steps: {GUIDE}"]
    lines.append(
        f"kalypso clusters --control-plane {control_plane.name} {TRY[setup.cluster_reports]}"
    )
    return Task("Let the chain see the clusters", text, links, tuple(lines))


def _record(setup: Setup) -> str:
    return (
        f"variable KALYPSO_RECORD: {setup.control_plane.name}, or from 200 clusters a repository "
        "of its own, to record what runs where: docs/guide/record.md"
    )


GUIDE: Final = "docs/guide/connect-a-cluster.md"
TRY: Final = {
    "commit-statuses": "--cluster-reports commit-statuses --status-authors '<slug>[bot]'",
    ARGOCD: "--cluster-reports argocd --argocd-servers https://<the API server>",
}
CLUSTERS_APP: Final = "kalypso-clusters"
STATUSES_LINES: Final = (
    "variable KALYPSO_STATUS_AUTHORS: <slug of the clusters' App>[bot]",
    "flux create secret githubapp kalypso-statuses --app-id=<id> --app-installation-id=<id> "
    "--app-private-key=<file>",
)
ARGOCD_LINES: Final = (
    "variable KALYPSO_ARGOCD_SERVERS: https://<the API server>",
    "secret KALYPSO_ARGOCD_TOKENS: what `argocd account generate-token --account kalypso "
    "--expires-in 2160h` prints",
    "# argocd-cm: accounts.kalypso: apiKey",
    "# argocd-rbac-cm: p, role:kalypso, applications, get, */*, allow",
    "# argocd-rbac-cm: p, role:kalypso, clusters, get, *, allow",
    "# argocd-rbac-cm: g, kalypso, role:kalypso",
)


def _lines_of_clusters(environment: EnvironmentSetup, source: str) -> Iterator[str]:
    """Yield what connects the clusters of an environment."""
    name = environment.name
    for cluster in environment.clusters:
        if source == ARGOCD:
            yield f"argocd cluster set {cluster} --label kalypso.io/{name}-{CLUSTER_TYPE}=true"
        else:
            yield f"kubectl --context {cluster} apply -f clusters/{name}/{cluster}.yaml"
    if environment.clusters and source == ARGOCD:
        yield f"kubectl --context <that of Argo CD> apply -f clusters/{name}"
    if not environment.lists_clusters:
        names = ", ".join(environment.clusters) or "<names>"
        yield (
            f"# {name}: annotate its cluster types kalypso.io/clusters: {names}; remove "
            "kalypso.io/compliance: none, with which commits pass without waiting"
        )
    if source == ARGOCD and environment.reconciler not in {"", HUB_TEMPLATE}:
        yield (
            f"# {name}: if its clusters have no Flux or Argo CD of their own, let its cluster "
            f"types write reconciler: {HUB_TEMPLATE}"
        )


def azure_task(setup: Setup, facts: RepositoryFacts | None) -> Task:
    """Return the task that lets check-promote query Azure Resource Graph."""
    repository = setup.control_plane
    prefixes = subject_prefixes(repository.name, repository.server, facts)
    lines = [
        "variables AZURE_CLIENT_ID, AZURE_TENANT_ID, AZURE_SCOPES (subscription ids)",
        _record(setup),
    ]
    if facts is None and not is_enterprise_server(repository.server):
        jq = "'.owner.id, .id'"
        lines.append(f"gh api repos/{repository.name} --jq {jq} # {OWNER_ID} and {REPOSITORY_ID}")
    lines.append(f"# audiences of other clouds: {OTHER_AUDIENCES}")
    lines += _identities(setup, prefixes)
    forms = (
        "A repository signs in by its names or by its ids, depending on its age and settings: "
        "create both credentials of each environment. "
        if len(prefixes) > 1
        else ""
    )
    return Task(
        "Let the chain see the clusters",
        "If clusters report to Azure (AKS, Arc): create an app registration with federated "
        f"credentials and the role Reader. {forms}If they report elsewhere, run init again with "
        "--cluster-reports. Until they report, their types keep kalypso.io/compliance: none.",
        {
            "app registrations": AZURE_APPS,
            f"variables of {repository.name}": repository.settings("variables/actions/new"),
        },
        tuple(lines),
    )


def _identities(setup: Setup, prefixes: Prefixes) -> Iterator[str]:
    """Yield the commands for each identity.

    Azure limits the credentials of an identity, so many environments need several. Runs without a
    GitHub environment, such as those of observe.yaml, sign in with the first identity.
    """
    server = setup.control_plane.server
    groups = _groups(setup.environments, MAX_CREDENTIALS // len(prefixes))
    for number, group in enumerate(groups, 1):
        identity = "$AZURE_CLIENT_ID" if number == 1 else f"$AZURE_CLIENT_ID_{number}"
        if number > 1:
            yield _another_identity(group, identity)
        for environment in group:
            for name, subject in subjects(environment.name, prefixes):
                yield _federated_credential(name, subject, server, identity)
        if number == 1:
            fits = (len(group) + 1) * len(prefixes) <= MAX_CREDENTIALS
            other = f"; Azure accepts {MAX_CREDENTIALS}, so delete those of the other form first"
            uses = "# for observe.yaml, and continued runs of check-promote.yaml without reviewers"
            yield f"{uses}{'' if fits else other}:"
            for name, subject in continued_subjects(setup.control_plane.main, prefixes):
                mark = "" if fits else "# "
                yield f"{mark}{_federated_credential(name, subject, server, identity)}"
        yield (
            f'az role assignment create --assignee "{identity}" --role Reader '
            '--scope "/subscriptions/<subscription id>"'
        )


def _groups(
    environments: tuple[EnvironmentSetup, ...], size: int
) -> Iterator[tuple[EnvironmentSetup, ...]]:
    """Yield the environments of each identity.

    If there are several identities, the first has room for the credentials of continued runs.
    """
    first = size if len(environments) <= size else size - 1
    yield environments[:first]
    for start in range(first, len(environments), size):
        yield environments[start : start + size]


def _another_identity(environments: tuple[EnvironmentSetup, ...], identity: str) -> str:
    names = ", ".join(environment.name for environment in environments)
    return (
        f"# Azure accepts {MAX_CREDENTIALS} credentials for each identity. For {names}, create "
        f"another one, {identity} below: AZURE_CLIENT_ID as a variable of these GitHub environments"
    )


def _federated_credential(name: str, subject: str, server: str, identity: str) -> str:
    parameters = {
        "name": name,
        "issuer": issuer(server),
        "subject": subject,
        "audiences": [AUDIENCE],
    }
    return (
        f'az ad app federated-credential create --id "{identity}" '
        f"--parameters {shlex.quote(json.dumps(parameters))}"
    )


def subjects(environment: str, prefixes: Prefixes) -> tuple[tuple[str, str], ...]:
    """Return the name and subject of each credential that a GitHub environment's job may need."""
    label = f"kalypso-{environment.replace('.', '-')}"  # Azure's names have no dots
    return tuple(
        (label + suffix, f"{prefix}:environment:{environment}") for suffix, prefix in prefixes
    )


def continued_subjects(main: str, prefixes: Prefixes) -> tuple[tuple[str, str], ...]:
    """Return the name and subject of each credential that a job without an environment may need."""
    return tuple(
        (f"kalypso-main{suffix}", f"{prefix}:ref:refs/heads/{main}") for suffix, prefix in prefixes
    )


def issuer(server: str) -> str:
    """Return the issuer of the jobs' tokens."""
    host = urlsplit(server).netloc
    if server == GITHUB:
        return "https://token.actions.githubusercontent.com"
    if host.endswith(".ghe.com"):
        return f"https://token.actions.{host}"
    return f"{server}/_services/token"
