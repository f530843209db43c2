"""A workflow file with one of its jobs alone.

act has one token for a whole run; GitHub has a token for each job, with the permissions that its
file names. So each job runs by itself, and the caller keeps the order of the jobs.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import yaml

from kalypso_sandbox.workflow_runner.jobs import ALWAYS, PLACE, filled

ARTIFACTS = ("actions/upload-artifact@", "actions/download-artifact@")
OF_OTHERS = "needs."


def alone(
    content: bytes,
    job: str,
    artifacts: Path = Path("artifacts"),
    needs: Mapping[str, Any] = MappingProxyType({}),
) -> str:
    """Return the workflow with this job only, without the job's `needs`, and without its condition
    if that is about other jobs: the caller must have checked it.

    Artifacts are folders of `artifacts`: act does not implement GitHub's actions for them. `needs`
    has the outputs and results of the other jobs. Raises ValueError if the job uses others.
    """
    document: dict[Any, Any] = yaml.safe_load(content)
    # YAML 1.1 reads `on` as true.
    document = {"on" if key is True else key: value for key, value in document.items()}
    described = dict(document["jobs"][job])
    described.pop("needs", None)
    if OF_OTHERS in described.get("if", "") or described.get("if") == ALWAYS:
        del described["if"]
    described["steps"] = [_with_copies(step, artifacts) for step in described["steps"]]
    written = yaml.safe_dump(described, width=1000)
    for place in set(PLACE.findall(written)):
        if place.strip().startswith(OF_OTHERS):
            if place.strip().split(".")[1] not in needs:
                raise ValueError(f"the job {job} uses outputs of others, which are not handed on")
            expression = "${{" + place + "}}"
            written = written.replace(expression, filled(expression, {"needs": needs}))
    described = yaml.safe_load(written)
    return yaml.safe_dump({**document, "jobs": {job: described}}, sort_keys=False)


def _with_copies(step: dict[str, Any], artifacts: Path) -> dict[str, Any]:
    """Return the step, or one that copies files instead of an action for artifacts."""
    if not str(step.get("uses", "")).startswith(ARTIFACTS):
        return step
    words = step["with"]
    kept = {key: value for key, value in step.items() if key not in {"uses", "with"}}
    stored = f'"{artifacts}/$OF_RUN/{words["name"]}"'
    if "upload" in step["uses"]:
        copy = f"if [ -d {words['path']} ]; then mkdir -p {stored}; cp -r {words['path']}/. {stored}; fi"
        run_id = "${{ github.run_id }}"
    else:
        copy = f"mkdir -p {words['path']} && cp -r {stored}/. {words['path']}"
        run_id = words.get("run-id", "${{ github.run_id }}")
    return {**kept, "env": {"OF_RUN": run_id}, "run": copy}
