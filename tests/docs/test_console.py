"""Console blocks show the output of their commands."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.pages import ROOT, Page, pages
from tests.docs.replay import BLOCK, Shell, replayed

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the pages are for a shell of POSIX")

RENDERING = Page(ROOT / "docs" / "guide" / "rendering.md")


@pytest.mark.slow
@pytest.mark.parametrize(
    "page", [candidate for candidate in pages() if BLOCK.search(candidate.text)], ids=str
)
def test_console_blocks_show_what_their_commands_print(page: Page, tmp_path: Path) -> None:
    assert replayed(page, tmp_path) == page.text


def test_a_slow_machine_makes_no_difference(tmp_path: Path) -> None:
    """A slow step also prints its progress, which the page leaves out."""
    session = "$ echo 'rendering: 1 of 7' >&2; echo written\n"
    assert Shell(tmp_path).replay(session) == f"{session}written\n"


def options_in_the_guide() -> Iterator[str]:
    text = RENDERING.text.partition("| option | |")[2].partition("\n\n")[0]
    names = (row.split(" | ")[0] for row in text.splitlines())
    return (match[1] for name in names for match in re.finditer(r"`(--[a-z-]+)", name))


def test_the_table_names_every_option_of_render() -> None:
    commands = (ROOT / "docs" / "reference" / "commands.md").read_text(encoding="utf-8")
    render = commands.partition("## kalypso render")[2].partition("## kalypso")[0]
    assert [*options_in_the_guide(), "--help"] == re.findall(
        r"^  (?:-[a-z], )?(--[a-z-]+)", render, re.MULTILINE
    )
