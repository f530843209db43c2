"""Issues about failures: identified by title, updated when the failure changes."""

from __future__ import annotations

import re

import pytest

from kalypso_actions.errors import Location, Problem
from kalypso_actions.model.github import Issue
from kalypso_actions.report.failure_issues import (
    FailingAssignment,
    FailureIssue,
    UnusableRegistration,
    as_written,
    assignment_issue,
    assignment_issues,
    failing_assignments,
    registration_issue,
    registration_issues,
    settled,
    unusable_registrations,
)

WHERE = Location("https://git.test/acme/fleet", "large.yaml", 3)
RUN = "https://git.test/acme/fleet/actions/runs/1"


def about(message: str = "no\n```\ntemplate", run: str = RUN) -> FailureIssue:
    failing = FailingAssignment("app-web", "large", Problem(message, WHERE, "add one"))
    return assignment_issue(failing, "dev", run)


def issue(title: str, body: str = "", state: str = "open", number: int = 1) -> Issue:
    return Issue(
        number, "url", title, body, "open" if state == "open" else "closed", (), "kalypso[bot]"
    )


def test_the_text_of_an_issue() -> None:
    made = about()
    assert made.title == (
        "Can't generate manifests for deplyment target app-web in cluster type large in dev "
        "environment"
    )
    first, *rest = made.body.splitlines()
    assert first.startswith("<!-- kalypso:v1 kind=assignment environment=dev content=")
    assert rest[:5] == ["````", "no", "```", "template", "````"]
    assert "→ add one" in rest
    assert "See `large.yaml:3` in `https://git.test/acme/fleet`." in rest
    assert f"[this run]({RUN})" in made.body


def test_an_issue_of_a_registration_has_every_problem() -> None:
    problems = [Problem("first", Location("https://git.test/app")), Problem("second")]
    made = registration_issue("shop", "dev", problems, "")
    assert made.title == "Can't read the workload registration shop in dev environment"
    assert made.body.count("```\n") == 4
    assert "run" not in made.body.splitlines()[-1]


def test_it_is_written_again_only_when_the_failure_changes() -> None:
    made = about()
    edited = issue(made.title, made.body + "\n\nI am on it.")
    assert as_written(about(run="https://git.test/other"), [edited]) == edited.body
    changed = about("something else")
    assert as_written(changed, [edited]) == changed.body
    assert as_written(made, [issue("another", edited.body)]) == made.body
    assert as_written(made, [issue(made.title, "by the operator")]) == made.body


def failing(*targets: str) -> list[FailingAssignment]:
    return [
        FailingAssignment(name, "large", Problem(f"no *template*\nfor {name}")) for name in targets
    ]


def described(made: list[FailureIssue]) -> list[str]:
    """Return the target of each title, and `+` with those of the collecting issue."""
    names = {about().title.replace("app-web", name): name for name in "abcd"}
    return [
        names.get(item.title) or "+" + "".join(re.findall("- `(.)`", item.body)) for item in made
    ]


@pytest.mark.parametrize(
    ("with_issue", "max_issues", "expected"),
    [
        pytest.param("", 4, ["a", "b", "c", "d"], id="as many as allowed"),
        pytest.param("", 3, ["a", "b", "c", "+d"], id="one more"),
        pytest.param("", 0, ["+abcd"], id="none"),
        pytest.param("d", 2, ["a", "d", "+bc"], id="an open issue stays"),
        pytest.param("bcd", 1, ["b", "c", "d", "+a"], id="more are open than allowed"),
    ],
)
def test_issues_beyond_the_limit_are_one(
    with_issue: str, max_issues: int, expected: list[str]
) -> None:
    known = [issue(about().title.replace("app-web", name)) for name in with_issue]
    known.append(issue(about().title.replace("app-web", "c"), state="closed"))
    made = assignment_issues(failing(*"abcd"), "dev", known, max_issues, RUN)
    assert described(made) == expected


def test_the_collecting_issue() -> None:
    (made,) = assignment_issues(failing("a", "b"), "dev", [], 0, RUN)
    assert made.title == "Can't generate manifests for other deployment targets in dev environment"
    first, *lines = made.body.splitlines()
    assert first.startswith("<!-- kalypso:v1 kind=assignments environment=dev content=")
    assert lines[:2] == [
        r"- `a` in cluster type `large`: no \*template\*",
        r"- `b` in cluster type `large`: no \*template\*",
    ]
    assert "`max-issues`" in made.body
    open_issue = [issue(made.title, made.body)]
    assert settled(open_issue, "dev", (), lambda *_: False) == tuple(open_issue)
    assert settled(open_issue, "stage", (), lambda *_: False) == ()
    assert settled(open_issue, "dev", (), lambda *names: names == ("large", "b")) == ()


def test_the_collecting_issue_links_lines_at_their_commit() -> None:
    def made(commit: str) -> FailureIssue:
        where = Location("https://github.com/acme/fleet", "t.yaml", 3, commit=commit)
        failures = [FailingAssignment("a", "large", Problem("wrong", where))]
        return assignment_issues(failures, "dev", [], 0, RUN)[0]

    line = "[`t.yaml:3`](https://github.com/acme/fleet/blob/abc/t.yaml#L3)"
    assert f"wrong (see {line} in `https://github.com/acme/fleet`)" in made("abc").body
    first = made("abc")
    assert as_written(made("def"), [issue(first.title, first.body)]) == first.body


def test_the_collecting_issue_of_a_whole_fleet() -> None:
    """GitHub accepts 65,536 characters; the number of all stands above the list."""
    where = Location("https://github.com/acme/fleet", "stores/a.yaml", 3, commit="a" * 40)
    failures = [
        FailingAssignment(f"app-{number}", "large", Problem("the config is _bad_ " * 20, where))
        for number in range(20_000)
    ]
    *_, made = assignment_issues(failures, "dev", [], 20, RUN)
    assert len(made.body) < 60_000
    assert "\nThe first 100 of 19980:\n" in made.body
    assert failing_assignments(made.title, made.body, "dev") == 19_980
    open_issue = [issue(made.title, made.body)]
    assert settled(open_issue, "dev", (), lambda *_: False, knows_all=True) == tuple(open_issue)
    assert settled(open_issue, "dev", (), lambda *_: False) == ()


def test_a_token_that_lost_all_repositories() -> None:
    """GitHub accepts 80 issues a minute and 500 an hour."""
    lost = [
        UnusableRegistration(f"app-{number:04}", [Problem("no such repository")])
        for number in range(1_000)
    ]
    known = [issue("Can't read the workload registration app-0999 in dev environment")]
    made = registration_issues(lost, "dev", known, 20, RUN)
    assert len(made) == 21
    assert sum(unusable_registrations(each.title, each.body, "dev") for each in made) == 1_000
    assert not any(failing_assignments(each.title, each.body, "dev") for each in made)
    assert made[-1].title == "Can't read other workload registrations in dev environment"
    assert "- `app-0019`: no such repository\n" in made[-1].body
    assert "app-0999" in made[-2].title
    open_issue = [issue(made[-1].title, made[-1].body)]
    assert settled(open_issue, "dev", (), lambda *_: False) == tuple(open_issue)
    assert settled(open_issue, "stage", (), lambda *_: False) == ()


def test_a_few_unusable_registrations_beyond_the_limit() -> None:
    lost = [UnusableRegistration(name, [Problem("gone")]) for name in ("a", "b", "c")]
    _, others = registration_issues(lost, "dev", [], 1, RUN)
    assert unusable_registrations(others.title, others.body, "dev") == 2


def test_a_registration_with_thousands_of_problems() -> None:
    problems = [Problem(f"target {number} is bad") for number in range(5_000)]
    made = registration_issue("shop", "dev", problems, "")
    assert len(made.body) < 60_000
    assert "\n\n… and 4950 more\n\n" in made.body


LARGE = about().title
SHOP = "Can't read the workload registration shop in dev environment"


@pytest.mark.parametrize(
    ("title", "is_closed"),
    [
        (LARGE, True),
        (SHOP, True),
        (LARGE.replace(" dev ", " stage "), False),
        (SHOP.replace(" dev ", " stage "), False),
        (f"{LARGE} ", False),
        (f"Re: {LARGE}", False),
        (LARGE.replace("app-web", "app web"), False),
        (LARGE.replace("app-web", "app-lost"), False),  # its state is unknown
        (LARGE.replace("app-web", "app-failing"), False),  # still assigned
        ("Something else", False),
    ],
)
def test_which_are_settled(title: str, is_closed: bool) -> None:
    known = [issue(title)]
    wanted = {LARGE.replace("app-web", "app-failing")}

    def is_unknown(cluster_type: str, target: str) -> bool:
        return (cluster_type, target) == ("large", "app-lost")

    assert settled(known, "dev", wanted, is_unknown) == (tuple(known) if is_closed else ())
    assert settled([issue(title, state="closed")], "dev", wanted, is_unknown) == ()


def test_the_line_is_a_link_that_stays_and_no_reason_to_write_again() -> None:
    def at(commit: str) -> FailureIssue:
        where = Location("https://git.test/acme/fleet", "large.yaml", 3, commit=commit)
        return assignment_issue(FailingAssignment("a", "b", Problem("no", where)), "dev", RUN)

    first, second = at("1" * 40), at("2" * 40)
    url = f"https://git.test/acme/fleet/blob/{'1' * 40}/large.yaml#L3"
    assert f"See [`large.yaml:3`]({url}) in `https://git.test/acme/fleet`." in first.body
    written = issue(first.title, first.body)
    assert as_written(second, [written]) == first.body
    assert as_written(at(""), [written]) == first.body
