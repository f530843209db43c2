"""Where many registered folders stand, by one request for a hundred of them."""

from __future__ import annotations

import logging
import posixpath
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from kalypso_actions.clients.github.connection import GitHub, GitHubError
from kalypso_actions.clients.github.messages import Json
from kalypso_actions.errors import Location
from kalypso_actions.model.github import PathHead, RegisteredPath

log = logging.getLogger(__name__)

BATCH: Final = 100

INVISIBLE: Final = frozenset({"NOT_FOUND", "FORBIDDEN"})
"""Types of errors with which GitHub says that the token does not get to see a repository."""


def read(
    github: GitHub, paths: Collection[RegisteredPath]
) -> Mapping[RegisteredPath, PathHead | None]:
    """The commit of each path's branch, and the tree of its folder there.

    None where the repository or the branch is absent, or where the token does not get to see it;
    the others are unaffected. `tree` is None where the branch has no such folder.
    Raises GitHubError where GitHub does not answer, or not completely.
    """
    heads: dict[RegisteredPath, PathHead | None] = {}
    by_owner: dict[str, list[RegisteredPath]] = {}
    for path in dict.fromkeys(paths):
        by_owner.setdefault(_owner(path), []).append(path)
    for asking, owners in github.by_credential(by_owner).items():
        together = [path for owner in owners for path in by_owner[owner]]
        for start in range(0, len(together), BATCH):
            heads |= _batch(github, asking, together[start : start + BATCH])
    return heads


def query(count: int) -> str:
    """The GraphQL query for `count` registered paths.

    Whatever is not ours to write stands in variables: `owner0`, `name0`, `ref0` (the branch as
    `refs/heads/…`), `path0` (`refs/heads/…:folder`), and so on.
    """
    variables = ", ".join(
        f"$owner{n}: String!, $name{n}: String!, $ref{n}: String!, $path{n}: String!"
        for n in range(count)
    )
    repositories = "\n".join(
        f"  r{n}: repository(owner: $owner{n}, name: $name{n}) {{\n"
        f"    ref(qualifiedName: $ref{n}) {{ target {{ oid }} }}\n"
        f"    object(expression: $path{n}) {{ __typename oid }}\n"
        "  }"
        for n in range(count)
    )
    return f"query Heads({variables}) {{\n{repositories}\n}}"


def variables_of(paths: Sequence[RegisteredPath]) -> dict[str, str]:
    """The variables of `query(len(paths))`."""
    variables: dict[str, str] = {}
    for n, path in enumerate(paths):
        owner, _, name = path.repository.partition("/")
        ref = f"refs/heads/{path.branch}"
        folder = posixpath.normpath(path.path or ".").strip("/")
        # Behind the colon, nothing is the root.
        folder = "" if folder == "." else folder
        variables |= {f"owner{n}": owner, f"name{n}": name}
        variables |= {f"ref{n}": ref, f"path{n}": f"{ref}:{folder}"}
    return variables


def _batch(
    github: GitHub, owner: str, paths: Sequence[RegisteredPath]
) -> dict[RegisteredPath, PathHead | None]:
    failure = f"the heads of {len(paths)} registered folders cannot be read"
    data, errors = github.graphql(owner, failure, query(len(paths)), variables_of(paths))
    for error in errors:
        _check_invisible(error, paths, failure, owner)
    return {path: _head(data.get(f"r{n}")) for n, path in enumerate(paths)}


def _head(repository: Json) -> PathHead | None:
    if repository is None or repository["ref"] is None:
        return None
    found = repository["object"]
    is_folder = found is not None and found["__typename"] == "Tree"
    return PathHead(
        commit=repository["ref"]["target"]["oid"], tree=found["oid"] if is_folder else None
    )


def _check_invisible(
    error: Json, paths: Sequence[RegisteredPath], failure: str, owner: str
) -> None:
    """Pass over an error that says that one repository is not to be seen; raise any other."""
    place = [str(step) for step in error.get("path") or ()]
    message = str(error.get("message", ""))
    if error.get("type") not in INVISIBLE or len(place) != 1:
        advice = "try again later"
        raise GitHubError(f"{failure}: GitHub says: {message}", Location(owner), advice)
    repository = paths[int(place[0].removeprefix("r"))].repository
    log.info("%s cannot be seen: %s", repository, message)


def _owner(path: RegisteredPath) -> str:
    return path.repository.partition("/")[0].lower()
