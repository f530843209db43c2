"""Stories begin with Acme at rest in one of the machine's layouts."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.chain.machine.acme import LAYOUTS, POLICY_LAYOUTS
from tests.chain.opening import Opening
from tests.chain.organisation import Layout


@pytest.fixture(scope="session")
def begun(openings: Callable[[Layout], Opening]) -> Callable[[str], Opening]:
    """Acme at rest in a layout, by its name."""
    return lambda name: openings({**LAYOUTS, **POLICY_LAYOUTS}[name])
