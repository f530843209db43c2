"""The state of a repository as facts that do not depend on ids or times.

The number of objects is a fact, too, so a second comment, issue or commit is noticed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final

from kalypso_sandbox import Sandbox
from kalypso_sandbox.store import Issue, PullRequest, Repository
from tests.git_repositories import git

STRANGER: Final = ("Be there first", "raced.txt")
"""Message and file of a concurrent commit, which must not be lost."""

OPEN: Final = "how many are open"

Facts = Mapping[str, object]


def facts(sandbox: Sandbox, repository: str) -> Facts:
    """Return all facts by name; missing objects have none."""
    with sandbox.lock:
        served = sandbox.repository(repository)
        git_dir = sandbox.git(repository).git_dir
        return {
            **_branches(git_dir),
            **_issues(served),
            **{
                f"label {label.name}": (label.color, label.description)
                for label in served.labels.values()
            },
            **{
                f"status {status.context.lower()}": (
                    status.state,
                    status.description,
                    status.target_url,
                )
                for status in served.statuses  # the oldest first: the latest counts
            },
            # Nobody can look up whether a workflow was started, and a second start does no harm.
            **({"a workflow was started": True} if served.runs else {}),
        }


def _branches(git_dir: Path) -> Facts:
    """Return, for each branch, its files and the number of commits with each message."""
    facts_by_name: dict[str, object] = {}
    heads = git(git_dir, "for-each-ref", "--format=%(objectname) %(refname:lstrip=2)", "refs/heads")
    for line in heads.splitlines():
        commit, branch = line.split(" ", 1)
        messages, entries = _history(git_dir, commit)
        ours = Counter(message for message in messages if message != STRANGER[0])
        if ours:
            facts_by_name[f"commits of {branch}"] = ours
            facts_by_name[f"files of {branch}"] = [
                entry for entry in entries if not entry.endswith(STRANGER[1])
            ]
    return facts_by_name


@cache
def _history(git_dir: Path, commit: str) -> tuple[Sequence[str], Sequence[str]]:
    """Return the messages up to a commit, and its files, which never change."""
    messages = git(git_dir, "log", "--format=%s", commit).splitlines()
    return messages, git(git_dir, "ls-tree", "-r", commit).splitlines()


def _issues(repository: Repository) -> Facts:
    """Return, by title or by head and base, the number of open ones and the first one."""
    facts_by_name: dict[str, object] = {}
    named: dict[str, list[Issue]] = {}
    for issue in repository.issues.values():
        named.setdefault(_name(issue, issue.pull_request), []).append(issue)
    for name, issues in named.items():
        first = min(issues, key=lambda issue: issue.number)
        facts_by_name[f"{name}: {OPEN}"] = sum(issue.state == "open" for issue in issues)
        facts_by_name[f"{name}: title"] = first.title
        facts_by_name[f"{name}: body"] = first.body
        facts_by_name |= {f"{name}: label {label}": True for label in first.labels}
        if first.pull_request:
            facts_by_name[f"{name}: merged"] = first.pull_request.merged_at is not None
            facts_by_name[f"{name}: auto-merge"] = first.pull_request.auto_merge is not None
        for mark, bodies in _comments(
            comment.body.replace(repository.full_name, "R") for comment in first.comments
        ):
            facts_by_name[f"{name}: comments {mark}"] = bodies
    return facts_by_name


def _name(issue: Issue, pull: PullRequest | None) -> str:
    if pull is None:
        return f"issue “{issue.title}”"
    return f"pull request {pull.head_branch} → {pull.base_branch}"


def _comments(bodies: Iterable[str]) -> Iterable[tuple[str, list[str]]]:
    """Return comments by their first line, the marker."""
    marked: dict[str, list[str]] = {}
    for body in bodies:
        marked.setdefault(body.partition("\n")[0], []).append(body)
    return marked.items()
