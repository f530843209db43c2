"""The tables of upstream's faults name tests that exist."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest

TESTS: Final = Path(__file__).parents[1]


@pytest.mark.parametrize(
    ("table", "faults"), [("observations/upstream.md", 22), ("commands/app/upstream.md", 27)]
)
def test_each_fault_has_a_test_or_a_reason(table: str, faults: int) -> None:
    text = (TESTS / table).read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\d+) \| .+ \| .+ \|$", text, re.MULTILINE)
    assert list(map(int, rows)) == list(range(1, faults + 1))
    named = set(re.findall(r"`(test_\w+)`", text))
    folders = ("observations", "compliance", "commands", "clients", "planning", "secrets")
    files = (file for folder in folders for file in (TESTS / folder).rglob("test_*.py"))
    known = {
        name
        for file in files
        for name in re.findall(r"^def (test_\w+)", file.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert named <= known, named - known
    assert len(named) > 8
