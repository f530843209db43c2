"""The GitOps branches of an environment: where they are, and what they hold at a commit."""

from __future__ import annotations

from dataclasses import dataclass

from kalypso_actions import fleet
from kalypso_actions.commands.runtime.context import CommandContext
from kalypso_actions.errors import KalypsoError, Location
from kalypso_actions.gitops import gitops_folder, tracked_commit
from kalypso_actions.gitops.provenance import is_of_another
from kalypso_actions.model.documents import Reading
from kalypso_actions.model.kinds import BaseRepo, Environment, GitOpsRepo, RepositoryPath
from kalypso_actions.model.tree import BaseTree
from kalypso_actions.promotion.base_branch import base_document
from kalypso_actions.snapshot.base_tree import read_base_tree

KINDS = frozenset({"BaseRepo", "GitOpsRepo"})


@dataclass(frozen=True, slots=True)
class GitOpsBranch:
    """Where the manifests of an environment are merged; `repository` is `owner/name`.

    The tree lies in `folder` ("" is the root); `where` is the place of the GitOpsRepo.
    """

    repository: str
    url: str
    branch: str
    folder: str
    where: Location

    @property
    def name(self) -> str:
        """For people."""
        below = f", folder {self.folder}" if self.folder else ""
        return f"{self.repository}, branch {self.branch}{below}"


@dataclass(frozen=True, slots=True)
class EnvironmentReading:
    """What an environment's own branch says of where things come from and go to.

    `base_commit` is the promoted commit of main; None where none is named.
    """

    own: Reading
    base_commit: str | None
    base_repos: tuple[BaseRepo, ...]
    gitops_repos: tuple[GitOpsRepo, ...]


def read_environment(context: CommandContext, environment: Environment) -> EnvironmentReading:
    """Read an environment's branch of the control plane.

    Raises KalypsoError where it cannot be read wholly: a GitOpsRepo that is overlooked would be a
    branch that nobody asks whether its clusters comply.
    """
    place = environment.control_plane
    source = RepositoryPath(context.url(context.control_plane), place.branch, place.path)
    own = context.reader.documents(source)
    documents = tuple(document for document in own.documents if document.kind in KINDS)
    found, findings = fleet.assemble(
        environment.name, fleet.Branch(environment.name, documents), ()
    )
    problems = (*own.problems, *findings.problems)
    if problems:
        raise KalypsoError.of(problems)
    base = base_document(documents)
    return EnvironmentReading(
        own, base.commit if base else None, found.base_repos, found.gitops_repos
    )


def gitops_branches(
    context: CommandContext, environment: Environment, repos: tuple[GitOpsRepo, ...]
) -> tuple[GitOpsBranch, ...]:
    """The branches that an environment's GitOpsRepos name.

    Raises KalypsoError where there is none, or one that is not on this GitHub.
    """
    if not repos:
        raise KalypsoError(
            f"the environment {environment.name} has no GitOpsRepo",
            environment.where,
            f"add one on its branch {environment.control_plane.branch}",
        )
    return tuple(
        GitOpsBranch(
            repository=context.repository(repo.target.repo, repo.where),
            url=repo.target.repo,
            branch=repo.target.branch,
            folder=gitops_folder(repo.target.path, repo.where),
            where=repo.where,
        )
        for repo in repos
    )


def tree_at(context: CommandContext, place: GitOpsBranch, commit: str) -> BaseTree:
    """What a GitOps branch holds at a commit. Raises KalypsoError where it cannot be read."""
    files = context.repositories.open(place.url, branch=place.branch, commit=commit)
    return read_base_tree(files, place.branch, place.folder)


def named_commit(tree: BaseTree, environment: str) -> str | None:
    """The commit of main that a tree of an environment names; None where it names none.

    A branch that was cut from another environment's names that one's, until its own first merge.
    """
    if is_of_another(tree.sources, environment):
        return None
    return tracked_commit(tree.promoted_commit)
