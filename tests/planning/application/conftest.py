"""Applications for tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.planning.application.applications import Application, find_program


@pytest.fixture
def application(tmp_path: Path) -> Application:
    """Return an application without files; helm is installed."""
    find_program("helm")
    return Application(tmp_path)
