"""How repositories, folders and branches are named by a user."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict
from pydantic_core import PydanticCustomError

_AUTHORITY = re.compile(
    r"(?:[a-z][a-z0-9+.-]*://[^/]*|[^@/\s]+@[^:/\s]+:|[A-Za-z]:(?=[\\/]))", re.IGNORECASE
)
"""What of a URL or path may hold an `@` that does not begin a branch: user and host."""


def _usable(path: Path) -> Path:
    """A path that the system can look up; whether anything is there is another question."""
    try:
        path.exists()
    except OSError as error:
        raise PydanticCustomError(
            "path", "{path}: {fault}", {"path": str(path), "fault": error.strerror}
        ) from error
    return path


def _usable_place(place: str) -> str:
    """The same where a URL may stand."""
    if "://" not in place:
        _usable(Path(place))
    return place


class PathAtBranch(BaseModel):
    """`PATH[@BRANCH]`: a local repository or folder; "" is the branch that fits best."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    path: Path
    branch: str = ""

    @classmethod
    def parse(cls, text: str) -> PathAtBranch:
        """A folder's name may hold an `@` itself: the longest name that exists is meant."""
        if _usable(Path(text)).is_dir():
            return cls(path=Path(text))
        for match in reversed(list(re.finditer("@", text))):
            path, branch = text[: match.start()], text[match.end() :]
            if branch and Path(path).is_dir():
                return cls(path=Path(path), branch=branch)
        return cls(path=Path(text))


class Source(BaseModel):
    """`URL[@BRANCH]=PATH`: a path that stands for a repository."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    url: str
    branch: str = ""
    path: Path

    @classmethod
    def parse(cls, text: str) -> Source:
        """Raises PydanticCustomError saying what is missing."""
        place, equals, path = text.partition("=")
        url, branch = split_branch(place)
        if not (equals and url and path):
            raise PydanticCustomError(
                "source", "{text} is not of the form URL[@BRANCH]=PATH", {"text": repr(text)}
            )
        return cls(url=url, branch=branch, path=_usable(Path(path)))


def split_branch(place: str) -> tuple[str, str]:
    """`URL[@BRANCH]` in its two parts; the `@` of a user name in the URL is not meant."""
    authority = _AUTHORITY.match(place)
    start = authority.end() if authority else 0
    path, _, branch = place[start:].partition("@")
    return place[:start] + path, branch


def _each_text(parse: Callable[[str], object]) -> Callable[[object], object]:
    """Parse the texts among what is given; values that are parsed already stay."""

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
Sources = Annotated[tuple[Source, ...], BeforeValidator(_each_text(Source.parse))]
GitOpsPath = Annotated[PathAtBranch | None, BeforeValidator(_each_text(PathAtBranch.parse))]
