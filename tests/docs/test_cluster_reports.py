"""The guide's source of cluster reports, installed and asked by check-promote."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from kalypso_actions.errors import KalypsoError, UsageError
from kalypso_actions.model.cluster_reports import ClusterReport
from tests import http_servers
from tests.commands.chain.conftest import acme, acme_over_http, founded
from tests.commands.chain.organisation import Organisation
from tests.commands.chain.promotions import check, document, main_commit, merge
from tests.docs.installed_package import installed_package
from tests.docs.pages import ROOT, Page

__all__ = ["acme", "acme_over_http", "founded"]  # fixtures

PAGE = Page(ROOT / "docs" / "guide" / "cluster-reports.md")


def block(language: str) -> str:
    (text,) = re.findall(rf"^```{language}\n(.*?)^```$", PAGE.text, re.DOTALL | re.MULTILINE)
    return str(text)


@pytest.fixture
def installed(tmp_path: Path) -> Iterator[None]:
    """Install the page's package."""
    files = {"acme_inventory.py": block("python")}
    with installed_package(tmp_path, "acme_inventory", files, block("toml")):
        yield


@contextmanager
def inventory(answer: Any) -> Iterator[str]:
    """Serve one answer to every request; yield the URL."""

    class Handler(http_servers.Handler):
        def answer(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps(answer).encode())

    with http_servers.serving(Handler) as url:
        yield f"{url}/clusters"


def entry(cluster_type: str, commit: str, *, healthy: bool = True) -> dict[str, Any]:
    return {
        "cluster": f"rack/{cluster_type}-1",
        "agent": "gitops",
        "path": cluster_type,
        "commit": commit,
        "healthy": healthy,
        "message": "" if healthy else "out of disk space",
        "time": "2026-05-01T12:00:00+00:00",
    }


def check_with_inventory(acme: Organisation, url: str, *commits: str) -> Any:
    variables = {"INVENTORY_URL": url} if url else {}
    return check(acme, *commits, cluster_reports="inventory", variables=variables)


@pytest.mark.usefixtures("installed")
def test_the_source_decides(acme: Organisation) -> None:
    commit = main_commit(acme)
    merged = merge(acme, commit)
    with inventory([entry("drone", merged), entry("large", merged)]) as url:
        result = document(check_with_inventory(acme, url, merged, commit))
    assert (result.verdict, result.reason) == ("compliant", "2 clusters comply")
    acme.clock.sleep(300)
    with inventory([entry("drone", merged, healthy=False), entry("large", merged)]) as url:
        result = document(check_with_inventory(acme, url, merged))
    assert (result.verdict, result.reason) == ("failed", "drone-1: out of disk space")


@pytest.mark.usefixtures("installed")
def test_the_source_raises(acme: Organisation) -> None:
    commit = main_commit(acme)
    merged = merge(acme, commit)
    with pytest.raises(UsageError, match="INVENTORY_URL is missing"):
        check_with_inventory(acme, "", merged, commit)
    assert acme.statuses(commit) == {}
    with (
        inventory([{"cluster": "rack/drone-1"}]) as url,
        pytest.raises(KalypsoError, match="the inventory cannot be read: 'agent'"),
    ):
        check_with_inventory(acme, url, merged, commit)


def test_a_source_of_the_earlier_form(acme: Organisation, tmp_path: Path) -> None:
    """Its methods take no `FollowedTree`, and it does not say whether it knows all clusters."""
    former = (
        block("python")
        .replace("    knows_all_clusters = True\n", "")
        .replace("def check_inputs(self, followed: FollowedTree)", "def check_inputs(self)")
        .replace("self.check_inputs(followed)", "self.check_inputs()")
        .replace("self, followed: FollowedTree", "self, repository_url: str, branch: str")
        .replace("followed.repository_url", "repository_url")
        .replace("followed.branch", "branch")
        .replace("    FollowedTree,\n", "")
    )
    assert "ollowed" not in former
    commit = main_commit(acme)
    merged = merge(acme, commit)
    files = {"acme_inventory.py": former}
    with (
        installed_package(tmp_path, "acme_inventory", files, block("toml")),
        inventory([entry("drone", merged), entry("large", merged)]) as url,
    ):
        assert document(check_with_inventory(acme, url, merged, commit)).verdict == "compliant"
        with pytest.raises(UsageError, match="INVENTORY_URL is missing"):
            check_with_inventory(acme, "", merged, commit)


def test_a_source_that_is_not_installed(acme: Organisation) -> None:
    commit = main_commit(acme)
    merged = merge(acme, commit)
    with pytest.raises(UsageError, match="there is no source 'inventory'") as raised:
        check_with_inventory(acme, "", merged, commit)
    assert raised.value.problem.advice == (
        "installed: argocd, azure-resource-graph, command, commit-statuses"
    )


def test_the_page_lists_every_field_of_a_report() -> None:

    table = PAGE.text.partition("| field | value |")[2]
    assert re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE) == [
        field.name for field in fields(ClusterReport)
    ]
