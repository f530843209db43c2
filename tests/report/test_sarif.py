"""SARIF: the fields that the standard and GitHub's code scanning require."""

from __future__ import annotations

import json
from typing import Any

from kalypso_actions.errors import Finding, Location
from kalypso_actions.report.sarif import sarif

HERE = Location("here", "a b/ü.yaml", 3, 5)
ELSEWHERE = Location("https://github.com/acme/app", "w.yaml", 2, branch="dev")


def path_of(where: Location) -> str:
    branch = f"@{where.branch}" if where.branch else ""
    name = f"{where.repository.removeprefix('https://github.com/')}{branch}"
    return where.path if name == "here" else f"{name}/{where.path}".rstrip("/")


def run_of(*findings: Finding) -> dict[str, Any]:
    document = json.loads(sarif(findings, path_of))
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
        assert len(result["locations"]) == 1
        for location in result["locations"]:
            place = location["physicalLocation"]
            assert set(place) <= {"artifactLocation", "region"}
            assert place["artifactLocation"]["uri"].partition("/")[0]
            assert "://" not in place["artifactLocation"]["uri"]
            assert all(number >= 1 for number in place.get("region", {}).values())


def test_a_problem_in_a_file_at_hand() -> None:
    run = run_of(Finding("wrong\n", HERE, "do better", "template-missing"))
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


def test_every_result_has_a_path_without_scheme() -> None:
    run = run_of(
        Finding("a", ELSEWHERE), Finding("b", Location("https://github.com/acme/x")), Finding("c")
    )
    places = [result["locations"][0]["physicalLocation"] for result in run["results"]]
    assert [(place["artifactLocation"]["uri"], place["region"]) for place in places] == [
        ("acme/app@dev/w.yaml", {"startLine": 2}),
        ("acme/x", {"startLine": 1}),
        ("no-file", {"startLine": 1}),
    ]
    assert {result["ruleId"] for result in run["results"]} == {"unclassified"}


def test_an_acknowledged_warning_is_suppressed() -> None:
    finding = Finding("a", HERE, code="policies-equal", reason="until May", level="warning")
    (result,) = run_of(finding)["results"]
    assert result["level"] == "warning"
    assert result["suppressions"] == [{"kind": "inSource", "justification": "until May"}]


def test_nothing_wrong() -> None:
    assert run_of()["results"] == []


def test_findings_of_thousands_of_assignments() -> None:
    """GitHub refuses a file with more than 25,000 results."""
    numbers = range(30_000)
    warnings = [Finding(f"target {number}: bad", HERE, level="warning") for number in numbers]
    findings = [Finding("wrong", HERE), *warnings]
    results = json.loads(sarif(findings, path_of))["runs"][0]["results"]
    assert len(results) == 25_000
    assert [result["level"] for result in results[:2]] == ["error", "warning"]
    assert results[-1]["message"]["text"] == (
        "5002 more findings left out: GitHub refuses a file of more than 25,000 results\n"
        "--output json lists all"
    )
