from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kalypso_sandbox import Sandbox
from tests.sandbox.api_client import ApiClient, hub
from tests.sandbox.served_sandbox import serving


@pytest.fixture
def sandbox(tmp_path: Path) -> Iterator[Sandbox]:
    """Serve a sandbox with the private repository acme/fleet."""
    with serving(tmp_path) as served:
        yield served


@pytest.fixture
def github(tmp_path: Path) -> Iterator[ApiClient]:
    """Return a client of GitHub's API in a sandbox with the repository acme/fleet."""
    with hub(tmp_path) as client:
        yield client
