"""The application in the sandbox of Acme."""

from __future__ import annotations

import pytest

from tests.commands.app.shop import Application
from tests.commands.chain.conftest import acme as acme  # noqa: PLC0414 - a fixture
from tests.commands.chain.conftest import acme_over_http as acme_over_http  # noqa: PLC0414 - a fixture
from tests.commands.chain.conftest import acme_with_permissions as acme_with_permissions  # noqa: PLC0414 - a fixture
from tests.commands.chain.conftest import azure as azure  # noqa: PLC0414 - a fixture
from tests.commands.chain.conftest import founded as founded  # noqa: PLC0414 - a fixture
from tests.commands.chain.organisation import Organisation
from tests.commands.chain.promotions import sign_in
from tests.planning.application.applications import PROGRAMS, find_program


@pytest.fixture
def running(web: Application, monkeypatch: pytest.MonkeyPatch) -> Application:
    """Return the application, which clusters of dev run: eu on drone, us on large."""
    sign_in(web.acme, monkeypatch)
    for cluster_type, target in (("drone", "eu"), ("large", "us")):
        web.acme.cluster("dev", cluster_type, delay=30, settle=20)
        web.assign(cluster_type, target)
    return web


@pytest.fixture
def web(acme: Organisation) -> Application:
    return Application.found(acme)


@pytest.fixture
def helm(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let jobs find helm."""
    find_program("helm")
    monkeypatch.setenv("PATH", PROGRAMS)
