"""What the statuses of a commit say together."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Literal

from kalypso_actions.sandbox.store import Repository, Status


def latest(repository: Repository, commit: str) -> Mapping[str, Status]:
    """The last status of each context, under the context in lower case: GitHub ignores case."""
    return {
        status.context.lower(): status for status in repository.statuses if status.commit == commit
    }


def combined(statuses: Collection[Status]) -> Literal["failure", "pending", "success"]:
    """One state for all: `failure` for any error or failure, `pending` where there are none."""
    states = {status.state for status in statuses}
    if states & {"error", "failure"}:
        return "failure"
    return "success" if states == {"success"} else "pending"
