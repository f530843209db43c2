"""The end of a run with an error."""

from __future__ import annotations

import pytest

from kalypso_actions.cli import app
from kalypso_actions.cli.main import main
from kalypso_actions.errors import KalypsoError, UsageError


@pytest.mark.parametrize(
    ("error", "status", "said"),
    [
        (KalypsoError("wrong", advice="do better"), 1, "problem: wrong\n    → do better\n"),
        (UsageError("--x: no"), 2, "problem: --x: no\n"),
    ],
)
def test_an_error_is_reported_with_its_advice(
    error: Exception,
    status: int,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert ended(error, monkeypatch) == status
    assert capsys.readouterr().err == said


@pytest.mark.parametrize(
    "error",
    [
        ModuleNotFoundError("No module named 'cronsim'", name="cronsim"),
        ImportError("cannot import name 'X' from 'pydantic.types'", name="pydantic.types"),
    ],
    ids=["missing", "too old"],
)
def test_a_missing_module_is_no_bug(
    error: ImportError, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ended(error, monkeypatch) == 1
    printed = capsys.readouterr().err
    assert f"the module {(error.name or '').partition('.')[0]!r}" in printed
    assert "→ install kalypso again" in printed
    assert "bug" not in printed


def test_a_bug_asks_to_be_reported_and_commands_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ended(ValueError("what\n::stop-commands::x"), monkeypatch) == 1
    printed = capsys.readouterr().err
    assert "Traceback" in printed
    assert "Please report it: https://" in printed
    assert "stop-commands" in printed
    assert not any(line.lstrip().startswith("::") for line in printed.splitlines())


def ended(error: Exception, monkeypatch: pytest.MonkeyPatch) -> object:
    """Return the exit code of a run that raises this error."""

    def run(**_: object) -> None:
        raise error

    monkeypatch.setattr(app, "app", run)
    with pytest.raises(SystemExit) as caught:
        main()
    return caught.value.code
