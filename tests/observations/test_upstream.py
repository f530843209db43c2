"""The table of upstream's faults names tests that exist."""

from __future__ import annotations

import re
from pathlib import Path

TABLE = Path(__file__).with_name("upstream.md")
TESTS = TABLE.parents[1]


def test_each_fault_has_a_test_or_a_reason() -> None:
    text = TABLE.read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\d+) \| .+ \| .+ \|$", text, re.MULTILINE)
    assert list(map(int, rows)) == list(range(1, 23))
    named = set(re.findall(r"`(test_\w+)`", text))
    folders = ("observations", "compliance", "commands", "clients")
    files = (file for folder in folders for file in (TESTS / folder).rglob("test_*.py"))
    known = {
        name
        for file in files
        for name in re.findall(r"^def (test_\w+)", file.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert named <= known
    assert len(named) > 8
