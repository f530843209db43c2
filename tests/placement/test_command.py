"""`kalypso placement`, as people call it."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml

from kalypso_actions.errors import UsageError
from kalypso_placement.command import PlacementDocument
from kalypso_placement.command import decide as decide_placement
from tests.command_line import call_kalypso
from tests.placement.hubs import Body, all_bound, cluster, decided, placement, selecting

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def hub(folder: Path, *bodies: Body) -> Path:
    """Write a hub as `kubectl get -o yaml` does."""
    folder.mkdir()
    listed = {"apiVersion": "v1", "kind": "List", "items": [*all_bound(), *bodies]}
    (folder / "hub.yaml").write_text(yaml.safe_dump(listed), encoding="utf-8")
    return folder


def answer(wanted: str | Path, fleet: Path) -> PlacementDocument:
    return decide_placement(str(wanted), fleet, NOW)


def test_a_hypothetical_placement_of_an_exported_hub(tmp_path: Path) -> None:
    fleet = hub(
        tmp_path / "hub", cluster("019", {"env": "prod"}), cluster("1e3"), decided("p", "019")
    )
    file = tmp_path / "wanted.yaml"
    file.write_text(yaml.safe_dump(placement(predicates=[selecting(labels={"env": "prod"})])))
    done = call_kalypso(
        "placement", file, "--fleet", fleet, "--now", "2026-03-01T12:00:00Z", "--json"
    )
    document = json.loads(done.stdout)
    assert done.returncode == 0, done.stderr
    assert document["schema"] == "kalypso.placement/v1"
    assert document["availableClusters"] == ["019", "1e3"]
    assert document["decisions"] == ["019"]
    assert document["now"] == "2026-03-01T12:00:00Z"


def test_a_placement_of_the_folder_by_its_name(tmp_path: Path) -> None:
    fleet = hub(tmp_path / "hub", cluster("c1"), placement())
    assert answer("app", fleet).decisions == answer("apps/app", fleet).decisions == ("c1",)
    with pytest.raises(UsageError, match="there is no Placement 'other'"):
        answer("other", fleet)


def test_refused_documents_are_problems_with_their_line(tmp_path: Path) -> None:
    wanted = placement(numberOfClusters="two", sortBy="Name")
    document = answer("app", hub(tmp_path / "hub", cluster("c1"), placement()))
    assert not document.problems
    file = tmp_path / "wanted.yaml"
    file.write_text("# first line\n" + yaml.safe_dump(wanted, sort_keys=False), encoding="utf-8")
    document = answer(file, tmp_path / "hub")
    assert [problem.where and problem.where.line for problem in document.problems] == [8, 9]
    assert document.decode_error is not None
    assert document.decisions is None


def test_placements_that_ocm_does_not_decide(tmp_path: Path) -> None:
    fleet = hub(tmp_path / "hub", cluster("c1"))
    file = tmp_path / "wanted.yaml"
    file.write_text(yaml.safe_dump(placement(numberOfClusters=-1)), encoding="utf-8")
    assert answer(file, fleet).panic == "slice bounds out of range [:-1]"
    deleted = placement()
    deleted["metadata"]["deletionTimestamp"] = "2026-03-01T11:00:00Z"
    file.write_text(yaml.safe_dump(deleted), encoding="utf-8")
    assert answer(file, fleet).skipped is True


def test_cluster_types_stand_for_clusters(tmp_path: Path) -> None:
    fleet = tmp_path / "environment"
    fleet.mkdir()
    (fleet / "types.yaml").write_text(
        """\
apiVersion: scheduler.kalypso.io/v1alpha1
kind: ClusterType
metadata:
  name: edge
  labels: {region: eu}
  annotations:
    claim.kalypso.io/cloud: Azure
    kalypso.io/cluster-sets: "[shops]"
    kalypso.io/taints: |
      - {key: edge, effect: NoSelect, timeAdded: 2026-03-01T11:00:00Z}
    kalypso.io/allocatable: "{cpu: 4, memory: 8Gi}"
spec: {reconciler: argocd, namespaceService: default, configType: configmap}
---
apiVersion: scheduler.kalypso.io/v1alpha1
kind: ClusterType
metadata: {name: large, labels: {region: us}}
spec: {reconciler: flux, namespaceService: default, configType: configmap}
""",
        encoding="utf-8",
    )
    file = tmp_path / "wanted.yaml"
    claim = {"key": "cloud", "operator": "In", "values": ["Azure"]}
    spec = {
        "clusterSets": ["shops"],
        "predicates": [selecting(claims=[claim])],
        "tolerations": [{"operator": "Exists", "tolerationSeconds": 7200}],
    }
    file.write_text(yaml.safe_dump(placement(**spec)), encoding="utf-8")
    document = answer(file, fleet)
    assert document.problems == ()
    assert document.available_clusters == document.decisions == ("edge",)
    file.write_text(yaml.safe_dump(placement()), encoding="utf-8")
    assert answer(file, fleet).decisions == ("large",)


def test_the_text_says_why(tmp_path: Path) -> None:
    taint = {"key": "k", "effect": "NoSelect"}
    fleet = hub(tmp_path / "hub", cluster("c1"), cluster("c2"), cluster("c3", taints=[taint]))
    file = tmp_path / "wanted.yaml"
    file.write_text(yaml.safe_dump(placement(numberOfClusters=1)), encoding="utf-8")
    done = call_kalypso("placement", file, "--fleet", fleet)
    rows = [line.split() for line in done.stdout.splitlines()]
    assert ["c1", "100", "0", "100", "#0"] in rows
    assert ["c2", "100", "0", "100", "not", "chosen"] in rows
    assert ["c3", "dropped", "by", "TaintToleration"] in rows
    assert call_kalypso("placement", file, "--fleet", tmp_path / "nowhere").returncode == 2


def test_validate_reads_the_placements_of_an_environment(tmp_path: Path) -> None:
    folder = tmp_path / ".github" / "kalypso"
    folder.mkdir(parents=True)
    text = yaml.safe_dump(placement(numberOfCluster=1), sort_keys=False)
    (folder / "app.yaml").write_text(text, encoding="utf-8")
    done = call_kalypso("validate", tmp_path, "--json")
    problems = json.loads(done.stdout)["problems"]
    (problem,) = [item for item in problems if item["code"] == "placement-field-unknown"]
    assert problem["where"]["path"] == ".github/kalypso/app.yaml"
    assert problem["where"]["line"] == 7
