"""The action validate-workload in a job of an application's repository."""

from __future__ import annotations

from typing import Final

import pytest

from tests.actions.checkout import POSIX, ROOT
from tests.actions.composite import Job

pytestmark = POSIX

ACTION: Final = ROOT / "actions" / "validate-workload"
WORKLOAD: Final = """\
apiVersion: scheduler.kalypso.io/v1alpha1
kind: Workload
metadata: {name: app}
spec:
  deploymentTargets:
    - {name: web, environment: dev, manifests: {repo: r, branch: dev, path: ./web}}
"""


@pytest.mark.parametrize(
    ("old", "new", "outputs"),
    [
        pytest.param("", "", ("0", "0"), marks=pytest.mark.slow),
        ("path: ./web", "pth: ./web", ("0", "1")),
        ("kind: Workload", "kind: Workloads", ("1", "0")),
    ],
)
def test_outputs_count_the_problems(job: Job, old: str, new: str, outputs: tuple[str, str]) -> None:
    folder = job.workspace / "workload"
    folder.mkdir()
    (folder / "workload.yaml").write_text(WORKLOAD.replace(old, new))
    ran = job.uses(ACTION, path="workload")
    problems, warnings = outputs
    assert ran.outputs == {"problems": problems, "warnings": warnings}, ran.log
    assert ran.exit_code == int(problems)
    assert len(ran.annotations()) == int(problems) + int(warnings)


@pytest.mark.slow
def test_a_path_that_does_not_exist(job: Job) -> None:
    ran = job.uses(ACTION, path="absent")
    assert ran.exit_code == 1, ran.log
    ((level, text),) = ran.annotations()
    assert level == "error"
    assert "absent" in text
