from __future__ import annotations

import pytest

from tests.sandbox.azure.builders import Clock


@pytest.fixture
def clock() -> Clock:
    return Clock()
