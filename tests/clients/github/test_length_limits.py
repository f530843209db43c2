from __future__ import annotations

from itertools import cycle, islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kalypso_actions.clients.github import idempotent_writes

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
