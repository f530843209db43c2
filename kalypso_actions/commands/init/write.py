"""Write the plans: a commit for each branch, pushed, proposed, or left in a clone.

After an interruption, another run completes the work: its plans leave out all that exists already.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from kalypso_actions.clients.github import GitHub, commits, pull_requests
from kalypso_actions.commands.init.repositories import Backend, InitRepositories
from kalypso_actions.errors import Location
from kalypso_actions.model.layout import OWN_BRANCHES
from kalypso_actions.model.writes import OpenPullRequest, Push
from kalypso_actions.onboarding.branches import (
    README_FILE,
    BranchPlan,
    Consent,
    WrittenBranch,
)
from kalypso_actions.onboarding.setup import RepositoryRole, RepositorySetup
from kalypso_actions.promotion.base_repo import with_commit
from kalypso_actions.report.init_document import pull_request_text

MESSAGE: Final = "Set up Kalypso"

QUIET_MESSAGE: Final = f"{MESSAGE}\n\n[skip ci]"
"""The message on all branches that must not start a run: main of the control plane comes last.

https://docs.github.com/actions/how-tos/manage-workflow-runs/skip-workflow-runs
"""

PROPOSALS: Final = f"{OWN_BRANCHES}set-up/"

OwnHeads = Mapping[tuple[RepositoryRole, str], str]
"""The heads of the branches that init proposes from, by the repository's role and the name."""


def base_repo_text(repository: RepositorySetup, commit: str) -> str:
    """Return base-repo.yaml of a new environment, which has this commit of main."""
    return with_commit(
        None,
        commit,
        repo=repository.url,
        branch=repository.main,
        where=Location(repository.name),
    )


def branch_writes(
    plan: BranchPlan, consent: Consent, own_heads: OwnHeads | None
) -> tuple[Push | OpenPullRequest, ...]:
    """Return the writes to a branch, as far as people agree: a commit, or also a pull request."""
    push = _push(plan, consent, own_heads)
    if push is None:
        return ()
    return (push, _pull_request(plan, consent, push)) if push.base else (push,)


def _push(plan: BranchPlan, consent: Consent, own_heads: OwnHeads | None) -> Push | None:
    """Return the commit; with `own_heads`, for a pull request.

    A pull request needs an existing branch, so a missing one is pushed; nothing uses it until main
    names it.
    """
    changes = plan.written(consent)
    if not changes:
        return None
    repository, head = plan.repository, plan.head or None
    own = PROPOSALS + plan.branch
    is_proposed = own_heads is not None and head is not None
    return Push(
        repository.name,
        repository.url,
        own if is_proposed else plan.branch,
        expected=(own_heads or {}).get((repository.role, own)) if is_proposed else head,
        parent=head,
        changes={
            change.path: None if change.after is None else change.after.encode()
            for change in changes
        },
        message=MESSAGE if plan.starts_chain or is_proposed else QUIET_MESSAGE,
        base=plan.branch if is_proposed else "",
    )


def _pull_request(plan: BranchPlan, consent: Consent, push: Push) -> OpenPullRequest:
    changes = [(change.path, change.action, change.reason) for change in plan.written(consent)]
    title, body = pull_request_text(plan.branch, changes)
    return OpenPullRequest(
        repository=push.repository, head=push.branch, base=push.base, title=title, body=body
    )


def read_own_heads(plans: Sequence[BranchPlan], repositories: InitRepositories) -> OwnHeads:
    """Read the heads of the branches that init proposes from. Raises KalypsoError."""
    heads: dict[tuple[RepositoryRole, str], str] = {}
    for repository in repositories.in_order:
        names = [PROPOSALS + plan.branch for plan in plans if plan.repository == repository]
        found = repositories.backend(repository).heads(names)
        heads.update({(repository.role, name): head for name, head in found.items()})
    return heads


def write_plans(
    plans: Sequence[BranchPlan],
    consent: Consent,
    own_heads: OwnHeads | None,
    repositories: InitRepositories,
) -> list[WrittenBranch]:
    """Carry out the writes of the plans in order. Raises KalypsoError."""
    written: list[WrittenBranch] = []
    for repository in repositories.in_order:
        backend = repositories.backend(repository)
        writer = _Writer(backend, consent, own_heads, repositories.github)
        written += writer.write([plan for plan in plans if plan.repository == repository])
    return written


@dataclass(frozen=True, slots=True)
class _Writer:
    """Carries out the writes to one repository."""

    backend: Backend
    consent: Consent
    own_heads: OwnHeads | None
    github: GitHub | None

    def write(self, plans: Sequence[BranchPlan]) -> list[WrittenBranch]:
        """Carry out the writes of the plans; the last plan is that of the default branch."""
        begun = [self._begin(plan) if plan.is_main else plan for plan in plans]
        main = next((plan for plan in begun if plan.is_main), None)
        # The environments begin with the new commit of main, unless init only proposes it.
        push = _push(main, self.consent, self.own_heads) if main else None
        main_commit = self._commit(push) if push and not push.base else ""
        base_commit = main_commit or (main.head if main else "")
        written = []
        for original, plan in zip(plans, begun, strict=True):
            if plan is main and main_commit:
                self.backend.move(plan.branch, main_commit, plan.head)
                branch = WrittenBranch(plan, main_commit)
            else:
                branch = self._write(_with_base_commit(plan, base_commit))
            # `_begin` may have made the only commit of the branch.
            commit = branch.commit or (plan.head if not original.head else "")
            written.append(replace(branch, plan=original, commit=commit))
        return written

    def _begin(self, main: BranchPlan) -> BranchPlan:
        """Create the default branch before all others: GitHub makes the first one the default."""
        if main.head:
            return main
        readme = tuple(change for change in main.changes if change.path == README_FILE)
        contents = {change.path: (change.after or "").encode() for change in readme}
        commit = self.backend.commit("", contents, MESSAGE)
        self.backend.move(main.branch, commit, "")
        others = tuple(change for change in main.changes if change not in readme)
        return replace(main, head=commit, changes=others)

    def _write(self, plan: BranchPlan) -> WrittenBranch:
        push = _push(plan, self.consent, self.own_heads)
        if push is None:
            return WrittenBranch(plan)
        commit = push.expected or ""
        if not (push.base and commit and self._is_up_to_date(commit, push)):
            commit = self._commit(push)
            self.backend.move(push.branch, commit, push.expected or "")
        url = self._open(_pull_request(plan, self.consent, push)) if push.base else ""
        return WrittenBranch(plan, commit, url)

    def _commit(self, push: Push) -> str:
        return self.backend.commit(push.parent or "", push.changes, push.message)

    def _is_up_to_date(self, commit: str, push: Push) -> bool:
        """Whether a commit on top of the branch's head contains these changes."""
        assert self.github is not None  # noqa: S101 - clones have no pull requests
        parents = commits.get(self.github, push.repository, commit).parents
        files = self.backend.files(commit)
        present = files.read(push.changes.keys() & files.entries().keys())
        return parents == (push.parent,) and all(
            present.get(path) == content for path, content in push.changes.items()
        )

    def _open(self, write: OpenPullRequest) -> str:
        """Open or update a pull request, and return its page."""
        assert self.github is not None  # noqa: S101 - clones have no pull requests
        pull, _ = pull_requests.ensure(
            self.github,
            write.repository,
            head=write.head,
            base=write.base,
            title=write.title,
            body=str(write.body),
        )
        return pull.url


def _with_base_commit(plan: BranchPlan, commit: str) -> BranchPlan:
    """Write the commit of main into base-repo.yaml of new environments."""
    if not plan.base_files:
        return plan
    text = base_repo_text(plan.repository, commit)
    changes = (
        replace(change, after=text) if change.path in plan.base_files else change
        for change in plan.changes
    )
    return replace(plan, changes=tuple(changes))
