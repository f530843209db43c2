"""`kalypso notify`: start check-promote for a push to a GitOps branch.

A notifier may start workflows of the control plane, and nothing else. With it, the GitOps
repository itself says which environments a push concerns, and check-promote finds out what the push
is. A token that also reads the control plane finds that out here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from kalypso_actions.clients.github import GitHubError, branches, commits, repositories
from kalypso_actions.commands.shared.carry_out import Done, carry_out
from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.commands.shared.environment_branch import never_named, read_environment
from kalypso_actions.commands.shared.own_statuses import own_statuses
from kalypso_actions.commands.shared.reading.base_trees import named_commit, read_base_tree
from kalypso_actions.commands.shared.reading.control_plane import EnvironmentReading
from kalypso_actions.commands.shared.result import CommandResult, dry_run_result
from kalypso_actions.errors import KalypsoError, Location, Problem, UsageError
from kalypso_actions.gitops.own_files import touches
from kalypso_actions.gitops.provenance import becomes_credible, environment_of
from kalypso_actions.inputs.app import AppNotifyInputs
from kalypso_actions.inputs.chain import NotifyInputs
from kalypso_actions.model.kinds import Environment, GitOpsRepo
from kalypso_actions.model.layout import SOURCES_FILE, gitops_folder
from kalypso_actions.model.object_ids import is_commit_id
from kalypso_actions.model.tree import BaseTree
from kalypso_actions.model.urls import owner_of, repository_key
from kalypso_actions.promotion import statuses as table
from kalypso_actions.promotion.requests import (
    Merge,
    PromotionRequest,
    meaning_of_push,
    most_important,
)
from kalypso_actions.promotion.starts import check_promote_start
from kalypso_actions.report.chain_document import NotifyDocument, StartedCheck, notify_summary
from kalypso_actions.report.documents import ProblemEntry

BRANCHES: Final = "refs/heads/"


@dataclass(frozen=True, slots=True)
class PushedBranch:
    """A pushed branch; `before` is None for a new branch, `after` for a deleted one."""

    branch: str
    before: str | None
    after: str | None
    forced: bool


@dataclass(frozen=True, slots=True)
class _PushedEnvironment:
    """An environment with GitOpsRepos on the pushed branch, and the folders of their trees.

    `repository` is the name by which the environment knows the job's repository.
    """

    environment: Environment
    reading: EnvironmentReading
    folders: tuple[str, ...]
    repository: str


_Check = tuple[str, Merge, str]
"""An environment, the meaning of the push for it, and the GitOps repository."""


def notify(inputs: NotifyInputs, context: CommandContext) -> CommandResult:
    """Tell the control plane of a push to a GitOps branch, and whether it is a promotion.

    The command runs in the GitOps repository, in a workflow that the push starts. It starts
    check-promote for every environment whose tree the push changed. Raises UsageError for another
    event.
    """
    push = pushed_branch(context)
    checks: list[_Check] = []
    warnings: list[Problem] = []
    problems: list[Problem] = []
    after, reason, ref = "", "", ""
    if push is None or push.after is None:
        reason = f"the branch {push.branch} was deleted" if push else "no branch was pushed"
    elif has_no_notifier(inputs, context):
        reason = "no notifier tells the control plane: poll finds the push later"
    elif ref := _notifier_branch(inputs, context):
        after = push.after
        checks, warnings = _named_environments(inputs, context, push)
    else:
        after = push.after
        environments, problems = _pushed_environments(inputs, context, push)
        if environments:
            checks, warnings = _meanings(environments, push, context)
            warnings, problems = [*warnings, *problems], []
        else:
            reason = f"no environment has its GitOpsRepo on the branch {push.branch}"
    starts = tuple(
        check_promote_start(
            context.control_plane,
            inputs.workflow,
            environment=environment,
            promoted_commit=merge.promoted_commit,
            gitops_commit=after,
            repository=repository,
            ref=ref,
        )
        for environment, merge, repository in checks
    )
    done = Done() if inputs.dry_run else carry_out(starts, context)
    pages = done.started()
    started = [
        StartedCheck(environment, merge.kind, merge.promoted_commit, pages.get(environment, ""))
        for environment, merge, _ in checks
    ]
    document = _document(started, warnings, problems)
    if inputs.dry_run:
        document = document.model_copy(update={"environments": ()})
        return dry_run_result("notify", document, starts, context)
    summary = notify_summary(document, started, context.url(context.control_plane), reason)
    return CommandResult(document, summary, failed=bool(document.problems))


ACTIONS_ALONE: Final = frozenset({"actions", "metadata"})
"""The permissions of a notifier; every App may read metadata."""


def has_no_notifier(inputs: NotifyInputs | AppNotifyInputs, context: CommandContext) -> bool:
    """Whether the job's own token is the only one, which works in its own repository alone.

    Warn of that.
    """
    own, given = inputs.job_token.get_secret_value(), inputs.token.get_secret_value()
    is_other = context.runtime.job.repository.lower() != context.control_plane.lower()
    if context.github.installations or not (own and own == given and is_other):
        return False
    message = f"no notifier is set up: nothing tells {context.control_plane} of this push"
    advice = "poll finds the push later; set up a notifier as the guide says to start at once"
    context.warn(Problem(message, Location(context.url(context.runtime.job.repository)), advice))
    return True


def check_reach(context: CommandContext) -> tuple[bool, str]:
    """Return whether the token reads the repository of the chain, and its default branch.

    Warn of a token that reaches more than a notifier needs. The branch is "" for an App that reads
    it. Raises GitHubError.
    """
    github, control_plane = context.github, context.control_plane
    default_branch = ""
    if github.installations:
        granted = github.installations.installation(owner_of(control_plane) or "").permissions
        more = sorted(granted.keys() - ACTIONS_ALONE)
        reads_control_plane = "contents" in granted
        reach = f"the GitHub App may use more than Actions: {', '.join(more)}" if more else ""
    else:
        default_branch = repositories.get(github, control_plane).default_branch
        reads_control_plane = _reads(control_plane, default_branch, context)
        reach = f"the token may read {control_plane}" if reads_control_plane else ""
    if reach:
        where = Location(context.url(context.runtime.job.repository))
        advice = (
            "everybody who may push a branch here can use it: replace it with a notifier, which "
            f"has `actions: write` on {control_plane} and nothing else, and delete its key here"
        )
        context.warn(Problem(reach, where, advice))
    if not (reads_control_plane or default_branch):
        default_branch = repositories.get(github, control_plane).default_branch
    return reads_control_plane, default_branch


def _notifier_branch(inputs: NotifyInputs, context: CommandContext) -> str:
    """Return the control plane's default branch if a notifier's token is given; "" for another one.

    From now on, the job's own token reads the repository. Raises GitHubError.
    """
    reads_control_plane, default_branch = check_reach(context)
    if reads_control_plane:
        return ""
    context.trusted_repositories.restrict(
        [context.url(context.control_plane)], context.authorization_of_job(inputs.job_token)
    )
    return default_branch


def _reads(repository: str, branch: str, context: CommandContext) -> bool:
    """Whether the token can read a branch of a repository that it sees. Raises GitHubError."""
    try:
        return branches.head(context.github, repository, branch) is not None
    except GitHubError as error:
        if error.status != 403 or error.limited:
            raise
        return False


def _named_environments(
    inputs: NotifyInputs, context: CommandContext, push: PushedBranch
) -> tuple[list[_Check], list[Problem]]:
    """Return the environments whose trees the push changed, as the GitOps repository names them.

    A tree's `sources.json` names its environment; a tree without it belongs to the given
    environment, or to the environment with the branch's name.
    """
    try:
        new = _trees(context, push.branch, push.after or "")
    except KalypsoError as error:
        advice = "grant this job `contents: read`, so that its own token reads the repository"
        raise KalypsoError(error.problem.message, error.problem.where, advice) from error
    before, warning = _before(context, push)
    old = _trees(context, push.branch, before) if before else {}
    named: dict[str, None] = {}
    for folder in sorted(new.keys() | old.keys()) or [""]:
        after = new.get(folder) or _tree(context, push.branch, folder, push.after or "")
        earlier = old.get(folder) or (
            _tree(context, push.branch, folder, before) if before else None
        )
        name = environment_of(after.sources) or (
            environment_of(earlier.sources) if earlier else None
        )
        name = name or inputs.environment or push.branch
        if inputs.environment in {"", name} and _changes(earlier, after, name):
            named[name] = None
    repository, merge = context.runtime.job.repository, Merge("unknown")
    return [(name, merge, repository) for name in named], [warning] if warning else []


def _trees(context: CommandContext, branch: str, commit: str) -> dict[str, BaseTree]:
    """Return the trees of a commit that have a `sources.json`, by folder."""
    here = context.url(context.runtime.job.repository)
    files = context.remotes.fetch(here, commit=commit)
    folders = [
        path.removesuffix(SOURCES_FILE).rstrip("/")
        for path in files.entries()
        if path == SOURCES_FILE or path.endswith(f"/{SOURCES_FILE}")
    ]
    return {folder: read_base_tree(files, branch, folder) for folder in folders}


def _changes(old: BaseTree | None, new: BaseTree, environment: str) -> bool:
    """Whether a push changes something of an environment's tree that check-promote has to see."""
    promoted_commit = named_commit(new, environment)
    # A change of `sources.json` alone may assign to this environment a branch that was cut from
    # another environment's, or make the tracking file of the branch credible.
    return (
        (named_commit(old, environment) if old else None) != promoted_commit
        or (
            old is not None
            and promoted_commit is not None
            and becomes_credible(old.sources, new.sources, environment, promoted_commit)
        )
        or touches(old.entries if old else None, new.entries, new.path)
    )


def _document(
    started: Sequence[StartedCheck], warnings: Sequence[Problem], problems: Sequence[Problem]
) -> NotifyDocument:
    promoted = next((check for check in started if check.commit), None)
    first = promoted or next(iter(started), None)
    is_unknown = any(check.kind == "unknown" for check in started)
    return NotifyDocument(
        environments=tuple(check.environment for check in started),
        promoted=None if is_unknown else promoted is not None,
        promoted_commit=promoted.commit if promoted else "",
        run_url=first.url if first else "",
        warnings=ProblemEntry.all_of(warnings),
        problems=ProblemEntry.all_of(problems),
    )


def _meanings(
    environments: Sequence[_PushedEnvironment], push: PushedBranch, context: CommandContext
) -> tuple[list[_Check], list[Problem]]:
    """Return the meaning of the push for each environment whose tree it changed, and warnings."""
    before, warning = _before(context, push)
    warnings = [warning] if warning else []
    meanings = []
    for pushed in environments:
        merge = _meaning(context, pushed, push, before)
        if merge is None:
            continue
        problem = _never_named(context, pushed, merge, push.after or "")
        if problem:
            # check-promote would refuse the promotion, but it watches the clusters.
            warnings.append(problem)
            merge = Merge("configuration")
        meanings.append((pushed.environment.name, merge, pushed.repository))
    return meanings, warnings


def pushed_branch(context: CommandContext) -> PushedBranch | None:
    """Return the push of the event; None for a tag. Raises UsageError for another event."""
    job = context.runtime.job
    event = job.event
    ref, before, after = (event.get(name) for name in ("ref", "before", "after"))
    if not (isinstance(ref, str) and isinstance(before, str) and isinstance(after, str)):
        raise UsageError(
            "the event is not a push",
            advice="run it in a workflow of the GitOps repository that is started by `push`",
        )
    if not ref.startswith(BRANCHES):
        return None
    return PushedBranch(
        ref.removeprefix(BRANCHES),
        _commit(before),
        _commit(after),
        forced=event.get("forced") is True,
    )


def _commit(text: str) -> str | None:
    """Return a commit of a push event, or None: GitHub writes zeros for no commit."""
    return text if is_commit_id(text) and text.strip("0") else None


def _pushed_environments(
    inputs: NotifyInputs, context: CommandContext, push: PushedBranch
) -> tuple[list[_PushedEnvironment], list[Problem]]:
    """Return the environments of the pushed branch, and the problems of unreadable ones."""
    wanted = (
        [context.environment(inputs.environment)]
        if inputs.environment
        else list(context.environments().values())
    )
    environments: list[_PushedEnvironment] = []
    unreadable: list[Problem] = []
    for environment in wanted:
        try:
            reading = read_environment(context, environment)
            repos = [
                repo
                for repo in reading.gitops_repos
                if repo.target.branch == push.branch and _is_here(repo, context)
            ]
            folders = tuple(gitops_folder(repo.target.path, repo.where) for repo in repos)
        except KalypsoError as error:
            unreadable += [
                Problem(
                    f"environment {environment.name}: {problem.message}",
                    problem.where,
                    problem.advice,
                )
                for problem in error.problems
            ]
            continue
        if repos:
            key, here = repository_key(repos[0].target.repo), context.runtime.job.repository
            is_former = key != repository_key(context.url(here))
            repository = context.repository(repos[0].target.repo) if is_former else here
            environments.append(_PushedEnvironment(environment, reading, folders, repository))
    return environments, unreadable


def _is_here(repo: GitOpsRepo, context: CommandContext) -> bool:
    """Whether a GitOpsRepo is the job's repository, perhaps by a former name."""
    here, url = context.runtime.job.repository, repo.target.repo
    if repository_key(url) == repository_key(context.url(here)):
        return True
    return context.is_here(url) and repositories.is_same(
        context.github, context.repository(url, repo.where), here
    )


def _before(context: CommandContext, push: PushedBranch) -> tuple[str | None, Problem | None]:
    """Return the commit before the push.

    A commit that a forced push replaced may no longer exist: then the branch counts as new, with a
    warning. Raises KalypsoError for other failures.
    """
    if push.before is None:
        return None, None
    here = context.url(context.runtime.job.repository)
    try:
        context.remotes.fetch(here, commit=push.before)
    except KalypsoError as error:
        if not push.forced:
            raise
        message = (
            f"the commit that the forced push replaced cannot be read: {error.problem.message}"
        )
        return None, Problem(message, Location(here), "no action is needed")
    return push.before, None


def _meaning(
    context: CommandContext, pushed: _PushedEnvironment, push: PushedBranch, before: str | None
) -> Merge | None:
    """Return the meaning of the push for an environment; None if it changes nothing there."""
    name = pushed.environment.name
    meanings = []
    for folder in pushed.folders:
        old = _tree(context, push.branch, folder, before) if before else None
        new = _tree(context, push.branch, folder, push.after or "")
        if _changes(old, new, name):
            earlier = named_commit(old, name) if old else None
            promoted_commit = named_commit(new, name)
            meanings.append(_meaning_of_commits(context, pushed, earlier, promoted_commit))
    return most_important(meanings)


def _meaning_of_commits(
    context: CommandContext, pushed: _PushedEnvironment, before: str | None, after: str | None
) -> Merge:
    """Return the meaning of a push after which a tree names `after` instead of `before`."""
    github, control_plane = context.github, context.control_plane
    goes_back = False
    latest = None
    if before and after and before != after:
        goes_back = commits.relation(github, control_plane, before, after) == "behind"
    elif after and before == after:
        posted = own_statuses(context, after)
        latest = posted.get(table.context(pushed.environment.name).lower())
    return meaning_of_push(
        before,
        after,
        goes_back=goes_back,
        environment_commit=pushed.reading.promoted_commit,
        latest=latest,
    )


def _never_named(
    context: CommandContext, pushed: _PushedEnvironment, merge: Merge, gitops_commit: str
) -> Problem | None:
    """Return the problem of a tracking file that somebody wrote by hand."""
    if not merge.promoted_commit:
        return None
    environment, reading = pushed.environment, pushed.reading
    request = PromotionRequest(environment.name, merge.promoted_commit, gitops_commit)
    return never_named(request, environment, reading, context.environments(), context)


def _tree(context: CommandContext, branch: str, folder: str, commit: str) -> BaseTree:
    """Read a tree of the job's own repository, which is always an allowed repository."""
    here = context.url(context.runtime.job.repository)
    return read_base_tree(context.remotes.fetch(here, commit=commit), branch, folder)
