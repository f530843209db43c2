"""`kalypso app init`: three repositories become an application's source, configs and GitOps.

`kalypso app register` prints the registration by which the control plane knows the application.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

from kalypso_actions.clients.github import GitHubServer
from kalypso_actions.commands.init import (
    Decide,
    decided,
    placeholders_of,
    result_fields,
    starter_texts,
)
from kalypso_actions.commands.init.repositories import InitRepositories, open_on_github
from kalypso_actions.commands.registry import APPLICATION, app_permissions
from kalypso_actions.commands.shared.context import Runtime
from kalypso_actions.commands.shared.workflow_templates import read_workflows, workflow_files
from kalypso_actions.errors import Location, Problem
from kalypso_actions.inputs.local import AppInitInputs, AppRegisterInputs
from kalypso_actions.model.application import NO_ENVIRONMENTS, ORDER_FILE
from kalypso_actions.model.writes import Write
from kalypso_actions.onboarding.application import (
    DEFAULT_ENVIRONMENTS,
    ApplicationSetup,
    ApplicationWorkflows,
    adopt_task,
    application_tasks,
    ci_task,
    other_repositories,
    plan_application,
)
from kalypso_actions.onboarding.branches import (
    BranchPlan,
    BranchState,
    Consent,
    States,
    WrittenBranch,
)
from kalypso_actions.onboarding.files import StarterFiles, scalar
from kalypso_actions.onboarding.open_tasks import Task, merge_task
from kalypso_actions.onboarding.setup import RepositoryRole, reserved_name
from kalypso_actions.promotion.application import read_order
from kalypso_actions.report.init_document import AppInitDocument, AppRegisterDocument


def app_init(
    inputs: AppInitInputs, runtime: Runtime, decide: Decide[AppInitDocument]
) -> AppInitDocument:
    """Read the three repositories, plan, ask for consent, and write.

    Files of people change only with consent; a second run changes nothing. Raises UsageError for
    impossible inputs, KalypsoError for a repository that cannot be read or written.
    """
    source = inputs.source_repository
    given = inputs.configs_repository, inputs.gitops_repository
    configs, gitops = other_repositories(source, *given)
    names: dict[RepositoryRole, str] = {
        "source": source,
        "GitOps repository": gitops,
        "configs": configs,
    }
    with open_on_github(names, inputs.token.get_secret_value(), runtime) as repositories:
        setup, states = _read(inputs, repositories)
        placeholders, unpinned = placeholders_of(inputs, repositories)
        workflows = ApplicationWorkflows(
            source=workflow_files("application-source", placeholders),
            configs=workflow_files("application-configs", placeholders),
            gitops=workflow_files("application-gitops", placeholders),
        )
        plans = plan_application(setup, states, StarterFiles(starter_texts()), workflows)
        facts = repositories.facts
        tasks = (
            *application_tasks(
                setup,
                app_permissions(command.name for command in APPLICATION),
                is_organization=bool(facts and facts.is_organization),
            ),
            *ci_task(setup, states, workflows.source),
            *adopt_task(setup, states),
        )
        document = partial(_document, inputs, setup, plans, tasks, unpinned)
        return decided(plans, inputs, repositories, decide, document)


def _read(inputs: AppInitInputs, repositories: InitRepositories) -> tuple[ApplicationSetup, States]:
    """Return the set-up, and the present branches by role and name. Raises KalypsoError."""
    setups = repositories.setups
    source = setups["source"]
    states: dict[tuple[str, str], BranchState] = {}

    def read(role: RepositoryRole, names: Sequence[str]) -> None:
        backend = repositories.backends[role]
        for name, head in backend.heads(names).items():
            files = backend.files(head)
            workflows = read_workflows(files)
            states[role, name] = BranchState(head, frozenset(files.entries()), workflows)

    read("source", [source.main])
    known: Sequence[str] = ()
    main = states.get(("source", source.main))
    if main and ORDER_FILE in main.paths:
        files = repositories.backends["source"].files(main.head)
        known = tuple(read_order(files.read([ORDER_FILE])[ORDER_FILE], source.url))
    given = inputs.environments or (() if known else DEFAULT_ENVIRONMENTS)
    environments = tuple(dict.fromkeys([*known, *given]))
    for reserved in sorted(NO_ENVIRONMENTS.intersection(environments)):
        raise reserved_name(reserved, Location(setups["configs"].url))
    for role in ("configs", "GitOps repository"):
        read(role, list(dict.fromkeys([*environments, setups[role].main])))
    unordered = tuple(name for name in environments if known and name not in known)
    setup = ApplicationSetup(
        source, setups["configs"], setups["GitOps repository"], environments, unordered
    )
    return setup, states


def _document(
    inputs: AppInitInputs,
    setup: ApplicationSetup,
    plans: Sequence[BranchPlan],
    tasks: Sequence[Task],
    warnings: Sequence[Problem],
    consent: Consent | None = None,
    written: Sequence[WrittenBranch] = (),
    writes: Sequence[Write] = (),
) -> AppInitDocument:
    """Return the preview without `consent`; with it, the result of each plan."""
    if any(branch.pull_request_url for branch in written):
        tasks = (*tasks, merge_task(written, setup.source.role))
    return AppInitDocument(
        source=setup.source.name,
        configs=setup.configs.name,
        gitops=setup.gitops.name,
        environments=setup.environments,
        **result_fields(plans, inputs, tasks, warnings, consent, written, writes),
    )


REGISTRATION: Final = """\
apiVersion: scheduler.kalypso.io/v1alpha1
kind: WorkloadRegistration
metadata:
  name: {name}
  labels:
    type: application
spec:
  workload:
    repo: {url}
    branch: {branch}
    path: {path}
  workspace: {workspace}
"""


def app_register(inputs: AppRegisterInputs, variables: Mapping[str, str]) -> AppRegisterDocument:
    """Return the registration of the application, and the lines that propose it.

    `variables` are those of the environment, which may name another GitHub server.
    """
    server = GitHubServer.of_environment(variables).server_url
    name = inputs.source_repository.partition("/")[2]
    file = f"registrations/{name.lower()}.yaml"
    text = REGISTRATION.format(
        name=scalar(name.lower()),
        url=scalar(f"{server}/{inputs.source_repository}"),
        branch=scalar(inputs.source_branch),
        path=json.dumps(f"./{inputs.workload_path.strip('/')}"),
        workspace=scalar(inputs.workspace),
    )
    lines: tuple[str, ...] = ()
    if inputs.control_plane:
        words = ["kalypso", "app", "register", "--source-repository", inputs.source_repository]
        words += ["--workspace", inputs.workspace]
        others = {"source_branch": "--source-branch", "workload_path": "--workload-path"}
        for field, option in others.items():
            if field in inputs.model_fields_set:
                words += [option, getattr(inputs, field)]
        folder, branch = inputs.control_plane.partition("/")[2], f"register-{name.lower()}"
        lines = (
            f"gh repo clone {inputs.control_plane} && cd {folder} && git switch -c {branch}",
            f"{shlex.join(words)} > {file}",
            f"git add {file} && git commit -m 'Register {name}'",
            f"git push -u origin {branch} && gh pr create --fill",
        )
    return AppRegisterDocument(file=file, text=text, lines=lines)
