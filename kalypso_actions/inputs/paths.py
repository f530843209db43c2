"""Paths, URLs and branches that users name."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict
from pydantic_core import PydanticCustomError

from kalypso_actions.model.urls import repository_key

_AUTHORITY = re.compile(
    r"(?:[a-z][a-z0-9+.-]*://[^/]*|[^@/\s]+@[^:/\s]+:|[A-Za-z]:(?=[\\/]))", re.IGNORECASE
)
"""The user and host of a URL, whose `@` does not begin a branch."""


def _usable(path: Path) -> Path:
    """Check that the system can look up a path, which need not exist."""
    try:
        path.exists()
    except OSError as error:
        raise PydanticCustomError(
            "path", "{path}: {fault}", {"path": str(path), "fault": error.strerror}
        ) from error
    return path


def _usable_place(place: str) -> str:
    """Check a path like `_usable`; accept any URL."""
    if "://" not in place:
        _usable(Path(place))
    return place


class PathAtBranch(BaseModel):
    """`PATH[@BRANCH]`: a local repository or folder; `branch` "": the command chooses one."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    path: Path
    branch: str = ""

    @classmethod
    def parse(cls, text: str) -> PathAtBranch:
        """Parse a text; a folder's name may contain `@`, so the longest existing path counts.

        If no path exists, the last `@` begins the branch, unless the text is a URL.
        """
        if _usable(Path(text)).is_dir():
            return cls(path=Path(text))
        for match in reversed(list(re.finditer("@", text))):
            path, branch = text[: match.start()], text[match.end() :]
            if branch and Path(path).is_dir():
                return cls(path=Path(path), branch=branch)
        path, _, branch = text.rpartition("@")
        if not path or _AUTHORITY.match(text):
            return cls(path=Path(text))
        return cls(path=Path(path), branch=branch)


class PlaceAtRevision(BaseModel):
    """`PATH[@REV]` or `URL[@REV]`: a branch, tag or commit; without REV, a folder as it is."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    place: str
    revision: str = ""

    @property
    def is_url(self) -> bool:
        """Whether git fetches the repository from a URL."""
        return _AUTHORITY.match(self.place) is not None and not Path(self.place).exists()

    @classmethod
    def parse(cls, text: str) -> PlaceAtRevision:
        """Parse a text."""
        if not Path(text).exists() and _AUTHORITY.match(text):
            url, revision = split_branch(text)
            return cls(place=url, revision=revision)
        path = PathAtBranch.parse(text)
        return cls(place=str(path.path), revision=path.branch)


class Source(BaseModel):
    """`URL[@BRANCH]=PATH`: a path to read instead of a repository."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    url: str
    branch: str = ""
    path: Path

    @property
    def key(self) -> str:
        """The key of the repository, which equal URLs share."""
        return repository_key(self.url)

    @classmethod
    def parse(cls, text: str) -> Source:
        """Parse a text. Raises PydanticCustomError."""
        place, equals, path = text.partition("=")
        url, branch = split_branch(place)
        if not (equals and url and path):
            raise PydanticCustomError(
                "source", "{text} is not of the form URL[@BRANCH]=PATH", {"text": repr(text)}
            )
        return cls(url=url, branch=branch, path=_usable(Path(path)))


def split_branch(place: str) -> tuple[str, str]:
    """Split `URL[@BRANCH]`, but not at the `@` of a user name."""
    authority = _AUTHORITY.match(place)
    start = authority.end() if authority else 0
    path, _, branch = place[start:].partition("@")
    return place[:start] + path, branch


def _each_text(parse: Callable[[str], object]) -> Callable[[object], object]:
    """Parse each string of a value; keep parsed values."""

    def parse_all(given: object) -> object:
        match given:
            case str():
                return parse(given)
            case list() | tuple():
                return tuple(parse_all(item) for item in given)
            case _:
                return given

    return parse_all


Folder = Annotated[Path, AfterValidator(_usable)]
Place = Annotated[str, AfterValidator(_usable_place)]
Repository = Annotated[PlaceAtRevision, BeforeValidator(_each_text(PlaceAtRevision.parse))]
Sources = Annotated[tuple[Source, ...], BeforeValidator(_each_text(Source.parse))]
GitOpsPath = Annotated[PathAtBranch | None, BeforeValidator(_each_text(PathAtBranch.parse))]


def check_commit_to(commit_to: PathAtBranch | None, others: Mapping[str, object]) -> None:
    """Check `--commit-to`, and that no option excludes it. Raises PydanticCustomError."""
    if commit_to is None:
        return
    if not commit_to.branch:
        raise PydanticCustomError("commit_to", "--commit-to needs REPOSITORY@BRANCH")
    for option, value in others.items():
        if value:
            message = "only one of {option} and --commit-to is possible"
            raise PydanticCustomError("commit_to", message, {"option": option})


def is_folder(place: str) -> bool:
    """Return whether a place is a folder on this machine rather than owner/name."""
    return place.startswith((".", "/", "~")) or Path(place).is_dir()
