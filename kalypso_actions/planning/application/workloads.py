"""The Workloads of the source, which assign the folders to deployment targets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kalypso_actions.errors import Location, Problem
from kalypso_actions.fleet import check_workloads
from kalypso_actions.model.application import Findings
from kalypso_actions.model.documents import Reading, Revision
from kalypso_actions.model.kinds import Workload
from kalypso_actions.sources.yaml_documents import parse_yaml


def workloads_of(
    contents: Mapping[str, bytes], where: Location
) -> tuple[Sequence[Workload], Findings]:
    """Parse the YAML files of a folder of Workloads, at `where`.

    Their faults are warnings, since the manifests do not depend on them.
    """
    parsed = [
        parse_yaml(where.repository, path, content)
        for path, content in contents.items()
        if path.endswith((".yaml", ".yml"))
    ]
    if not parsed:
        message = "there is no Workload, so nothing says which target deploys which folder"
        advice = "add workload/workload.yaml, or name its folder with workload-path"
        return (), Findings(notes=[Problem(message, where, advice, "workload-missing")])
    reading = Reading(
        Revision(where.repository, "", None, where.path, None),
        tuple(document for file in parsed for document in file.documents),
        tuple(problem for file in parsed for problem in file.problems),
    )
    workloads, diagnostics = check_workloads(reading)
    return workloads, Findings(warnings=[*diagnostics.problems, *diagnostics.warnings])
