"""The two repositories and the environments to set up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal
from urllib.parse import quote, urlsplit

from kalypso_actions.errors import Location, Problem

RepositoryRole = Literal["control plane", "GitOps repository"]


@dataclass(frozen=True, slots=True)
class RepositorySetup:
    """A repository: `owner/name`, its URL for people and git, its default branch."""

    role: RepositoryRole
    name: str
    url: str
    main: str

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

    `is_new`: main has no Environment object for it yet. Only a new environment has a
    `next_environment` ("": it is the last). `gitops_branches` are empty if it proposes to another
    repository. `is_first`: new commits of main reach it first.
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
    """The whole set-up. `is_new`: main of the control plane has no Kalypso documents yet."""

    control_plane: RepositorySetup
    gitops: RepositorySetup
    environments: tuple[EnvironmentSetup, ...]
    is_new: bool


def default_branch_conflict(repository: str, default_branch: str, main: str) -> Problem:
    """Return the problem of a default branch that is not the branch `main` of the chain."""
    return Problem(
        f"the default branch is {default_branch}, but the chain uses {main}",
        Location(repository),
        f"make {main} the default branch, or delete it",
    )
