"""A server that answers as Azure does."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import responses


@pytest.fixture
def server() -> Iterator[responses.RequestsMock]:
    with responses.RequestsMock(assert_all_requests_are_fired=False) as mock:
        yield mock
