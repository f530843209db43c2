"""Acme, made anew for each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.commands.chain.organisation import Organisation, organisation


@pytest.fixture
def acme(tmp_path: Path) -> Iterator[Organisation]:
    with organisation(tmp_path) as acme:
        yield acme
