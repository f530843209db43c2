"""The step summary of schedule: the result, and advice."""

from __future__ import annotations

from typing import Any

import pytest

from kalypso_actions.report.documents import ProblemEntry, Where
from kalypso_actions.report.schedule_document import (
    PullRequestEntry,
    ScheduleDocument,
    ScheduleFacts,
    headline,
    schedule_summary,
)

PROBLEM = ProblemEntry(message="it <fails>", where=None, advice="mend it")


def entry(number: int, action: Any) -> PullRequestEntry:
    url = f"https://git.test/acme/gitops/pull/{number}"
    return PullRequestEntry(repository="acme/gitops", number=number, url=url, action=action)


def document(*entries: PullRequestEntry, **given: Any) -> ScheduleDocument:
    return ScheduleDocument(environment="dev", pull_requests=entries, **given)


@pytest.mark.parametrize(
    ("made", "facts", "said"),
    [
        (document(), {}, "dev is up to date; nothing is left to propose"),
        (document(entry(1, "created")), {}, "dev: #1 was created"),
        (
            document(entry(2, "unchanged"), entry(1, "withdrawn")),
            {},
            "dev: #2 is open already, #1 was withdrawn",
        ),
        (document(), {"stopped": True}, "the changes of dev were rejected, so nothing is proposed"),
        (document(problems=(PROBLEM,)), {}, "dev is not proposed"),
        (document(entry(1, "merged"), problems=(PROBLEM,)), {}, "dev: #1 was merged"),
        (
            document(problems=(PROBLEM,)),
            {"removed": ["large/a"]},
            "dev would lose many assignments, so nothing was written",
        ),
    ],
)
def test_headline(made: ScheduleDocument, facts: dict[str, Any], said: str) -> None:
    assert headline(made, ScheduleFacts(**facts)) == said


@pytest.mark.parametrize(
    ("made", "facts", "said"),
    [
        (
            document(entry(1, "created")),
            {},
            "**Next:** review and merge "
            "[acme\\/gitops\\#\u200b1](https://git.test/acme/gitops/pull/1).",
        ),
        (document(entry(1, "merged")), {"started": ["https://x"]}, "check-promote waits"),
        (document(), {"stopped": True}, "run schedule with `force` set"),
        (document(problems=(PROBLEM,)), {}, "Solve the problems below"),
        (document(problems=(PROBLEM,)), {"removed": ["large/a"]}, "with `allow_removals` set"),
    ],
)
def test_what_comes_next(made: ScheduleDocument, facts: dict[str, Any], said: str) -> None:
    assert said in schedule_summary(made, ScheduleFacts(**facts))


def test_nothing_to_do_where_nothing_is_proposed() -> None:
    page = schedule_summary(document(), ScheduleFacts())
    assert "Next" not in page
    assert page.startswith("## kalypso schedule: dev is up to date")


def test_untrusted_texts_are_escaped() -> None:
    page = schedule_summary(document(problems=(PROBLEM,)), ScheduleFacts(removed=["a|<b>/c"]))
    assert "it \\<fails\\>" in page
    assert "- `a\\|<b>/c`" in page


def test_the_warnings_of_a_whole_fleet() -> None:
    """GitHub shows 1 MiB, and nothing at all of a longer summary."""
    where = Where(repository="https://github.com/acme/fleet", path="stores/a.yaml", line=7)
    warning = ProblemEntry(message="a message " * 20, where=where, advice="an advice " * 10)
    made = document(problems=(warning,) * 100_000, warnings=(warning,) * 100_000)
    page = schedule_summary(made, ScheduleFacts())
    assert len(page.encode()) < 1024 * 1024
    assert page.count("- … and 99500 more") == 2
