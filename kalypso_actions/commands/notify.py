"""`kalypso notify`: a push to a GitOps branch, told to the control plane."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from kalypso_actions.clients.github import commits, statuses
from kalypso_actions.commands.runtime.context import CommandContext
from kalypso_actions.commands.runtime.dispatch import start_check_promote
from kalypso_actions.commands.runtime.environment_history import never_named
from kalypso_actions.commands.runtime.gitops_branches import (
    EnvironmentReading,
    named_commit,
    read_environment,
)
from kalypso_actions.commands.runtime.result import CommandResult
from kalypso_actions.errors import KalypsoError, Location, Problem, UsageError
from kalypso_actions.gitops import contradicts, gitops_folder, touches
from kalypso_actions.inputs.chain import NotifyInputs
from kalypso_actions.model.kinds import Environment
from kalypso_actions.model.object_ids import is_commit_id
from kalypso_actions.model.tree import BaseTree
from kalypso_actions.model.urls import repository_key
from kalypso_actions.promotion import Merge, meaning_of_push
from kalypso_actions.promotion import statuses as table
from kalypso_actions.promotion.requests import PromotionRequest
from kalypso_actions.report.chain_documents import NotifyDocument
from kalypso_actions.report.documents import ProblemEntry
from kalypso_actions.report.notify_summary import StartedCheck, notify_summary
from kalypso_actions.snapshot.base_tree import read_base_tree

BRANCHES: Final = "refs/heads/"

MOST_TELLING: Final = ("promotion", "continuation", "revert", "configuration")
"""Of several trees of an environment in one push, the first of these counts."""


@dataclass(frozen=True, slots=True)
class _Push:
    """A branch that has moved; `before` is None for a new one, `after` for one that is gone."""

    branch: str
    before: str | None
    after: str | None
    forced: bool


@dataclass(frozen=True, slots=True)
class _Concerned:
    """An environment whose GitOpsRepo the push went to, and the folders of its trees there."""

    environment: Environment
    read: EnvironmentReading
    folders: tuple[str, ...]


def notify(inputs: NotifyInputs, context: CommandContext) -> CommandResult:
    """Tell the control plane of a push to a GitOps branch, and whether it is a promotion.

    Runs in the GitOps repository, on the push itself. check-promote is started for every
    environment whose tree the push has touched; one that was started twice does nothing twice.
    Raises UsageError where no push has happened.
    """
    push = _push(context)
    if push is None or push.after is None:
        what = f"the branch {push.branch} was deleted" if push else "no branch was pushed"
        return _outcome(context, (), (), (), what)
    found, unread = _concerned(inputs, context, push)
    told = []
    warnings = []
    if found:
        before, warning = _before(context, push)
        warnings += [warning] if warning else []
        for one in found:
            merge = _meaning(context, one, push, before)
            if merge is not None:
                lie = _never_named(context, one, merge, push.after)
                if lie:
                    # check-promote would refuse it; the clusters are watched all the same.
                    warnings.append(lie)
                    merge = Merge("configuration")
                told.append(_start(inputs, context, one, push.after, merge))
        warnings += unread
    what = "" if found else f"no environment has its GitOpsRepo on the branch {push.branch}"
    return _outcome(context, told, warnings, () if found else unread, what)


def _push(context: CommandContext) -> _Push | None:
    """What the event says; None where it was a tag. Raises UsageError where it was no push."""
    job = context.runtime.job
    event = job.event
    ref, before, after = (event.get(name) for name in ("ref", "before", "after"))
    if not (isinstance(ref, str) and isinstance(before, str) and isinstance(after, str)):
        raise UsageError(
            "there is no push to tell of",
            advice="run notify in a workflow of the GitOps repository that is started by `push`",
        )
    if not ref.startswith(BRANCHES):
        return None
    return _Push(
        ref.removeprefix(BRANCHES),
        _commit(before),
        _commit(after),
        forced=event.get("forced") is True,
    )


def _commit(text: str) -> str | None:
    """A commit of a push event; it is all zeros where there is none."""
    return text if is_commit_id(text) and text.strip("0") else None


def _concerned(
    inputs: NotifyInputs, context: CommandContext, push: _Push
) -> tuple[list[_Concerned], list[Problem]]:
    """The environments that the push may be about, and why others could not be looked at."""
    wanted = (
        [context.environment(inputs.environment)]
        if inputs.environment
        else list(context.environments().values())
    )
    here = repository_key(context.url(context.runtime.job.repository))
    found: list[_Concerned] = []
    unread: list[Problem] = []
    for environment in wanted:
        try:
            read = read_environment(context, environment)
            folders = tuple(
                gitops_folder(repo.target.path, repo.where)
                for repo in read.gitops_repos
                if repository_key(repo.target.repo) == here and repo.target.branch == push.branch
            )
        except KalypsoError as error:
            unread += [
                Problem(f"environment {environment.name}: {one.message}", one.where, one.advice)
                for one in error.problems
            ]
            continue
        if folders:
            found.append(_Concerned(environment, read, folders))
    return found, unread


def _before(context: CommandContext, push: _Push) -> tuple[str | None, Problem | None]:
    """The commit before the push, if it can still be read.

    A commit that a forced push has replaced may be gone; then the branch counts as a new one.
    Raises KalypsoError where it cannot be read otherwise.
    """
    if push.before is None:
        return None, None
    here = context.url(context.runtime.job.repository)
    try:
        context.remotes.fetch(here, commit=push.before)
    except KalypsoError as error:
        if not push.forced:
            raise
        message = f"what the forced push has replaced cannot be read: {error.problem.message}"
        return None, Problem(message, Location(here), "nothing is to be done")
    return push.before, None


def _meaning(
    context: CommandContext, one: _Concerned, push: _Push, before: str | None
) -> Merge | None:
    """What the push means for an environment; None where it touches nothing of it."""
    name = one.environment.name
    meanings = []
    for folder in one.folders:
        old = _tree(context, push.branch, folder, before) if before else None
        new = _tree(context, push.branch, folder, push.after or "")
        was, names = named_commit(old, name) if old else None, named_commit(new, name)
        # A branch that was cut from another environment's may become this one's by its
        # `sources.json` alone, and a tracking file that was moved alone may become believable.
        differs = was != names or (old is not None and _agree(old, new, name, names))
        if differs or touches(old.entries if old else None, new.entries, folder):
            meanings.append(_meaning_of_commits(context, one, was, names))
    return min(meanings, key=lambda merge: MOST_TELLING.index(merge.kind), default=None)


def _agree(old: BaseTree, new: BaseTree, environment: str, names: str | None) -> bool:
    """Whether tracking file and `sources.json` say the same now, and have not before."""
    if names is None:
        return False
    return contradicts(old.sources, environment, names) and not contradicts(
        new.sources, environment, names
    )


def _meaning_of_commits(
    context: CommandContext, one: _Concerned, before: str | None, after: str | None
) -> Merge:
    """What it means that a tree named the one commit of main and names the other now."""
    github, control_plane = context.github, context.control_plane
    goes_back = False
    latest = None
    if before and after and before != after:
        goes_back = commits.relation(github, control_plane, before, after) == "behind"
    elif after and before == after:
        found = statuses.latest(github, control_plane, after)
        latest = found.get(table.context(one.environment.name).lower())
    return meaning_of_push(
        before, after, goes_back=goes_back, base_commit=one.read.promoted_commit, latest=latest
    )


def _never_named(
    context: CommandContext, one: _Concerned, merge: Merge, pushed: str
) -> Problem | None:
    """The problem of a tracking file that somebody wrote by hand."""
    if not merge.commit or merge.commit == one.read.promoted_commit:
        return None
    request = PromotionRequest(one.environment.name, merge.commit, pushed)
    return never_named(request, one.environment, context.environments(), context)


def _tree(context: CommandContext, branch: str, folder: str, commit: str) -> BaseTree:
    """The job's own repository, which needs nobody's leave to be read."""
    here = context.url(context.runtime.job.repository)
    return read_base_tree(context.remotes.fetch(here, commit=commit), branch, folder)


def _start(
    inputs: NotifyInputs, context: CommandContext, one: _Concerned, commit: str, merge: Merge
) -> StartedCheck:
    page = start_check_promote(
        context,
        inputs.workflow,
        environment=one.environment.name,
        promoted_commit=merge.commit,
        gitops_commit=commit,
        repository=context.runtime.job.repository,
    )
    return StartedCheck(one.environment.name, merge.kind, merge.commit, page)


def _outcome(
    context: CommandContext,
    told: Sequence[StartedCheck],
    warnings: Sequence[Problem],
    problems: Sequence[Problem],
    what: str,
) -> CommandResult:
    promoted = next((one for one in told if one.commit), None)
    first = promoted or next(iter(told), None)
    document = NotifyDocument(
        environments=tuple(one.environment for one in told),
        promoted=promoted is not None,
        promoted_commit=promoted.commit if promoted else "",
        run_url=first.page if first else "",
        warnings=ProblemEntry.all_of(warnings),
        problems=ProblemEntry.all_of(problems),
    )
    page = notify_summary(document, told, context.url(context.control_plane), what)
    return CommandResult(document, page, failed=bool(problems))
