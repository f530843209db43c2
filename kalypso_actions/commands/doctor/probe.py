"""`kalypso doctor --probe`: try the chain's writes on throw-away branches, and delete these.

The branches begin with a commit without a parent and have no workflow files: pushes and the pull
request start no workflow, and the token needs no permission for workflow files.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final, TypeVar

from kalypso_actions.clients.git import PushConflictError
from kalypso_actions.clients.github import (
    branches,
    comments,
    labels,
    merging,
    pull_requests,
    repositories,
    statuses,
)
from kalypso_actions.commands.doctor.facts import Checklist, Facts
from kalypso_actions.commands.shared.carry_out import push
from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.doctor_rules import probe as rules
from kalypso_actions.doctor_rules.check import Check
from kalypso_actions.doctor_rules.probe import Action, Attempt, Place
from kalypso_actions.doctor_rules.repositories import foreign_key_checks
from kalypso_actions.errors import KalypsoError, Location
from kalypso_actions.model.github import CommitStatus, PullRequest
from kalypso_actions.model.writes import Push
from kalypso_actions.report.markdown import marker

T = TypeVar("T")

TITLE: Final = "Probe of kalypso doctor"
TEXT: Final = "kalypso doctor --probe tries what GitHub accepts. It deletes its branches itself."


def probe_repositories(
    context: CommandContext, jobs: CommandContext, facts: Facts
) -> tuple[Check, ...]:
    """Probe every repository with the credentials of `jobs`, one after the other.

    `context` reads the rules of the real branches. If the run is interrupted, the probe first
    deletes everything that it has made.
    """
    name = f"{rules.BRANCH_PREFIX}{context.runtime.now():%Y%m%d-%H%M%S}"
    checklist = Checklist(context.control_plane)
    for repository in (context.control_plane, *facts.gitops_repositories):
        context.runtime.log(f"Probing {repository}: {name}")
        place: Place = rules.CONTROL_PLANE if repository == context.control_plane else rules.GITOPS
        trial = _Trial(jobs, repository, name)
        _run(trial)
        checklist.add(rules.probe_checks(place, repository, trial.attempts))
        for branch in _real_branches(context, facts, repository):
            _read_rules(context, place, repository, branch, trial.head, checklist)
        checklist.add([rules.remains(repository, trial.number, trial.left)])
        if place == rules.GITOPS:
            read = partial(repositories.settings, context.github, repository)
            names = checklist.optional(read, repository)
            checklist.add(foreign_key_checks(repository, names.secrets) if names else ())
    return tuple(checklist.checks)


def _run(trial: _Trial) -> None:
    log, repository = trial.context.runtime.log, trial.repository
    try:
        trial.run()
        trial.clean_up()
    except BaseException:
        log(f"Interrupted: deleting what the probe has made in {repository}")
        try:
            trial.clean_up()
        finally:
            for name in trial.left:
                log(f"Not deleted: {name} of {repository}; delete it yourself")
        if not trial.left:
            log("Everything is deleted, but GitHub deletes no pull request")
        raise


def _real_branches(context: CommandContext, facts: Facts, repository: str) -> Sequence[str]:
    if repository == context.control_plane:
        names = [environment.branch for environment in facts.environments if environment.has_branch]
    else:
        targets = (target for environment in facts.environments for target in environment.gitops)
        names = [target.branch for target in targets if target.repository == repository]
    return tuple(dict.fromkeys(names))


def _read_rules(
    context: CommandContext,
    place: Place,
    repository: str,
    branch: str,
    probe_branch: str,
    checklist: Checklist,
) -> None:
    """Compare the rules of a real branch with those of the probe's branch."""
    read = partial(branches.rules, context.github, repository)
    real = checklist.optional(lambda: read(branch), repository)
    probed = checklist.optional(lambda: read(probe_branch), repository) if real else None
    if real and probed:
        checklist.add([rules.unprobed_rules(place, repository, branch, real, probed)])


@dataclass(slots=True)
class _Trial:
    """The writes of the probe in one repository.

    `left` has a function for each branch, label or pull request that may exist on GitHub; the
    function deletes it. The probe adds the function before the write, because an interrupted write
    may have happened.
    """

    context: CommandContext
    repository: str
    head: str
    attempts: list[Attempt] = field(default_factory=list)
    left: dict[str, Callable[[], object]] = field(default_factory=dict)
    number: int | None = None

    @property
    def base(self) -> str:
        """The base branch of the pull request."""
        return f"{self.head}-base"

    def run(self) -> None:
        """Try every write; after a refusal, leave out the writes that need the refused one."""
        commit = self._attempt("push", self._push)
        if commit is None:
            return
        github, repository = self.context.github, self.repository
        status = CommitStatus("kalypso / probe", "success", TITLE, self.context.runtime.job.run_url)
        self._attempt("status", lambda: statuses.post(github, repository, commit, status))
        pull = self._attempt("open", self._open)
        if pull is None:
            return
        self.number = number = pull.number
        self._attempt("label", lambda: self._add_label(number))
        mark = marker("probe", self.head)
        self._attempt("comment", lambda: comments.ensure(github, repository, number, mark, TEXT))
        self._attempt("merge", lambda: self._merge(number, commit))

    def clean_up(self) -> None:
        """Close or delete everything in `left`; keep the entries whose deletion fails."""
        for name, delete in tuple(self.left.items()):
            try:
                delete()
            except KalypsoError as error:
                self.attempts += [Attempt("clean up", problem) for problem in error.problems]
            else:
                del self.left[name]

    def _attempt(self, action: Action, call: Callable[[], T]) -> T | None:
        try:
            result = call()
        except KalypsoError as error:
            self.attempts += [Attempt(action, problem) for problem in error.problems]
            return None
        self.attempts.append(Attempt(action))
        return result

    def _push(self) -> str:
        """Commit to both branches, and to the head once more by force, as schedule does."""
        root = self._commit(self.base, None, None, "base")
        first = self._commit(self.head, None, root, "first")
        return self._commit(self.head, first, root, "second")

    def _commit(self, branch: str, expected: str | None, parent: str | None, content: str) -> str:
        name = f"the branch {branch}"
        self.left[name] = partial(self._delete_branch, branch)
        write = Push(
            repository=self.repository,
            url=self.context.url(self.repository),
            branch=branch,
            expected=expected,
            parent=parent,
            changes={"probe.md" if parent else "README.md": f"{TEXT}\n{content}\n".encode()},
            message=TITLE,
            base=self.base if parent else "",
        )
        try:
            return push(write, self.context)
        except PushConflictError as error:
            if expected is None and error.head is not None:
                del self.left[name]  # the branch is somebody else's
            raise

    def _delete_branch(self, branch: str) -> None:
        """Delete a branch; an interrupted push may still move it in the meantime."""
        github, repository = self.context.github, self.repository
        head = branches.head(github, repository, branch)
        while head is not None:
            try:
                branches.delete(github, repository, branch, expected=head)
            except branches.RefConflictError as error:
                head = error.head
            else:
                return

    def _open(self) -> PullRequest:
        self.left["the pull request"] = self._close
        pull, _ = pull_requests.ensure(
            self.context.github,
            self.repository,
            head=self.head,
            base=self.base,
            title=TITLE,
            body=f"{marker('probe', self.head)}\n{TEXT}",
        )
        return pull

    def _close(self) -> None:
        """Close the pull request unless it was merged or the deletion of a branch has closed it."""
        github, repository = self.context.github, self.repository
        for pull in pull_requests.find(github, repository, head=self.head):
            self.number = pull.number
            mark = marker("probe-end", self.head)
            pull_requests.close(github, repository, pull.number, mark=mark, comment=TEXT)

    def _add_label(self, number: int) -> None:
        github, repository = self.context.github, self.repository
        self.left[f"the label {self.head}"] = partial(labels.delete, github, repository, self.head)
        labels.ensure(github, repository, self.head, description=TITLE)
        labels.add(github, repository, number, [self.head])

    def _merge(self, number: int, commit: str) -> None:
        github, repository = self.context.github, self.repository
        result = merging.merge_as_allowed(github, repository, number, head=commit)
        if isinstance(result, merging.Refused):
            message = f"pull request #{number} cannot be merged: GitHub says: {result.reason}"
            raise KalypsoError(message, Location(repository))
