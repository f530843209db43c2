"""Issues in a GitOps repository: a failing assignment, or an unusable registration.

The title, with the names and the environment, identifies an issue. The first line of the body has
a hash of the failure, so that the issue is updated only if the failure changes.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from operator import add
from typing import Final

from kalypso_actions.errors import Problem
from kalypso_actions.model.github import Issue
from kalypso_actions.report import markdown
from kalypso_actions.report.documents import ProblemEntry, Where

ASSIGNMENT: Final = (
    "Can't generate manifests for deplyment target {} in cluster type {} in {} environment"
)
"""Upstream's title, with its misspelling: it identifies existing issues."""

COLLECTED: Final = "Can't generate manifests for other deployment targets in {} environment"

REGISTRATION: Final = "Can't read the workload registration {} in {} environment"

NAME: Final = r"([a-z0-9.-]+)"
ASSIGNMENT_TITLE: Final = re.compile(ASSIGNMENT.replace("{}", NAME))
COLLECTED_TITLE: Final = re.compile(COLLECTED.replace("{}", NAME))
REGISTRATION_TITLE: Final = re.compile(REGISTRATION.replace("{}", NAME))

LISTED: Final = re.compile(rf"^- `{NAME}` in cluster type `{NAME}`:", re.MULTILINE)
"""A failing assignment in the issue that collects several."""

BLOCKED: Final = (
    "Until this is solved, the environment's pull request is not updated, or leaves the target's "
    "folder unchanged, depending on `on-failure`."
)


@dataclass(frozen=True, slots=True)
class FailureIssue:
    """Title and body; the title identifies the issue."""

    title: str
    body: str


@dataclass(frozen=True, slots=True)
class FailingAssignment:
    """An assignment by its names; `failure` has upstream's message."""

    target: str
    cluster_type: str
    failure: Problem


def assignment_title(target: str, cluster_type: str, environment: str) -> str:
    """Return the title for a failing assignment."""
    return ASSIGNMENT.format(target, cluster_type, environment)


def assignment_issues(
    failing: Sequence[FailingAssignment],
    environment: str,
    ours: Iterable[Issue],
    max_issues: int,
    run_url: str,
) -> list[FailureIssue]:
    """Describe failing assignments: an issue for each up to `max_issues`, and one for all others.

    GitHub limits new content: about 20 issues in a row, 80 requests a minute. An assignment keeps
    its open issue.
    """
    is_open = {issue.title for issue in ours if issue.state == "open"}
    titles = [assignment_title(item.target, item.cluster_type, environment) for item in failing]
    free = max(max_issues - sum(title in is_open for title in titles), 0)
    described, collected = [], []
    for item, title in zip(failing, titles, strict=True):
        if title in is_open or free > 0:
            free -= title not in is_open
            described.append(assignment_issue(item, environment, run_url))
        else:
            collected.append(item)
    if collected:
        described.append(_collecting_issue(collected, environment, run_url))
    return described


def assignment_issue(item: FailingAssignment, environment: str, run_url: str) -> FailureIssue:
    """Describe a failing assignment."""
    return _issue(
        assignment_title(item.target, item.cluster_type, environment),
        ("assignment", environment),
        _problems([item.failure]),
        BLOCKED,
        run_url,
        failure=_problems([item.failure], linked=False),
    )


def _collecting_issue(
    failing: Sequence[FailingAssignment], environment: str, run_url: str
) -> FailureIssue:
    lines = [
        f"- `{item.target}` in cluster type `{item.cluster_type}`: "
        f"{markdown.text(item.failure.message.strip().partition(chr(10))[0])}"
        for item in failing
    ]
    entries = ProblemEntry.all_of([item.failure for item in failing])
    places = [f" (see {_place(item.where)})" if item.where else "" for item in entries]
    return _issue(
        COLLECTED.format(environment),
        ("assignments", environment),
        "\n".join(map(add, lines, places)),
        f"They have no issues of their own, because there are more than `max-issues`. {BLOCKED}",
        run_url,
        failure="\n".join(lines),
    )


def registration_issue(
    name: str, environment: str, problems: Sequence[Problem], run_url: str
) -> FailureIssue:
    """Describe the problems of a registration or its repository."""
    return _issue(
        REGISTRATION.format(name, environment),
        ("registration", environment),
        _problems(problems),
        "Until this is solved, its last good commit is used, or its targets' folders stay "
        "unchanged.",
        run_url,
        failure=_problems(problems, linked=False),
    )


def is_of_environment(title: str, environment: str) -> bool:
    """Return whether an issue with this title is about an environment."""
    forms = (ASSIGNMENT_TITLE, COLLECTED_TITLE, REGISTRATION_TITLE)
    matches = (form.fullmatch(title) for form in forms)
    return any(match[match.lastindex or 0] == environment for match in matches if match)


def is_of_registration(title: str, environment: str) -> bool:
    """Return whether an issue with this title is about a registration of an environment."""
    return bool(REGISTRATION_TITLE.fullmatch(title)) and is_of_environment(title, environment)


def failing_assignments(title: str, body: str, environment: str) -> int:
    """Return the number of failing assignments of an environment that an issue describes."""
    if not is_of_environment(title, environment) or is_of_registration(title, environment):
        return 0
    return len(LISTED.findall(body)) if COLLECTED_TITLE.fullmatch(title) else 1


def as_written(issue: FailureIssue, known: Iterable[Issue]) -> str:
    """Return the body to write: the existing one if it describes the same failure.

    This keeps people's edits. The link to a new run alone is no reason for an update.
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

    `is_unknown` returns whether this run knows nothing about a cluster type and a target; their
    issue stays open.
    """
    return tuple(
        issue
        for issue in known
        if issue.state == "open"
        and issue.title not in wanted
        and _is_settled(issue, environment, wanted, is_unknown)
    )


def _is_settled(
    issue: Issue,
    environment: str,
    wanted: Collection[str],
    is_unknown: Callable[[str, str], bool],
) -> bool:
    """Parse the title, which is unambiguous because names have no spaces."""
    title = issue.title
    collected = COLLECTED_TITLE.fullmatch(title)
    if collected:
        return collected[1] == environment and not any(
            is_unknown(cluster_type, target)
            and assignment_title(target, cluster_type, environment) not in wanted
            for target, cluster_type in LISTED.findall(issue.body)
        )
    assignment = ASSIGNMENT_TITLE.fullmatch(title)
    if assignment:
        target, cluster_type, place = assignment.groups()
        return place == environment and not is_unknown(cluster_type, target)
    registration = REGISTRATION_TITLE.fullmatch(title)
    return registration is not None and registration[2] == environment


def _issue(
    title: str,
    mark: tuple[str, str],
    content: str,
    note: str,
    run_url: str,
    *,
    failure: str = "",
) -> FailureIssue:
    """Make an issue; `failure` identifies the failure if other parts of `content` may change."""
    identity = (failure or content).encode("utf-8", "backslashreplace")
    digest = hashlib.sha256(identity).hexdigest()[:16]
    first = markdown.marker(*mark, content=digest)
    run = f"_Found by {markdown.link('this run', run_url)}._" if run_url else ""
    return FailureIssue(title, "\n\n".join(filter(None, [f"{first}\n{content}", note, run])))


def _problems(problems: Sequence[Problem], *, linked: bool = True) -> str:
    entries = ProblemEntry.all_of(problems)
    return "\n\n".join(_problem(entry, linked=linked) for entry in entries)


def _problem(entry: ProblemEntry, *, linked: bool) -> str:
    """Format a problem; with `linked`, link its line at the commit of this run."""
    lines = [markdown.block(entry.message.strip("\n"))]
    advice, _, more = entry.advice.partition("\n")
    if advice:
        lines.append(f"→ {markdown.text(advice)}")
    if more:
        lines.append(markdown.block(more))
    if entry.where:
        lines.append(f"See {_place(entry.where, linked=linked)}.")
    return "\n\n".join(lines)


def _place(where: Where, *, linked: bool = True) -> str:
    line = f":{where.line}" if where.line else ""
    url = markdown.permalink(where) if linked else ""
    file = markdown.code(f"{where.path}{line}") if where.path else ""
    name = f"[{file}]({url})" if url else file
    repository = markdown.code(where.repository)
    return f"{name} in {repository}" if name else repository
