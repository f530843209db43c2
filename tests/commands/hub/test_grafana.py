"""The dashboards for Grafana: every query runs, and its rows are those of the record."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.commands.hub.records import Recorder, hub_load, story
from tests.observations.test_record import AT
from tests.postgres import TestDatabase

FOLDER = Path(__file__).resolve().parents[3] / "docs" / "grafana"
VARIABLES: Mapping[str, Sequence[str]] = {
    "environment": ["dev", "it's"],
    "cluster_type": ["small"],
    "target": ["functional-test", "small", "'; drop table x; --"],
}
DAY = 24 * 3600


def filled(
    statement: str, variables: Mapping[str, Sequence[str]] = VARIABLES, around: datetime = AT
) -> str:
    """Put the values, and the range of a day around a time, into a query as Grafana does."""

    def quoted(match: re.Match[str]) -> str:
        values = variables[match[1]]
        if "|| ${" in statement:
            values = values[:1]
        return ", ".join("'" + value.replace("'", "''") + "'" for value in values)

    begin = int(around.timestamp()) - DAY
    statement = statement.replace("$__from", str(begin * 1000))
    statement = statement.replace("$__to", str((begin + 2 * DAY) * 1000))
    statement = re.sub(r"\$\{(\w+):sqlstring\}", quoted, statement)
    assert "$" not in statement, "only variables that Grafana quotes, and the range of time"
    return statement


def dashboards() -> dict[str, Any]:
    return {path.stem: json.loads(path.read_text("utf-8")) for path in FOLDER.iterdir()}


def queries(dashboard: Any) -> dict[str, str]:
    """Return the queries of panels by title, of variables and annotations by name."""
    found = {each["title"]: each["targets"][0]["rawSql"] for each in dashboard["panels"]}
    for each in dashboard["templating"]["list"]:
        if each["type"] == "query":
            found[each["name"]] = each["query"]
    for each in dashboard["annotations"]["list"]:
        found[each["name"]] = each["target"]["rawSql"]
    return found


MINUTE = 60


def at(minutes: int) -> datetime:
    return datetime.fromtimestamp(AT.timestamp() + minutes * MINUTE, UTC)


def expected(commits: dict[str, str]) -> dict[tuple[str, str], list[Any]]:
    """Return the rows of each query for the story."""
    small, test = "small", "functional-test"
    one, two, deployed = "1" * 40, "2" * 40, "https://github.com/acme/gitops/pull/1"
    drone_2 = (test, "drone-2", small, "0.0.1", "0.0.2")
    return {
        ("fleet", "environment"): [("dev",)],
        ("fleet", "cluster_type"): [(small,)],
        ("fleet", "Clusters by status"): [("failure", 1), ("success", 1)],
        ("fleet", "Things that drift"): [("failing", 1), ("unknown", 1)],
        ("fleet", "Versions that wait to be everywhere"): [(1,)],
        ("fleet", "Drift"): [
            (kind, "dev", *drone_2, 1, at(1), "out of memory") for kind in ("failing", "unknown")
        ],
        ("fleet", "Clusters"): [
            (at(0), "small Drone-1 functional-test", "success"),
            (at(0), "small Drone-1 small", "success"),
            (at(0), "small drone-2 functional-test", "success"),
            (at(0), "small drone-2 small", "success"),
            (at(0), "small drone-3 functional-test", "success"),
            (at(0), "small drone-3 small", "success"),
            (at(1), "small Drone-1 functional-test", "success"),
            (at(1), "small drone-2 functional-test", "failure"),
            (at(2), "small Drone-1 functional-test", "success"),
            (at(2), "small drone-3 functional-test", None),
            (at(2), "small drone-3 small", None),
            (at(3), "small Drone-1 small", "success"),
            (at(3), "small drone-2 small", "success"),
        ],
        ("fleet", "Rollouts"): [
            ("dev", small, small, "q", 2, 2, 0, at(3), 0, 0, 0),
            ("dev", test, small, "0.0.1", 2, 1, 0, at(2), 0, 0, None),
            ("dev", test, small, "0.0.2", 3, 1, 1, at(1), 0, None, None),
            ("dev", test, small, "0.0.1", 3, 3, 0, at(0), 0, 0, 0),
            ("dev", small, small, "p", 3, 3, 0, at(0), 0, 0, 0),
        ],
        ("environment", "environment"): [("dev",)],
        ("environment", "target"): [(test,), (small,)],
        ("environment", "Now"): [
            (test, "Drone-1", small, "0.0.1", "0.0.1", "current", "success", at(2), ""),
            (*drone_2, "unknown", "failure", at(1), "out of memory"),
            (small, "Drone-1", small, "q", "q", "current", "success", at(3), ""),
            (small, "drone-2", small, "q", "q", "current", "success", at(3), ""),
        ],
        ("environment", "History"): [
            (at(3), None, small, "q", commits["q"], 2, 0, 0, None, None, None, None),
            (at(2), None, test, "0.0.1", commits["a again"], 1, 0, 0, None, None, None, None),
            (at(1), at(2), test, "0.0.2", commits["b"], 1, 1, 0, None, None, None, None),
            (at(0), at(1), test, "0.0.1", commits["a"], 3, 0, 0, None, None, None, None),
            (at(0), at(3), small, "p", commits["p"], 3, 0, 0, None, None, None, None),
        ],
        ("environment", "Clusters"): [
            (at(0), "Drone-1 functional-test", "0.0.1"),
            (at(0), "Drone-1 small", "p"),
            (at(0), "drone-2 functional-test", "0.0.1"),
            (at(0), "drone-2 small", "p"),
            (at(0), "drone-3 functional-test", "0.0.1"),
            (at(0), "drone-3 small", "p"),
            (at(1), "Drone-1 functional-test", "0.0.2"),
            (at(1), "drone-2 functional-test", "0.0.2 failure"),
            (at(2), "Drone-1 functional-test", "0.0.1"),
            (at(3), "Drone-1 small", "q"),
            (at(3), "drone-2 small", "q"),
        ],
        ("environment", "Deployments"): [
            (at(0), at(0), f"dev: {test} 0.0.1", f"deployment,dev,{test},greetings"),
            (at(0), at(0), "dev: small p", "deployment,dev,small"),
            (at(1), None, f"dev: {test} 0.0.2", f"deployment,dev,{test},greetings"),
            (at(2), None, f"dev: {test} 0.0.1", f"deployment,dev,{test},greetings"),
            (at(3), at(3), "dev: small q", "deployment,dev,small"),
        ],
        ("delivery", "environment"): [("dev",)],
        ("delivery", "Figures"): [
            ("dev", at(0), 6720, 1, 600, 600, 4, 1, 0.25, 0, None, 2, 2, 0),
        ],
        ("delivery", "Deployments a week"): [(datetime(2026, 2, 23, tzinfo=UTC), 2, 0)],
        ("delivery", "Lead time"): [(at(3), "dev", 600)],
        ("delivery", "Commits"): [
            (
                *("dev", one, "deployed", "Greet", "ada", "grace", deployed),
                *(at(-7), at(-7), at(2), at(3), 540, 60),
            ),
            (
                *("dev", two, "failed", "Greet", "ada", "grace", deployed),
                *(at(-27), at(-27), at(2), None, 1740, None),
            ),
        ],
    }


def test_every_query_finds_the_rows_of_the_record(
    recorder: Recorder, database: TestDatabase
) -> None:
    commits = dict(story(recorder))
    hub_load(recorder.branch, database)
    rows = expected(commits)
    asked = {(name, title) for name, each in dashboards().items() for title in queries(each)}
    assert asked == rows.keys()
    for name, dashboard in dashboards().items():
        for title, statement in queries(dashboard).items():
            found = database.rows(filled(statement))
            assert sorted(map(str, found)) == sorted(
                map(str, readable(rows[name, title], found))
            ), f"{name}: {title}"


def readable(rows: list[Any], found: list[Any]) -> list[Any]:
    """Give numbers and times the types that the driver gives them."""
    return [
        tuple(
            other if value == other else value
            for value, other in zip(row, similar(row, found), strict=True)
        )
        for row in rows
    ]


def similar(row: tuple[Any, ...], found: list[Any]) -> tuple[Any, ...]:
    return next((each for each in found if tuple(each) == row), row)


@pytest.mark.parametrize("name", sorted(dashboards()))
def test_a_dashboard_can_be_imported(name: str) -> None:
    """Ids are unique, panels do not overlap, and each source of data is the variable."""
    dashboard = dashboards()[name]
    panels = dashboard["panels"]
    assert len({each["id"] for each in panels}) == len(panels)
    cells = [
        (each["gridPos"]["x"] + x, each["gridPos"]["y"] + y)
        for each in panels
        for x in range(each["gridPos"]["w"])
        for y in range(each["gridPos"]["h"])
    ]
    assert len(cells) == len(set(cells))
    assert max(x for x, _ in cells) < 24
    sources = re.findall(r'"uid": "(\$\{[^"]*)"', json.dumps(dashboard))
    assert set(sources) == {"${datasource}"}
    assert dashboard["uid"] == f"kalypso-{name}"
