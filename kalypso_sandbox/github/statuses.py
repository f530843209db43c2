"""The combined state of a commit's statuses."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Literal

from kalypso_sandbox.store import Repository, Status


def latest(repository: Repository, commit: str) -> Mapping[str, Status]:
    """Return the latest status of each context, by the context in lower case."""
    return {
        status.context.lower(): status for status in repository.statuses if status.commit == commit
    }


def combined(statuses: Collection[Status]) -> Literal["failure", "pending", "success"]:
    """Return one state for all: `failure` for any error or failure, `pending` without statuses."""
    states = {status.state for status in statuses}
    if states & {"error", "failure"}:
        return "failure"
    return "success" if states == {"success"} else "pending"
