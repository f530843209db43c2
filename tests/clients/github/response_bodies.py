"""Bodies of GitHub's responses, with the fields that the client reads."""

from __future__ import annotations

from typing import Any

Json = Any


def pull(number: int = 7, **changes: Json) -> Json:
    """Return an open pull request from `kalypso/dev` into `dev`, with these changes."""
    ours = {"id": 1, "full_name": "acme/fleet"}
    return {
        "number": number,
        "node_id": f"PR_{number}",
        "html_url": f"https://github.com/acme/fleet/pull/{number}",
        "title": "Update dev",
        "body": "what changes",
        "state": "open",
        "created_at": "2026-01-01T00:00:00Z",
        "merged_at": None,
        "merge_commit_sha": "e" * 40,
        "head": {"ref": "kalypso/dev", "sha": "a" * 40, "repo": ours},
        "base": {"ref": "dev", "sha": "b" * 40, "repo": ours},
        "labels": [],
        "user": {"login": "kalypso[bot]"},
        "auto_merge": None,
        **changes,
    }


def merged(number: int = 7, **changes: Json) -> Json:
    """Return a merged pull request."""
    return pull(number, state="closed", merged_at="2026-01-01T00:00:00Z", **changes)


def issue(number: int = 3, **changes: Json) -> Json:
    """Return an open issue with our label."""
    return {
        "number": number,
        "html_url": f"https://github.com/acme/fleet/issues/{number}",
        "title": "It fails",
        "body": "because",
        "state": "open",
        "labels": [{"name": "kalypso"}],
        "user": {"login": "kalypso[bot]"},
        **changes,
    }


def comment(id: int = 11, **changes: Json) -> Json:  # noqa: A002 - as GitHub calls it
    """Return a comment with our marker."""
    return {
        "id": id,
        "html_url": f"https://github.com/acme/fleet/issues/3#issuecomment-{id}",
        "body": "<!-- mark -->\ntext",
        "user": {"login": "kalypso[bot]"},
        **changes,
    }


def status(**changes: Json) -> Json:
    """Return a commit status."""
    return {
        "context": "dev environment",
        "state": "pending",
        "description": "Promoted",
        "target_url": None,
        "created_at": "2026-01-01T00:00:00Z",
        **changes,
    }
