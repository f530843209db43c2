"""What was planned is written: a commit for each branch, pushed, proposed, or left in a clone.

Done again after it was interrupted, this goes on where it ended: what is there already is planned
no more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from kalypso_actions.clients.github import GitHub, commits, pull_requests
from kalypso_actions.commands.init.backends import Backend
from kalypso_actions.commands.init.repositories import InitRepositories
from kalypso_actions.errors import Location
from kalypso_actions.model.layout import OWN_BRANCHES
from kalypso_actions.onboarding import BranchPlan, Consent, FileChange, RepositorySetup
from kalypso_actions.promotion import with_commit
from kalypso_actions.report.init_pull_request import pull_request_text

MESSAGE: Final = "Set up Kalypso"

QUIET: Final = f"{MESSAGE}\n\n[skip ci]"
"""For every branch but main of the control plane, on which the chain begins: it comes last.

https://docs.github.com/actions/how-tos/manage-workflow-runs/skip-workflow-runs
"""

PROPOSALS: Final = f"{OWN_BRANCHES}set-up/"

README_FILE: Final = "README.md"


@dataclass(frozen=True, slots=True)
class WrittenBranch:
    """What became of the plan for a branch: its new commit ("": none), or the pull request."""

    plan: BranchPlan
    commit: str = ""
    pull_request_url: str = ""


def base_repo_text(repository: RepositorySetup, commit: str) -> str:
    """base-repo.yaml of a new environment: it has this commit of main."""
    return with_commit(
        None,
        commit,
        repo=repository.url,
        branch=repository.main,
        where=Location(repository.name),
    )


def write_plans(
    plans: Sequence[BranchPlan], consent: Consent, repositories: InitRepositories, *, propose: bool
) -> list[WrittenBranch]:
    """Write every plan in its order, as far as people agree; with `propose`, by pull requests.

    A branch that does not exist yet cannot be proposed to: it is created with what it begins with.
    Nobody uses it until main names it. Raises KalypsoError.
    """
    writer = _Writer(repositories, consent, repositories.github if propose else None)
    written: list[WrittenBranch] = []
    for repository in (repositories.gitops, repositories.control_plane):
        own = [plan for plan in plans if plan.repository == repository]
        written += writer.write(own)
    return written


@dataclass(frozen=True, slots=True)
class _Writer:
    repositories: InitRepositories
    consent: Consent
    proposes_to: GitHub | None

    def write(self, given: Sequence[BranchPlan]) -> list[WrittenBranch]:
        """The plans of one repository; that for its default branch is the last."""
        plans = [self._begun(plan) if plan.is_main else plan for plan in given]
        main = next((plan for plan in plans if plan.is_main), None)
        # The environments begin with the commit of main that this makes, if it is not proposed.
        made = self._commit(main) if main and not self._is_proposed(main) else ""
        commit_of_main = made or (main.head if main else "")
        written = []
        for plan in plans:
            if plan is main and made:
                self._backend(plan).move(plan.branch, made, plan.head)
                written.append(WrittenBranch(plan, made))
            else:
                written.append(self._write(plan, commit_of_main))
        # What `_begun` has made is all, where nothing else comes to the branch.
        return [
            replace(one, plan=plan, commit=one.commit or (begun.head if not plan.head else ""))
            for one, plan, begun in zip(written, given, plans, strict=True)
        ]

    def _write(self, plan: BranchPlan, commit_of_main: str) -> WrittenBranch:
        plan = self._with_base(plan, commit_of_main)
        if not plan.written(self.consent):
            return WrittenBranch(plan)
        if self.proposes_to and plan.head:
            return self._propose(self.proposes_to, plan)
        commit = self._commit(plan)
        self._backend(plan).move(plan.branch, commit, plan.head)
        return WrittenBranch(plan, commit)

    def _is_proposed(self, plan: BranchPlan) -> bool:
        return self.proposes_to is not None and plan.head != ""

    def _begun(self, main: BranchPlan) -> BranchPlan:
        """The default branch exists before any other: GitHub takes the first branch for it."""
        if main.head:
            return main
        readme = [change for change in main.changes if change.path == README_FILE]
        commit = self._backend(main).commit("", _contents(readme), MESSAGE)
        self._backend(main).move(main.branch, commit, "")
        rest = tuple(change for change in main.changes if change not in readme)
        return replace(main, head=commit, changes=rest)

    def _commit(self, plan: BranchPlan) -> str:
        """A commit of what is written, "" where that is nothing."""
        changes = plan.written(self.consent)
        if not changes:
            return ""
        begins = plan.is_main and plan.repository == self.repositories.control_plane
        message = MESSAGE if begins or self._is_proposed(plan) else QUIET
        return self._backend(plan).commit(plan.head, _contents(changes), message)

    def _with_base(self, plan: BranchPlan, commit_of_main: str) -> BranchPlan:
        if not plan.base_files:
            return plan
        text = base_repo_text(plan.repository, commit_of_main)
        changes = (
            replace(change, after=text) if change.path in plan.base_files else change
            for change in plan.changes
        )
        return replace(plan, changes=tuple(changes))

    def _propose(self, github: GitHub, plan: BranchPlan) -> WrittenBranch:
        """One pull request for the branch, kept up to date on a branch of ours."""
        changes = plan.written(self.consent)
        own = PROPOSALS + plan.branch
        own_head = self._backend(plan).heads([own]).get(own, "")
        commit = own_head
        if not own_head or not self._brings(github, own_head, plan, changes):
            commit = self._commit(plan)
            self._backend(plan).move(own, commit, own_head)
        title, body = pull_request_text(plan.branch, changes)
        pull, _ = pull_requests.ensure(
            github, plan.repository.name, head=own, base=plan.branch, title=title, body=body
        )
        return WrittenBranch(plan, commit, pull.url)

    def _brings(
        self, github: GitHub, commit: str, plan: BranchPlan, changes: Sequence[FileChange]
    ) -> bool:
        """Whether a commit has these changes on top of the branch already."""
        parents = commits.get(github, plan.repository.name, commit).parents
        files = self._backend(plan).files(commit)
        wanted = _contents(changes)
        present = files.read(wanted.keys() & files.entries().keys())
        return parents == (plan.head,) and all(
            present.get(path) == content for path, content in wanted.items()
        )

    def _backend(self, plan: BranchPlan) -> Backend:
        return self.repositories.backend(plan.repository)


def _contents(changes: Sequence[FileChange]) -> dict[str, bytes | None]:
    return {
        change.path: None if change.after is None else change.after.encode() for change in changes
    }
