from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from kalypso_actions.clients.github import GitHubError, GitHubServer, TokenAuth
from kalypso_actions.clients.github.connection import GitHub
from kalypso_actions.clients.github.idempotent_writes import DELAYS, write_if_absent, write_verified

UNCERTAIN = GitHubError("it failed", uncertain=True, status=502)
EXISTS = GitHubError("it failed", status=422)
FORBIDDEN = GitHubError("it failed", status=403)


@dataclass
class Place:
    """An object that may exist. Each write follows a plan: an error, and whether it acts."""

    orders: list[tuple[GitHubError | None, bool]]
    content: str | None = None
    slept: list[float] = field(default_factory=list)
    looks: int = 0
    writes: int = 0

    @property
    def github(self) -> GitHub:
        return GitHub(GitHubServer(), TokenAuth("t"), {}, sleep=self.slept.append)

    def find(self) -> str | None:
        self.looks += 1
        return self.content

    def write(self) -> str:
        error, acts = self.orders[self.writes]
        self.writes += 1
        if acts:
            self.content = "there"
        if error:
            raise error
        return "there"


def test_an_existing_object_is_not_written() -> None:
    place = Place([], content="there")
    assert write_if_absent(place.github, place.find, place.write) == ("there", False)


@pytest.mark.parametrize(
    ("orders", "looks", "slept"),
    [
        ([(None, True)], 1, []),
        ([(UNCERTAIN, True)], 2, [1.0]),
        ([(UNCERTAIN, False), (None, True)], 2, [1.0]),
        ([(UNCERTAIN, False), (UNCERTAIN, True)], 3, [1.0, 3.0]),
        ([(UNCERTAIN, False), (EXISTS, True)], 3, [1.0]),
        ([(UNCERTAIN, False), (UNCERTAIN, False), (UNCERTAIN, True)], 4, list(DELAYS)),
        ([(EXISTS, True)], 2, []),
    ],
)
def test_it_exists_once(
    orders: list[tuple[GitHubError | None, bool]], looks: int, slept: list[float]
) -> None:
    place = Place(orders)
    assert write_if_absent(place.github, place.find, place.write) == ("there", True)
    assert (place.writes, place.looks, place.slept) == (len(orders), looks, slept)


@pytest.mark.parametrize(
    ("orders", "error"),
    [
        ([(FORBIDDEN, False)], FORBIDDEN),
        ([(EXISTS, False)], EXISTS),
        ([(UNCERTAIN, False), (FORBIDDEN, False)], FORBIDDEN),
        ([(UNCERTAIN, False)] * 3, UNCERTAIN),
    ],
)
def test_a_failed_write_is_reported(
    orders: list[tuple[GitHubError | None, bool]], error: GitHubError
) -> None:
    place = Place(orders)
    with pytest.raises(GitHubError) as caught:
        write_verified(place.github, place.find, place.write)
    assert caught.value is error
    assert place.writes == len(orders)


def test_a_permission_that_is_missing_is_not_looked_around() -> None:
    place = Place([(FORBIDDEN, False)])
    with pytest.raises(GitHubError):
        write_verified(place.github, place.find, place.write)
    assert place.looks == 0
