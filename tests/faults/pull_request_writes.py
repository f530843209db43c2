"""The writes of the clients to pull requests: texts, merges and auto-merge."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from kalypso_actions.clients.github import merging, pull_requests
from kalypso_actions.errors import KalypsoError
from kalypso_sandbox.store import BranchRule
from tests.faults.issue_writes import (
    COMMENT,
    LABELS,
    MARK,
    by_former_identity,
    ensure_comment,
    known_number,
)
from tests.faults.trials import Trial
from tests.faults.write import GRAPHQL, write

Merge = Callable[..., merging.Merged | merging.Refused]

_PULL: Final = "PATCH R/pulls/{pull_number}"
_MERGE: Final = "PUT R/pulls/{pull_number}/merge"


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
    by_former_identity(trial)


def _set_texts(trial: Trial) -> object:
    pull = pull_requests.get(trial.github(), trial.repository, known_number(trial))
    return pull_requests.set_texts(trial.github(), trial.repository, pull, "Deploy", "second")


def _close_pull(trial: Trial) -> object:
    return pull_requests.close(
        trial.github(),
        trial.repository,
        known_number(trial),
        mark=MARK,
        comment="superseded",
        labels=["superseded"],
    )


def _merge(trial: Trial, merge: Merge = merging.merge) -> None:
    github, head = trial.github(), trial.head("proposal")
    github.recent_writes.add_push(trial.repository, "proposal", head)
    merged = merge(github, trial.repository, known_number(trial), head=head)
    if isinstance(merged, merging.Refused):
        raise KalypsoError(merged.reason)


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
    number = known_number(trial)
    merged = merging.merge_when_allowed(github, trial.repository, number, head=head)
    assert isinstance(merged, merging.Enabled), merged


def _enable(trial: Trial) -> None:
    head = trial.head("proposal")
    refused = merging.enable_auto_merge(
        trial.github(), trial.repository, known_number(trial), head=head
    )
    assert refused is None, refused


def _enabled(trial: Trial) -> None:
    _blocked_pull(trial)
    _enable(trial)


def _disable(trial: Trial) -> object:
    return merging.disable_auto_merge(trial.github(), trial.repository, known_number(trial))


PULL_REQUEST_WRITES: Final = (
    write("pulls.ensure create", "POST R/pulls", _ensure_pull, _branch, is_recent=True),
    write("pulls.ensure: labels", LABELS, _ensure_pull, _branch, is_recent=True),
    write("pulls.ensure update", _PULL, _ensure_pull, _pull, is_recent=True),
    write("pulls.ensure: former", _PULL, _ensure_pull, _former_pull, is_recent=True, half_open=0),
    write("pulls: on former", COMMENT, _ensure_pull, _former_pull, is_recent=True, half_open=0),
    write("pulls.set_texts", _PULL, _set_texts, _pull),
    write("pulls.close", _PULL, _close_pull, _pull),
    write("pulls.close: comment", COMMENT, _close_pull, _pull),
    write("pulls.close: labels", LABELS, _close_pull, _pull),
    write("merge", _MERGE, _merge, _pull, is_recent=True),
    write("merge_as_allowed", _MERGE, _merge_as_allowed, _pull, is_recent=True),
    write("enable_auto_merge", f"POST {GRAPHQL}", _enable, _blocked_pull),
    write("disable_auto_merge", f"POST {GRAPHQL}", _disable, _enabled),
    write("merge_when_allowed", f"POST {GRAPHQL}", _merge_when_allowed, _blocked_pull),
    write("comments.ensure on a pull request", COMMENT, ensure_comment, _pull),
)
