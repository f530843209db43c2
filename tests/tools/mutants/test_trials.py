"""A trial breaks a copy, and reports the result."""

from __future__ import annotations

import multiprocessing
from pathlib import Path

import pytest

from tools.mutants import trials
from tools.mutants.breaks import Break
from tools.mutants.table import table
from tools.mutants.trials import Trial, attempt

RULE = "def is_allowed(age: int) -> bool:\n    return age >= 18\n"
TESTS = """\
from kalypso_actions.rule import is_allowed


def test_allowed():
    assert is_allowed(18)


def test_refused():
    assert not is_allowed(10)
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package with one rule, and its tests."""
    for folder, name, text in (
        ("kalypso_actions", "__init__.py", ""),
        ("kalypso_actions", "rule.py", RULE),
        ("tests", "test_rule.py", TESTS),
        (".", "pyproject.toml", '[tool.pytest.ini_options]\naddopts = "--import-mode=importlib"\n'),
    ):
        (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / folder / name).write_text(text)
    # Another test of this process may have filled the common server of processes with our package.
    monkeypatch.setattr(trials, "PROCESSES", multiprocessing.get_context("spawn"))
    monkeypatch.setattr(trials, "ROOT", tmp_path)
    monkeypatch.setattr(trials, "BESIDE", ("tests",))
    return tmp_path


def broken(
    old: str = "age >= 18",
    new: str = "age > 18",
    *,
    file: str = "kalypso_actions/rule.py",
    test: str = "",
) -> Break:
    return Break("a rule", file, old, new, (f"tests/test_rule.py{test}",))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("tried", "ending", "by"),
    [
        (broken(), "caught", "test_rule::test_allowed"),
        (broken(new="True"), "caught", "test_rule::test_refused"),
        (broken(test="::test_refused"), "survived", ""),
        (broken(test="::test_gone"), "not tried", "not found"),
        (broken(new="age >"), "not tried", "SyntaxError"),
        (broken("age >= 21"), "not tried", "contains the text to replace 0 times"),
        (broken("age"), "not tried", "contains the text to replace 2 times"),
        (broken(file="kalypso_actions/gone.py"), "not tried", "is gone"),
    ],
)
def test_how_a_break_ends(project: Path, tried: Break, ending: str, by: str) -> None:
    trial = attempt(tried)
    assert trial.ending == ending
    assert by in trial.by
    assert (project / "kalypso_actions/rule.py").read_text() == RULE


def test_the_table() -> None:
    printed = table(
        [
            Trial(broken(), "caught", "test_rule::test_allowed", 1.6),
            Trial(broken(), "survived", "", 12.2),
        ]
    )
    assert printed == (
        "a rule  caught    2 s   test_rule::test_allowed\na rule  survived  12 s\n\n1 of 2 caught"
    )
