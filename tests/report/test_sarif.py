"""SARIF: the fields that the standard and GitHub's code scanning require."""

from __future__ import annotations

import json
from typing import Any

from kalypso_actions.errors import Location, Problem
from kalypso_actions.report.documents import ProblemEntry
from kalypso_actions.report.sarif import sarif

HERE = Location("here", "a b/ü.yaml", 3, 5)
ELSEWHERE = Location("https://github.com/acme/app", "w.yaml", 2)


def run_of(*problems: Problem, warnings: tuple[Problem, ...] = ()) -> dict[str, Any]:
    findings = [
        ("error", ProblemEntry.all_of(problems)),
        ("warning", ProblemEntry.all_of(warnings)),
    ]
    document = json.loads(
        sarif(findings, lambda where: where.path if where.repository == "here" else "")  # type: ignore[arg-type]
    )
    assert document["version"] == "2.1.0"
    assert document["$schema"].endswith("/sarif-2.1.0.json")
    (run,) = document["runs"]
    check(run)
    return dict(run)


def check(run: dict[str, Any]) -> None:
    """Check the required fields of sarif-schema-2.1.0 and of GitHub's documentation."""
    driver = run["tool"]["driver"]
    assert driver["name"] == "kalypso"
    ids = [rule["id"] for rule in driver["rules"]]
    assert len(ids) == len(set(ids))
    for result in run["results"]:
        assert result["level"] in {"none", "note", "warning", "error"}
        assert result["message"]["text"]
        assert ids[result["ruleIndex"]] == result["ruleId"]
        for location in result.get("locations", []):
            place = location["physicalLocation"]
            assert set(place) <= {"artifactLocation", "region"}
            assert place["artifactLocation"]["uri"]
            assert all(number >= 1 for number in place.get("region", {}).values())


def test_a_problem_in_a_file_at_hand() -> None:
    run = run_of(Problem("wrong\n", HERE, "do better", "template-missing"))
    (result,) = run["results"]
    assert result == {
        "ruleId": "template-missing",
        "ruleIndex": 0,
        "level": "error",
        "message": {"text": "wrong\ndo better"},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": "a%20b/%C3%BC.yaml"},
                    "region": {"startLine": 3, "startColumn": 5},
                }
            }
        ],
    }
    (rule,) = run["tool"]["driver"]["rules"]
    assert rule["shortDescription"]["text"] == "A ClusterType names a Template that does not exist."


def test_places_elsewhere() -> None:
    run = run_of(
        Problem("a", ELSEWHERE), Problem("b", Location("https://github.com/acme/x")), Problem("c")
    )
    first, second, third = run["results"]
    (location,) = first["locations"]
    assert location["physicalLocation"] == {
        "artifactLocation": {"uri": "https://github.com/acme/app/w.yaml"},
        "region": {"startLine": 2},
    }
    assert second["message"]["text"] == "https://github.com/acme/x: b"
    assert "locations" not in third
    assert {result["ruleId"] for result in run["results"]} == {"unclassified"}


def test_nothing_wrong() -> None:
    assert run_of()["results"] == []
