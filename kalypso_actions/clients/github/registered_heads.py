"""The heads of registered branches and folders; one request reads up to a hundred."""

from __future__ import annotations

import logging
import posixpath
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from kalypso_actions.clients.github.connection import GitHub
from kalypso_actions.clients.github.errors import GitHubError, Json
from kalypso_actions.errors import Location
from kalypso_actions.model.github import PathHead, RegisteredPath

log = logging.getLogger(__name__)

BATCH_SIZE: Final = 100

INVISIBLE: Final = frozenset({"NOT_FOUND", "FORBIDDEN"})
"""Types of the errors for a repository that the token may not see."""


def read(
    github: GitHub, paths: Collection[RegisteredPath]
) -> Mapping[RegisteredPath, PathHead | None]:
    """Return the commit of each path's branch and the tree of its folder.

    A head is None if the repository or the branch does not exist or was renamed, or if the token
    may not see it. (For a renamed repository that may be read, git follows the new name.) `tree` is
    None if the branch has no such folder. Raises GitHubError if GitHub does not answer completely.
    """
    heads: dict[RegisteredPath, PathHead | None] = {}
    by_owner: dict[str, list[RegisteredPath]] = {}
    for path in dict.fromkeys(paths):
        by_owner.setdefault(_owner(path), []).append(path)
    for credential_owner, owners in github.group_by_credential(by_owner).items():
        group = [path for owner in owners for path in by_owner[owner]]
        for start in range(0, len(group), BATCH_SIZE):
            heads |= _read_batch(github, credential_owner, group[start : start + BATCH_SIZE])
    return heads


def query(count: int) -> str:
    """Return the GraphQL query for `count` registered paths.

    User-supplied values are variables: `owner0`, `name0`, `ref0` (the branch as `refs/heads/…`),
    `path0` (`refs/heads/…:folder`), and so on.
    """
    variables = ", ".join(
        f"$owner{n}: String!, $name{n}: String!, $ref{n}: String!, $path{n}: String!"
        for n in range(count)
    )
    repositories = "\n".join(
        f"  r{n}: repository(owner: $owner{n}, name: $name{n}, followRenames: false) {{\n"
        f"    ref(qualifiedName: $ref{n}) {{ target {{ oid }} }}\n"
        f"    object(expression: $path{n}) {{ __typename oid }}\n"
        "  }"
        for n in range(count)
    )
    return f"query Heads({variables}) {{\n{repositories}\n}}"


def query_variables(paths: Sequence[RegisteredPath]) -> dict[str, str]:
    """Return the variables of `query(len(paths))`."""
    variables: dict[str, str] = {}
    for n, path in enumerate(paths):
        owner, _, name = path.repository.partition("/")
        ref = f"refs/heads/{path.branch}"
        folder = posixpath.normpath(path.path or ".").strip("/")
        # After the colon, an empty path is the root.
        folder = "" if folder == "." else folder
        variables |= {f"owner{n}": owner, f"name{n}": name}
        variables |= {f"ref{n}": ref, f"path{n}": f"{ref}:{folder}"}
    return variables


def _read_batch(
    github: GitHub, owner: str, paths: Sequence[RegisteredPath]
) -> dict[RegisteredPath, PathHead | None]:
    failure = f"the heads of {len(paths)} registered folders cannot be read"
    data, errors = github.graphql(owner, failure, query(len(paths)), query_variables(paths))
    for error in errors:
        _check_invisible(error, paths, failure, owner)
    return {path: _head(data.get(f"r{n}")) for n, path in enumerate(paths)}


def _head(repository: Json) -> PathHead | None:
    if repository is None or repository["ref"] is None:
        return None
    folder = repository["object"]
    is_tree = folder is not None and folder["__typename"] == "Tree"
    return PathHead(
        commit=repository["ref"]["target"]["oid"], tree=folder["oid"] if is_tree else None
    )


def _check_invisible(
    error: Json, paths: Sequence[RegisteredPath], failure: str, owner: str
) -> None:
    """Log the error of a repository that the token may not see; raise any other error."""
    path = [str(key) for key in error.get("path") or ()]
    message = str(error.get("message", ""))
    if error.get("type") not in INVISIBLE or len(path) != 1:
        advice = "try again later"
        raise GitHubError(f"{failure}: GitHub says: {message}", Location(owner), advice)
    repository = paths[int(path[0].removeprefix("r"))].repository
    log.info("the token may not see %s: %s", repository, message)


def _owner(path: RegisteredPath) -> str:
    return path.repository.partition("/")[0].lower()
