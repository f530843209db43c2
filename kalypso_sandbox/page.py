"""The page of a sandbox for people: repositories, pull requests, runs and statuses, read-only.

Its path, below `/_sandbox/`, cannot be one of GitHub's, because no login begins with `_`. The page
has no scripts, and its policy allows only its own style.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from flask import Blueprint, Response, render_template

from kalypso_sandbox.git.repositories import BareRepository
from kalypso_sandbox.state import State
from kalypso_sandbox.store import Issue, PullRequest, Repository, WorkflowRun

PAGE: Final = "/_sandbox/"
FOLDER: Final = Path(__file__).parent / "pages"

MOST: Final = 20
"""The number of pull requests and runs to show, newest first; of statuses, twice as many."""

MOST_LINES: Final = 500
"""The number of lines to show of a diff."""

LOOKS: Final = {
    **dict.fromkeys(("success", "merged", "open"), "good"),
    **dict.fromkeys(("failure", "error", "cancelled", "timed_out", "closed"), "bad"),
    **dict.fromkeys(("pending", "queued", "in_progress", "waiting", "draft"), "warn"),
}
LINE_LOOKS: Final = {
    "diff --git": "file",
    **dict.fromkeys(("@@", "+++", "---"), "hunk"),
    "+": "added",
    "-": "removed",
}
"""The looks of a diff's lines, by their prefixes; the first match counts."""


def address_on_page(path: str, accept: str, state: State) -> str:
    """Return the page's address for the repository of a path; "" for other paths and for programs.

    Links of reports and jobs lead to GitHub's pages of commits, files, pull requests and runs. Only
    browsers accept HTML; programs get the answer of the API instead.
    """
    owner, _, rest = path.strip("/").partition("/")
    if "text/html" not in accept:
        return ""
    with state.lock:
        repository = state.store.repository(f"{owner}/{rest.partition('/')[0]}")
    return f"{PAGE}#{repository.full_name}" if repository else ""


def add_page(routes: Blueprint, state: State) -> None:
    """Add the page to the routes, which must look for templates in `FOLDER`."""
    style = (FOLDER / "overview.css").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    headers = {
        "Content-Security-Policy": f"default-src 'none'; style-src 'sha256-{digest}'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        "Cache-Control": "no-store",
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
    }

    def page() -> Response:
        with state.lock:
            state.before_endpoint()
            repositories = state.store.repositories.values()
            text = render_template(
                "overview.html",
                style=style,
                url=state.store.server_url,
                now=state.store.now,
                repositories=[_repository(each, state.store.git(each)) for each in repositories],
            )
        content = text.encode("utf-8", "backslashreplace")
        return Response(content, headers=headers, content_type="text/html; charset=utf-8")

    routes.add_url_rule(PAGE, page.__name__, page, methods=["GET"], strict_slashes=False)


def _repository(repository: Repository, git: BareRepository) -> dict[str, Any]:
    issues = sorted(repository.issues.values(), key=lambda issue: -issue.number)
    pulls = [(issue, issue.pull_request) for issue in issues if issue.pull_request]
    latest = {(each.commit, each.context.lower()): each for each in repository.statuses}
    return {
        "name": repository.full_name,
        "visibility": repository.visibility,
        "branches": list(_branches(repository, git)),
        "pull_requests": [_pull_request(*each, git) for each in pulls[:MOST]],
        "older": max(0, len(pulls) - MOST),
        "runs": [_run(each) for each in repository.runs[: -MOST - 1 : -1]],
        "statuses": [
            {**dict(each), "at": each.created_at, "look": LOOKS[each.state]}
            for each in list(latest.values())[: -2 * MOST - 1 : -1]
        ],
    }


def _branches(repository: Repository, git: BareRepository) -> Iterator[dict[str, str]]:
    """Yield the branches, the default one first."""
    heads = git.branches()
    for name in sorted(heads, key=lambda each: (each != repository.default_branch, each)):
        commit = git.commit(heads[name])
        subject = commit.message.partition("\n")[0]
        author = commit.author.name
        yield {"name": name, "commit": commit.id, "subject": subject, "author": author}


def _pull_request(issue: Issue, pull: PullRequest, git: BareRepository) -> dict[str, Any]:
    state: str = "merged" if pull.merged_at else issue.state
    state = "draft" if pull.draft and state == "open" else state
    return {
        "number": issue.number,
        "title": issue.title,
        "author": issue.author,
        "state": state,
        "look": LOOKS[state],
        "head": pull.head_branch,
        "base": pull.base_branch,
        "at": pull.merged_at or issue.closed_at or issue.created_at,
        "diff": _diff(pull, git),
    }


def _diff(pull: PullRequest, git: BareRepository) -> Sequence[dict[str, str]]:
    """Return the lines of the diff from the common ancestor to the head, as on GitHub."""
    try:
        base = git.merge_base(pull.base_commit, pull.head_commit) or pull.base_commit
        lines = git.patch(base, pull.head_commit).decode("utf-8", "replace").splitlines()
    except LookupError as error:  # the fork was deleted
        lines = [str(error)]
    more = len(lines) - MOST_LINES
    shown = [*lines[:MOST_LINES], *([f"and {more} more lines"] if more > 0 else [])]
    return [{"text": line, "look": _line_look(line)} for line in shown]


def _line_look(line: str) -> str:
    return next((style for start, style in LINE_LOOKS.items() if line.startswith(start)), "")


def _run(run: WorkflowRun) -> dict[str, Any]:
    state = run.conclusion or run.status
    return {**dict(run), "state": state, "look": LOOKS.get(state, ""), "at": run.created_at}
