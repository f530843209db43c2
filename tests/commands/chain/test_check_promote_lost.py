"""`kalypso check-promote` and clusters that are offline or deleted."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from tests.commands.chain.organisation import Organisation
from tests.commands.chain.promotions import check, document, main_commit, merge, sign_in, verdict

HOURS = 3600


@pytest.fixture(autouse=True)
def azure(acme: Organisation, monkeypatch: pytest.MonkeyPatch) -> None:
    sign_in(acme, monkeypatch)
    acme.sandbox.azure.settings.linger = 30 * HOURS


def take_offline(acme: Organisation, name: str, **fields: str) -> None:
    """Disconnect the only cluster of a type, and let Azure know."""
    cluster = acme.cluster("dev", name, behaviour="disconnected")
    acme.sandbox.azure.put(cluster.model_copy(update=fields))


def second_drone(acme: Organisation, **configuration: Any) -> str:
    """Add another cluster of the type drone; return its name."""
    return acme.cluster("dev", "drone-2", paths=["./drone"], **configuration).name


def gets(acme: Organisation) -> int:
    """Return how often the runs asked for a single cluster."""
    return sum(exchange.path.startswith("/subscriptions/") for exchange in acme.sandbox.traffic)


@pytest.mark.parametrize(
    ("fields", "word"),
    [
        ({"kind": "arc", "connectivity": "Offline"}, "Offline"),
        ({"kind": "arc", "connectivity": "Expired"}, "Expired"),
        ({"power": "Stopped"}, "Stopped"),
    ],
)
def test_an_unreachable_cluster_is_waited_for(
    acme: Organisation, fields: dict[str, str], word: str
) -> None:
    second_drone(acme)
    take_offline(acme, "drone", **fields)
    commit = main_commit(acme)
    merged = merge(acme, commit)
    outcome = check(acme, merged, commit)
    assert (verdict(outcome), document(outcome).reason) == ("timed-out", "unreachable: dev-drone")
    reasons = [row.reason for row in document(outcome).rows if row.state == "unreachable"]
    assert reasons == [f"its connection is lost: {word}"]
    assert "| `dev-drone` | `drone` | unreachable |" in outcome.summary
    outcome = check(acme, merged, commit, unreachable="ignore")
    assert verdict(outcome) == "compliant"
    assert document(outcome).clusters == {"compliant": 2, "unreachable": 1}
    (warning,) = document(outcome).warnings
    assert warning.message == "the state of unreachable clusters is not known: dev-drone"


@pytest.mark.parametrize("behaviour", ["follow", "fail", "suspended"])
def test_a_deleted_cluster_leaves_the_count(acme: Organisation, behaviour: str) -> None:
    """Resource Graph shows its row for hours, with an old commit, a failure, or suspended."""
    name = second_drone(acme, behaviour=behaviour)
    commit = main_commit(acme)
    merged = merge(acme, commit)
    if behaviour == "follow":
        merged = merge(acme, commit, config="2")
    acme.clock.sleep(120)
    acme.sandbox.azure.delete(name)
    if behaviour == "follow":
        merged = merge(acme, commit, config="3")
    acme.clock.sleep(120)
    outcome = check(acme, merged, commit)
    assert verdict(outcome) == "compliant"
    assert document(outcome).clusters == {"compliant": 2}
    (warning,) = document(outcome).warnings
    assert warning.message == f"the reports of 1 deleted cluster do not count: {name}"


@pytest.mark.parametrize(
    ("again", "outcome"),
    [
        pytest.param({"behaviour": "fail"}, "failed", id="it fails"),
        pytest.param(
            {"behaviour": "disconnected", "delay": HOURS}, "timed-out", id="it never reports"
        ),
    ],
)
def test_a_cluster_that_is_created_again_counts(
    acme: Organisation, again: dict[str, Any], outcome: str
) -> None:
    name = second_drone(acme, behaviour="follow")
    commit = main_commit(acme)
    merge(acme, commit)
    acme.clock.sleep(120)
    acme.sandbox.azure.delete(name)
    acme.cluster("dev", "drone", delay=480)
    merged = merge(acme, commit, config="2")
    sleep, created = acme.clock.sleep, [acme.clock() + timedelta(minutes=5)]

    def sleeping(seconds: float) -> None:
        sleep(seconds)
        if created and acme.clock() >= created[0]:
            created.clear()
            second_drone(acme, **again)

    acme.clock.sleep = sleeping  # type: ignore[method-assign]  # of this clock only
    result = check(acme, merged, commit, timeout="20m")
    assert (verdict(result), document(result).warnings) == (outcome, ())


def test_a_cluster_that_azure_still_has_counts(acme: Organisation) -> None:
    """The cluster is silent, but not deleted; check-promote asks Azure every five minutes."""
    second_drone(acme, behaviour="disconnected")
    commit = main_commit(acme)
    merged = merge(acme, commit)
    acme.clock.sleep(60)
    outcome = check(acme, merged, commit)
    assert verdict(outcome) == "timed-out"
    assert document(outcome).clusters == {"compliant": 2, "progressing": 1}
    assert 2 <= gets(acme) <= 3
