"""A new Acme for each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.chain.quick_reads import quick_reads
from tests.commands.chain.organisation import Organisation, organisation


@pytest.fixture
def acme_over_http(tmp_path: Path) -> Iterator[Organisation]:
    """Acme with repositories that are read from the server, which checks permissions."""
    with organisation(tmp_path) as acme:
        yield acme


@pytest.fixture
def acme(tmp_path: Path) -> Iterator[Organisation]:
    with organisation(tmp_path) as acme, quick_reads(acme.sandbox):
        yield acme
