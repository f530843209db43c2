from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.sandbox.github.hub import Hub, hub


@pytest.fixture
def github(tmp_path: Path) -> Iterator[Hub]:
    with hub(tmp_path) as one:
        yield one
