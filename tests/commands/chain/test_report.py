"""`kalypso report` of Acme, with GitHub's data and the decisions of a Placement."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from tests.command_line import call_kalypso
from tests.commands.chain import proposals
from tests.commands.chain.organisation import GITOPS, Organisation
from tests.commands.chain.promotions import main_commit, merge
from tests.commands.chain.report_sources import FLUX


def report(acme: Organisation, folder: Path, *options: str) -> dict[str, Any]:
    variables = {"PATH": os.environ["PATH"], **acme.sandbox.environment(acme.token)}
    place = ("--out", folder, "--control-plane", acme.url())
    call_kalypso("report", *place, *options, variables=variables)
    document: dict[str, Any] = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    return document


def test_the_clusters_of_all_sources(flux: Organisation, tmp_path: Path) -> None:
    merge(flux, main_commit(flux))
    flux.clock.sleep(120)
    sources = ("--cluster-reports", "commit-statuses", "--status-authors", FLUX)
    dev = report(flux, tmp_path, "--clusters", *sources)["pipeline"]["environments"][0]
    assert sum(dev["clusters"].values()) == 3
    broken = report(flux, tmp_path, "--clusters", "--cluster-reports", "argocd")["pipeline"]
    assert [each["message"] for each in broken["problems"]] == ["argocd-servers is missing"]
    assert [each["clusters"] for each in broken["environments"]] == [None, None]


def test_the_pipeline_and_the_decisions(placed: Organisation, tmp_path: Path) -> None:
    proposals.run(placed)
    (pull,) = placed.pulls()
    document = report(placed, tmp_path)
    dev = document["pipeline"]["environments"][0]
    assert [each["number"] for each in dev["pullRequests"]] == [pull["number"]]
    assert dev["waits"][0]["waitsFor"] == "people"
    (entry,) = (each for each in document["environments"] if each["environment"] == "dev")
    assert entry["scheduler"] == "placement"
    assert entry["gitops"][0]["commit"] == placed.head("dev", GITOPS)
    (item,) = (each for each in document["assignments"] if each["environment"] == "dev")
    (decision,) = (document["decisions"][index] for index in item["decisions"])
    assert item["clusterType"] == "drone"
    *filters, cut = decision["steps"]
    assert (cut["name"], cut["passed"]) == ("Placement one: cut", True)
    assert filters
    assert placed.token not in json.dumps(document)
    labels = report(placed, tmp_path, "--scheduler", "labels")
    assert labels["environments"][0]["scheduler"] == "labels"
    cluster_types = {each["clusterType"] for each in labels["assignments"]}
    assert cluster_types == {"drone", "large"}
