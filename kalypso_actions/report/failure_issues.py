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
from typing import Final, TypeVar

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

COLLECTED_REGISTRATIONS: Final = "Can't read other workload registrations in {} environment"

NAME: Final = r"([a-z0-9.-]+)"

TITLES: Final = {
    title: re.compile(title.replace("{}", NAME))
    for title in (ASSIGNMENT, COLLECTED, REGISTRATION, COLLECTED_REGISTRATIONS)
}
"""The patterns of the titles; names have no spaces, so a title is unambiguous."""

LISTED: Final = re.compile(rf"^- `{NAME}` in cluster type `{NAME}`:", re.MULTILINE)
"""A failing assignment in the issue that collects several."""

ENTRY: Final = re.compile(r"^- `", re.MULTILINE)
"""An entry of an issue that collects several failures."""

NUMBER: Final = re.compile(r"^The first \d+ of (\d+):$", re.MULTILINE)
"""The line with the number of all failures, if the collecting issue lists a part of them."""

MOST_LISTED: Final = 100
"""The most failures that an issue lists; GitHub accepts 65,536 characters."""

MOST_CHARACTERS: Final = 200
"""The most characters of a message in a list."""

MOST_PROBLEMS: Final = 50
"""The most problems in the issue of a registration."""

MORE_THAN_MAX_ISSUES: Final = (
    "These failures have no issues of their own, because there are more failures than `max-issues`."
)

KEPT: Final = (
    "Until a registration's problems are solved, its last good commit is used, or the folders of "
    "its targets stay unchanged."
)

BLOCKED: Final = (
    "Until a target's failure is solved, schedule does not update the environment's pull request, "
    "or leaves the target's folder unchanged, depending on `on-failure`."
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


@dataclass(frozen=True, slots=True)
class UnusableRegistration:
    """A registration by its name, with the problems that make it unusable."""

    name: str
    problems: Sequence[Problem]


Failure = TypeVar("Failure", FailingAssignment, UnusableRegistration)


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
    titles = [assignment_title(item.target, item.cluster_type, environment) for item in failing]
    described, collected = _divided(failing, titles, ours, max_issues)
    issues = [assignment_issue(item, environment, run_url) for item in described]
    return [*issues, *([_collecting_issue(collected, environment, run_url)] if collected else [])]


def registration_issues(
    unusable: Sequence[UnusableRegistration],
    environment: str,
    ours: Iterable[Issue],
    max_issues: int,
    run_url: str,
) -> list[FailureIssue]:
    """Describe unusable registrations, as `assignment_issues` does: a token may lose them all."""
    titles = [REGISTRATION.format(item.name, environment) for item in unusable]
    described, collected = _divided(unusable, titles, ours, max_issues)
    issues = [
        registration_issue(item.name, environment, item.problems, run_url) for item in described
    ]
    if collected:
        lines = [f"- `{item.name}`: {_message(item.problems[0])}" for item in collected]
        issues.append(
            _issue(
                COLLECTED_REGISTRATIONS.format(environment),
                "registrations",
                environment,
                _shortened(lines),
                f"{MORE_THAN_MAX_ISSUES} {KEPT}",
                run_url,
                failure="\n".join(lines),
            )
        )
    return issues


def _divided(
    failures: Sequence[Failure], titles: Sequence[str], ours: Iterable[Issue], max_issues: int
) -> tuple[list[Failure], list[Failure]]:
    """Return the failures with issues of their own, and the others."""
    is_open = {issue.title for issue in ours if issue.state == "open"}
    free = max(max_issues - sum(title in is_open for title in titles), 0)
    described, collected = [], []
    for item, title in zip(failures, titles, strict=True):
        if title in is_open or free > 0:
            free -= title not in is_open
            described.append(item)
        else:
            collected.append(item)
    return described, collected


def assignment_issue(item: FailingAssignment, environment: str, run_url: str) -> FailureIssue:
    """Describe a failing assignment."""
    return _issue(
        assignment_title(item.target, item.cluster_type, environment),
        "assignment",
        environment,
        _problems([item.failure]),
        BLOCKED,
        run_url,
        failure=_problems([item.failure], linked=False),
    )


def _collecting_issue(
    failing: Sequence[FailingAssignment], environment: str, run_url: str
) -> FailureIssue:
    lines = [
        f"- `{item.target}` in cluster type `{item.cluster_type}`: {_message(item.failure)}"
        for item in failing
    ]
    entries = ProblemEntry.all_of([item.failure for item in failing[:MOST_LISTED]])
    places = [f" (see {_place(item.where)})" if item.where else "" for item in entries]
    return _issue(
        COLLECTED.format(environment),
        "assignments",
        environment,
        _shortened([*map(add, lines, places), *lines[MOST_LISTED:]]),
        f"{MORE_THAN_MAX_ISSUES} {BLOCKED}",
        run_url,
        failure="\n".join(lines),
    )


def _message(problem: Problem) -> str:
    """Return the first line of a message, without its end if it is long."""
    line = problem.message.strip().partition("\n")[0]
    return markdown.text(line if len(line) <= MOST_CHARACTERS else f"{line[:MOST_CHARACTERS]}…")


def _shortened(lines: Sequence[str]) -> str:
    """Return the first lines below the number of all; all lines if they are few."""
    if len(lines) <= MOST_LISTED:
        return "\n".join(lines)
    return "\n".join([f"The first {MOST_LISTED} of {len(lines)}:", "", *lines[:MOST_LISTED]])


def registration_issue(
    name: str, environment: str, problems: Sequence[Problem], run_url: str
) -> FailureIssue:
    """Describe the problems of a registration or its repository."""
    more = len(problems) - MOST_PROBLEMS
    return _issue(
        REGISTRATION.format(name, environment),
        "registration",
        environment,
        _problems(problems[:MOST_PROBLEMS]) + (f"\n\n… and {more} more" if more > 0 else ""),
        KEPT,
        run_url,
        failure=_problems(problems, linked=False),
    )


def is_of_environment(title: str, environment: str) -> bool:
    """Return whether an issue with this title is about an environment."""
    matches = (form.fullmatch(title) for form in TITLES.values())
    return any(match[match.lastindex or 0] == environment for match in matches if match)


def failing_assignments(title: str, body: str, environment: str) -> int:
    """Return the number of failing assignments of an environment that an issue describes."""
    return _described(title, body, environment, ASSIGNMENT, COLLECTED)


def unusable_registrations(title: str, body: str, environment: str) -> int:
    """Return the number of unusable registrations of an environment that an issue describes."""
    return _described(title, body, environment, REGISTRATION, COLLECTED_REGISTRATIONS)


def _described(title: str, body: str, environment: str, single: str, collecting: str) -> int:
    if not is_of_environment(title, environment):
        return 0
    if TITLES[collecting].fullmatch(title):
        return _number(body, len(ENTRY.findall(body)))
    return int(TITLES[single].fullmatch(title) is not None)


def _number(body: str, listed: int) -> int:
    """Return the number of all failures that a collecting issue is about."""
    number = NUMBER.search(body)
    return int(number[1]) if number else listed


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
    *,
    knows_all: bool = False,
) -> tuple[Issue, ...]:
    """Return the open issues of an environment whose failure is gone: those not in `wanted`.

    `is_unknown` returns whether this run knows nothing about a cluster type and a target; their
    issue stays open. Unless the run `knows_all`, so does an issue that names a part of them.
    """
    return tuple(
        issue
        for issue in known
        if issue.state == "open"
        and issue.title not in wanted
        and _is_settled(issue, environment, wanted, is_unknown, knows_all=knows_all)
    )


def _is_settled(
    issue: Issue,
    environment: str,
    wanted: Collection[str],
    is_unknown: Callable[[str, str], bool],
    *,
    knows_all: bool,
) -> bool:
    title = issue.title
    collected = TITLES[COLLECTED].fullmatch(title)
    if collected:
        listed = LISTED.findall(issue.body)
        names_all = len(listed) == _number(issue.body, len(listed))
        return (
            collected[1] == environment
            and (names_all or knows_all)
            and not any(
                is_unknown(cluster_type, target)
                and assignment_title(target, cluster_type, environment) not in wanted
                for target, cluster_type in listed
            )
        )
    assignment = TITLES[ASSIGNMENT].fullmatch(title)
    if assignment:
        target, cluster_type, place = assignment.groups()
        return place == environment and not is_unknown(cluster_type, target)
    return is_of_environment(title, environment)


def _issue(
    title: str,
    kind: str,
    environment: str,
    content: str,
    note: str,
    run_url: str,
    *,
    failure: str = "",
) -> FailureIssue:
    """Make an issue; `failure` identifies the failure if other parts of `content` may change."""
    identity = (failure or content).encode("utf-8", "backslashreplace")
    mark = markdown.marker(kind, environment, content=hashlib.sha256(identity).hexdigest()[:16])
    return FailureIssue(title, markdown.render("failure_issue.md.j2", "issue", **locals()))


def _problems(problems: Sequence[Problem], *, linked: bool = True) -> str:
    """Describe problems; with `linked`, link their lines at the commit of this run."""
    entries = ProblemEntry.all_of(problems)
    return markdown.render("failure_issue.md.j2", "problems", **locals(), place=_place)


def _place(where: Where, linked: bool = True) -> str:
    line = f":{where.line}" if where.line else ""
    url = markdown.permalink(where) if linked else ""
    file = markdown.code(f"{where.path}{line}") if where.path else ""
    name = f"[{file}]({url})" if url else file
    repository = markdown.code(where.repository)
    return f"{name} in {repository}" if name else repository
