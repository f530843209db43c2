"""Acme before anything was set up."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.commands.init.repositories import Acme, acme_in


@pytest.fixture
def acme(tmp_path: Path) -> Iterator[Acme]:
    with acme_in(tmp_path) as acme:
        yield acme
