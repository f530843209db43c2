"""The two repositories and the environments, as they are to be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal
from urllib.parse import quote, urlsplit

from kalypso_actions.errors import Location, Problem

RepositoryRole = Literal["control plane", "GitOps repository"]


@dataclass(frozen=True, slots=True)
class RepositorySetup:
    """One of the two repositories: `owner/name`, its URL for people and git, its default branch."""

    role: RepositoryRole
    name: str
    url: str
    main: str

    @property
    def owner(self) -> str:
        """The account that it belongs to."""
        return self.name.partition("/")[0]

    @property
    def server(self) -> str:
        """The GitHub server that it lies on."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc}"

    def settings(self, page: str) -> str:
        """A page of its settings."""
        return f"{self.url}/settings/{page}"

    def files(self, branch: str, folder: str) -> str:
        """The page of a folder."""
        return f"{self.url}/tree/{quote(branch)}/{folder}"


@dataclass(frozen=True, slots=True)
class EnvironmentSetup:
    """An environment: its branch and folder in the control plane, its branches in the GitOps one.

    `is_new`: main has no Environment object for it yet. `next_environment` is that of a new one, ""
    for the last. `gitops_branches` are empty where the environment proposes to another repository.
    `is_first`: its object says, or is to say, that new commits of main reach it first.
    """

    name: str
    branch: str
    path: str = "."
    is_new: bool = True
    next_environment: str = ""
    gitops_branches: tuple[str, ...] = ()
    is_first: bool = False


@dataclass(frozen=True, slots=True)
class Setup:
    """All of it. `is_new`: main of the control plane holds nothing of Kalypso yet."""

    control_plane: RepositorySetup
    gitops: RepositorySetup
    environments: tuple[EnvironmentSetup, ...]
    is_new: bool


def default_branch_conflict(repository: str, default_branch: str, main: str) -> Problem:
    """What is wrong where the chain takes `main`, and GitHub another branch for the default one."""
    return Problem(
        f"the default branch is {default_branch}, and the chain takes {main} for it",
        Location(repository),
        f"make {main} the default one, or delete it",
    )
