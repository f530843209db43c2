"""Plan the three repositories of an application: source, configs and GitOps repository.

    plans = plan_application(setup, states, StarterFiles(texts), workflows)

The branches are planned as those of a control plane are: missing files are added, upstream's
workflows replaced, and files of people stay.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from kalypso_actions.model.application import (
    CONFIGS_VARIABLE,
    GITOPS_VARIABLE,
    ORDER_FILE,
    RECORD_FILE,
    SOURCE_VARIABLE,
)
from kalypso_actions.model.layout import PROMOTED_COMMIT_FILE
from kalypso_actions.model.workflow_files import FOLDER
from kalypso_actions.onboarding.branches import (
    NO_BRANCH,
    README_FILE,
    BranchPlan,
    BranchState,
    States,
    additions,
    workflow_changes,
)
from kalypso_actions.onboarding.files import StarterFiles, scalar
from kalypso_actions.onboarding.open_tasks import (
    NOTIFIER,
    NOTIFIER_PERMISSIONS,
    Task,
    app_links,
)
from kalypso_actions.onboarding.setup import RepositorySetup

DEFAULT_ENVIRONMENTS: Final = ("dev", "dev-green", "stage")
"""Two environments, and a ring of the first."""

CI_FILE: Final = f"{FOLDER}ci.yml"
RELEASES: Final = "/actions/app-ci@"
"""The action by which ci.yml releases the commits of main."""

CONTENTS: Final = ("helm/", "kustomize/", "manifests/", "workload/")
"""The folders of which a source has one if it is an application already."""


def other_repositories(source: str, configs: str = "", gitops: str = "") -> tuple[str, str]:
    """Return the names of the configs and the GitOps repository; "" stands for the default name."""
    return configs or f"{source}-configs", gitops or f"{source}-gitops"


@dataclass(frozen=True, slots=True)
class ApplicationSetup:
    """The repositories of an application, and its environments in the order of promotion.

    `unordered` are those that the source's file of environments does not name.
    """

    source: RepositorySetup
    configs: RepositorySetup
    gitops: RepositorySetup
    environments: tuple[str, ...]
    unordered: tuple[str, ...] = ()

    @property
    def names(self) -> dict[str, str]:
        """The names in the starter files."""
        return {
            "APPLICATION_NAME": self.source.name.partition("/")[2],
            "CONFIGS_URL": self.configs.url,
            "GITOPS_URL": self.gitops.url,
        }

    def platform_environment(self, name: str) -> str:
        """Return the platform's environment of a ring, `<environment>-<ring>`, or the name."""
        of_ring = [each for each in self.environments if name.startswith(f"{each}-")]
        return min(of_ring, key=len, default=name)


@dataclass(frozen=True, slots=True)
class ApplicationWorkflows:
    """The texts of the workflow templates by path, for each repository."""

    source: Mapping[str, str]
    configs: Mapping[str, str]
    gitops: Mapping[str, str]


def plan_application(
    setup: ApplicationSetup, states: States, starter: StarterFiles, workflows: ApplicationWorkflows
) -> tuple[BranchPlan, ...]:
    """Return a plan for each branch; the last one is main of the source, which starts the chain."""
    values = starter.of_application("configs", setup.names)
    readmes = starter.of_application("main", setup.names)
    return (
        *_branches(setup, setup.configs, workflows.configs, states, values),
        *_main(setup, setup.configs, workflows.configs, states, readmes),
        *_branches(setup, setup.gitops, workflows.gitops, states, {}),
        *_main(setup, setup.gitops, workflows.gitops, states, readmes),
        _source(setup, states, starter, workflows.source),
    )


def _branches(
    setup: ApplicationSetup,
    repository: RepositorySetup,
    templates: Mapping[str, str],
    states: States,
    files: Mapping[str, str],
) -> Iterator[BranchPlan]:
    for name in setup.environments:
        state = _state(states, repository, name)
        changes = workflow_changes(templates, state.files, state.paths)
        changes += [] if state.head else additions(files, state.paths)
        yield BranchPlan(repository, name, state.head, tuple(changes))


def _main(
    setup: ApplicationSetup,
    repository: RepositorySetup,
    templates: Mapping[str, str],
    states: States,
    readmes: Mapping[str, str],
) -> Iterator[BranchPlan]:
    """Plan the default branch, unless it is an environment's.

    Tokens may push only workflow files that GitHub knows from there.
    """
    if repository.main in setup.environments:
        return
    readme = readmes["configs.md" if repository is setup.configs else "gitops.md"]
    state = _state(states, repository, repository.main)
    changes = workflow_changes(templates, state.files, state.paths)
    changes += [] if state.head else additions({README_FILE: readme}, ())
    yield BranchPlan(repository, repository.main, state.head, tuple(changes))


def _source(
    setup: ApplicationSetup, states: States, starter: StarterFiles, templates: Mapping[str, str]
) -> BranchPlan:
    state = _state(states, setup.source, setup.source.main)
    ours = dict(templates)
    if builds_by_people(state, templates):  # it has the job that builds the image
        del ours[CI_FILE]
    changes = workflow_changes(ours, state.files, state.paths)
    changes += additions({ORDER_FILE: _order(setup)}, state.paths)
    if not any(path.startswith(CONTENTS) for path in state.paths):
        environments = [
            {"ENVIRONMENT": name, "PLATFORM": setup.platform_environment(name)}
            for name in setup.environments
        ]
        changes += additions(
            starter.of_application("source", setup.names, environments), state.paths
        )
    return BranchPlan(setup.source, setup.source.main, state.head, tuple(changes))


def builds_by_people(state: BranchState, templates: Mapping[str, str]) -> bool:
    """Whether ci.yml is not the template: what builds the image must stay."""
    return CI_FILE in state.files and state.files[CI_FILE] != templates[CI_FILE]


def _state(states: States, repository: RepositorySetup, branch: str) -> BranchState:
    return states.get((repository.role, branch), NO_BRANCH)


def _order(setup: ApplicationSetup) -> str:
    following = dict(pairwise(setup.environments))
    lines = ["# The order in which a commit meets the environments.\n"]
    for name in setup.environments:
        lines.append(f"- name: {scalar(name)}\n")
        if name in following:
            lines.append(f"  next: {scalar(following[name])}\n")
    return "".join(lines)


def application_tasks(
    setup: ApplicationSetup,
    permissions: Mapping[str, str],
    *,
    is_organization: bool,
) -> Iterator[Task]:
    """Yield the tasks on GitHub that only people can do.

    `permissions` are those of the team's App; `is_organization` says who owns the source.
    """
    source, configs, gitops = setup.source, setup.configs, setup.gitops
    short = setup.names["APPLICATION_NAME"]
    yield Task(
        "Create a GitHub App for this team",
        "Its key reaches everything in each repository where it is installed, so each team has its "
        f"own. Generate a private key, then install it for {source.name}, {configs.name} and "
        f"{gitops.name} alone.",
        app_links(
            source,
            permissions,
            name=f"kalypso-{short}",
            is_organization=is_organization,
            is_private=configs.owner == gitops.owner == source.owner,
        ),
        tuple(f"{name}: {level}" for name, level in permissions.items()),
    )
    yield Task(
        "Create the notifier, a second GitHub App",
        f"It tells {source.name} of pushes to the other two repositories. Everybody who may push a "
        "branch there can use its key, so it gets no other permission. Install it for "
        f"{source.name} alone. Without a notifier, poll.yml finds the pushes later.",
        app_links(
            source,
            NOTIFIER_PERMISSIONS,
            name=f"{NOTIFIER}-{short}",
            is_organization=is_organization,
        ),
        tuple(f"{name}: {level}" for name, level in NOTIFIER_PERMISSIONS.items()),
    )
    yield Task(
        "Protect the environments",
        f"Create the GitHub environments below in {source.name}, with {source.main} as the only "
        "deployment branch of each, because a job there can use the App. kalypso has no reviewers, "
        "the others have the people who must approve that a commit goes on.",
        {"environments": source.settings("environments/new")},
        ("kalypso", *setup.environments),
    )
    yield Task(
        "Give the repositories their variables and keys",
        f"Never store the App's key in {configs.name} or {gitops.name}.",
        {},
        tuple(_lines(setup)),
    )
    if setup.unordered:
        yield Task(
            "Say what comes before the new environments",
            f"No commit enters them until {ORDER_FILE} names them.",
            {"file": source.files(source.main, ".github/kalypso")},
            setup.unordered,
        )


def adopt_task(setup: ApplicationSetup, states: States) -> Iterator[Task]:
    """Yield the task to adopt what upstream's workflows have deployed."""
    gitops = setup.gitops
    adopted = [
        name
        for name in setup.environments
        for paths in [_state(states, gitops, name).paths]
        if PROMOTED_COMMIT_FILE in paths and RECORD_FILE not in paths
    ]
    if adopted:
        yield Task(
            "Adopt what the environments have",
            "Compare the tracking files of each branch with what you have released: this records "
            "their version and image, and proposes the same commit with Kalypso's record.",
            {"branches": f"{gitops.url}/branches"},
            tuple(
                f"gh workflow run deploy.yml --repo {setup.source.name} "
                f"--field environment={name} --field adopt=true"
                for name in adopted
            ),
        )


def ci_task(
    setup: ApplicationSetup, states: States, templates: Mapping[str, str]
) -> Iterator[Task]:
    """Yield the task to add the release to a ci.yml of people."""
    state = _state(states, setup.source, setup.source.main)
    if not builds_by_people(state, templates) or RELEASES in state.files[CI_FILE]:
        return
    job = templates[CI_FILE].partition("\njobs:\n")[2]
    yield Task(
        "Let ci.yml release each commit of main",
        "In place of the step that starts deploy.yml, add this job after the one that builds the "
        "image:",
        {"files": setup.source.files(setup.source.main, FOLDER.rstrip("/"))},
        tuple(line for line in job.splitlines() if line.strip()),
    )


def _lines(setup: ApplicationSetup) -> Iterator[str]:
    """Yield the commands of GitHub's program that set variables and secrets."""
    source, key = f"--repo {setup.source.name}", _word("<the App's key file>")
    app, its_key = _word("<the notifier's id>"), _word("<the notifier's key file>")
    for variable, value in (
        ("KALYPSO_APP_ID", "<the App's id>"),
        (CONFIGS_VARIABLE, setup.configs.name),
        (GITOPS_VARIABLE, setup.gitops.name),
    ):
        yield f"gh variable set {variable} {source} --body {_word(value)}"
    for name in ("kalypso", *setup.environments):
        yield f"gh secret set KALYPSO_APP_PRIVATE_KEY {source} --env {name} < {key}"
    yield "# in each environment whose clusters the platform assigns, its GitOps branch:"
    for name in setup.environments:
        value = f"<platform's GitOps repository>@{setup.platform_environment(name)}"
        yield f"gh variable set PLATFORM_GITOPS {source} --env {name} --body {_word(value)}"
    for repository in (setup.configs, setup.gitops):
        other = f"--repo {repository.name}"
        yield f"gh variable set {SOURCE_VARIABLE} {other} --body {setup.source.name}"
        yield f"gh variable set KALYPSO_NOTIFIER_APP_ID {other} --body {app}"
        yield f"gh secret set KALYPSO_NOTIFIER_PRIVATE_KEY {other} < {its_key}"


def _word(value: str) -> str:
    return f'"{value}"' if "<" in value else value
