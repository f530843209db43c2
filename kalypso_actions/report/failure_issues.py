"""Issues in a GitOps repository: an assignment that fails, a registration that cannot be used.

An issue is known by its title, which names what it is about and the environment. Its first line
says which failure the rest describes, so that it is written again only when that changes.
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
"""Upstream's title, its misspelling included: issues are found again by it."""

REGISTRATION: Final = "Can't read the workload registration {} in {} environment"

NAME: Final = r"([a-z0-9.-]+)"
ASSIGNMENT_TITLE: Final = re.compile(ASSIGNMENT.replace("{}", NAME))
REGISTRATION_TITLE: Final = re.compile(REGISTRATION.replace("{}", NAME))


@dataclass(frozen=True, slots=True)
class FailureIssue:
    """What an issue says; two of the same `title` are the same."""

    title: str
    body: str


def assignment_title(target: str, cluster_type: str, environment: str) -> str:
    """The issue's title for an assignment that fails."""
    return ASSIGNMENT.format(target, cluster_type, environment)


def assignment_issue(
    target: str, cluster_type: str, environment: str, failure: Problem, run_url: str
) -> FailureIssue:
    """`failure` has the message as upstream words it, with the place and the advice."""
    return _issue(
        assignment_title(target, cluster_type, environment),
        ("assignment", environment),
        [failure],
        "The environment's pull request is not updated until this is solved, or leaves the "
        "target's folder as it is, as `on-failure` says.",
        run_url,
    )


def registration_issue(
    name: str, environment: str, problems: Sequence[Problem], run_url: str
) -> FailureIssue:
    """What is wrong with a registered repository, or its registration."""
    return _issue(
        REGISTRATION.format(name, environment),
        ("registration", environment),
        problems,
        "Until this is solved, its last good commit is used, or its targets' folders stay as they "
        "are.",
        run_url,
    )


def as_written(issue: FailureIssue, known: Iterable[Issue]) -> str:
    """The body to write: the one that is there, where it describes the same failure.

    So a link to another run, or what people have added, makes no difference.
    """
    first = issue.body.partition("\n")[0]
    for one in known:
        if one.title == issue.title and one.body.partition("\n")[0].strip() == first:
            return one.body
    return issue.body


def settled(
    known: Iterable[Issue],
    environment: str,
    wanted: Collection[str],
    is_unknown: Callable[[str, str], bool],
) -> tuple[Issue, ...]:
    """The open issues about an environment whose failure is gone: those not among the `wanted`.

    `is_unknown` says of a cluster type and a target that this run does not know about them: their
    issue stays as it is.
    """
    return tuple(
        issue
        for issue in known
        if issue.state == "open"
        and issue.title not in wanted
        and _is_settled(issue.title, environment, is_unknown)
    )


def about(known: Iterable[Issue], environment: str) -> tuple[Issue, ...]:
    """The open issues about an environment."""
    return settled(known, environment, (), lambda *_: False)


def _is_settled(title: str, environment: str, is_unknown: Callable[[str, str], bool]) -> bool:
    """Names hold no spaces, so that a title says what it is about."""
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
    told = "\n\n".join(map(_problem, entries))
    described = hashlib.sha256(told.encode("utf-8", "backslashreplace")).hexdigest()[:16]
    first = markdown.marker(*mark, content=described)
    run = f"_Found by {markdown.link('this run', run_url)}._" if run_url else ""
    return FailureIssue(title, "\n\n".join(filter(None, [f"{first}\n{told}", note, run])))


def _problem(entry: ProblemEntry) -> str:
    lines = [markdown.block(entry.message.strip("\n"))]
    if entry.advice:
        lines.append(f"→ {markdown.text(entry.advice)}")
    if entry.where:
        line = f":{entry.where.line}" if entry.where.line else ""
        place = f"{entry.where.path}{line}" if entry.where.path else ""
        told = f"{markdown.code(place)} in " if place else ""
        lines.append(f"See {told}{markdown.code(entry.where.repository)}.")
    return "\n\n".join(lines)
