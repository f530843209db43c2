"""Who wrote an issue, a comment, a pull request or a start record."""

from __future__ import annotations

import pytest

from kalypso_actions.model.own_account import JOBS, Identity

OURS = Identity("Kalypso[bot]", frozenset({"Ada", JOBS}))


@pytest.mark.parametrize(
    ("author", "is_marked", "ours", "former", "records"),
    [
        ("kalypso[bot]", False, True, False, True),
        ("kalypso", True, False, False, False),  # a person, not the App's bot
        ("ada", False, False, True, True),
        (JOBS, True, False, True, True),
        (JOBS, False, False, False, True),
        ("mallory", True, False, False, False),
        ("", True, False, False, False),  # a deleted account
    ],
)
def test_an_author(author: str, is_marked: bool, ours: bool, former: bool, records: bool) -> None:
    assert OURS.wrote(author, is_marked=is_marked) is ours
    assert OURS.formerly_wrote(author, is_marked=is_marked) is former
    assert OURS.is_of_chain(author) is records


def test_a_job_takes_every_app_for_one_of_the_chain() -> None:
    assert Identity(JOBS).may_be_of_chain("app[bot]")
    assert not Identity(JOBS).may_be_of_chain("mallory")
    assert not Identity("kalypso[bot]").may_be_of_chain("app[bot]")


@pytest.mark.parametrize("is_marked", [True, False])
def test_the_account_of_all_workflows_needs_a_marker(is_marked: bool) -> None:
    assert Identity(JOBS).wrote(JOBS, is_marked=is_marked) is is_marked


def test_the_present_identity_is_no_former_one() -> None:
    assert not Identity("ada", frozenset({"ada"})).formerly_wrote("ada")
