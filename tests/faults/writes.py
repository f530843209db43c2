"""All writes of the clients: preparation, call, and the request that hits a fault.

`R` in an endpoint stands for `/repos/{owner}/{repo}`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final

from kalypso_actions.clients.github import (
    auto_merges,
    branches,
    comments,
    git_data,
    issues,
    labels,
    merging,
    pull_requests,
    refs,
    statuses,
    workflows,
)
from kalypso_actions.model.github import CommitStatus
from kalypso_actions.sandbox import Exchange
from kalypso_actions.sandbox.store import BranchRule
from tests.faults.trials import FORMER, Act, Trial

TOKENS: Final = "/app/installations/{installation_id}/access_tokens"
GRAPHQL: Final = "/graphql"
Merge = Callable[..., merging.Merged | merging.Refused]

MARK: Final = "<!-- kalypso -->"
TITLE: Final = "dev: 2 assignments cannot be rendered"
STATUS: Final = CommitStatus("Promoted/dev", "success", "to dev", "https://example.com/run")


@dataclass(frozen=True)
class Write:
    """A call that writes.

    `endpoint`     method and path of the request that meets the faults
    `can_be_found` whether what was written can be found again, so that nothing is written twice
    `is_recent`    whether the call itself has written or listed the object of that request
    `half_open`    how many issues or pull requests are open half-way, where one replaces another
    """

    name: str
    endpoint: tuple[str, str]
    prepare: Act
    act: Act
    can_be_found: bool = True
    is_recent: bool = False
    half_open: int | None = None

    @property
    def can_lag(self) -> bool:
        """Whether GitHub may not know the object of the request yet."""
        path = self.endpoint[1]
        return "_number}" in path or path.endswith(("/statuses/{sha}", "/pulls"))

    @property
    def by_git(self) -> bool:
        """Whether the write is a push."""
        return self.endpoint[1].endswith("git-receive-pack")

    def asks(self, exchange: Exchange) -> bool:
        """Whether a request is the one that hits the faults."""
        method, path = self.endpoint
        named = path == exchange.template or fnmatchcase(exchange.path, path)
        return named and exchange.method == method


def _write(
    name: str,
    endpoint: str,
    act: Act,
    prepare: Act = lambda _: None,
    *,
    can_be_found: bool = True,
    is_recent: bool = False,
    half_open: int | None = None,
) -> Write:
    method, _, path = endpoint.partition(" ")
    path = path.replace("R/", "/repos/{owner}/{repo}/")
    return Write(name, (method, path), prepare, act, can_be_found, is_recent, half_open)


# Branches


def _create(trial: Trial) -> object:
    return refs.create(trial.github(), trial.repository, "new", trial.head())


def _create_by_app(trial: Trial) -> object:
    return refs.create(trial.app(), trial.repository, "new", trial.head())


def _two_branches(trial: Trial) -> None:
    trial.commit("behind")
    trial.known["before"] = trial.head("behind")
    trial.known["after"] = trial.commit("behind", "newer.txt")
    git = trial.sandbox.git(trial.repository)
    git.update_ref("refs/heads/behind", trial.known["before"], trial.known["after"])
    git.update_ref("refs/heads/ahead", trial.known["after"], None)


def _update(trial: Trial) -> object:
    known = trial.known
    return refs.update(
        trial.github(), trial.repository, "behind", known["after"], expected=known["before"]
    )


def _delete(trial: Trial) -> object:
    expected = trial.known["before"]
    return refs.delete(trial.github(), trial.repository, "behind", expected=expected)


def _commit_by_api(trial: Trial) -> object:
    """Commit to a branch: a text and a file that is no text; nothing if the branch has them."""
    github, repository = trial.github(), trial.repository
    head = branches.head(github, repository, "proposal")
    changes = {"ours.txt": b"1", "ours.png": b"\0"}
    if "ours.txt" in trial.sandbox.git(repository).files("proposal"):
        return "unchanged"
    commit = git_data.create_commit(
        github, repository, parent=trial.head(), changes=changes, message="Ours"
    )
    return refs.move(github, repository, "proposal", commit, expected=head, fast_forward=False)


# Statuses and workflows


def _post_status(trial: Trial) -> object:
    github, head = trial.github(), trial.head()
    github.recent_writes.add_push(trial.repository, "main", head)
    return statuses.post(github, trial.repository, head, STATUS)


def _dispatch(trial: Trial) -> object:
    return workflows.dispatch(trial.github(), trial.repository, "poll.yaml", ref="main", inputs={})


# Pull requests


def _branch(trial: Trial) -> None:
    trial.commit("proposal")


def _ensure_pull(trial: Trial, body: str = "second", *, label: str = "kalypso") -> int:
    github = trial.github()
    github.recent_writes.add_push(trial.repository, "proposal", trial.head("proposal"))
    pull, _ = pull_requests.ensure(
        github,
        trial.repository,
        head="proposal",
        base="main",
        title="Deploy",
        body=body,
        labels=[label],
    )
    return pull.number


def _pull(trial: Trial) -> None:
    _branch(trial)
    trial.known["number"] = str(_ensure_pull(trial, "first"))


def _former_pull(trial: Trial) -> None:
    _pull(trial)
    _by_former_identity(trial)


def _by_former_identity(trial: Trial) -> None:
    with trial.sandbox.lock:
        trial.sandbox.repository(trial.repository).issues[_number(trial)].author = FORMER


def _number(trial: Trial) -> int:
    return int(trial.known["number"])


def _set_texts(trial: Trial) -> object:
    pull = pull_requests.get(trial.github(), trial.repository, _number(trial))
    return pull_requests.set_texts(trial.github(), trial.repository, pull, "Deploy", "second")


def _close_pull(trial: Trial) -> object:
    return pull_requests.close(
        trial.github(),
        trial.repository,
        _number(trial),
        mark=MARK,
        comment="superseded",
        labels=["superseded"],
    )


def _add_labels(trial: Trial) -> object:
    return labels.add(trial.github(), trial.repository, _number(trial), ["one", "two"])


def _delete_label(trial: Trial) -> object:
    return labels.delete(trial.github(), trial.repository, "kalypso")


def _remove_label(trial: Trial) -> object:
    return labels.remove(trial.github(), trial.repository, _number(trial), "kalypso")


def _merge(trial: Trial, merge: Merge = merging.merge) -> None:
    github, head = trial.github(), trial.head("proposal")
    github.recent_writes.add_push(trial.repository, "proposal", head)
    merged = merge(github, trial.repository, _number(trial), head=head)
    assert isinstance(merged, merging.Merged), merged


def _merge_as_allowed(trial: Trial) -> None:
    _merge(trial, merging.merge_as_allowed)


def _blocked_pull(trial: Trial) -> None:
    """Open a pull request that a missing check holds up."""
    _pull(trial)
    with trial.sandbox.lock:
        repository = trial.sandbox.repository(trial.repository)
        repository.rules = [BranchRule(pattern="main", required_contexts=["build"])]
        repository.allow_auto_merge = True


def _merge_when_allowed(trial: Trial) -> None:
    github, head = trial.github(), trial.head("proposal")
    number = _number(trial)
    merged = auto_merges.merge_when_allowed(github, trial.repository, number, head=head)
    assert isinstance(merged, auto_merges.Enabled), merged


def _enable(trial: Trial) -> None:
    head = trial.head("proposal")
    refused = auto_merges.enable(trial.github(), trial.repository, _number(trial), head=head)
    assert refused is None, refused


def _enabled(trial: Trial) -> None:
    _blocked_pull(trial)
    _enable(trial)


def _disable(trial: Trial) -> object:
    return auto_merges.disable(trial.github(), trial.repository, _number(trial))


# Labels and issues


def _ensure_label(trial: Trial) -> object:
    return labels.ensure(
        trial.github(), trial.repository, "kalypso", color="00ff00", description="by Kalypso"
    )


def _ensure_issue(trial: Trial, body: str = "second") -> int:
    issue, _ = issues.ensure(
        trial.github(), trial.repository, title=TITLE, body=body, labels=["kalypso"]
    )
    return issue.number


def _issue(trial: Trial) -> None:
    trial.known["number"] = str(_ensure_issue(trial, "first"))


def _former_issue(trial: Trial) -> None:
    _issue(trial)
    _by_former_identity(trial)


def _close(trial: Trial) -> None:
    issues.close(trial.github(), trial.repository, _number(trial), mark=MARK, comment="it is over")


def _closed_issue(trial: Trial) -> None:
    _issue(trial)
    _close(trial)


def _issue_without_label(trial: Trial) -> None:
    _issue(trial)
    with trial.sandbox.lock:
        trial.sandbox.repository(trial.repository).issues[_number(trial)].labels = []


def _two_issues(trial: Trial) -> None:
    _closed_issue(trial)
    _ensure_issue_of_another_title(trial)
    with trial.sandbox.lock:
        opened = trial.sandbox.repository(trial.repository).issues
        opened[_number(trial)].state = "open"
        opened[_number(trial) + 1].title = TITLE


def _ensure_issue_of_another_title(trial: Trial) -> None:
    issues.ensure(
        trial.github(), trial.repository, title="another", body="doubled", labels=["kalypso"]
    )


# Comments


def _comment(trial: Trial, body: str = "second") -> object:
    return comments.ensure(trial.github(), trial.repository, _number(trial), MARK, body)


def _commented(trial: Trial) -> None:
    _issue(trial)
    _comment(trial, "first")


def _commented_twice(trial: Trial) -> None:
    _issue(trial)
    _comment(trial)
    comments.ensure(trial.github(), trial.repository, _number(trial), "another", "doubled")
    with trial.sandbox.lock:
        made = trial.sandbox.repository(trial.repository).issues[_number(trial)].comments
        made[1].body = f"{MARK}\ndoubled"


_ISSUE: Final = "PATCH R/issues/{issue_number}"
_PULL: Final = "PATCH R/pulls/{pull_number}"
_MERGE: Final = "PUT R/pulls/{pull_number}/merge"
_COMMENT: Final = "POST R/issues/{issue_number}/comments"
_LABELS: Final = "POST R/issues/{issue_number}/labels"

WRITES: Final = (
    _write("refs.create", "POST R/git/refs", _create),
    _write("refs.update", "PATCH R/git/refs/{ref}", _update, _two_branches),
    _write("refs.delete", "DELETE R/git/refs/{ref}", _delete, _two_branches),
    _write("refs.move", f"POST {GRAPHQL}", _commit_by_api, _branch),
    _write("git_data.create_commit", "POST R/git/commits", _commit_by_api, _branch),
    _write("git_data: tree", "POST R/git/trees", _commit_by_api, _branch),
    _write("git_data: blob", "POST R/git/blobs", _commit_by_api, _branch),
    _write("statuses.post", "POST R/statuses/{sha}", _post_status, is_recent=True),
    _write("pulls.ensure create", "POST R/pulls", _ensure_pull, _branch, is_recent=True),
    _write("pulls.ensure: labels", _LABELS, _ensure_pull, _branch, is_recent=True),
    _write("pulls.ensure update", _PULL, _ensure_pull, _pull, is_recent=True),
    _write("pulls.ensure: former", _PULL, _ensure_pull, _former_pull, is_recent=True, half_open=0),
    _write("pulls: on former", _COMMENT, _ensure_pull, _former_pull, is_recent=True, half_open=0),
    _write("pulls.set_texts", _PULL, _set_texts, _pull),
    _write("pulls.close", _PULL, _close_pull, _pull),
    _write("pulls.close: comment", _COMMENT, _close_pull, _pull),
    _write("pulls.close: labels", _LABELS, _close_pull, _pull),
    _write("merge", _MERGE, _merge, _pull, is_recent=True),
    _write("merge_as_allowed", _MERGE, _merge_as_allowed, _pull, is_recent=True),
    _write("auto_merges.enable", f"POST {GRAPHQL}", _enable, _blocked_pull),
    _write("auto_merges.disable", f"POST {GRAPHQL}", _disable, _enabled),
    _write("auto_merges.merge_when_allowed", f"POST {GRAPHQL}", _merge_when_allowed, _blocked_pull),
    _write("labels.add", _LABELS, _add_labels, _issue),
    _write("labels.remove", "DELETE R/issues/{issue_number}/labels/{name}", _remove_label, _issue),
    _write("labels.delete", "DELETE R/labels/{name}", _delete_label, _ensure_label),
    _write("labels.ensure", "POST R/labels", _ensure_label),
    _write("issues.ensure create", "POST R/issues", _ensure_issue),
    _write("issues.ensure update", _ISSUE, _ensure_issue, _issue, is_recent=True),
    _write("issues.ensure reopen", _ISSUE, _ensure_issue, _closed_issue, is_recent=True),
    _write("issues.ensure: label", _LABELS, _ensure_issue, _issue_without_label, is_recent=True),
    _write("issues.ensure: twice", _ISSUE, _ensure_issue, _two_issues, is_recent=True),
    _write(
        "issues.ensure: former", _ISSUE, _ensure_issue, _former_issue, is_recent=True, half_open=2
    ),
    _write(
        "issues: on former", _COMMENT, _ensure_issue, _former_issue, is_recent=True, half_open=2
    ),
    _write("issues.close", _ISSUE, _close, _issue),
    _write("issues.close: comment", _COMMENT, _close, _issue),
    _write("comments.ensure create", _COMMENT, _comment, _issue),
    _write("comments.ensure on a pull request", _COMMENT, _comment, _pull),
    _write("comments.ensure update", "PATCH R/issues/comments/{comment_id}", _comment, _commented),
    _write(
        "comments.ensure: twice",
        "DELETE R/issues/comments/{comment_id}",
        _comment,
        _commented_twice,
    ),
    _write(
        "workflows.dispatch",
        "POST R/actions/workflows/{workflow_id}/dispatches",
        _dispatch,
        can_be_found=False,
    ),
    _write("a token of an App", f"POST {TOKENS}", _create_by_app),
)
