"""The policy of an environment: when a commit of main may enter it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final, Literal, Self
from urllib.parse import quote, unquote_plus, urlencode

from kalypso_actions.errors import Location, Problem
from kalypso_actions.model.layout import PLACEMENTS_FOLDER

POLICY_FILE: Final = f"{PLACEMENTS_FOLDER}/promotion.yaml"
"""The file of the policy below the environment's path."""


def policy_path(folder: str) -> str:
    """Return the path of the policy in a repository; `folder` is the environment's, normalized."""
    return f"{folder}/{POLICY_FILE}" if folder else POLICY_FILE


@dataclass(frozen=True, slots=True)
class PolicyPage:
    """The page of a policy's file on the branch of an environment.

    `repository` is the URL of the control plane. If the file does not exist, its page is the one
    that begins it.
    """

    repository: str
    branch: str
    path: str
    exists: bool

    @classmethod
    def of(cls, url: str, branch: str) -> Self | None:
        """Return the page with this URL; None for another one."""
        name = quote(branch)
        for exists, place in ((True, f"/blob/{name}/"), (False, f"/new/{name}?filename=")):
            repository, found, path = url.partition(place)
            if found:
                return cls(repository, branch, unquote_plus(path), exists)
        return None

    @property
    def url(self) -> str:
        """The URL of the page."""
        page = f"{self.repository}/blob/{quote(self.branch)}/{quote(self.path)}"
        return page if self.exists else self.begins_with()

    def begins_with(self, text: str = "") -> str:
        """Return the URL of the page that begins the file, with a text."""
        given = {"filename": self.path, **({"value": text} if text else {})}
        return f"{self.repository}/new/{quote(self.branch)}?{urlencode(given)}"


POLICY_API: Final = "kalypso.io/v1alpha1"
POLICY_KIND: Final = "PromotionPolicy"


@dataclass(frozen=True, slots=True)
class RequiredCheck:
    """A commit status or check run by its name, and the App or login that must have posted it."""

    name: str
    source: str

    def is_by(self, author: str) -> bool:
        """Whether the author of a status is the source; an App's slug and login both name it."""
        source = self.source.lower()
        return author.lower() in {source, f"{source}[bot]"}


@dataclass(frozen=True, slots=True)
class Freeze:
    """A time in which nothing enters, and the labels that let a pull request in.

    Either `begins` and `ends`, or `cron` with a `duration` in a `timezone`.
    """

    reason: str
    begins: datetime | None = None
    ends: datetime | None = None
    cron: str = ""
    duration: timedelta = timedelta()
    timezone: str = "UTC"
    allow: tuple[str, ...] = ()
    where: Location | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Hold:
    """A person's word that nothing enters, except the commit `at` ("": none); None: no end."""

    reason: str
    by: str
    until: datetime | None = None
    at: str = ""
    where: Location | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class PromotionPolicy:
    """What must be true before a commit of main enters an environment.

    deployed   environments in which the commit must be deployed
    soak       the time since the last of them deployed it
    checks     statuses and check runs that must have succeeded on the commit
    queue      of the commits that wait, the newest enters first, or the oldest
    places     the place of each of `deployed`
    """

    deployed: tuple[str, ...] = ()
    soak: timedelta = timedelta()
    checks: tuple[RequiredCheck, ...] = ()
    queue: Literal["newest", "oldest"] = "newest"
    freezes: tuple[Freeze, ...] = ()
    holds: tuple[Hold, ...] = ()
    where: Location | None = None
    places: Mapping[str, Location] = field(default_factory=dict, compare=False)
    name: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class PolicyReading:
    """The policy of an environment; None without one, or if `problems` let nothing in."""

    policy: PromotionPolicy | None = None
    problems: tuple[Problem, ...] = ()

    @property
    def has_file(self) -> bool:
        """Whether the environment has a policy, valid or not."""
        return self.policy is not None or bool(self.problems)
