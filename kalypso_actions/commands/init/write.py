"""Write the plans: a commit for each branch, pushed, proposed, or left in a clone.

After an interruption, another run completes the work: its plans leave out all that exists already.
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
from kalypso_actions.onboarding.branches import README_FILE
from kalypso_actions.onboarding.changes import WrittenBranch
from kalypso_actions.promotion.base_repo import with_commit
from kalypso_actions.report.init_document import pull_request_text

MESSAGE: Final = "Set up Kalypso"

QUIET_MESSAGE: Final = f"{MESSAGE}\n\n[skip ci]"
"""The message on all branches that must not start a run: main of the control plane comes last.

https://docs.github.com/actions/how-tos/manage-workflow-runs/skip-workflow-runs
"""

PROPOSALS: Final = f"{OWN_BRANCHES}set-up/"


def base_repo_text(repository: RepositorySetup, commit: str) -> str:
    """Return base-repo.yaml of a new environment, which has this commit of main."""
    return with_commit(
        None,
        commit,
        repo=repository.url,
        branch=repository.main,
        where=Location(repository.name),
    )


def write_plans(
    plans: Sequence[BranchPlan],
    consent: Consent,
    repositories: InitRepositories,
    *,
    propose: bool,
) -> list[WrittenBranch]:
    """Write the plans in order, as far as people agree; with `propose`, by pull requests.

    A pull request needs an existing branch, so create a missing branch with its first files;
    nothing uses it until main names it. Raises KalypsoError.
    """
    writer = _Writer(repositories, consent, repositories.github if propose else None)
    written: list[WrittenBranch] = []
    for repository in (repositories.gitops, repositories.control_plane):
        written += writer.write([plan for plan in plans if plan.repository == repository])
    return written


@dataclass(frozen=True, slots=True)
class _Writer:
    repositories: InitRepositories
    consent: Consent
    proposes_to: GitHub | None

    def write(self, plans: Sequence[BranchPlan]) -> list[WrittenBranch]:
        """Write the plans of one repository; the last is that of its default branch."""
        begun = [self._begin(plan) if plan.is_main else plan for plan in plans]
        main = next((plan for plan in begun if plan.is_main), None)
        # The environments begin with the new commit of main, unless init only proposes it.
        main_commit = self._commit(main) if main and not self._is_proposed(main) else ""
        base_commit = main_commit or (main.head if main else "")
        written = []
        for original, plan in zip(plans, begun, strict=True):
            if plan is main and main_commit:
                self._backend(plan).move(plan.branch, main_commit, plan.head)
                branch = WrittenBranch(plan, main_commit)
            else:
                branch = self._write(plan, base_commit)
            # `_begin` may have made the only commit of the branch.
            commit = branch.commit or (plan.head if not original.head else "")
            written.append(replace(branch, plan=original, commit=commit))
        return written

    def _write(self, plan: BranchPlan, base_commit: str) -> WrittenBranch:
        plan = _with_base_commit(plan, base_commit)
        if not plan.written(self.consent):
            return WrittenBranch(plan)
        if self.proposes_to and plan.head:
            return self._propose(self.proposes_to, plan)
        commit = self._commit(plan)
        self._backend(plan).move(plan.branch, commit, plan.head)
        return WrittenBranch(plan, commit)

    def _is_proposed(self, plan: BranchPlan) -> bool:
        return self.proposes_to is not None and plan.head != ""

    def _begin(self, main: BranchPlan) -> BranchPlan:
        """Create the default branch before all others: GitHub makes the first one the default."""
        if main.head:
            return main
        readme = [change for change in main.changes if change.path == README_FILE]
        commit = self._backend(main).commit("", _contents(readme), MESSAGE)
        self._backend(main).move(main.branch, commit, "")
        others = tuple(change for change in main.changes if change not in readme)
        return replace(main, head=commit, changes=others)

    def _commit(self, plan: BranchPlan) -> str:
        """Commit the changes that people agree to; "" if there are none."""
        changes = plan.written(self.consent)
        if not changes:
            return ""
        message = MESSAGE if plan.starts_chain or self._is_proposed(plan) else QUIET_MESSAGE
        return self._backend(plan).commit(plan.head, _contents(changes), message)

    def _propose(self, github: GitHub, plan: BranchPlan) -> WrittenBranch:
        """Open or update the pull request for a branch."""
        changes = plan.written(self.consent)
        own_branch = PROPOSALS + plan.branch
        own_head = self._backend(plan).heads([own_branch]).get(own_branch, "")
        commit = own_head
        if not own_head or not self._is_up_to_date(github, own_head, plan, changes):
            commit = self._commit(plan)
            self._backend(plan).move(own_branch, commit, own_head)
        title, body = pull_request_text(
            plan.branch, [(change.path, change.action, change.reason) for change in changes]
        )
        pull, _ = pull_requests.ensure(
            github, plan.repository.name, head=own_branch, base=plan.branch, title=title, body=body
        )
        return WrittenBranch(plan, commit, pull.url)

    def _is_up_to_date(
        self, github: GitHub, commit: str, plan: BranchPlan, changes: Sequence[FileChange]
    ) -> bool:
        """Whether a commit on top of the branch's head contains these changes."""
        parents = commits.get(github, plan.repository.name, commit).parents
        files = self._backend(plan).files(commit)
        wanted = _contents(changes)
        present = files.read(wanted.keys() & files.entries().keys())
        return parents == (plan.head,) and all(
            present.get(path) == content for path, content in wanted.items()
        )

    def _backend(self, plan: BranchPlan) -> Backend:
        return self.repositories.backend(plan.repository)


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


def _contents(changes: Sequence[FileChange]) -> dict[str, bytes | None]:
    return {
        change.path: None if change.after is None else change.after.encode() for change in changes
    }
