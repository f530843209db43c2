"""Run `python -m tools.placement_cases FILE [ID …]`: print the differences from OCM's answers.

FILE has one case for each line: `input`, OCM's objects by kind and `now`, and `expected`, the
answer of OCM's scheduler. The tool writes each case as a folder of documents, half of them as a
List, and calls the function of the command. Messages are not compared.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import Any

import yaml

from kalypso_placement.command import decide

GROUP = "cluster.open-cluster-management.io"
KINDS = {
    "managedClusters": ("v1", "ManagedCluster"),
    "managedClusterSets": ("v1beta2", "ManagedClusterSet"),
    "managedClusterSetBindings": ("v1beta2", "ManagedClusterSetBinding"),
    "placementDecisions": ("v1beta1", "PlacementDecision"),
    "addOnPlacementScores": ("v1alpha1", "AddOnPlacementScore"),
}
NEW = {"decodeError", "panic"}
DUMPER = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


def write_fleet(case: dict[str, Any], folder: Path) -> Path:
    """Write the objects of a case; return the file of the Placement."""
    for number, (name, (version, kind)) in enumerate(KINDS.items()):
        header = {"apiVersion": f"{GROUP}/{version}", "kind": kind}
        objects = [{**header, **body} for body in case[name]]
        if number % 2 == 0:
            objects = [{"apiVersion": "v1", "kind": "List", "items": objects}]
        text = yaml.dump_all(objects, Dumper=DUMPER)
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
    file = folder.parent / f"{folder.name}.yaml"
    file.write_text(yaml.dump(case["placement"], Dumper=DUMPER), encoding="utf-8")
    return file


def differences(expected: dict[str, Any], actual: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Return the fields that differ, with OCM's value and ours."""
    unordered = {path.partition(".")[0] for path in expected.get("unordered", ())}
    return {
        name: (_plain(name, value), _plain(name, actual.get(name)))
        for name, value in expected.items()
        if name not in {"admission", "unordered"} | unordered
        and _plain(name, value) != _plain(name, actual.get(name))
    }


def _plain(name: str, value: Any) -> Any:
    """Leave out messages; of a field that is null without a problem, compare only its presence."""
    if name in NEW | {"syncError"}:
        return value is not None
    if isinstance(value, dict):
        return {key: _plain(key, item) for key, item in value.items() if key != "message"}
    return value


def refusals(expected: dict[str, Any], actual: dict[str, Any]) -> bool:
    """Tell whether we find as many problems as the API server."""
    admission = expected.get("admission") or {}
    wanted = len(admission.get("errors", ())) + len(admission.get("unknownFields", ()))
    problems = [p for p in actual["problems"] if p["code"] != "placement-unreadable"]
    return len(problems) == wanted


def main(path: str, *ids: str) -> int:
    """Compare every case; return the exit code."""
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as scratch, Path(path).open(encoding="utf-8") as lines:
        for line in lines:
            case = json.loads(line)
            if ids and case["id"] not in ids:
                continue
            folder = Path(scratch) / case["id"]
            folder.mkdir()
            file = write_fleet(case["input"], folder)
            now = datetime.fromisoformat(case["input"]["now"])
            actual = json.loads(decide(str(file), folder, now).to_json())
            differing = differences(case["expected"], actual)
            equal = not differing and refusals(case["expected"], actual)
            counts["equal" if equal else "different"] += 1
            if not equal:
                print(case["id"], case["title"])
                for name, (theirs, ours) in differing.items():
                    print(f"  {name}: {json.dumps(theirs)} but ours {json.dumps(ours)}")
                print(*(f"  {p['message']}" for p in actual["problems"]), sep="\n")
    print(f"{counts['equal']} equal, {counts['different']} different")
    return 1 if counts["different"] else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
