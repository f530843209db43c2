"""Waiting for a change of files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from kalypso_actions.clients.folder import FileWatch


def add(folder: Path) -> None:
    (folder / "b" / "new.yaml").write_text("x")


def change(folder: Path) -> None:
    (folder / "b" / "a.yaml").write_text("longer")


def delete(folder: Path) -> None:
    (folder / "b" / "a.yaml").unlink()


def fetch(folder: Path) -> None:
    (folder / ".git" / "refs" / "dev").write_text("1")


@pytest.mark.parametrize("act", [add, change, delete, fetch])
def test_it_waits_for_a_change(act: Callable[[Path], None], tmp_path: Path) -> None:
    for name in ("b", ".git/refs"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "b" / "a.yaml").write_text("x")
    looks = []

    def sleep(seconds: float) -> None:
        looks.append(seconds)
        (tmp_path / ".git" / "index").write_text("looking changes it")
        if len(looks) == 2:
            act(tmp_path)

    watch = FileWatch([tmp_path, tmp_path / "absent"], sleep)
    watch.wait(watch.state())
    assert len(looks) == 2
