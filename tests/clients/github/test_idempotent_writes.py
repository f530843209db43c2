from __future__ import annotations

from dataclasses import dataclass, field
from itertools import cycle, islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kalypso_actions.clients.github import GitHubError, GitHubServer, TokenAuth, idempotent_writes
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


GITHUBS_LIMIT = 65_536


@pytest.mark.parametrize(
    ("text", "length", "expected"),
    [
        ("", 5, ""),
        ("exact", 5, "exact"),
        ("longer", 5, "long…"),
        ("end of words", 8, "end of…"),
        ("ünïcödé", 5, "ünïc…"),
    ],
)
def test_a_cut_says_that_something_is_missing(text: str, length: int, expected: str) -> None:
    assert idempotent_writes.truncate(text, length) == expected
    assert len(expected) <= length


def test_a_body_that_fits_is_not_touched() -> None:
    text = "x" * (idempotent_writes.BODY - 2) + "\r\n"
    assert idempotent_writes.truncate_body(text) is text


def test_a_body_is_cut_at_the_end_of_a_line() -> None:
    line = "y" * 99 + "\n"
    kept, note = idempotent_writes.truncate_body(line * 700).split("\n\n")
    assert kept + "\n" == line * 600
    assert note == idempotent_writes.TRUNCATION_NOTE


def test_a_line_that_is_too_long_by_itself_is_cut_within() -> None:
    assert (
        idempotent_writes.truncate_body("z" * 70_000)
        == "z" * idempotent_writes.BODY + "\n\n" + idempotent_writes.TRUNCATION_NOTE
    )


FILLER = "line\n" * 15_000


@pytest.mark.parametrize(
    ("beginning", "closing"),
    [
        ("```yaml\n", ["```"]),
        ("  ~~~~\n~~~\n", ["~~~~"]),
        ("````\n```\n", ["````"]),
        ("```\n``` no end\n", ["```"]),
        ("```\n```\n", []),
        ("    ```\n", []),
        ("<details><summary>files</summary>\n\n```\n", ["```", "</details>"]),
        ("<details>\n<details open>\n</details>\n", ["</details>"]),
    ],
)
def test_a_cut_closes_open_blocks(beginning: str, closing: list[str]) -> None:
    lines = idempotent_writes.truncate_body(beginning + FILLER).splitlines()
    assert lines[-2 - len(closing) :] == [*closing, "", idempotent_writes.TRUNCATION_NOTE]
    assert lines[-3 - len(closing)] == "line"


@settings(max_examples=50)
@given(st.lists(st.sampled_from(["```", "~" * 500, "<details>", "</details>", "x"]), min_size=1))
def test_a_cut_body_is_never_refused(lines: list[str]) -> None:
    text = "\n".join(islice(cycle(lines), idempotent_writes.BODY // 2 + 1))
    assert len(idempotent_writes.truncate_body(text)) <= GITHUBS_LIMIT


@pytest.mark.parametrize("line", ["`" * 70_000, "~" * 70_000, "<details" * 9_000])
def test_the_end_of_a_cut_body_is_short(line: str) -> None:
    assert len(idempotent_writes.truncate_body(line)) <= GITHUBS_LIMIT


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("a\r\nb", "a\nb", True),
        ("a\n\n", "a", True),
        ("a\nb", "a b", False),
        (" a", "a", False),
    ],
)
def test_same_text(first: str, second: str, same: bool) -> None:
    assert idempotent_writes.same_text(first, second) is same
