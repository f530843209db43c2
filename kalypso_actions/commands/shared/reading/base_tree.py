"""The existing tree of a GitOps branch."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Sequence
from pathlib import Path

from kalypso_actions import gitops
from kalypso_actions.clients.folder import FolderFiles
from kalypso_actions.clients.git import GitRepository, is_repository
from kalypso_actions.clients.process import Programs
from kalypso_actions.errors import KalypsoError, UsageError
from kalypso_actions.model.documents import RevisionFiles
from kalypso_actions.model.gitops_folder import gitops_folder
from kalypso_actions.model.kinds import GitOpsRepo
from kalypso_actions.model.layout import PLACEMENTS_FILE, PROMOTED_COMMIT_FILE, SOURCES_FILE
from kalypso_actions.model.tree import BaseTree


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


def as_written(base: BaseTree, files: RevisionFiles, known: Collection[str]) -> BaseTree:
    """Mark the tree as written by us if its id is one of `known`."""
    written = bool(known) and gitops.tree_id(base.sources, files.folder_ids(base.path)) in known
    return dataclasses.replace(base, is_as_written=written)


def read_base_tree(files: RevisionFiles, branch: str, folder: str) -> BaseTree:
    """Read the ids of all files, and the contents of the tracking files."""
    prefix = f"{folder}/" if folder else ""
    promoted, sources = prefix + PROMOTED_COMMIT_FILE, prefix + SOURCES_FILE
    placements = prefix + PLACEMENTS_FILE
    entries = files.entries()
    contents = files.read(path for path in (promoted, sources, placements) if path in entries)
    return BaseTree(
        repository=files.repository,
        branch=branch,
        path=folder,
        entries=entries,
        promoted_commit=contents.get(promoted),
        sources=contents.get(sources),
        placements=contents.get(placements),
    )
