"""A PostgreSQL server for each worker, and an empty database for each test."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.commands.hub.records import Recorder
from tests.postgres import TestDatabase, server

NUMBERS = itertools.count()


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    with server() as settings:
        yield settings


@pytest.fixture
def database(postgres: str) -> TestDatabase:
    return TestDatabase(postgres, f"hub_{next(NUMBERS)}")


@pytest.fixture
def recorder(tmp_path: Path) -> Recorder:
    return Recorder(tmp_path / "record")
