"""The words of the command line that the action at the root runs."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from kalypso_actions.commands.set_up import set_up
from kalypso_actions.errors import UsageError
from kalypso_actions.inputs.chain import SetUpInputs
from kalypso_actions.runner import Runner


def words(run: str, folder: Path) -> list[str]:
    runner = Runner({}, io.StringIO())
    return set_up(SetUpInputs(run=run), runner, Path(sys.executable), folder)


@pytest.mark.parametrize(
    ("run", "wanted"),
    [
        ("", []),
        (" validate\n  . ", ["validate", "."]),
        ("validate 'a b' \"c d\" e' 'f", ["validate", "a b", "c d", "e f"]),
        ("validate '\"' \"'\" ''", ["validate", '"', "'", ""]),
        (r"validate D:\a\new 'C:\a b\c'", ["validate", r"D:\a\new", r"C:\a b\c"]),
        ("a $HOME ~ * # | y; z", ["a", "$HOME", "~", "*", "#", "|", "y;", "z"]),
    ],
)
def test_quotes_hold_words_together_and_nothing_else_is_understood(
    run: str, wanted: list[str], tmp_path: Path
) -> None:
    assert words(run, tmp_path) == wanted


@pytest.mark.parametrize("run", ["validate 'a", 'validate "', "it's"])
def test_a_quote_that_does_not_end_is_refused(run: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--run: No closing quotation: "):
        words(run, tmp_path)
    assert list(tmp_path.iterdir()) == []
