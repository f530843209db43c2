"""Fixtures of the attacks."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.hostile.fleet_under_attack import FleetUnderAttack


@pytest.fixture
def fleet(tmp_path: Path) -> FleetUnderAttack:
    return FleetUnderAttack(tmp_path)


@pytest.fixture
def kept(tmp_path: Path) -> FleetUnderAttack:
    """A fleet in git repositories, with the tree of an earlier run."""
    kept = FleetUnderAttack(tmp_path, with_git=True)
    kept.keep()
    return kept
