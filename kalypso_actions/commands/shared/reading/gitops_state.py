"""A GitOps branch, our branch beside it, and the commits of our proposals."""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from kalypso_actions import gitops
from kalypso_actions.clients.git import RemoteRepositories
from kalypso_actions.clients.github import GitHub, GitHubError, commits
from kalypso_actions.commands.shared.reading.base_trees import read_base_tree
from kalypso_actions.commands.shared.reading.repositories import Repositories
from kalypso_actions.errors import KalypsoError, Problem
from kalypso_actions.model.documents import RevisionFiles
from kalypso_actions.model.github import Commit, PullRequest
from kalypso_actions.model.gitops_folder import gitops_folder
from kalypso_actions.model.kinds import GitOpsRepo
from kalypso_actions.model.layout import PROMOTED_COMMIT_FILE
from kalypso_actions.model.tree import BaseTree, TreeChanges


@dataclass(frozen=True, slots=True)
class GitOpsState:
    """The branch of a GitOpsRepo at a commit, and the head of our own branch beside it.

    `repository` is owner/name, `url` the URL for git; `own_head` is None if our branch does not
    exist.
    """

    name: str
    repository: str
    url: str
    commit: str
    tree: BaseTree
    own_branch: str
    own_head: str | None

    @property
    def branch(self) -> str:
        """The GitOps branch, to which we propose."""
        return self.tree.branch


@dataclass(frozen=True, slots=True)
class ProposalState:
    """The proposal on our branch: see `gitops.OpenProposal`. `parent` is "" for a merge commit."""

    digest: str | None
    promoted_commit: str | None
    fits: bool
    parent: str


def read_gitops_state(
    gitops_repo: GitOpsRepo,
    repository: str,
    own_branch: str,
    repositories: Repositories,
    remotes: RemoteRepositories,
) -> GitOpsState:
    """Read the branch of a GitOpsRepo in `repository` (owner/name).

    Raises KalypsoError if the branch cannot be read; its advice says how to create a missing one.
    """
    target = gitops_repo.target
    folder = gitops_folder(target.path, gitops_repo.where)
    try:
        files = repositories.open(target.repo, branch=target.branch)
    except KalypsoError as error:
        raise _unreadable(gitops_repo, repository, remotes, error) from error
    own_head = remotes.heads(target.repo, [own_branch]).get(own_branch)
    return GitOpsState(
        name=gitops_repo.name,
        repository=repository,
        url=target.repo,
        commit=files.commit or "",
        tree=read_base_tree(files, target.branch, folder),
        own_branch=own_branch,
        own_head=own_head,
    )


def _unreadable(
    gitops_repo: GitOpsRepo, repository: str, remotes: RemoteRepositories, error: KalypsoError
) -> KalypsoError:
    """Return the error for an unreadable branch, with advice on how to create a missing one."""
    branch = gitops_repo.target.branch
    try:
        missing = not remotes.heads(gitops_repo.target.repo, [branch])
    except KalypsoError:
        missing = False  # the first error has the reason
    message, advice = error.problem.message, error.problem.advice
    if missing:
        message = f"{repository} has no branch {branch!r}"
        name = shlex.quote(branch)
        advice = (
            "correct the branch, or create it, for example in a clone of that repository: git "
            f"switch --orphan {name} && git commit --allow-empty -m Begin && git push origin {name}"
        )
    return KalypsoError.of(
        [
            Problem(
                f"GitOpsRepo {gitops_repo.name!r}: {message}",
                gitops_repo.where,
                advice,
                "gitops-branch-unreadable",
            )
        ]
    )


class ProposalCommits:
    """The commits of our proposals for a GitOps branch."""

    def __init__(
        self,
        state: GitOpsState,
        changes: TreeChanges,
        github: GitHub,
        repositories: Repositories,
        known: Commit | None = None,
    ) -> None:
        """`changes` are those of the present proposal; `known` is a commit that is already read."""
        self._known = known
        self._state = state
        self._changes = changes
        self._github = github
        self._repositories = repositories

    def open_state(self) -> ProposalState | None:
        """Return the proposal on our branch; None without a branch. Raises KalypsoError."""
        head = self._state.own_head
        commit = self._commit(head) if head else None
        if commit is None:
            return None
        files = self._files(commit.id)
        promoted_commit = self._promoted_commit(files)
        if len(commit.parents) != 1:
            return ProposalState(None, promoted_commit, fits=False, parent="")
        (parent,) = commit.parents
        fits = gitops.fits(
            self._files(parent).entries(), files.entries(), self._state.tree, self._changes
        )
        return ProposalState(gitops.digest_of(commit.message), promoted_commit, fits, parent)

    def closed(self, pull: PullRequest) -> gitops.ClosedProposal | None:
        """Return the proposal of a pull request closed unmerged; None if its commits are gone.

        Raises KalypsoError.
        """
        proposed = self._commit(pull.head_commit)
        if proposed is None or not proposed.parents:
            return None
        files = self._files(proposed.id)
        digest = gitops.digest_of(proposed.message)
        parent = proposed.parents[0] if digest else self._merge_base(proposed.id)
        changed = gitops.changed_content(self._files(parent).entries(), files.entries())
        records = gitops.record_paths(self._state.tree.path)
        return gitops.ClosedProposal(
            pull.number,
            proposed.id,
            digest,
            self._promoted_commit(files),
            {path: version for path, version in changed.items() if path not in records},
        )

    def content(self, commit: str, place: str) -> bytes | None:
        """Return a file of the tree at a commit, or None. Raises KalypsoError."""
        return self._read(self._files(commit), place)

    def _commit(self, commit: str) -> Commit | None:
        """Return a commit; None if the repository lost it, as after a forced push."""
        if self._known and self._known.id == commit:
            return self._known
        try:
            return commits.get(self._github, self._state.repository, commit)
        except GitHubError as error:
            if error.status in {404, 422}:
                return None
            raise

    def _merge_base(self, commit: str) -> str:
        """Return the merge base of a branch to which others have pushed too."""
        repository = self._state.repository
        return commits.merge_base(self._github, repository, self._state.commit, commit)

    def _files(self, commit: str) -> RevisionFiles:
        return self._repositories.open(self._state.url, commit=commit)

    def _promoted_commit(self, files: RevisionFiles) -> str | None:
        return gitops.tracked_commit(self._read(files, PROMOTED_COMMIT_FILE))

    def _read(self, files: RevisionFiles, place: str) -> bytes | None:
        path = self._path(place)
        return files.read([path])[path] if path in files.entries() else None

    def _path(self, place: str) -> str:
        folder = self._state.tree.path
        return f"{folder}/{place}" if folder else place
