"""The version record of a source commit: the only source of version and image for deployments."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from kalypso_actions.errors import Location, Problem, UsageError
from kalypso_actions.model.github import CommitStatus
from kalypso_actions.model.own_account import Identity
from kalypso_actions.promotion.start_records import PREFIX
from kalypso_actions.promotion.statuses import MAX_DESCRIPTION

VERSION_CONTEXT: Final = f"{PREFIX}version"


@dataclass(frozen=True, slots=True)
class Release:
    """The version and image of a source commit, as `kalypso / version` records them.

    A `description` too long for a status is refused. `image_name` is "" for the default name.
    """

    version: str
    image_tag: str
    image_name: str = ""

    @property
    def description(self) -> str:
        """The text of the record."""
        return " ".join(filter(None, (self.version, self.image_tag, self.image_name)))

    def status(self) -> CommitStatus:
        """Return the record to post. Raises UsageError if it does not fit into a status."""
        if len(self.description) > MAX_DESCRIPTION:
            raise UsageError(
                f"version, image-tag and image-name have {len(self.description)} characters"
                f" together; a status has room for {MAX_DESCRIPTION}",
                advice="shorten the version or the tag; the default image-name needs no room",
            )
        return CommitStatus(VERSION_CONTEXT, "success", self.description)

    def differences(self, given: Mapping[str, str]) -> list[str]:
        """Return the names of inputs that contradict the record; empty inputs do not.

        `given` are the inputs `version`, `image-tag` and `image-name`.
        """
        recorded = {
            "version": self.version,
            "image-tag": self.image_tag,
            "image-name": self.image_name,
        }
        return [name for name, value in given.items() if value and value != recorded[name]]


def read_release(description: str) -> Release | None:
    """Return the release that the description of a record holds; None for another form."""
    match description.split(" "):
        case [version, image_tag, *rest] if version and image_tag and len(rest) <= 1:
            return Release(version, image_tag, *rest)
    return None


ReleaseBy = Literal["job", "app"]


def makes_releases(identity: Identity, release_by: ReleaseBy) -> Callable[[str], bool]:
    """Return whose version records count, by login.

    With `app`, only the App itself and its former identities make releases. With `job`, the account
    of jobs makes them, too, so that everybody who may push a branch with a workflow can do so.
    """
    return identity.is_own if release_by == "app" else identity.is_of_chain


def release_of(
    posted: Iterable[CommitStatus], counts: Callable[[str], bool], commit: str, where: Location
) -> tuple[Release | None, Problem | None]:
    """Return the release of a source commit, or the problem of two contradicting ones.

    `posted` are all statuses that the commit ever had: a foreign one neither counts nor hides ours.
    `counts` says whether an account makes releases.
    """
    texts = {
        status.description
        for status in posted
        if status.context.lower() == VERSION_CONTEXT and counts(status.author)
    }
    if len(texts) > 1:
        named = " and ".join(map(repr, sorted(texts)))
        return None, Problem(
            f"the commit {commit[:7]} has contradicting records '{VERSION_CONTEXT}': {named}",
            where,
            "release another commit: GitHub deletes no status",
        )
    return next(map(read_release, texts), None), None


def no_release(commit: str, release_by: ReleaseBy, where: Location) -> Problem:
    """Return the problem of a commit without a release."""
    who = "the App" if release_by == "app" else "the chain"
    return Problem(
        f"no status '{VERSION_CONTEXT}' of {who} names version and image of {commit[:7]}",
        where,
        "run app-ci for this commit, which records them; what upstream's workflows have deployed, "
        "adopt: true records",
    )
