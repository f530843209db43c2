"""An Acme for each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.chain.quick_reads import quick_reads
from tests.commands.chain import placements
from tests.commands.chain.founding import copied_organisation, organisation
from tests.commands.chain.organisation import GITOPS, Organisation
from tests.commands.chain.promotions import sign_in
from tests.commands.chain.report_sources import RIGHTS, add_cluster, list_clusters


@pytest.fixture(scope="session")
def founded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a stopped sandbox with Acme."""
    folder = tmp_path_factory.mktemp("acme")
    with organisation(folder):
        return folder


@pytest.fixture
def acme_over_http(founded: Path, tmp_path: Path) -> Iterator[Organisation]:
    """Acme with repositories that git reads from the server."""
    with copied_organisation(founded, tmp_path) as acme:
        yield acme


@pytest.fixture
def acme_with_permissions(acme_over_http: Organisation) -> Iterator[Organisation]:
    """Acme whose server checks the permission for each read, and serves no objects."""
    with quick_reads(acme_over_http.sandbox, authorized=True):
        yield acme_over_http


@pytest.fixture
def acme(acme_over_http: Organisation) -> Iterator[Organisation]:
    with quick_reads(acme_over_http.sandbox):
        yield acme_over_http


@pytest.fixture
def placed(acme: Organisation) -> Organisation:
    """Acme whose dev is scheduled by a Placement."""
    placements.schedule_dev_by_placement(acme)
    return acme


@pytest.fixture
def app(acme: Organisation) -> dict[str, str]:
    """The inputs of a GitHub App."""
    number, key = acme.sandbox.create_app("acme")
    return {"app_id": str(number), "app_private_key": key}


@pytest.fixture
def azure(acme: Organisation, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sign in to the sandbox's Azure."""
    sign_in(acme, monkeypatch)


@pytest.fixture
def flux(acme: Organisation) -> Organisation:
    """Acme whose clusters of dev report by commit statuses, and are listed."""
    app, _ = acme.sandbox.create_app("acme", RIGHTS, repositories=[GITOPS], slug="acme-flux")
    list_clusters(acme, drone="drone-1", large="large-1, Large-2")
    for name, cluster_type in (("drone-1", "drone"), ("large-1", "large"), ("large-2", "large")):
        add_cluster(
            acme, name, cluster_type, notifications={"app": app, "cluster_type": cluster_type}
        )
    return acme


@pytest.fixture
def hub(acme: Organisation) -> Organisation:
    """Acme whose clusters of dev are applied by an Argo CD."""
    for name, cluster_type in (("drone-1", "drone"), ("large-1", "large")):
        add_cluster(acme, name, cluster_type, application={"server": "hub"})
    return acme
