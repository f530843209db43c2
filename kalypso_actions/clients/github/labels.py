"""Labels of a repository, and on its issues and pull requests; case makes no difference."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from kalypso_actions.clients.github import idempotent_writes, length_limits, rest
from kalypso_actions.clients.github.connection import GitHub
from kalypso_actions.errors import KalypsoError, Location


def ensure(
    github: GitHub, repository: str, name: str, *, color: str = "ededed", description: str = ""
) -> bool:
    """A label of this name; whether it was made now.

    One that exists keeps the colour and description that people gave it. `color` is six hex
    digits. Raises GitHubError, and KalypsoError for a name that GitHub does not take.
    """
    _check_name(repository, name)

    def find() -> rest.Json | None:
        return _label(github, repository, name)

    def write() -> rest.Json:
        body = {
            "name": name,
            "color": color,
            "description": length_limits.truncate(description, length_limits.LABEL_DESCRIPTION),
        }
        failure = f"the label “{name}” cannot be created"
        return rest.write(github, repository, failure, "POST", "/labels", body)

    return idempotent_writes.write_if_absent(github, find, write)[1]


def exists(github: GitHub, repository: str, name: str) -> bool:
    """Whether the repository has a label of this name. Raises GitHubError."""
    return _label(github, repository, name) is not None


def add(github: GitHub, repository: str, number: int, names: Collection[str]) -> bool:
    """Put labels on an issue or a pull request; whether one was missing.

    Others stay. A label that the repository does not have is made by GitHub, in its own colour:
    `ensure` it before. Raises GitHubError, KalypsoError.
    """
    for name in names:
        _check_name(repository, name)

    def find() -> bool | None:
        return None if missing(names, _present(github, repository, number)) else True

    def write() -> bool:
        failure = f"#{number} cannot be labelled {', '.join(names)}"
        body = {"labels": list(names)}
        rest.write(github, repository, failure, "POST", f"/issues/{number}/labels", body)
        return True

    return idempotent_writes.write_if_absent(github, find, write)[1]


def remove(github: GitHub, repository: str, number: int, name: str) -> bool:
    """Take a label from an issue or a pull request; whether it was there. Raises GitHubError."""

    def find() -> bool | None:
        return True if missing([name], _present(github, repository, number)) else None

    def write() -> bool:
        failure = f"the label “{name}” cannot be taken from #{number}"
        path = f"/issues/{number}/labels/{rest.segment(name)}"
        rest.write(github, repository, failure, "DELETE", path)
        return True

    return idempotent_writes.write_if_absent(github, find, write)[1]


def missing(names: Iterable[str], present: Iterable[str]) -> list[str]:
    """Those of `names` that are not among `present`."""
    known = {name.lower() for name in present}
    return [name for name in names if name.lower() not in known]


def _label(github: GitHub, repository: str, name: str) -> rest.Json | None:
    failure = f"the label “{name}” cannot be read"
    return rest.read_optional(github, repository, failure, f"/labels/{rest.segment(name)}")


def _present(github: GitHub, repository: str, number: int) -> list[str]:
    failure = f"the labels of #{number} cannot be read"
    found = rest.read_all(github, repository, failure, f"/issues/{number}/labels")
    return [label["name"] for label in found]


def _check_name(repository: str, name: str) -> None:
    if not 0 < len(name) <= length_limits.LABEL_NAME:
        raise KalypsoError(
            f"a label's name has 1 to {length_limits.LABEL_NAME} characters: “{name}”",
            Location(repository),
            "shorten it where it is given as an input",
        )
