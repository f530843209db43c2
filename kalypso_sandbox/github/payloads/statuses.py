"""Commit statuses."""

from __future__ import annotations

from collections.abc import Sequence

from kalypso_sandbox.github.endpoints import Json
from kalypso_sandbox.github.payloads import accounts, repositories
from kalypso_sandbox.github.payloads.view import View, node_id, timestamp
from kalypso_sandbox.store import Repository, Status


def full(view: View, repository: Repository, status: Status) -> Json:
    """Return GitHub's `status`."""
    return {
        **simple(view, repository, status),
        "creator": accounts.simple(view, status.author),
    }


def simple(view: View, repository: Repository, status: Status) -> Json:
    """Return GitHub's `simple-commit-status`, as in a combined status."""
    return {
        "url": f"{view.api(repository)}/statuses/{status.commit}",
        "avatar_url": accounts.simple(view, status.author)["avatar_url"],
        "id": status.id,
        "node_id": node_id("StatusContext", status.id),
        "state": status.state,
        "description": status.description,
        "target_url": status.target_url,
        "context": status.context,
        "created_at": timestamp(status.created_at),
        "updated_at": timestamp(status.created_at),
    }


def combined(
    view: View,
    repository: Repository,
    commit: str,
    state: str,
    listed: Sequence[Status],
    total: int,
) -> Json:
    """Return GitHub's `combined-commit-status` with one page of statuses."""
    url = f"{view.api(repository)}/commits/{commit}"
    return {
        "state": state,
        "statuses": [simple(view, repository, status) for status in listed],
        "sha": commit,
        "total_count": total,
        "repository": repositories.minimal(view, repository),
        "commit_url": url,
        "url": f"{url}/status",
    }
