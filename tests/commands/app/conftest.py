"""The application in the sandbox of Acme."""

from __future__ import annotations

import pytest

from tests.commands.app.shop import Application
from tests.commands.chain.conftest import acme as acme  # noqa: PLC0414 - the fixtures
from tests.commands.chain.conftest import acme_over_http as acme_over_http  # noqa: PLC0414
from tests.commands.chain.conftest import founded as founded  # noqa: PLC0414
from tests.commands.chain.organisation import Organisation


@pytest.fixture
def web(acme: Organisation) -> Application:
    return Application.found(acme)
