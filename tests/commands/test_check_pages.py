"""`kalypso check-pages`: a site shows nothing to more people than GitHub does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest
import responses

from tests.command_line import call_kalypso
from tests.output_schemas import validator

API: Final = "https://api.github.com/repos"
TOKEN: Final = {"GH_TOKEN": "t", "GITHUB_REPOSITORY": "acme/control-plane", "COLUMNS": "200"}
NO_SITE: Final = {"message": "Not Found"}


def repository(name: str, visibility: str | None) -> None:
    """Let GitHub answer for a repository; None: it denies that there is one."""
    url = f"{API}/{name}"
    if visibility is None:
        responses.get(url, json=NO_SITE, status=404)
        return
    owner = {"id": 1, "type": "Organization"}
    body = {"id": 2, "full_name": name, "owner": owner, "default_branch": "main"}
    body |= {"archived": False, "created_at": "2026-01-01T00:00:00Z", "visibility": visibility}
    responses.get(url, json={**body, "private": visibility != "public"})


@pytest.mark.parametrize(
    ("site", "control_plane", "other", "refused"),
    [
        pytest.param({"public": True}, "public", "public", [], id="all is public"),
        pytest.param({"public": True}, "public", "internal", ["gitops"], id="internal GitOps"),
        pytest.param({"public": True}, "private", "public", ["control-plane"], id="private main"),
        pytest.param({"public": True}, "public", None, ["gitops"], id="an unknown repository"),
        pytest.param({}, "private", "private", ["control-plane", "gitops"], id="an unknown site"),
        pytest.param(None, "public", "private", ["gitops"], id="no site"),
        pytest.param({"public": False}, "private", None, [], id="a restricted site"),
    ],
)
@responses.activate
def test_who_may_read_the_site(
    tmp_path: Path, site: Any, control_plane: str, other: str | None, refused: list[str]
) -> None:
    responses.get(
        f"{API}/acme/control-plane/pages",
        json=site or NO_SITE,
        status=200 if site is not None else 404,
    )
    repository("acme/control-plane", control_plane)
    repository("acme/gitops", other)
    where = {"where": {"repository": "https://github.com/acme/gitops"}}
    report = {"schema": "kalypso.report/v1", "environments": [{"problems": [where]}]}
    (tmp_path / "report.json").write_text(json.dumps(report))
    done = call_kalypso(
        *("check-pages", "--report", tmp_path / "report.json"),
        *("--control-plane", "acme/control-plane", "--output", "json"),
        variables=TOKEN,
    )
    document = json.loads(done.stdout)
    assert [
        error.message for error in validator("kalypso.check-pages/v1").iter_errors(document)
    ] == []
    problems = [each["where"]["repository"] for each in document["problems"]]
    assert problems == [f"https://github.com/acme/{name}" for name in refused]
    assert done.returncode == (1 if refused else 0)


@responses.activate
def test_another_server_is_unknown(tmp_path: Path) -> None:
    responses.get(f"{API}/acme/control-plane/pages", json={"public": True})
    repository("acme/control-plane", "public")
    source = {"repository": "https://gitlab.example/acme/shop"}
    report = {"schema": "kalypso.report/v1", "environments": [{"sources": [source]}]}
    (tmp_path / "report.json").write_text(json.dumps(report))
    done = call_kalypso(
        *("check-pages", "--report", tmp_path / "report.json"),
        *("--control-plane", "acme/control-plane"),
        variables=TOKEN,
    )
    assert done.returncode == 1
    assert "is public, and this repository is not known to be public" in done.stderr
    assert done.stdout == "the site must not show the report of 2 repositories\n"


def test_no_report(tmp_path: Path) -> None:
    (tmp_path / "report.json").write_text('{"schema": "kalypso.status/v1"}')
    for name in ("report.json", "missing.json"):
        done = call_kalypso(
            *("check-pages", "--report", tmp_path / name),
            *("--control-plane", "acme/control-plane"),
            variables=TOKEN,
        )
        assert (done.returncode, done.stdout) == (2, "")
