"""The data of the report: equal contents once, and no secret."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime

import pytest

from kalypso_actions.comparison import Mask
from kalypso_actions.errors import Problem
from kalypso_actions.model.history import FileVersions, HistoryCommit
from kalypso_actions.planning import fleet_report as collection
from kalypso_actions.planning.fleet_report import MOST_CHANGES, ReportCollection, last_changes
from kalypso_actions.report.report_document import ReportDocument
from kalypso_actions.report.status_document import StatusDocument
from tests.builders import cluster_type, config_map, config_schema, fleet, policy, target, template
from tests.plans import plan

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
FLEET = fleet(
    cluster_types=[cluster_type("east"), cluster_type("west")],
    targets=[target("web")],
    policies=[policy("all")],
    config_maps=[
        config_map("a", {"URL": "old", "PASSWORD": "pass-word-1"}),
        config_map("b", {"URL": "new"}, cluster_type="west"),
    ],
    templates=(
        template("reconciler", "kind: same"),
        template("namespace", "name: {{.Namespace}}"),
        template("config", "note: is {{.ConfigData.PASSWORD}}"),
    ),
)


def collected() -> ReportDocument:
    report = ReportCollection(Mask())
    report.add(plan(FLEET), "labels")
    return report.document("Fleet", NOON, StatusDocument())


def test_equal_contents_are_there_once() -> None:
    document = collected()
    files = [item.files["reconciler.yaml"] for item in document.assignments]
    assert files == [files[0]] * 2
    assert [document.texts[index or 0] for index in set(files)] == ["kind: same"]
    assert len(document.texts) == len(set(document.texts)) == 4


def test_a_value_with_its_layers_in_order() -> None:
    document = collected()
    west = next(item for item in document.assignments if item.cluster_type == "west")
    values = {each.key: each for each in document.configurations[west.configuration]}
    assert values["URL"].value == "new"
    assert [where.path for where in values["URL"].origins] == ["a.yaml", "b.yaml"]


def test_no_secret_is_in_values_or_files() -> None:
    text = collected().to_json()
    assert "pass-word-1" not in text
    assert "note: is ***" in text


def test_a_failing_assignment_says_why() -> None:
    broken = fleet(
        cluster_types=[cluster_type("east")],
        targets=[target("web")],
        policies=[policy("all")],
        templates=(template("reconciler", '{{fail "no"}}'), *FLEET.templates[1:]),
    )
    report = ReportCollection(Mask())
    report.add(plan(broken), "labels")
    (item,) = report.document("", NOON, StatusDocument()).assignments
    assert "reconciler" in item.failure
    assert item.files == {}


def test_one_fault_of_many_assignments_is_told_once() -> None:
    schema = config_schema("s", '{"required": ["PORT"]}')
    many = [cluster_type(f"type-{number:03}") for number in range(320)]
    report = ReportCollection(Mask())
    report.add(
        plan(dataclasses.replace(FLEET, cluster_types=(*many,), config_schemas=(schema,))), "labels"
    )
    (entry,) = report.document("", NOON, StatusDocument()).environments
    (problem,) = entry.problems
    assert problem.message.startswith("app-web on type-000: ")
    assert problem.message.endswith(" (the same for 319 other assignments)")


def test_a_large_fleet_has_the_names_of_files_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collection, "MOST_WITH_TEXTS", 1)
    document = collected()
    assert (document.with_texts, document.texts) == (False, ())
    files = dict.fromkeys(("reconciler.yaml", "namespace.yaml", "platform-config.yaml"))
    assert [item.files for item in document.assignments] == [files, files]


def test_a_fleet_with_too_many_values_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collection, "MOST_VALUES", 1)
    document = collected()
    assert (document.with_configurations, document.configurations) == (False, ((),))
    assert [item.configuration for item in document.assignments] == [0, 0]
    assert all(item.decisions for item in document.assignments)


def test_a_report_asks_the_policies_of_an_assignment_alone() -> None:
    """Asking 500 policies about each of 100,000 assignments took an hour."""
    made = plan(FLEET)
    (item, *_) = made.assignments
    expected = made.schedule.decisions_of(item.assignment)
    of_all = made.schedule.explain(item.assignment.target, item.assignment.cluster_type)
    assert expected == tuple(decision for decision in of_all if decision.selected) != ()
    refused = dataclasses.replace(made.schedule, explain=lambda *_: pytest.fail("asks all"))
    report = ReportCollection(Mask())
    report.add(dataclasses.replace(made, schedule=refused), "labels")
    assert report.document("", NOON, StatusDocument()).decisions


def test_an_environment_that_cannot_be_read() -> None:
    report = ReportCollection(Mask())
    report.add_unreadable("stage", (Problem("no branch"),))
    (entry,) = report.document("", NOON, StatusDocument()).environments
    assert [each.message for each in entry.problems] == ["no branch"]


def commit(name: str, *paths: str) -> HistoryCommit:
    changes = dict.fromkeys(paths, FileVersions(None, None))
    return HistoryCommit(name, (), datetime(2026, 3, 1, tzinfo=UTC), name, changes)


@pytest.mark.parametrize("folder", ["", "clusters/dev"])
def test_the_commits_that_changed_a_folder(folder: str) -> None:
    prefix = f"{folder}/" if folder else ""
    commits = [
        commit("c3", f"{prefix}east/web/namespace.yaml", "README.md", "east/web"),
        commit("c2", f"{prefix}east/webs/namespace.yaml", "other/east/web/a.yaml"),
        commit("c1", f"{prefix}east/web/a.yaml", f"{prefix}west/web/a.yaml"),
    ]
    found = last_changes(commits, folder, ["east/web", "west/web", "north/web"])
    names = {name: [each.id for each in changes] for name, changes in found.items()}
    assert names == {"east/web": ["c3", "c1"], "west/web": ["c1"]}


def test_no_more_commits_are_read_than_needed() -> None:
    commits = iter([commit(str(n), "east/web/a.yaml") for n in range(MOST_CHANGES + 3)])
    found = last_changes(commits, "", ["east/web"])
    assert [each.id for each in found["east/web"]] == [str(n) for n in range(MOST_CHANGES)]
    assert next(commits).id == str(MOST_CHANGES)
