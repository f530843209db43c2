"""Check the repositories: the control plane, its environments, and the GitOps repositories."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

from kalypso_actions.clients.github import (
    branches,
    labels,
    pull_requests,
    repositories,
    workflows,
)
from kalypso_actions.clients.github.apps import Installations
from kalypso_actions.commands.doctor.facts import Checklist, EnvironmentFacts, Facts
from kalypso_actions.commands.registry import app_permissions
from kalypso_actions.commands.schedule.reading import read_everything
from kalypso_actions.commands.shared.cluster_reports import (
    SourceChecks,
    environment_tree,
    followed_tree,
)
from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.commands.shared.environment_branch import checked_branch
from kalypso_actions.commands.shared.labels import PROMOTED
from kalypso_actions.commands.shared.reading.base_trees import tree_at
from kalypso_actions.commands.shared.reading.snapshot import plan_registrations
from kalypso_actions.commands.shared.workflow_templates import (
    Place,
    faults_of_workflows,
    read_workflows,
    workflow_files,
)
from kalypso_actions.compliance import ClusterReports
from kalypso_actions.compliance.interface import SourceWarnings
from kalypso_actions.doctor_rules import repositories as rules
from kalypso_actions.doctor_rules.check import warning
from kalypso_actions.doctor_rules.repositories import cluster_checks
from kalypso_actions.doctor_rules.workflow_faults import workflow_names
from kalypso_actions.doctor_rules.workflows import (
    BranchWorkflows,
    Templates,
    UsedNames,
    copy_checks,
    credential_checks,
    name_checks,
    used_actions,
    used_names,
    workflow_checks,
)
from kalypso_actions.errors import KalypsoError
from kalypso_actions.inputs.chain import DEFAULT_CLUSTER_REPORTS, DoctorInputs, ScheduleInputs
from kalypso_actions.inputs.local import DEFAULT_ACTION
from kalypso_actions.inputs.values import split_list
from kalypso_actions.model.cluster_reports import ClusterReport, FollowedTree
from kalypso_actions.model.federated_credentials import subject_prefixes
from kalypso_actions.model.github import AppInstallation, SettingNames
from kalypso_actions.model.kinds import ClusterType
from kalypso_actions.model.tree import GitOpsBranch, Snapshot
from kalypso_actions.model.urls import owner_of
from kalypso_actions.model.workflow_files import Placeholders
from kalypso_actions.onboarding.files import (
    CD_FILE,
    CHECK_PROMOTE_FILE,
    MODE,
    OBSERVE_FILE,
    for_branch,
    proposes,
    runs_by_job,
    under_present_paths,
)
from kalypso_actions.planning.plan import PlanOptions
from kalypso_actions.promotion.environments import chain_gaps, next_environments

CLIENT_ID: Final = "AZURE_CLIENT_ID"


def check_control_plane(
    context: CommandContext,
    facts: Facts,
    not_reporting: Collection[str],
    sources: Sequence[str],
    checklist: Checklist,
) -> None:
    """Check the control plane's repository.

    `not_reporting` are the environments whose clusters report nothing, `sources` the sources of
    cluster reports for the others.
    """
    name = context.control_plane
    cd_workflow = ""
    used = Used()
    main = read_files(context, name, facts.main, checklist)
    if main:
        states = read_states(context, name, checklist)
        ours = templates("control-plane", name, facts.main)
        check_files(main, "control-plane", ours, states, used, checklist)
        cd_workflow = main.texts.get(CD_FILE, "")
    ours = templates("control-plane-environment", name, facts.main)
    existing = (environment.branch for environment in facts.environments if environment.has_branch)
    for branch in dict.fromkeys(existing):
        files = read_files(context, name, branch, checklist)
        if files:
            check_files(files, "control-plane-environment", ours, {}, used, checklist)
            if MODE.search(cd_workflow):
                check_copies(main, files, ours, checklist)
    by_job = proposes(cd_workflow)
    actions = checklist.optional(
        lambda: repositories.settings_of_actions(context.github, name), name
    )
    if actions:
        checklist.add(rules.actions_checks(name, actions, used.actions, proposes_by_job=by_job))
    if by_job:
        checklist.add(rules.proposal_checks(name, facts.main, CD_FILE, cd_workflow))
    if cd_workflow:
        checklist.add(rules.policy_checks(name, facts.main, CD_FILE, cd_workflow, facts.policies))
    of_environments = _check_names(context, facts, used.names, not_reporting, sources, checklist)
    secrets = {environment: names.secrets for environment, names in of_environments.items()}
    identities = [item for item, names in of_environments.items() if CLIENT_ID in names.variables]
    if main and DEFAULT_CLUSTER_REPORTS in sources and set(facts.by_name) - set(not_reporting):
        signing_in = [name for name in facts.by_name if name not in {*not_reporting, *identities}]
        check_promote = main.texts.get(CHECK_PROMOTE_FILE, "")
        server = context.github.server.server_url
        prefixes = [prefix for _, prefix in subject_prefixes(name, server, facts.repository)]
        checklist.add(
            credential_checks(
                name,
                facts.main,
                signing_in,
                check_promote,
                prefixes,
                observes=OBSERVE_FILE in main.texts,
            )
        )
    promotion_names = used.names.get(CHECK_PROMOTE_FILE, UsedNames()).in_environment
    by_secret = {
        item
        for item in facts.by_name
        if rules.is_named_by_secret(promotion_names, secrets.get(item, ()))
    }
    check_promotion(context, facts, by_secret, checklist)
    for environment in facts.environments:
        _check_pushes(context, environment, facts.main, cd_workflow, checklist)


def _check_names(
    context: CommandContext,
    facts: Facts,
    used: Mapping[str, UsedNames],
    not_reporting: Collection[str],
    sources: Sequence[str],
    checklist: Checklist,
) -> Mapping[str, SettingNames]:
    """Check secrets and variables, and that the GitHub environments exist.

    Returns the visible names of each environment.
    """
    name = context.control_plane
    of_environments = _names_of_environments(context, facts, checklist)
    if facts.names:
        checklist.add(
            name_checks(
                name,
                used,
                facts.names,
                of_environments,
                not_reporting=not_reporting,
                sources=sources,
            )
        )
    return of_environments


def _names_of_environments(
    context: CommandContext, facts: Facts, checklist: Checklist
) -> Mapping[str, SettingNames]:
    """Return the visible names of each GitHub environment; a missing one has none."""
    name, github = context.control_plane, context.github
    existing = checklist.optional(lambda: repositories.environments(github, name), name)
    if existing is None:
        return {}
    names: dict[str, SettingNames] = {}
    for environment in facts.by_name:
        check = rules.github_environment_check(name, environment, existing)
        checklist.add([check])
        if check.state != "ok":
            names[environment] = SettingNames()
            continue
        visible = checklist.optional(
            partial(repositories.settings_of_environment, github, name, environment)
        )
        if visible:
            names[environment] = visible
    return names


def _check_pushes(
    context: CommandContext,
    environment: EnvironmentFacts,
    main: str,
    cd_workflow: str,
    checklist: Checklist,
) -> None:
    """Check the branch that cd pushes to: the environment's, or the branch of its pull request."""
    name = context.control_plane
    by_pull_request = bool(MODE.search(cd_workflow))
    target = checklist.required(lambda: checked_branch(environment.environment, main, context))
    if target is None:
        return
    branch = target.own_name if by_pull_request else target.name
    branch_rules = checklist.optional(lambda: branches.rules(context.github, name, branch))
    if branch_rules:
        checklist.add(rules.signature_checks(name, branch, branch_rules, "cd"))
        alternative = "" if by_pull_request else ", or let cd propose (mode: pull-request)"
        checklist.add(
            rules.push_checks(
                name,
                branch,
                branch_rules,
                "cd",
                alternative,
                is_own=by_pull_request,
                by_job=runs_by_job(cd_workflow),
            )
        )
    if proposes(cd_workflow):
        base_rules = checklist.optional(lambda: branches.rules(context.github, name, target.name))
        if base_rules:
            checklist.add(rules.required_check_checks(name, target.name, base_rules))


def check_environment(
    inputs: DoctorInputs,
    jobs: CommandContext,
    environment: EnvironmentFacts,
    checklist: Checklist,
) -> Sequence[ClusterType] | None:
    """Render an environment from the repositories as jobs see them.

    Returns its cluster types, none if they are unknown; None if none of its clusters report.
    """
    chosen = inputs.model_dump(include=set(PlanOptions.__dataclass_fields__))
    schedule_inputs = ScheduleInputs(environment=environment.name, **chosen)
    # Without a GitOps branch there is nothing to read; the list already reports that.
    snapshot = (
        checklist.required(lambda: read_everything(schedule_inputs, jobs).sources)
        if environment.gitops
        else None
    )
    assignments = _render(snapshot, PlanOptions(**chosen), jobs, checklist) if snapshot else None
    checklist.add([rules.rendering_check(jobs.control_plane, environment.name, assignments)])
    cluster_types = snapshot.fleet.cluster_types if snapshot else ()
    return tuple(cluster_types) if rules.has_reporting_clusters(cluster_types) else None


def check_promotion(
    context: CommandContext, facts: Facts, by_secret: Collection[str], checklist: Checklist
) -> None:
    """Check where each environment promotes to: by variable, else by annotation.

    `by_secret` are the environments whose next ones a secret names, which nobody can read.
    """
    github, name = context.github, context.control_plane
    following: dict[str, Sequence[str] | None] = {}
    for environment in facts.by_name:
        following[environment] = None
        if environment in by_secret:
            checklist.add([rules.promotes_by_secret(name, environment)])
            continue
        variable = checklist.optional(
            partial(repositories.variable, github, name, environment, rules.NEXT_ENVIRONMENT)
        )
        names = split_list(variable or "")
        try:
            following[environment] = next_environments(names, environment, facts.by_name)
        except KalypsoError as error:
            if names:
                checklist.add(rules.wrong_variable(name, environment, error.problems))
    present = {each.branch for each in facts.environments if each.has_branch}
    gaps = chain_gaps(facts.by_name, following, present)
    checklist.add(rules.promotion_checks(name, facts.by_name, following, gaps))


def _render(
    snapshot: Snapshot, options: PlanOptions, jobs: CommandContext, checklist: Checklist
) -> int | None:
    """Return the number of assignments; None if there are problems, which go on the list."""
    _, plan = plan_registrations(snapshot, options, jobs.reader, jobs.runtime.progress)
    checklist.add_problems("problem", plan.problems)
    checklist.add_problems("warning", plan.all_warnings)
    return None if plan.problems else len(plan.assignments)


def check_gitops(
    context: CommandContext, repository: str, facts: Facts, checklist: Checklist
) -> None:
    """Check a GitOps repository."""
    proposals = [
        (target.branch, own_branch)
        for environment in facts.environments
        for target, own_branch in zip(environment.gitops, environment.own_branches, strict=True)
        if target.repository == repository
    ]
    states = read_states(context, repository, checklist)
    ours = templates("gitops", context.control_plane, facts.main)
    used = Used()
    url = context.url(repository)
    main = checklist.required(lambda: context.remotes.default_branch(url), repository)
    default = read_files(context, repository, main, checklist) if main else None
    for branch in dict.fromkeys(branch for branch, _ in proposals):
        if not _exists(context, repository, branch, checklist):
            continue
        files = read_files(context, repository, branch, checklist)
        if files:
            check_files(files, "gitops", ours, states, used, checklist)
            check_copies(default, files, ours, checklist)
        check_branch(context, repository, branch, "schedule", checklist)
    for _, own_branch in proposals:
        check_own_branch(context, repository, own_branch, "schedule", checklist)
    _check_repository(context, repository, used, checklist)


def _exists(context: CommandContext, repository: str, branch: str, checklist: Checklist) -> bool:
    head = checklist.required(lambda: branches.head(context.github, repository, branch), repository)
    checklist.add([rules.gitops_branch_check(repository, branch, exists=head is not None)])
    return head is not None


def check_branch(
    context: CommandContext, repository: str, branch: str, command: str, checklist: Checklist
) -> None:
    """Check the approvals that merges to a branch need, and upstream's open pull requests.

    `command` proposes to the branch.
    """
    github = context.github
    branch_rules = checklist.optional(
        lambda: branches.rules(github, repository, branch), repository
    )
    if branch_rules:
        checklist.add(rules.approval_checks(repository, branch, branch_rules))
        checklist.add(rules.signature_checks(repository, branch, branch_rules, command))
    pulls = checklist.optional(
        lambda: pull_requests.open_into(github, repository, branch), repository
    )
    checklist.add(rules.upstream_proposals(repository, branch, pulls or ()))


def check_own_branch(
    context: CommandContext, repository: str, branch: str, command: str, checklist: Checklist
) -> None:
    """Check that a command can push to the branch that it proposes from, and how it commits."""
    branch_rules = checklist.optional(
        lambda: branches.rules(context.github, repository, branch), repository
    )
    if branch_rules:
        checklist.add(rules.signature_checks(repository, branch, branch_rules, command))
        checklist.add(rules.push_checks(repository, branch, branch_rules, command, is_own=True))


def _check_repository(
    context: CommandContext, repository: str, used: Used, checklist: Checklist
) -> None:
    github = context.github
    actions = checklist.optional(
        lambda: repositories.settings_of_actions(github, repository), repository
    )
    if actions:
        checklist.add(
            rules.actions_checks(repository, actions, used.actions, proposes_by_job=False)
        )
    names = checklist.optional(lambda: repositories.settings(github, repository), repository)
    if names:
        checklist.add(name_checks(repository, used.names, names, {}))
        checklist.add(rules.foreign_key_checks(repository, names.secrets))
    has_label = checklist.optional(lambda: labels.exists(github, repository, PROMOTED), repository)
    if has_label is not None:
        checklist.add([rules.label_check(repository, PROMOTED, exists=has_label)])


ACTIONS, _, REF = DEFAULT_ACTION.partition("@")
"""The value does not matter: it is only used to list the templates' paths."""


@dataclass(slots=True)
class Used:
    """The names and actions that the workflow files of a repository's branches use.

    `names` are secrets and variables, by the paths of the files; `actions` are the repositories of
    Kalypso's actions, `workflows` the names of workflows, and `main` is the first branch.
    """

    names: dict[str, UsedNames] = field(default_factory=dict)
    actions: set[str] = field(default_factory=set)
    workflows: set[str] = field(default_factory=set)
    main: str = ""


def templates(place: Place, control_plane: str, main: str) -> Templates:
    """Return the templates of a place; `main` is the control plane's main branch."""

    def fill(actions: str, ref: str) -> Mapping[str, str]:
        commit, _, version = ref.partition(" # ")
        files = workflow_files(place, Placeholders(actions, commit, control_plane, version))
        return files if place == "gitops" else for_branch(files, main)

    return fill


def read_files(
    context: CommandContext, repository: str, branch: str, checklist: Checklist
) -> BranchWorkflows | None:
    """Read the workflow files of a branch, by their present names; None if it cannot be read."""
    url = context.url(repository)
    texts = checklist.required(
        lambda: read_workflows(context.repositories.open(url, branch=branch)), repository
    )
    return (
        None if texts is None else BranchWorkflows(repository, branch, under_present_paths(texts))
    )


def read_states(
    context: CommandContext, repository: str, checklist: Checklist
) -> Mapping[str, str]:
    """Return GitHub's states of the workflows on the default branch, by path."""
    states = checklist.optional(lambda: workflows.states(context.github, repository), repository)
    return {workflow.path: workflow.state for workflow in states or ()}


def check_copies(
    default: BranchWorkflows | None, files: BranchWorkflows, ours: Templates, checklist: Checklist
) -> None:
    """Check that the default branch has the workflow files of another branch."""
    if default and default.branch != files.branch:
        checklist.add(copy_checks(default, files, ours(ACTIONS, REF)))


def check_files(
    files: BranchWorkflows,
    place: Place,
    ours: Templates,
    states: Mapping[str, str],
    used: Used,
    checklist: Checklist,
) -> None:
    """Check the workflow files of a branch, and add their names and actions to `used`."""
    paths = tuple(ours(ACTIONS, REF))
    faults = faults_of_workflows(files, place, used.main or files.branch, used.workflows)
    checklist.add(workflow_checks(files, paths, ours, states, faults))
    used.main = used.main or files.branch
    used.workflows |= workflow_names(files.texts.values())
    used.actions.update(used_actions(files.texts.values()))
    for path in paths:
        if path in files.texts:
            names = used.names.get(path, UsedNames())
            used.names[path] = names | used_names(files.texts[path])


def check_credentials(jobs: CommandContext, facts: Facts, checklist: Checklist) -> None:
    """Check that the jobs' credential, an App or a token, can write to all repositories."""
    needed = app_permissions()
    if any(policy.checks for policy in facts.policies.values()):
        needed["checks"] = "read"
    check_access(jobs, (jobs.control_plane, *facts.gitops_repositories), needed, checklist)


def check_access(
    jobs: CommandContext, names: Sequence[str], needed: Mapping[str, str], checklist: Checklist
) -> None:
    """Check that the jobs' credential reaches repositories; an App has the permissions `needed`."""
    app = jobs.github.installations
    if app:
        _check_app(app, names, needed, checklist)
    for name in names:
        repository = checklist.required(partial(repositories.get, jobs.github, name), name)
        if repository:
            checklist.add(rules.access_checks(name, repository, by_app=app is not None))


def _check_app(
    app: Installations, names: Sequence[str], needed: Mapping[str, str], checklist: Checklist
) -> None:
    """Check the installation for each owner, and that it covers each repository."""
    installations: dict[str, AppInstallation] = {}
    for owner in dict.fromkeys(_owner(name) for name in names):
        installation = checklist.required(partial(app.installation, owner), owner)
        if installation:
            installations[owner] = installation
            checklist.add(rules.app_checks(owner, installation, needed))
    for name in names:
        installation = installations.get(_owner(name))
        if installation is None:
            continue
        is_selected = checklist.required(partial(app.is_installed, name), name)
        if is_selected is not None:
            checklist.add([rules.app_repository_check(name, installation, is_selected=is_selected)])


def _owner(name: str) -> str:
    return owner_of(name) or name


def check_cluster_reports(
    context: CommandContext,
    reports: ClusterReports,
    facts: Facts,
    cluster_types: Mapping[str, Sequence[ClusterType]],
    checklist: Checklist,
) -> None:
    """Check that clusters report on each GitOps branch, by the sources of check-promote.

    `cluster_types` are those of each environment whose clusters report.
    """
    environments = [each for each in facts.environments if each.name in cluster_types]
    if not environments:
        return
    source, advice = reports.title, reports.setup_advice()
    if advice:
        checklist.add([warning(source, f"not asked about clusters: {source}", advice)])
        return
    for environment in environments:
        for branch in environment.gitops:
            read = partial(_followed, context, branch, cluster_types[environment.name])
            nothing = FollowedTree(branch.url, branch.branch), True
            followed, has_begun = checklist.optional(read) or nothing
            branch_reports = checklist.required(partial(_checked, reports, followed), source)
            if branch_reports is None:
                continue
            advice = reports.no_reports_advice if has_begun else MERGE_FIRST
            checklist.add(cluster_checks(source, branch.name, followed, branch_reports, advice))
            if isinstance(reports, SourceWarnings):
                checklist.add_problems("warning", reports.warnings(), source)
            if isinstance(reports, SourceChecks):
                checklist.add(checklist.required(partial(reports.checks, followed), source) or ())


MERGE_FIRST: Final = (
    "merge the first pull request of schedule: nothing is assigned there yet, so that no cluster "
    "can report"
)


def _checked(reports: ClusterReports, followed: FollowedTree) -> Sequence[ClusterReport]:
    reports.check_inputs(followed)
    return reports.reports(followed)


def _followed(
    context: CommandContext, branch: GitOpsBranch, cluster_types: Sequence[ClusterType]
) -> tuple[FollowedTree, bool]:
    """Return a branch as the sources read it, and whether anything was merged to it.

    Before the first merge, all cluster types count. A check reports a branch that does not exist.
    """
    head = context.remotes.heads(branch.url, [branch.branch]).get(branch.branch)
    if head is None:
        return FollowedTree(branch.url, branch.branch), True
    tree = environment_tree(tree_at(context, branch, head), cluster_types)
    has_begun = bool(tree.assigned)
    if not has_begun:
        tree = replace(tree, assigned=frozenset(each.name for each in cluster_types))
    return followed_tree(context, branch, head, tree), has_begun
