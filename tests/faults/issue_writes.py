"""The writes of the clients to issues: texts, labels and comments."""

from __future__ import annotations

from typing import Final

from kalypso_actions.clients.github import comments, issues, labels
from tests.faults.trials import FORMER, Trial
from tests.faults.write import write

MARK: Final = "<!-- kalypso -->"
TITLE: Final = "dev: 2 assignments cannot be rendered"

COMMENT: Final = "POST R/issues/{issue_number}/comments"
LABELS: Final = "POST R/issues/{issue_number}/labels"
_ISSUE: Final = "PATCH R/issues/{issue_number}"


def by_former_identity(trial: Trial) -> None:
    with trial.sandbox.lock:
        trial.sandbox.repository(trial.repository).issues[known_number(trial)].author = FORMER


def known_number(trial: Trial) -> int:
    return int(trial.known["number"])


def _add_labels(trial: Trial) -> object:
    return labels.add(trial.github(), trial.repository, known_number(trial), ["one", "two"])


def _delete_label(trial: Trial) -> object:
    return labels.delete(trial.github(), trial.repository, "kalypso")


def _remove_label(trial: Trial) -> object:
    return labels.remove(trial.github(), trial.repository, known_number(trial), "kalypso")


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
    by_former_identity(trial)


def _close(trial: Trial) -> None:
    issues.close(
        trial.github(), trial.repository, known_number(trial), mark=MARK, comment="it is over"
    )


def _closed_issue(trial: Trial) -> None:
    _issue(trial)
    _close(trial)


def _issue_without_label(trial: Trial) -> None:
    _issue(trial)
    with trial.sandbox.lock:
        trial.sandbox.repository(trial.repository).issues[known_number(trial)].labels = []


def _two_issues(trial: Trial) -> None:
    _closed_issue(trial)
    _ensure_issue_of_another_title(trial)
    with trial.sandbox.lock:
        opened = trial.sandbox.repository(trial.repository).issues
        opened[known_number(trial)].state = "open"
        opened[known_number(trial) + 1].title = TITLE


def _ensure_issue_of_another_title(trial: Trial) -> None:
    issues.ensure(
        trial.github(), trial.repository, title="another", body="doubled", labels=["kalypso"]
    )


def ensure_comment(trial: Trial, body: str = "second") -> object:
    return comments.ensure(trial.github(), trial.repository, known_number(trial), MARK, body)


def _commented(trial: Trial) -> None:
    _issue(trial)
    ensure_comment(trial, "first")


def _commented_twice(trial: Trial) -> None:
    _issue(trial)
    ensure_comment(trial)
    comments.ensure(trial.github(), trial.repository, known_number(trial), "another", "doubled")
    with trial.sandbox.lock:
        made = trial.sandbox.repository(trial.repository).issues[known_number(trial)].comments
        made[1].body = f"{MARK}\ndoubled"


ISSUE_WRITES: Final = (
    write("labels.add", LABELS, _add_labels, _issue),
    write("labels.remove", "DELETE R/issues/{issue_number}/labels/{name}", _remove_label, _issue),
    write("labels.delete", "DELETE R/labels/{name}", _delete_label, _ensure_label),
    write("labels.ensure", "POST R/labels", _ensure_label),
    write("issues.ensure create", "POST R/issues", _ensure_issue),
    write("issues.ensure update", _ISSUE, _ensure_issue, _issue, is_recent=True),
    write("issues.ensure reopen", _ISSUE, _ensure_issue, _closed_issue, is_recent=True),
    write("issues.ensure: label", LABELS, _ensure_issue, _issue_without_label, is_recent=True),
    write("issues.ensure: twice", _ISSUE, _ensure_issue, _two_issues, is_recent=True),
    write(
        "issues.ensure: former", _ISSUE, _ensure_issue, _former_issue, is_recent=True, half_open=2
    ),
    write("issues: on former", COMMENT, _ensure_issue, _former_issue, is_recent=True, half_open=2),
    write("issues.close", _ISSUE, _close, _issue),
    write("issues.close: comment", COMMENT, _close, _issue),
    write("comments.ensure create", COMMENT, ensure_comment, _issue),
    write(
        "comments.ensure update", "PATCH R/issues/comments/{comment_id}", ensure_comment, _commented
    ),
    write(
        "comments.ensure: twice",
        "DELETE R/issues/comments/{comment_id}",
        ensure_comment,
        _commented_twice,
    ),
)
