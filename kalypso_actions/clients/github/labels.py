"""Labels of a repository and of its issues and pull requests; names ignore case."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from kalypso_actions.clients.github import idempotent_writes, rest
from kalypso_actions.clients.github.connection import GitHub
from kalypso_actions.clients.github.idempotent_writes import LABEL_DESCRIPTION, LABEL_NAME
from kalypso_actions.errors import KalypsoError, Location


def ensure(
    github: GitHub,
    repository: str,
    name: str,
    *,
    color: str = "ededed",
    description: str = "",
    read_first: bool = True,
) -> bool:
    """Create a label; return whether it was missing.

    Without `read_first`, the caller knows that the label is missing. An existing label keeps its
    color and description. `color` is six hex digits. Raises GitHubError, and KalypsoError for a
    name that GitHub does not accept.
    """
    _check_name(repository, name)

    def find() -> bool | None:
        return exists(github, repository, name) or None

    def write() -> bool:
        text = idempotent_writes.truncate(description, LABEL_DESCRIPTION)
        github.call(
            repository,
            f"the label “{name}” cannot be created",
            lambda target: target.create_label(name, color, text),
        )
        github.recent_writes.add_label(repository, name)
        return True

    if not read_first:
        idempotent_writes.write_verified(github, find, write)
        return True
    return idempotent_writes.write_if_absent(github, find, write)[1]


def names(github: GitHub, repository: str) -> tuple[str, ...]:
    """Return the names of all labels of a repository. Raises GitHubError."""
    return github.call(
        repository,
        "the labels cannot be listed",
        lambda target: tuple(label.name for label in rest.all_of(target.get_labels())),
    )


def exists(github: GitHub, repository: str, name: str) -> bool:
    """Whether the repository has a label of this name. Raises GitHubError."""
    label = github.call_optional(
        repository,
        f"the label “{name}” cannot be read",
        lambda target: target.get_label(name).complete(),
    )
    return label is not None


def add(
    github: GitHub, repository: str, number: int, names: Collection[str], *, read_first: bool = True
) -> bool:
    """Add labels to an issue or a pull request; return whether any label was missing.

    Without `read_first`, the caller knows that a label is missing. GitHub creates labels that the
    repository lacks, in a color of its own; to avoid that, call `ensure` first. Raises GitHubError,
    KalypsoError.
    """
    for name in names:
        _check_name(repository, name)

    def find() -> bool | None:
        return None if missing(names, _present(github, repository, number)) else True

    def write() -> bool:
        failure = f"#{number} cannot be labelled {', '.join(names)}"
        github.call(
            repository, failure, lambda target: target.get_issue(number).add_to_labels(*names)
        )
        return True

    if not read_first:
        return idempotent_writes.write_verified(github, find, write)
    return idempotent_writes.write_if_absent(github, find, write)[1]


def remove(github: GitHub, repository: str, number: int, name: str) -> bool:
    """Remove a label from an issue or a pull request; return whether it was there.

    Raises GitHubError.
    """

    def find() -> bool | None:
        return True if missing([name], _present(github, repository, number)) else None

    def write() -> bool:
        failure = f"the label “{name}” cannot be removed from #{number}"
        # PyGithub would not quote a slash in the name.
        path = f"/issues/{number}/labels/{rest.segment(name)}"
        github.call(repository, failure, lambda target: rest.send(target, "DELETE", path))
        return True

    return idempotent_writes.write_if_absent(github, find, write)[1]


def delete(github: GitHub, repository: str, name: str) -> bool:
    """Delete a label from a repository and from its issues; return whether it existed.

    Raises GitHubError.
    """

    def find() -> bool | None:
        return None if exists(github, repository, name) else True

    def write() -> bool:
        failure = f"the label “{name}” cannot be deleted"
        github.call(repository, failure, lambda target: target.get_label(name).delete())
        return True

    return idempotent_writes.write_if_absent(github, find, write)[1]


def missing(names: Iterable[str], present: Iterable[str]) -> list[str]:
    """Return the names that are not in `present`."""
    lower_case = {name.lower() for name in present}
    return [name for name in names if name.lower() not in lower_case]


def _present(github: GitHub, repository: str, number: int) -> list[str]:
    return github.call(
        repository,
        f"the labels of #{number} cannot be read",
        lambda target: [label.name for label in rest.all_of(target.get_issue(number).get_labels())],
    )


def _check_name(repository: str, name: str) -> None:
    if not 0 < len(name) <= LABEL_NAME:
        raise KalypsoError(
            f"the name of a label must have 1 to {LABEL_NAME} characters: “{name}”",
            Location(repository),
            "shorten the input",
        )
