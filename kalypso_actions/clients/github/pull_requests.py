"""Our pull requests, identified by their head and base branches, and by their author.

The head must be a branch of the repository itself; a branch of the same name in a fork belongs to
somebody else. Never edit a pull request that somebody else opened from our branch.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final, Literal
from urllib.parse import urlencode

from github.PullRequest import PullRequest as GitHubPullRequest
from github.Repository import Repository

from kalypso_actions.clients.github import comments, idempotent_writes, rest
from kalypso_actions.clients.github.connection import DELAYS, GitHub
from kalypso_actions.clients.github.labels import add as add_labels
from kalypso_actions.clients.github.labels import missing as missing_labels
from kalypso_actions.errors import KalypsoError, Location
from kalypso_actions.model.github import PullRequest
from kalypso_actions.model.own_account import is_marked

State = Literal["open", "closed", "all"]

PAGE_SIZE: Final = 50
"""Large enough that the first page usually contains a pull request that people closed, even after
several that we withdrew."""

ADVICE: Final = {
    "no commits between": "there is nothing to propose: the base already contains the head",
    "head invalid": "push the head branch to this repository first",
    "base invalid": "create the base branch in this repository",
    "a pull request already exists": "it is open under an old name of the repository or its owner:"
    " write the new name",
}


def find(
    github: GitHub, repository: str, *, head: str, base: str = "", state: State = "open"
) -> tuple[PullRequest, ...]:
    """Return the pull requests from the branch `head` (into `base`, if given), newest first.

    There is at most one open pull request for each base. Raises GitHubError.
    """
    failure = f"the pull requests from {head} cannot be listed"
    query = _filters(repository, head, base, state)
    listed = _list(github, repository, failure, query, partial(_matches, head, base, state))
    pulls = sorted(listed, key=lambda pull: -pull.number)
    for pull in pulls:
        github.recent_writes.add_pull_request(repository, pull)
    return tuple(pulls)


def newest_closed(
    github: GitHub, repository: str, *, head: str, base: str, without: str
) -> PullRequest | None:
    """Return the newest closed or merged pull request from `head` into `base`.

    Unmerged ones with the label `without` do not count. Raises GitHubError.
    """
    pages = closed_pages(github, repository, head=head, base=base, without=without)
    return next((pull for page in pages for pull in page), None)


def closed_pages(
    github: GitHub, repository: str, *, head: str, base: str, without: str = ""
) -> Iterator[tuple[PullRequest, ...]]:
    """Yield the closed and merged pull requests from `head` into `base`, newest first, by page.

    Unmerged ones with the label `without` do not count. Read pages lazily. Raises GitHubError.
    """
    failure = f"the pull requests from {head} cannot be listed"
    query = {**_filters(repository, head, base, "closed"), "per_page": str(PAGE_SIZE)}
    for page in itertools.count(1):

        def read(target: Repository, page: int = page) -> tuple[bool, list[PullRequest]]:
            answers = rest.read(target, "/pulls", {**query, "page": str(page)})
            items = (GitHubPullRequest(target.requester, {}, answer) for answer in answers)
            pulls = [_converted(pull) for pull in items if _matches(head, base, "closed", pull)]
            return len(answers) < PAGE_SIZE, pulls

        is_last, pulls = github.call(repository, failure, read)
        yield tuple(pull for pull in pulls if pull.merged or missing_labels([without], pull.labels))
        if is_last:
            return


def open_into(github: GitHub, repository: str, base: str) -> tuple[PullRequest, ...]:
    """Return all open pull requests into a branch, oldest first. Raises GitHubError."""
    failure = f"the pull requests into {base} cannot be listed"
    query = {"base": base, "state": "open"}
    pulls = _list(
        github,
        repository,
        failure,
        query,
        lambda pull: (pull.base.ref, pull.state) == (base, "open"),
    )
    return tuple(sorted(pulls, key=lambda pull: pull.number))


def open_from(github: GitHub, repository: str, owner: str, branch: str) -> tuple[PullRequest, ...]:
    """Return the open pull requests from an owner's branch, also in a fork. Raises GitHubError.

    GitHub's listing by commit omits pull requests from forks.
    """
    failure = f"the pull requests from {owner}:{branch} cannot be listed"
    query = {"head": f"{owner}:{branch}", "state": "open"}
    return tuple(_list(github, repository, failure, query, lambda _: True))


def changed_paths(github: GitHub, repository: str, number: int) -> frozenset[str]:
    """Return the paths that a pull request changes, with the old paths of renamed files.

    GitHub lists at most 3000 files. Raises GitHubError.
    """
    failure = f"the files of pull request #{number} cannot be listed"
    path = f"/pulls/{number}/files"
    files = github.call(repository, failure, lambda target: rest.read_all(target, path))
    paths = {str(file["filename"]) for file in files}
    return frozenset(paths | {str(file.get("previous_filename", "")) for file in files} - {""})


def get(github: GitHub, repository: str, number: int) -> PullRequest:
    """Return a pull request by its number. Raises GitHubError."""
    failure = f"pull request #{number} cannot be read"
    return github.call(
        repository, failure, lambda target: _converted(target.get_pull(number).complete())
    )


def with_head(github: GitHub, repository: str, number: int, head: str) -> PullRequest:
    """Return an open pull request; if this run has just pushed `head`, wait until it has this head.

    GitHub moves the head of a pull request some seconds after a push. The wait is limited. Raises
    GitHubError.
    """
    delays = iter(DELAYS)
    while True:
        pull = get(github, repository, number)
        lags = pull.state == "open" and pull.head_commit != head
        lags = lags and github.recent_writes.has_commit(repository, head)
        delay = next(delays, None) if lags else None
        if delay is None:
            return pull
        github.sleep(delay)


def ensure(
    github: GitHub,
    repository: str,
    *,
    head: str,
    base: str,
    title: str,
    body: str,
    labels: Collection[str] = (),
    replaced_labels: Collection[str] = (),
    read_first: bool = True,
) -> tuple[PullRequest, idempotent_writes.WriteResult]:
    """Open or update our pull request from `head` into `base`; set title and body, add labels.

    `body` begins with a marker of ours (`markdown.marker`): other workflows share a job's account.
    First close a pull request of a former identity, with `replaced_labels`. Without `read_first`,
    the caller has just found no open pull request, and GitHub refuses a second one. GitHub creates
    missing labels in a color of its own, unless `labels.ensure` creates them first. Raises
    GitHubError, and KalypsoError for a pull request that somebody else opened.
    """
    title, body = _truncated(title, body)

    def find_open() -> PullRequest | None:
        pulls = find(github, repository, head=head, base=base)
        for pull in pulls:
            if not is_own(github, repository, pull):
                _replace(github, repository, pull, replaced_labels)
                return None
        return next(iter(pulls), None)

    def create() -> PullRequest:
        failure = f"the pull request from {head} into {base} cannot be opened"
        pull = github.call(
            repository,
            failure,
            lambda target: _converted(target.create_pull(base, head, title=title, body=body)),
            advice=ADVICE,
        )
        github.recent_writes.add_pull_request(repository, pull)
        return pull

    existing = find_open() if read_first else None
    created = existing is None
    original = existing or idempotent_writes.write_verified(github, find_open, create)
    pull = set_texts(github, repository, original, title, body)
    if missing_labels(labels, pull.labels):
        add_labels(github, repository, pull.number, labels, read_first=False)
        added = missing_labels(labels, pull.labels)
        pull = pull._replace(labels=(*pull.labels, *added))
    if created:
        return pull, "created"
    return pull, "unchanged" if pull == original else "updated"


def set_texts(
    github: GitHub, repository: str, pull: PullRequest, title: str, body: str
) -> PullRequest:
    """Set the title and body of a pull request if they differ from those in `pull`; return it.

    Raises GitHubError.
    """
    title, body = _truncated(title, body)

    def if_current(pull: PullRequest) -> PullRequest | None:
        same = pull.title == title.strip() and idempotent_writes.same_text(pull.body, body)
        return pull if same else None

    def write() -> PullRequest:
        failure = f"pull request #{pull.number} cannot be updated"
        return _edit(github, repository, failure, pull.number, title=title, body=body)

    return if_current(pull) or idempotent_writes.write_verified(
        github, lambda: if_current(get(github, repository, pull.number)), write
    )


def is_own(github: GitHub, repository: str, pull: PullRequest) -> bool:
    """Whether we opened an open pull request from our branch; False for a former identity.

    Raises GitHubError, and KalypsoError if somebody else opened it, since GitHub allows no second
    one.
    """
    identity = github.identity(repository)
    author, marked = pull.author or "a deleted account", is_marked(pull.body)
    if identity.wrote(author, is_marked=marked):
        return True
    if identity.formerly_wrote(author, is_marked=marked):
        return False
    advice = f"close it; or, if {author} wrote for Kalypso before, name it in former-identities"
    if identity.wrote(author) or identity.formerly_wrote(author):
        author, advice = "another workflow", "close it: its text does not begin as Kalypso's"
    raise KalypsoError(
        f"{author} opened the pull request #{pull.number} from {pull.head_branch} into "
        f"{pull.base_branch}; {identity.login} does not edit it",
        Location(repository),
        advice,
    )


def close(
    github: GitHub,
    repository: str,
    number: int,
    *,
    mark: str,
    comment: str,
    labels: Collection[str] = (),
) -> bool:
    """Close an open pull request with a comment that gives the reason; return whether it was open.

    `mark` is the comment's first line. Labels and comment come first: if closing fails, the pull
    request is still open for the next run. Raises GitHubError.
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
        return _edit(github, repository, failure, number, state="closed")

    idempotent_writes.write_verified(github, find_closed, write)
    return True


def _replace(github: GitHub, repository: str, pull: PullRequest, labels: Collection[str]) -> None:
    """Close a pull request of a former identity, with a link to its replacement."""
    login = github.identity(repository).login
    query = urlencode({"q": f"is:pr is:open head:{pull.head_branch}"})
    url = f"{github.server.server_url}/{repository}/pulls?{query}"
    reason = f"{login} writes for Kalypso now, and proposes this [in another pull request]({url})."
    close(github, repository, pull.number, mark=comments.REPLACED, comment=reason, labels=labels)


def _filters(repository: str, head: str, base: str, state: State) -> dict[str, str]:
    """Return the query of a listing; GitHub lists the newest first."""
    owner = repository.partition("/")[0]
    parameters = {"head": f"{owner}:{head}", "state": state}
    return {**parameters, "base": base} if base else parameters


def _list(
    github: GitHub,
    repository: str,
    failure: str,
    query: dict[str, str],
    matches: Callable[[GitHubPullRequest], bool],
) -> list[PullRequest]:
    return github.call(
        repository,
        failure,
        lambda target: [
            _converted(pull) for pull in rest.all_of(target.get_pulls(**query)) if matches(pull)
        ],
    )


def _matches(head: str, base: str, state: State, pull: GitHubPullRequest) -> bool:
    """Filter a listing again: GitHub ignores an invalid filter and lists every pull request.

    The head must be in the repository of the base, not in a fork.
    """
    repository: Repository | None = pull.head.repo
    is_own = repository is not None and repository.id == pull.base.repo.id
    same_branches = pull.head.ref == head and base in {"", pull.base.ref}
    return is_own and same_branches and state in {"all", pull.state}


def _truncated(title: str, body: str) -> tuple[str, str]:
    return idempotent_writes.truncate(
        title, idempotent_writes.TITLE
    ), idempotent_writes.truncate_body(body)


def _edit(
    github: GitHub, repository: str, failure: str, number: int, **changes: Any
) -> PullRequest:
    def edit(target: Repository) -> PullRequest:
        pull = target.get_pull(number)
        pull.edit(**changes)
        return _converted(pull)

    return github.call(repository, failure, edit)


def _converted(pull: GitHubPullRequest) -> PullRequest:
    """Convert a pull request, and read only what GitHub has sent.

    An item of a list lacks `mergeable`, and PyGithub would send a request for it. The head of a
    deleted fork has no repository.
    """
    repository: Repository | None = pull.head.repo
    merged = pull.merged_at is not None
    auto_merge = pull.auto_merge or {}
    return PullRequest(
        number=pull.number,
        url=pull.html_url,
        title=pull.title,
        body=pull.body or "",
        state="closed" if pull.state == "closed" else "open",
        merged=merged,
        merge_commit=(pull.merge_commit_sha or "") if merged else "",
        head_repository=repository.full_name if repository else "",
        head_branch=pull.head.ref,
        head_commit=pull.head.sha,
        base_branch=pull.base.ref,
        labels=rest.label_names(pull),
        author=rest.login_of(pull.user),
        mergeable=pull.mergeable if pull.completed else None,
        merge_state=(pull.mergeable_state if pull.completed else None) or "",
        node_id=pull.node_id,
        auto_merge_by=(auto_merge["enabled_by"] or {"login": "ghost"})["login"]
        if auto_merge
        else "",
        created_at=pull.created_at,
        merged_at=pull.merged_at,
        merged_by=rest.login_of(pull.merged_by) if merged and pull.completed else "",
    )


def labels_of_commits(
    github: GitHub, repository: str, commits: Sequence[str], branch: str
) -> Mapping[str, frozenset[str]]:
    """Return the labels of the pull requests by whose merge into a branch commits came.

    A commit without such a pull request has none. At most a hundred commits. Raises GitHubError,
    with the status 403 for a token that may not read pull requests.
    """
    failure = f"the pull requests of {len(commits)} commits cannot be read"
    variables = {f"commit{n}": commit for n, commit in enumerate(commits)}
    query = query_of_merges(len(commits))
    data = github.query_repository(
        repository, failure, query, variables, "contents: read and pull-requests: read"
    )
    labels: dict[str, frozenset[str]] = {}
    for number, commit in enumerate(commits):
        merges = (data[f"c{number}"] or {}).get("associatedPullRequests") or {"nodes": ()}
        labels[commit] = frozenset(
            label["name"]
            for pull in merges["nodes"]
            if pull["merged"] and pull["baseRefName"] == branch
            for label in pull["labels"]["nodes"]
        )
    return labels


def query_of_merges(count: int) -> str:
    """Return the GraphQL query for `count` commits: `owner`, `name`, `commit0`, `commit1`, …."""
    variables = "".join(f", $commit{n}: GitObjectID!" for n in range(count))
    fields = "merged baseRefName labels(first: 100) { nodes { name } }"
    objects = "\n".join(
        f"    c{n}: object(oid: $commit{n}) {{ ... on Commit "
        f"{{ associatedPullRequests(first: 10) {{ nodes {{ {fields} }} }} }} }}"
        for n in range(count)
    )
    return (
        f"query Merges($owner: String!, $name: String!{variables}) {{\n"
        f"  repository(owner: $owner, name: $name) {{\n{objects}\n  }}\n}}"
    )
