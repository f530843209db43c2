"""Issues in a GitOps repository: a failing assignment, or an unusable registration.

The title, with the names and the environment, identifies an issue. The first line of the body has
a hash of the failure, so that the issue is updated only if the failure changes.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from kalypso_actions.errors import Problem
from kalypso_actions.model.github import Issue
from kalypso_actions.report import markdown
from kalypso_actions.report.documents import ProblemEntry

ASSIGNMENT: Final = (
    "Can't generate manifests for deplyment target {} in cluster type {} in {} environment"
)
"""Upstream's title, with its misspelling: it identifies existing issues."""

REGISTRATION: Final = "Can't read the workload registration {} in {} environment"

NAME: Final = r"([a-z0-9.-]+)"
ASSIGNMENT_TITLE: Final = re.compile(ASSIGNMENT.replace("{}", NAME))
REGISTRATION_TITLE: Final = re.compile(REGISTRATION.replace("{}", NAME))


@dataclass(frozen=True, slots=True)
class FailureIssue:
    """Title and body; the title identifies the issue."""

    title: str
    body: str


def assignment_title(target: str, cluster_type: str, environment: str) -> str:
    """Return the title for a failing assignment."""
    return ASSIGNMENT.format(target, cluster_type, environment)


def assignment_issue(
    target: str, cluster_type: str, environment: str, failure: Problem, run_url: str
) -> FailureIssue:
    """Describe a failing assignment; `failure` has upstream's message."""
    return _issue(
        assignment_title(target, cluster_type, environment),
        ("assignment", environment),
        [failure],
        "Until this is solved, the environment's pull request is not updated, or leaves the "
        "target's folder unchanged, depending on `on-failure`.",
        run_url,
    )


def registration_issue(
    name: str, environment: str, problems: Sequence[Problem], run_url: str
) -> FailureIssue:
    """Describe the problems of a registration or its repository."""
    return _issue(
        REGISTRATION.format(name, environment),
        ("registration", environment),
        problems,
        "Until this is solved, its last good commit is used, or its targets' folders stay "
        "unchanged.",
        run_url,
    )


def as_written(issue: FailureIssue, known: Iterable[Issue]) -> str:
    """Return the body to write: the existing one if it describes the same failure.

    So people's edits stay, and the link to another run is no reason to update.
    """
    first = issue.body.partition("\n")[0]
    for existing in known:
        if existing.title == issue.title and existing.body.partition("\n")[0].strip() == first:
            return existing.body
    return issue.body


def settled(
    known: Iterable[Issue],
    environment: str,
    wanted: Collection[str],
    is_unknown: Callable[[str, str], bool],
) -> tuple[Issue, ...]:
    """Return the open issues of an environment whose failure is gone: those not in `wanted`.

    `is_unknown` tells whether this run knows nothing about a cluster type and a target; their
    issue stays open.
    """
    return tuple(
        issue
        for issue in known
        if issue.state == "open"
        and issue.title not in wanted
        and _is_settled(issue.title, environment, is_unknown)
    )


def _is_settled(title: str, environment: str, is_unknown: Callable[[str, str], bool]) -> bool:
    """Parse the title, which is unambiguous because names have no spaces."""
    assignment = ASSIGNMENT_TITLE.fullmatch(title)
    if assignment:
        target, cluster_type, place = assignment.groups()
        return place == environment and not is_unknown(cluster_type, target)
    registration = REGISTRATION_TITLE.fullmatch(title)
    return registration is not None and registration[2] == environment


def _issue(
    title: str, mark: tuple[str, str], problems: Sequence[Problem], note: str, run_url: str
) -> FailureIssue:
    entries = ProblemEntry.all_of(problems)
    content = "\n\n".join(map(_problem, entries))
    digest = hashlib.sha256(content.encode("utf-8", "backslashreplace")).hexdigest()[:16]
    first = markdown.marker(*mark, content=digest)
    run = f"_Found by {markdown.link('this run', run_url)}._" if run_url else ""
    return FailureIssue(title, "\n\n".join(filter(None, [f"{first}\n{content}", note, run])))


def _problem(entry: ProblemEntry) -> str:
    lines = [markdown.block(entry.message.strip("\n"))]
    if entry.advice:
        lines.append(f"→ {markdown.text(entry.advice)}")
    if entry.where:
        line = f":{entry.where.line}" if entry.where.line else ""
        place = f"{entry.where.path}{line}" if entry.where.path else ""
        file = f"{markdown.code(place)} in " if place else ""
        lines.append(f"See {file}{markdown.code(entry.where.repository)}.")
    return "\n\n".join(lines)
