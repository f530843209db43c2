from __future__ import annotations

import pytest

from bench import repositories


def test_all_are_read_and_cloned(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(repositories, "LATENCY", 0.001)
    assert repositories.measure(2) == []
    told = capsys.readouterr().out
    assert "2 repositories, 1 ms a request" in told
    assert "plain shallow blobless clones" in told
