"""Pull requests of our own branches: found by their head, opened, kept up to date, closed.

Ours are those whose head lies in the repository itself: a branch of the same name in a fork is
somebody else's.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from typing import Final, Literal

from kalypso_actions.clients.github import (
    comments,
    from_json,
    idempotent_writes,
    length_limits,
    rest,
)
from kalypso_actions.clients.github.connection import GitHub
from kalypso_actions.clients.github.labels import add as add_labels
from kalypso_actions.clients.github.labels import missing as missing_labels
from kalypso_actions.model.github import PullRequest

State = Literal["open", "closed", "all"]

PAGE: Final = 50
"""Of what people have closed, the newest counts; only our own withdrawals stand before it."""

ADVICE: Final = {
    "no commits between": "there is nothing to propose: the head is contained in the base already",
    "head invalid": "push the head's branch to this repository before",
    "base invalid": "create the base branch in this repository",
    "a pull request already exists": "it is open under a name of the repository or its owner that"
    " has changed: write the new one",
}


def find(
    github: GitHub, repository: str, *, head: str, base: str = "", state: State = "open"
) -> tuple[PullRequest, ...]:
    """The pull requests from the branch `head` (into `base` where named), newest first.

    Of open ones there is one at most for each base. Raises GitHubError.
    """
    failure, parameters = _listing(repository, head, base, state)
    found = rest.read_all(github, repository, failure, "/pulls", parameters)
    return tuple(sorted(_ours(found, head, base, state), key=lambda pull: -pull.number))


def newest_closed(
    github: GitHub, repository: str, *, head: str, base: str, without: str
) -> PullRequest | None:
    """The newest pull request from `head` into `base` that is closed or merged.

    Unmerged ones with the label `without` are passed over. As many pages are read as it takes.
    Raises GitHubError.
    """
    pages = closed_pages(github, repository, head=head, base=base, without=without)
    return next((pull for page in pages for pull in page), None)


def closed_pages(
    github: GitHub, repository: str, *, head: str, base: str, without: str
) -> Iterator[tuple[PullRequest, ...]]:
    """The pull requests from `head` into `base` that are closed or merged, newest first.

    Unmerged ones with the label `without` are passed over. A page is read when it is wanted.
    Raises GitHubError.
    """
    failure, parameters = _listing(repository, head, base, "closed")
    page = 0
    while True:
        page += 1
        numbered = {**parameters, "per_page": str(PAGE), "page": str(page)}
        found = rest.read(github, repository, failure, "/pulls", numbered)
        ours = _ours(found, head, base, "closed")
        yield tuple(pull for pull in ours if pull.merged or missing_labels([without], pull.labels))
        if len(found) < PAGE:
            return


def into(github: GitHub, repository: str, base: str) -> tuple[PullRequest, ...]:
    """Every open pull request into a branch, of anybody, oldest first. Raises GitHubError."""
    failure = f"the pull requests into {base} cannot be listed"
    found = rest.read_all(github, repository, failure, "/pulls", {"base": base, "state": "open"})
    pulls = map(from_json.pull_request, found)
    wanted = (pull for pull in pulls if (pull.base_branch, pull.state) == (base, "open"))
    return tuple(sorted(wanted, key=lambda pull: pull.number))


def changed_paths(github: GitHub, repository: str, number: int) -> frozenset[str]:
    """The paths that a pull request changes, with the former ones of what it renames.

    GitHub tells of 3000 files at most. Raises GitHubError.
    """
    failure = f"the files of pull request #{number} cannot be listed"
    found = rest.read_all(github, repository, failure, f"/pulls/{number}/files")
    paths = {str(file["filename"]) for file in found}
    return frozenset(paths | {str(file.get("previous_filename", "")) for file in found} - {""})


def get(github: GitHub, repository: str, number: int) -> PullRequest:
    """A pull request by its number. Raises GitHubError."""
    failure = f"pull request #{number} cannot be read"
    return from_json.pull_request(rest.read(github, repository, failure, f"/pulls/{number}"))


def ensure(
    github: GitHub,
    repository: str,
    *,
    head: str,
    base: str,
    title: str,
    body: str,
    labels: Collection[str] = (),
) -> tuple[PullRequest, idempotent_writes.WriteResult]:
    """The one open pull request from `head` into `base`, with this title and body, and labels.

    One that is open already is updated where it differs; other labels on it stay. Labels that the
    repository lacks come in GitHub's colour: `labels.ensure` them before. Raises GitHubError.
    """
    title, body = (
        length_limits.truncate(title, length_limits.TITLE),
        length_limits.truncate_body(body),
    )

    def find_open() -> PullRequest | None:
        return next(iter(find(github, repository, head=head, base=base)), None)

    def create() -> PullRequest:
        failure = f"the pull request from {head} into {base} cannot be opened"
        content = {"head": head, "base": base, "title": title, "body": body}
        return from_json.pull_request(
            rest.write(github, repository, failure, "POST", "/pulls", content, advice=ADVICE)
        )

    found, created = idempotent_writes.write_if_absent(github, find_open, create)
    pull = _described(github, repository, found, title, body)
    if missing_labels(labels, pull.labels):
        add_labels(github, repository, pull.number, labels)
        added = missing_labels(labels, pull.labels)
        pull = replace(pull, labels=(*pull.labels, *added))
    if created:
        return pull, "created"
    return pull, "unchanged" if pull == found else "updated"


def close(
    github: GitHub,
    repository: str,
    number: int,
    *,
    mark: str,
    comment: str,
    labels: Collection[str] = (),
) -> bool:
    """Close an open pull request with a comment that says why; whether it was open.

    `mark` is the comment's first line. Labels and comment come first: where closing fails, the next
    run finds it open and goes on. Raises GitHubError.
    """
    if get(github, repository, number).state == "closed":
        return False
    if labels:
        add_labels(github, repository, number, labels)
    comments.ensure(github, repository, number, mark, comment)

    def find_closed() -> PullRequest | None:
        pull = get(github, repository, number)
        return pull if pull.state == "closed" else None

    def write() -> PullRequest:
        failure = f"pull request #{number} cannot be closed"
        return _edit(github, repository, failure, number, {"state": "closed"})

    idempotent_writes.write_verified(github, find_closed, write)
    return True


def _listing(repository: str, head: str, base: str, state: State) -> tuple[str, dict[str, str]]:
    """What is asked, in words and as parameters; GitHub lists the newest first."""
    owner = repository.partition("/")[0]
    parameters = {"head": f"{owner}:{head}", "state": state}
    if base:
        parameters["base"] = base
    return f"the pull requests from {head} cannot be listed", parameters


def _ours(found: Iterable[rest.Json], head: str, base: str, state: State) -> Iterator[PullRequest]:
    """GitHub ignores a filter that it cannot read, and then lists every pull request."""
    for one in found:
        if not from_json.in_own_repository(one):
            continue
        pull = from_json.pull_request(one)
        fits = pull.head_branch == head and base in {"", pull.base_branch}
        if fits and state in {"all", pull.state}:
            yield pull


def _described(
    github: GitHub, repository: str, pull: PullRequest, title: str, body: str
) -> PullRequest:
    """The pull request with this title and body, written where they differ."""

    def as_wanted(pull: PullRequest) -> PullRequest | None:
        same = pull.title == title.strip() and length_limits.same_text(pull.body, body)
        return pull if same else None

    def write() -> PullRequest:
        failure = f"pull request #{pull.number} cannot be updated"
        return _edit(github, repository, failure, pull.number, {"title": title, "body": body})

    return as_wanted(pull) or idempotent_writes.write_verified(
        github, lambda: as_wanted(get(github, repository, pull.number)), write
    )


def _edit(
    github: GitHub, repository: str, failure: str, number: int, content: dict[str, str]
) -> PullRequest:
    return from_json.pull_request(
        rest.write(github, repository, failure, "PATCH", f"/pulls/{number}", content)
    )
