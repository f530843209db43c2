"""Permissions and repositories of the GitHub App's installation, and the clusters that follow."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final

import yaml

from kalypso_actions.doctor_rules.check import (
    ACTIONS_PAGE,
    CLASSIC_RULES_PAGE,
    ENVIRONMENTS_PAGE,
    GENERAL_PAGE,
    NEW_ENVIRONMENT_PAGE,
    RULES_PAGE,
    SECRETS_PAGE,
    Check,
    State,
    file_page,
    ok,
    problem,
    warning,
)
from kalypso_actions.errors import Problem
from kalypso_actions.model.cluster_reports import ClusterReport, FollowedTree, cluster_type_of
from kalypso_actions.model.counts import abbreviated, counted
from kalypso_actions.model.github import (
    REFUSING,
    ActionsSettings,
    AppInstallation,
    BranchRules,
    PullRequest,
    RepositoryFacts,
)
from kalypso_actions.model.kinds import ClusterType, Environment
from kalypso_actions.model.promotion_policy import PromotionPolicy

LEVELS: Final = {"read": 1, "write": 2, "admin": 3}


def app_checks(
    owner: str, installation: AppInstallation, required: Mapping[str, str]
) -> Iterator[Check]:
    """Check the installation for an owner against the permissions that the chain requires.

    `required` maps each permission, as GitHub's API names it, to its level.
    """
    granted = installation.permissions
    missing = [
        f"{name}: {level}"
        for name, level in required.items()
        if LEVELS.get(granted.get(name, ""), 0) < LEVELS[level]
    ]
    if not missing:
        yield ok(owner, "the App is installed with all permissions that it needs")
        return
    yield problem(
        owner,
        f"the App lacks {', '.join(missing)}",
        "add the permissions to the App, and accept them where it is installed",
        installation.page,
    )


def app_repository_check(name: str, installation: AppInstallation, *, is_selected: bool) -> Check:
    """Check that the installation covers a repository."""
    if is_selected:
        return ok(name, "the App is installed for the repository")
    return problem(
        name,
        "the App is not installed for the repository",
        "add the repository to the App's installation",
        installation.page,
    )


UPSTREAM_PREFIXES: Final = ("deployment/", "deploy/")
"""The prefixes of the branches that upstream proposes from, for a fleet and an application."""


def access_checks(name: str, repository: RepositoryFacts, *, by_app: bool) -> Iterator[Check]:
    """Check that the chain can write to a repository; `by_app`: jobs use the App, not the token."""
    if repository.is_archived:
        yield problem(
            name,
            "the repository is archived: nobody can write to it",
            "unarchive it",
            GENERAL_PAGE,
        )
    if not by_app and not repository.may_push:
        yield warning(
            name,
            "the given token may not push: no job can use it",
            "give kalypso doctor the token that the jobs have, to check it as well",
        )


def gitops_branch_check(repository: str, branch: str, *, exists: bool) -> Check:
    """Check that a GitOps branch exists."""
    if exists:
        return ok(repository, f"the branch {branch} exists")
    return problem(repository, f"there is no branch {branch}", "kalypso init creates it")


def upstream_proposals(
    repository: str, branch: str, pulls: Iterable[PullRequest]
) -> Iterator[Check]:
    """Warn of upstream's pull requests that are still open."""
    for pull in pulls:
        if pull.head_branch.startswith(UPSTREAM_PREFIXES):
            yield warning(
                repository,
                f"#{pull.number} into {branch}, a pull request of upstream's, is open",
                "close it, or merge it first",
                pull.url,
            )


APP_KEY: Final = "KALYPSO_APP_PRIVATE_KEY"
TOKEN: Final = "CONTROL_PLANE_TOKEN"  # noqa: S105 - the name of a secret


def foreign_key_checks(repository: str, secrets: Collection[str]) -> Iterator[Check]:
    """Warn of credentials in a GitOps repository that reach more than its notifier needs.

    `secrets` are the names that its jobs see, those of the organization included.
    """
    if APP_KEY in secrets:
        yield warning(
            repository,
            f"the secret {APP_KEY} is here: everybody who may push a branch can write the control "
            "plane with it",
            "create a notifier and let kalypso init --update-workflows write its workflow file on "
            f"every branch; then gh secret delete {APP_KEY} --repo {repository}, or keep the "
            "organization's from this repository",
            SECRETS_PAGE,
        )
    if TOKEN in secrets:
        yield warning(
            repository,
            f"the secret {TOKEN} is here, and GitHub does not show what it may do: everybody who "
            "may push a branch can use it",
            "see that it has `actions: write` on the control plane and nothing else, or replace it "
            "with a notifier and delete it",
            SECRETS_PAGE,
        )


def label_check(repository: str, label: str, *, exists: bool) -> Check:
    """Report whether a label exists; schedule creates a missing one."""
    text = "exists" if exists else "does not exist yet: schedule creates it"
    return ok(repository, f"the label {label} {text}")


NEXT_ENVIRONMENT: Final = "NEXT_ENVIRONMENT"
"""The variable or secret of a GitHub environment that names the next environments."""


def no_environments(control_plane: str, main: str) -> Check:
    """Report a control plane without Environment objects."""
    return problem(
        control_plane,
        f"{main} has no Environment object",
        "kalypso init writes Environment objects and their branches",
    )


def rendering_check(control_plane: str, environment: str, assignments: int | None) -> Check:
    """Report the number of rendered assignments; None if rendering fails."""
    if assignments is None:
        return problem(
            control_plane,
            f"{environment} cannot be read and rendered",
            "solve the problems that this report lists for it",
        )
    return ok(
        control_plane,
        f"{environment} can be read and rendered: {counted(assignments, 'assignment')}",
    )


def has_reporting_clusters(cluster_types: Collection[ClusterType]) -> bool:
    """Whether clusters of an environment report their state.

    An environment without cluster types counts, because it may still get such clusters.
    """
    return not cluster_types or any(
        cluster_type.reports_compliance for cluster_type in cluster_types
    )


def is_named_by_secret(
    used_in_environment: Collection[str], secrets_of_environment: Collection[str]
) -> bool:
    """Whether the workflow takes the next environment from a secret, which nobody can read."""
    return (
        f"secrets.{NEXT_ENVIRONMENT}" in used_in_environment
        and NEXT_ENVIRONMENT in secrets_of_environment
    )


def promotes_by_secret(control_plane: str, environment: str) -> Check:
    """Report that a secret names the next environment."""
    return ok(control_plane, f"the secret {NEXT_ENVIRONMENT} of {environment} names its next one")


def promotion_checks(
    control_plane: str,
    environments: Mapping[str, Environment],
    following: Mapping[str, Sequence[str] | None],
    gaps: Sequence[Problem],
) -> Iterator[Check]:
    """Report the environments that each environment promotes to (None: they are not known).

    `gaps` are those of the chain, as `kalypso status` tells them, too.
    """
    unreached = {gap.where for gap in gaps if gap.level == "warning"}
    for name, names in following.items():
        if names:
            yield ok(control_plane, f"{name} goes on to {', '.join(names)}")
        elif names is not None and environments[name].where not in unreached:
            yield ok(control_plane, f"{name} is a last environment")
    for gap in gaps:
        state: State = "warning" if gap.level == "warning" else "problem"
        yield Check.of_problem(state, gap, control_plane)


def wrong_variable(
    control_plane: str, environment: str, problems: Sequence[Problem]
) -> Iterator[Check]:
    """Report that a variable names wrong next environments."""
    for wrong in problems:
        text = f"{environment}: {wrong.message}"
        yield problem(control_plane, text, wrong.advice, ENVIRONMENTS_PAGE)


def github_environment_check(
    control_plane: str, environment: str, existing: Collection[str]
) -> Check:
    """Check that GitHub has an environment of this name, in upper or lower case."""
    if environment.lower() in {name.lower() for name in existing}:
        return ok(control_plane, f"there is a GitHub environment {environment}")
    return warning(
        control_plane,
        f"there is no GitHub environment {environment}: its first job creates it, unprotected",
        "create it, with the people who must review deployments",
        NEW_ENVIRONMENT_PAGE,
    )


def policy_checks(
    place: str, branch: str, path: str, text: str, policies: Mapping[str, PromotionPolicy]
) -> Iterator[Check]:
    """Check that every job of cd may read what policies ask about; the App brings its own rights.

    `text` is that of cd.yaml, and `policies` are those of environments by name.
    """
    asked = {
        "checks": [name for name, policy in policies.items() if policy.checks],
        "pull-requests": [
            name
            for name, policy in policies.items()
            if any(freeze.allow for freeze in policy.freezes)
        ],
    }
    for permission, names in asked.items():
        jobs = [name for name, granted in _jobs_of_cd(text) if not _may_read(granted, permission)]
        if names and jobs:
            yield problem(
                place,
                f"the job {', '.join(jobs)} of {path} on {branch} lacks `{permission}: read`, "
                f"which the policy of {', '.join(names)} asks for: nothing enters",
                f"add `{permission}: read` to its permissions, or let kalypso init "
                "--update-workflows write the file",
                file_page(branch, path),
            )


def _jobs_of_cd(text: str) -> Iterator[tuple[str, object]]:
    """Yield each job that runs cd with its own token, and its permissions."""
    try:
        document = yaml.load(text, yaml.BaseLoader)  # noqa: S506 (it makes only strings)
    except (yaml.YAMLError, RecursionError):
        return
    jobs = document.get("jobs") if isinstance(document, dict) else None
    for name, job in jobs.items() if isinstance(jobs, dict) else ():
        steps = job.get("steps") if isinstance(job, dict) else None
        of_cd = [
            step
            for step in (steps if isinstance(steps, list) else ())
            if isinstance(step, dict) and "/actions/cd@" in str(step.get("uses", ""))
        ]
        if of_cd and not any(OWN_CREDENTIALS & set(step.get("with") or ()) for step in of_cd):
            yield name, job.get("permissions", document.get("permissions"))


OWN_CREDENTIALS: Final = frozenset({"token", "app-private-key"})
"""Inputs that replace the job's token."""


def _may_read(granted: object, permission: str) -> bool:
    """Whether the permissions of a job, as its workflow file says them, let it read."""
    if isinstance(granted, dict):
        return granted.get(permission) in {"read", "write"}
    return granted in {"read-all", "write-all"}


PULL_REQUESTS: Final = re.compile(
    r"^\s*(?:pull-requests:\s*write|permissions:\s*write-all)\b", re.MULTILINE
)

REFUSING_OWN: Final = REFUSING | {"creation", "deletion", "non_fast_forward"}
"""Rules that keep Kalypso from creating, force-pushing or deleting its own branches."""


def push_checks(
    place: str,
    branch: str,
    rules: BranchRules,
    command: str,
    alternative: str = "",
    *,
    is_own: bool = False,
    by_job: bool = False,
) -> Iterator[Check]:
    """Check that rules let a command push to a branch; `alternative` extends the advice.

    `is_own`: Kalypso creates, force-pushes and deletes the branch. `by_job`: the command pushes
    with its job's token, which no ruleset can exempt.
    """
    refusing = [rule for rule in rules.types if rule in (REFUSING_OWN if is_own else REFUSING)]
    if rules.is_classic:
        yield _unknown_classic_rule(
            place,
            branch,
            f"see that {command} may push{' by force' if is_own else ''}{alternative}",
        )
    elif refusing and by_job:
        yield problem(
            place,
            f"rules of {branch} refuse pushes ({', '.join(refusing)}), and no ruleset can let the "
            f"job's GITHUB_TOKEN, with which {command} runs, bypass them",
            "let the App bypass them, and give it to the job: kalypso init --update-workflows "
            f"writes its lines{alternative}",
            RULES_PAGE,
        )
    elif refusing:
        yield warning(
            place,
            f"rules of {branch} refuse pushes ({', '.join(refusing)}); GitHub does not say whether "
            f"they apply to {command}",
            f"let {command} bypass them as a GitHub App, since GITHUB_TOKEN cannot{alternative}",
            RULES_PAGE,
        )
    else:
        yield ok(place, f"no rule keeps {command} from pushing to {branch}")


def signature_checks(place: str, branch: str, rules: BranchRules, command: str) -> Iterator[Check]:
    """Report how a command commits if a ruleset requires signatures."""
    if rules.requires_signatures:
        yield ok(
            place,
            f"commits on {branch} must be signed: GitHub makes and signs those of {command}, if it "
            "runs as an App or by the job's token (commit-by: auto or api)",
        )


def approval_checks(place: str, branch: str, rules: BranchRules) -> Iterator[Check]:
    """Check that new commits dismiss an approval, because Kalypso updates its pull requests."""
    if rules.is_classic:
        yield _unknown_classic_rule(
            place, branch, "if it requires approvals, see that it dismisses stale ones"
        )
    elif not rules.required_approvals:
        yield ok(place, f"merges to {branch} need no approval")
    elif rules.dismisses_stale_approvals:
        yield ok(place, f"merges to {branch} need an approval of the latest commit")
    else:
        yield warning(
            place,
            f"approvals for {branch} outlive new commits, and Kalypso updates its pull requests",
            "enable 'Dismiss stale pull request approvals when new commits are pushed'",
            RULES_PAGE,
        )


def _unknown_classic_rule(place: str, branch: str, advice: str) -> Check:
    text = f"a classic rule protects {branch}; its content is not checked"
    return warning(place, text, advice, CLASSIC_RULES_PAGE)


def actions_checks(
    place: str, settings: ActionsSettings, used: Collection[str], *, proposes_by_job: bool
) -> Iterator[Check]:
    """Check that workflows run, may use Kalypso's actions, and may open pull requests if needed.

    `used` are the repositories of the actions in the workflow files. `proposes_by_job`: cd opens
    pull requests with its job's token.
    """
    if not settings.enabled:
        yield problem(place, "GitHub Actions is disabled", "enable it", ACTIONS_PAGE)
        return
    owner = place.partition("/")[0].lower()
    others = sorted(name for name in used if name.partition("/")[0].lower() != owner)
    names = ", ".join(others) or "Kalypso's"
    if settings.allowed == "all" or (used and not others):
        yield ok(place, "GitHub Actions is enabled, and may use Kalypso's actions")
    elif settings.allowed == "local_only":
        yield problem(
            place,
            f"actions of other owners are not allowed: {names}",
            "allow them, or use a copy of your own",
            ACTIONS_PAGE,
        )
    else:
        yield warning(
            place,
            "only selected actions are allowed",
            f"see that these are among them: {names}",
            ACTIONS_PAGE,
        )
    if proposes_by_job and not settings.jobs_may_open_pull_requests:
        yield problem(
            place,
            "jobs may not open pull requests, but cd opens them (mode: pull-request)",
            "allow it, also in the organization's settings, or let cd use the App",
            ACTIONS_PAGE,
        )


def required_check_checks(place: str, branch: str, rules: BranchRules) -> Iterator[Check]:
    """Check that required checks can run for pull requests that a job's token opens.

    Since June 2026, the workflows of such pull requests wait until a person approves them.
    """
    if rules.requires_checks:
        yield warning(
            place,
            f"{branch} requires checks, but workflows of pull requests that cd opens with "
            "GITHUB_TOKEN wait until a person approves them",
            "let cd open them as the App: set app-id and app-private-key in cd.yaml",
            RULES_PAGE,
        )


def proposal_checks(place: str, branch: str, path: str, text: str) -> Iterator[Check]:
    """Check that the job of a workflow file with `mode: pull-request` may open pull requests."""
    if not PULL_REQUESTS.search(text):
        yield problem(
            place,
            f"{path} on {branch} has mode: pull-request, but its job may open no pull request",
            "add pull-requests: write to the job's permissions",
            file_page(branch, path),
        )


MOST_NAMED: Final = 10


def cluster_checks(
    source: str,
    branch: str,
    followed: FollowedTree,
    reports: Sequence[ClusterReport],
    no_reports_advice: str,
) -> Iterator[Check]:
    """Check that clusters report on a branch, and that every listed one does."""
    text = f"{branch} is followed by {counted(len(reports), 'configuration')} of clusters"
    if not reports:
        yield warning(source, text, no_reports_advice)
        return
    yield ok(source, text)
    heard: dict[str, list[ClusterReport]] = {}
    for report in reports:
        for name in {report.cluster.lower(), report.cluster.lower().rpartition("/")[2]}:
            heard.setdefault(name, []).append(report)
    silent = [
        f"{expected.name} ({expected.cluster_type})"
        for expected in followed.expected
        if not any(
            _follows(report, followed, expected.cluster_type)
            for report in heard.get(expected.name.lower(), ())
        )
    ]
    if silent:
        yield warning(
            source,
            f"{branch}: {counted(len(silent), 'cluster')} in kalypso.io/clusters did not report: "
            f"{abbreviated(silent, MOST_NAMED)}",
            f"check-promote waits for each: correct the names, or {no_reports_advice}",
        )


def _follows(report: ClusterReport, followed: FollowedTree, cluster_type: str) -> bool:
    """Whether a report is about the folder of a cluster type, a part of it, or a folder above."""
    paths = [each.path for each in report.paths] or [""]
    return any(cluster_type_of(path, followed.folder, {cluster_type}) is not None for path in paths)
