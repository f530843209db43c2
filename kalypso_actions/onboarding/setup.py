"""The two repositories and the environments to set up."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Literal
from urllib.parse import quote, urlsplit

from kalypso_actions.errors import KalypsoError, Location, Problem, UsageError
from kalypso_actions.model.documents import Document
from kalypso_actions.model.kinds import Environment, RepositoryPath
from kalypso_actions.model.urls import repository_key

RepositoryRole = Literal["control plane", "GitOps repository", "source", "configs"]
"""`source` and `configs` are an application's, which has a GitOps repository of its own."""


@dataclass(frozen=True, slots=True)
class RepositorySetup:
    """A repository: `owner/name`, its URL for people and git, its default branch.

    `remote` is the name of a clone's remote.
    """

    role: RepositoryRole
    name: str
    url: str
    main: str
    remote: str = "origin"

    @property
    def owner(self) -> str:
        """The account that owns the repository."""
        return self.name.partition("/")[0]

    @property
    def server(self) -> str:
        """The URL of the repository's GitHub server."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc}"

    def settings(self, page: str) -> str:
        """Return the URL of a settings page."""
        return f"{self.url}/settings/{page}"

    def files(self, branch: str, folder: str) -> str:
        """Return the URL of a folder."""
        return f"{self.url}/tree/{quote(branch)}/{folder}"


@dataclass(frozen=True, slots=True)
class EnvironmentSetup:
    """An environment: its branch and folder in the control plane, and its GitOps branches.

    `is_new`: main has no Environment object for it yet. `next_environment` is the name after a new
    environment ("": it is the last), or the names that the object of an existing one gets ("": it
    stays); the latter is in the file `object_path`. `gitops_branches` are empty if it proposes to
    another repository. `is_first`: new commits of main reach it first. `clusters` are those of its
    sample cluster type; `lists_clusters`: its annotation does, or will, name them, so that
    promotions wait for them. `reconciler` is the Template of an existing sample cluster type.
    """

    name: str
    branch: str
    path: str = "."
    is_new: bool = True
    next_environment: str = ""
    gitops_branches: tuple[str, ...] = ()
    is_first: bool = False
    clusters: tuple[str, ...] = ()
    lists_clusters: bool = False
    reconciler: str = ""
    object_path: str = ""


@dataclass(frozen=True, slots=True)
class Setup:
    """The whole set-up. `is_new`: main of the control plane has no Kalypso documents yet.

    `cluster_reports` is where the clusters report, as the option of `kalypso init` names it.
    """

    control_plane: RepositorySetup
    gitops: RepositorySetup
    environments: tuple[EnvironmentSetup, ...]
    is_new: bool
    cluster_reports: str = ""


def default_branch_conflict(repository: str, default_branch: str, main: str) -> Problem:
    """Return the problem of a default branch that is not the branch `main` of the chain."""
    return Problem(
        f"the default branch is {default_branch}, but the chain uses {main}",
        Location(repository),
        f"make {main} the default branch, or delete it",
    )


KALYPSO_API: Final = "scheduler.kalypso.io/"


def kalypso_documents(documents: Iterable[Document]) -> frozenset[tuple[str, str]]:
    """Return the kind and name of each Kalypso document."""
    return frozenset(
        (document.kind, document.name)
        for document in documents
        if document.api_version.startswith(KALYPSO_API)
    )


def may_hold_kalypso_documents(content: bytes) -> bool:
    """Whether a file that cannot be parsed may hold Kalypso documents."""
    return KALYPSO_API.encode() in content


def environment_setups(
    control_plane: RepositorySetup,
    existing: Mapping[str, Environment],
    names: Sequence[str],
    default_names: Sequence[str],
    reserved: Collection[str],
    *,
    is_new: bool,
) -> list[EnvironmentSetup]:
    """Return the environments of main, followed by the new ones of `names`.

    A new control plane without `names` gets `default_names`. `reserved` are the names of default
    branches. Raises UsageError for missing or reserved names.
    """
    if not names and not existing and not is_new:
        raise UsageError(
            "the control plane has no Environment objects",
            Location(control_plane.name),
            "name the environments with --environments",
        )
    wanted = names or (() if existing else default_names)
    for name in wanted:
        if name in reserved and name not in existing:
            raise reserved_name(name)
    following = dict(pairwise(wanted))
    return [
        EnvironmentSetup(
            environment.name,
            environment.control_plane.branch,
            environment.control_plane.path,
            is_new=False,
            next_environment=_names_after(environment, following, existing, wanted),
            is_first=environment.is_first,
            object_path=environment.where.path,
        )
        for environment in existing.values()
    ] + [
        EnvironmentSetup(
            name,
            name,
            next_environment=following.get(name, ""),
            is_first=not existing and name == wanted[0],
        )
        for name in wanted
        if name not in existing
    ]


def reserved_name(name: str, where: Location | None = None) -> UsageError:
    """Return the error of an environment with the name of a repository's default branch."""
    return UsageError(
        f"an environment cannot be named {name!r}, like the default branch",
        where,
        "an environment has a branch of its own: choose another name",
    )


def _names_after(
    environment: Environment,
    following: Mapping[str, str],
    existing: Collection[str],
    wanted: Sequence[str],
) -> str:
    """Return the next environments of an existing one, with the new one that follows it.

    The new one takes the place of those that come after it. Return "" if no new one follows it.
    """
    new = following.get(environment.name, "")
    if not new or new in existing:
        return ""
    later = wanted[wanted.index(new) :]
    kept = [name for name in environment.next_environments if name not in later]
    return ",".join([*kept, new])


def check_branch(environment: EnvironmentSetup, control_plane: RepositorySetup) -> None:
    """Check that an environment has its own branch. Raises KalypsoError."""
    if environment.branch == control_plane.main:
        raise KalypsoError(
            f"environment {environment.name!r} is on the branch {control_plane.main}, where "
            "promotion starts",
            Location(control_plane.name),
            "give it a branch of its own",
        )


def gitops_branches(
    environment: EnvironmentSetup,
    targets: Sequence[RepositoryPath],
    control_plane: RepositorySetup,
    gitops: RepositorySetup,
) -> tuple[tuple[str, ...], tuple[Problem, ...]]:
    """Return the branches of the GitOps repository that an environment uses, and warnings.

    `targets` are those of its GitOpsRepo objects. If there are none, the branch has the
    environment's name.
    """
    if not targets:
        return (environment.name,), ()
    branches = dict.fromkeys(
        target.branch
        for target in targets
        if repository_key(target.repo) == repository_key(gitops.url)
    )
    if branches:
        return tuple(branches), ()
    others = ", ".join(sorted({target.repo for target in targets}))
    warning = Problem(
        f"environment {environment.name} proposes to {others}, not to {gitops.name}: nothing is "
        "written for it there",
        Location(control_plane.name),
        "run init with that GitOps repository as well",
    )
    return (), (warning,)
