"""The values that differ between configurations."""

from __future__ import annotations

from collections.abc import Iterator

from kalypso_actions.comparison.differences import Configured, value_changes
from kalypso_actions.model.config import MergedConfig, Origins
from kalypso_actions.model.differences import AssignmentName


def configured(count: int) -> Iterator[Configured]:
    """Yield configurations that nobody keeps, so that a later one may have the same id."""
    for number in range(count):
        name = AssignmentName("dev", "large", f"target-{number:04}")
        before, after = MergedConfig({"K": 0}, {}, ()), MergedConfig({"K": number + 1}, {}, ())
        yield name, before, after


def test_each_assignment_has_its_own_values() -> None:
    changes = value_changes(configured(3_000))
    assert [len(change.assignments) for change in changes] == [1] * 3_000
    assert {
        change.assignments[0].target: change.after and change.after.value for change in changes
    } == {f"target-{number:04}": number + 1 for number in range(3_000)}


def test_equal_values_are_one_change() -> None:
    shared = MergedConfig({"K": 1, "L": [1, 2]}, {}, ()), MergedConfig({"L": [1, 3]}, {}, ())
    names = [AssignmentName("dev", "large", name) for name in ("b", "a")]
    changes = value_changes((name, *shared) for name in names)
    assert [(change.path, change.assignments) for change in changes] == [
        (("K",), (names[1], names[0])),
        (("L", 1), (names[1], names[0])),
    ]


def test_the_origins_of_a_key_are_traced_once() -> None:
    traced: list[str | None] = []

    def trace(key: str | None) -> Origins:
        traced.append(key)
        return {}

    before, after = (
        MergedConfig({"K": [number] * 100, "L": number, "M": 1}, {}, (), trace) for number in (1, 2)
    )
    changes = value_changes([(AssignmentName("dev", "large", "web"), before, after)])
    assert len(changes) == 101
    assert sorted(map(str, traced)) == ["K", "K", "L", "L"]
