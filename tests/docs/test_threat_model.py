"""The threat model names at least one existing test for each measure."""

from __future__ import annotations

import re

import pytest

from tests.docs.pages import ROOT

TEXT = (ROOT / "docs" / "threat-model.md").read_text(encoding="utf-8")
NAMED = re.compile(r"`(tests/[\w/.]+)(?:::(\w+))?`")


def measures() -> list[str]:
    """Return the measures of the page."""
    done = TEXT.partition("## What is done about it")[2].partition("## What is not covered")[0]
    return re.findall(r"^- .*(?:\n  .*)*", done, re.MULTILINE)


@pytest.mark.parametrize("measure", measures(), ids=lambda text: text[2:40])
def test_a_measure_names_the_test_that_holds_it(measure: str) -> None:
    assert NAMED.search(measure)


@pytest.mark.parametrize(("path", "function"), NAMED.findall(TEXT))
def test_a_named_test_exists(path: str, function: str) -> None:
    place = ROOT / path
    if place.is_dir():
        assert list(place.glob("test_*.py"))
    else:
        defined = f"def {function}(" if function else "def test_"
        assert defined in place.read_text(encoding="utf-8")
