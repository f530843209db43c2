"""Read GitOps branches and folders, and the existing trees in them."""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from kalypso_actions.clients.folder import FolderFiles
from kalypso_actions.clients.git import GitRepository, is_repository
from kalypso_actions.clients.git.errors import is_unreachable
from kalypso_actions.clients.process import Programs
from kalypso_actions.commands.shared.reading.repositories import Repositories
from kalypso_actions.errors import Finding, KalypsoError, Problem, UsageError
from kalypso_actions.fleet.parsing import resources_of
from kalypso_actions.gitops.proposed_commit import tracked_commit
from kalypso_actions.gitops.provenance import is_of_another, tree_id
from kalypso_actions.model.documents import FileEntry, Reading, RevisionFiles
from kalypso_actions.model.kinds import GitOpsRepo, RepositoryPath
from kalypso_actions.model.layout import (
    PLACEMENTS_FILE,
    PROMOTED_COMMIT_FILE,
    SOURCES_FILE,
    gitops_folder,
)
from kalypso_actions.model.tree import BaseTree, GitOpsBranch
from kalypso_actions.model.tree_listing import TreeListing
from kalypso_actions.scheduling.registry import uses_present_assignments
from kalypso_actions.sources.source_tree import IGNORE_FILE, parent, within

if TYPE_CHECKING:
    from kalypso_actions.commands.shared.context import CommandContext


def read_base_tree(files: RevisionFiles, branch: str, folder: str) -> BaseTree:
    """Read the ids of all files, and the contents of the tracking files."""
    prefix = f"{folder}/" if folder else ""
    promoted, sources = prefix + PROMOTED_COMMIT_FILE, prefix + SOURCES_FILE
    placements = prefix + PLACEMENTS_FILE
    entries = files.entries()
    ignore_files = [
        path
        for path in _named(entries, IGNORE_FILE)
        if within(path, folder) or within(folder, parent(path))
    ]
    tracking = [path for path in (promoted, sources, placements) if path in entries]
    contents = files.read([*tracking, *ignore_files])
    return BaseTree(
        repository=files.repository,
        branch=branch,
        path=folder,
        entries=entries,
        promoted_commit=contents.get(promoted),
        sources=contents.get(sources),
        placements=contents.get(placements),
        ignore_files={path: contents[path] for path in ignore_files},
    )


def _named(entries: Mapping[str, FileEntry], name: str) -> Iterable[str]:
    if isinstance(entries, TreeListing):
        return entries.named(name)
    return (path for path in entries if path.rpartition("/")[2] == name)


def as_written(base: BaseTree, files: RevisionFiles, known: Collection[str]) -> BaseTree:
    """Mark the tree as written by us if its id is one of `known`."""
    written = bool(known) and tree_id(base.sources, files.folder_ids(base.path)) in known
    return dataclasses.replace(base, is_as_written=written)


@dataclass(slots=True)
class ReadableBaseTrees:
    """The readable GitOps branches of an environment, each read once; `warnings` of the others."""

    repositories: Repositories
    trees: dict[RepositoryPath, BaseTree | None] = field(default_factory=dict)
    warnings: list[Problem] = field(default_factory=list)

    def open(self, gitops_repos: Sequence[GitOpsRepo]) -> list[BaseTree]:
        """Return the trees of GitOpsRepos, without unreadable ones."""
        for gitops_repo in gitops_repos:
            if gitops_repo.target not in self.trees:
                self.trees[gitops_repo.target] = self._read(gitops_repo)
        trees = (self.trees[gitops_repo.target] for gitops_repo in gitops_repos)
        return [tree for tree in trees if tree is not None]

    def needed(self, gitops_repos: Sequence[GitOpsRepo], scheduler: str) -> list[BaseTree]:
        """Return the trees if the scheduler of this name decides by them, else none."""
        return self.open(gitops_repos) if uses_present_assignments(scheduler) else []

    def _read(self, gitops_repo: GitOpsRepo) -> BaseTree | None:
        target = gitops_repo.target
        try:
            folder = gitops_folder(target.path, gitops_repo.where)
            files = self.repositories.open(target.repo, branch=target.branch)
            return read_base_tree(files, target.branch, folder)
        except KalypsoError as error:
            self.warnings += [
                Problem(
                    f"what would change in {target.repo} is not known: {problem.message}",
                    target.culprit(problem.message, gitops_repo.where),
                    problem.advice,
                    "gitops-branch-unreadable",
                )
                for problem in error.problems
            ]
            return None


def unreadable_branches(
    readings: Iterable[Reading], repositories: Repositories, *, is_connected: bool
) -> Iterator[Finding]:
    """Yield a warning for each GitOpsRepo whose repository or branch does not exist.

    Only repositories on this machine are looked at, unless a token `is_connected`.
    """
    documents = (item for reading in readings for item in reading.documents)
    for repo in resources_of(GitOpsRepo, documents):
        target = repo.target
        is_at_hand = repositories.is_at_hand(target.repo, target.branch)
        if is_at_hand or is_connected:
            try:
                if is_at_hand:
                    repositories.open(target.repo, branch=target.branch)
                else:  # the head alone: no file is fetched
                    repositories.resolve(target.repo, target.branch, target.branch)
            except KalypsoError as error:
                fault = error.problem
                advice = fault.advice
                if advice.startswith("fetch it first"):
                    advice += f"; if that repository lacks it, {_creation(target.branch)}"
                if not is_unreachable(error):
                    yield Finding(
                        f"GitOpsRepo {repo.name!r}: {target.repo}: {fault.message}",
                        target.culprit(fault.message, repo.where),
                        advice,
                        "gitops-branch-unreadable",
                        level="warning",
                    )


def _creation(branch: str) -> str:
    name = shlex.quote(branch)
    return (
        "create it, for example in a clone of that repository: git "
        f"switch --orphan {name} && git commit --allow-empty -m Begin && git push origin {name}"
    )


def open_gitops(
    path: Path, branch: str, gitops_repos: Sequence[GitOpsRepo], programs: Programs
) -> RevisionFiles:
    """Open the files of a local GitOps repository or folder.

    The default for `branch` is the branch of a GitOpsRepo if the repository has it, or else the
    repository's default branch. In a plain folder, `branch` has no effect.
    """
    if not path.is_dir():
        raise UsageError(f"--gitops {path}: there is no such folder")
    if not is_repository(path):
        return FolderFiles(path)
    repository = GitRepository(path, programs)
    branches = [
        repo.target.branch for repo in gitops_repos if repository.has_branch(repo.target.branch)
    ]
    return repository.at_branch(branch or next(iter(branches), "") or repository.default_branch())


def folder_of_tree(gitops_repos: Sequence[GitOpsRepo], branch: str) -> str:
    """Return the folder of the tree in the repository, "" for the root.

    All GitOpsRepos of an environment get the same tree, each below its own path; `branch` selects
    one of several paths. Raises KalypsoError if it selects none or several.
    """
    folders = {repo.name: gitops_folder(repo.target.path, repo.where) for repo in gitops_repos}
    if len(set(folders.values())) > 1:
        folders = {
            repo.name: folders[repo.name] for repo in gitops_repos if repo.target.branch == branch
        }
    if len(set(folders.values())) > 1 or (gitops_repos and not folders):
        names = ", ".join(repo.name for repo in gitops_repos)
        raise KalypsoError(
            f"the GitOpsRepos {names} have different paths, and "
            + (f"the branch {branch!r} does not select one" if branch else "no branch is named"),
            gitops_repos[0].where,
            "name the branch: --gitops PATH@BRANCH, where PATH may be an empty folder",
        )
    return next(iter(folders.values()), "")


def read_gitops_branch(branch: GitOpsBranch, context: CommandContext) -> GitOpsBranch:
    """Read the head of a GitOps branch, its tree, and the head of our own branch beside it.

    Raises KalypsoError if the branch cannot be read; its advice says how to create a missing one.
    """
    try:
        files = context.repositories.open(branch.url, branch=branch.branch)
    except KalypsoError as error:
        raise _unreadable(branch, context, error) from error
    own_branch = branch.own_branch
    own_head = context.remotes.heads(branch.url, [own_branch]).get(own_branch)
    tree = read_base_tree(files, branch.branch, branch.folder)
    return dataclasses.replace(branch, head=files.commit or "", base_tree=tree, own_head=own_head)


def _unreadable(branch: GitOpsBranch, context: CommandContext, error: KalypsoError) -> KalypsoError:
    """Return the error for an unreadable branch, with advice on how to create a missing one."""
    try:
        missing = not context.remotes.heads(branch.url, [branch.branch])
    except KalypsoError:
        missing = False  # the first error has the reason
    message, advice = error.problem.message, error.problem.advice
    if missing:
        message = f"{branch.repository} has no branch {branch.branch!r}"
        advice = f"correct the branch, or {_creation(branch.branch)}"
    if branch.gitops_repo:
        message = f"GitOpsRepo {branch.gitops_repo!r}: {message}"
    return KalypsoError.of([Problem(message, branch.where, advice, "gitops-branch-unreadable")])


def tree_at(context: CommandContext, place: GitOpsBranch, commit: str) -> BaseTree:
    """Return the tree of a GitOps branch at a commit. Raises KalypsoError."""
    files = context.repositories.open(place.url, branch=place.branch, commit=commit)
    return read_base_tree(files, place.branch, place.folder)


def named_commit(tree: BaseTree, environment: str) -> str | None:
    """Return the commit of main that an environment's tree names, if any.

    Until its first merge, a branch that was cut from another environment's branch names the commit
    of that environment: this commit does not count.
    """
    if is_of_another(tree.sources, environment):
        return None
    return tracked_commit(tree.promoted_commit)
