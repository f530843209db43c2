from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.sandbox.github.api_client import ApiClient, hub


@pytest.fixture
def github(tmp_path: Path) -> Iterator[ApiClient]:
    with hub(tmp_path) as client:
        yield client
