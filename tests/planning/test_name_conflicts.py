"""Names that several registrations deliver, or a registration and the control plane."""

import pytest

from kalypso_actions.errors import Location
from kalypso_actions.gitops.provenance import PreviousSources
from kalypso_actions.model.kinds import Workload
from kalypso_actions.planning.name_conflicts import workload_conflicts
from tests.builders import HERE, target


def delivered(workload: str, name: str = "web") -> tuple[Workload, ...]:
    """Return a Workload with one target."""
    return (Workload(workload, (target(name, workload=workload),), HERE),)


def test_a_name_belongs_to_one_registration() -> None:
    mine = (*delivered("app"), *delivered("only"))
    conflicts = workload_conflicts(
        {"a": mine, "b": mine[:1], "c": ()}, "dev", (), PreviousSources(), {}
    )
    assert {name: [p.message for p in problems] for name, problems in conflicts.items()} == {
        "a": ["Workload 'app' is also delivered by registration 'b' in test: file.yaml:1"],
        "b": ["Workload 'app' is also delivered by registration 'a' in test: file.yaml:1"],
    }


OWNED = PreviousSources(workloads={"app": "a"})
PLACES = {"a": Location("https://git.test/main", "a.yaml", 1)}


@pytest.mark.parametrize(
    ("delivering", "blamed"),
    [
        pytest.param(
            "ab",
            {"b": " (https://git.test/main: a.yaml:1) in test: file.yaml:1"},
            id="both deliver it",
        ),
        pytest.param(
            "b", {"b": " in https://git.test/main: a.yaml:1"}, id="the owner is not readable"
        ),
        pytest.param("a", {}, id="the owner alone"),
        pytest.param("-b", {}, id="the owner has left it"),
    ],
)
def test_a_name_stays_with_its_owner(delivering: str, blamed: dict[str, str]) -> None:
    mine = delivered("app")
    by_registration = {name: mine for name in delivering if name != "-"}
    if "-" in delivering:
        by_registration["a"] = ()
    conflicts = workload_conflicts(by_registration, "dev", (), OWNED, PLACES)
    message = "Workload 'app' belongs to registration 'a'{}, which delivered it first"
    assert {name: [p.message for p in problems] for name, problems in conflicts.items()} == {
        name: [message.format(place)] for name, place in blamed.items()
    }


def test_an_owner_without_a_registration() -> None:
    mine = delivered("app")
    assert workload_conflicts({"b": mine}, "dev", (), OWNED, {}) == {}


def test_a_targets_name_belongs_to_one_workload() -> None:
    """`app` with `web-eu` and `app-web` with `eu` would both be deployed as `app-web-eu`."""
    mine = delivered("app", "web-eu")
    theirs = delivered("app-web", "eu")
    conflicts = workload_conflicts({"a": mine, "b": theirs}, "dev", (), PreviousSources(), {})
    assert {name: [p.message for p in problems] for name, problems in conflicts.items()} == {
        "a": [
            "deployment target 'app-web-eu' is also delivered by registration 'b' in test: app-web.yaml:1"
        ],
        "b": [
            "deployment target 'app-web-eu' is also delivered by registration 'a' in test: app.yaml:1"
        ],
    }
    assert workload_conflicts({"a": mine, "b": theirs}, "stage", (), PreviousSources(), {}) == {}


def test_a_target_of_the_control_plane_wins_over_a_delivered_one() -> None:
    mine = delivered("app")
    conflicts = workload_conflicts({"a": mine}, "dev", [target("web")], PreviousSources(), {})
    own = target("web").where
    assert [(p.where, p.related) for p in conflicts["a"]] == [(own, (mine[0].targets[0].where,))]
    assert conflicts["a"][0].message.startswith(
        "deployment target 'app-web' is also delivered by the application: registration 'a' in "
    )
