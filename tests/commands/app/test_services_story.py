"""The story of a service: its chart is pinned, scanned, and goes through the environments."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from kalypso_actions.planning.application.services import digest_of
from tests.commands.app.shop import CONFIGS, GITOPS, Application
from tests.planning.application.chart_repository import CHART, chart_repository, service

DEPLOYMENT: Final = """\
apiVersion: v1
kind: Pod
metadata: {name: metrics}
spec:
  containers: [{name: metrics, image: "metrics:{{ .Chart.Version }}"}]
"""
SCAN: Final = """\
test -f "$KALYPSO_CHARTS"/*metrics*
if grep -q metrics:1.2.3 "$KALYPSO_IMAGES"; then echo a hole in metrics:1.2.3; exit 4; fi
"""


@pytest.mark.usefixtures("helm", "azure")
def test_a_service_whose_image_is_refused_until_its_version_moves(
    web: Application, tmp_path: Path
) -> None:
    given = {"generator": "services", "scan": SCAN}
    none = {"eu/values.yaml": None, "us/values.yaml": None}
    for name, days in (("dev", 7), ("stage", 30)):
        values = {"monitoring/eu/values.yaml": f"retention: {days}d\n"}
        web.acme.commit({**none, **values}, name, CONFIGS)
    order = "- name: dev\n  next: stage\n- name: stage\n"
    with chart_repository(tmp_path / "charts") as charts:

        def published(version: str) -> str:
            files = {"Chart.yaml": CHART["Chart.yaml"].replace("1.2.3", version)}
            charts.publish({**files, "templates/pod.yaml": DEPLOYMENT})
            digest = digest_of((charts.folder / f"metrics-{version}.tgz").read_bytes())
            return service(charts.url, digest, version=version)

        files = {"manifests/web.yaml": None, ".github/kalypso/environments.yaml": order}
        first = web.push({**files, "services/monitoring.yaml": published("1.2.3")})
        web.release(first, "1")
        result = web.deploy(**given)
        assert result.failed
        assert web.pulls() == []
        reason = "Failed to deploy: the scan command ended with exit code 4"
        assert web.statuses(first)["dev"] == ("failure", reason)
        second = web.push({"services/monitoring.yaml": published("1.2.4")})
        web.release(second, "2")
        web.deploy(**given)
        web.merge_open()
        assert web.tracking("dev", "Promoted_Commit_Id") == second
        manifests = web.acme.files("dev", GITOPS)["monitoring/eu/gen_manifests.yaml"]
        assert ("retention: 7d" in manifests, 'image: "metrics:1.2.4"' in manifests) == (True, True)
        web.check(platform_gitops="", require_targets="false")
        web.deploy("stage", **given)
        web.merge_open("stage")
        manifests = web.acme.files("stage", GITOPS)["monitoring/eu/gen_manifests.yaml"]
        assert "retention: 30d" in manifests
