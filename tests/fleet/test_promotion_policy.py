"""The file of a PromotionPolicy: its fields, and what lets nothing in."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from kalypso_actions.fleet.parsing import promotion_policy
from kalypso_actions.model.promotion_policy import (
    POLICY_FILE,
    Freeze,
    Hold,
    PolicyReading,
    PromotionPolicy,
    RequiredCheck,
)
from kalypso_actions.sources.yaml_documents import parse_yaml
from tests.breaks import breaks, turned

COMMIT = "a" * 40

TEXT = f"""\
apiVersion: kalypso.io/v1alpha1
kind: PromotionPolicy
metadata: {{name: stage}}
spec:
  requires:
    deployed: [dev, eu]
    soak: 7d
    checks: [{{name: smoke, from: acme-ci}}]
  queue: oldest
  freezes:
  - {{from: 2026-12-20T00:00:00+01:00, to: 2027-01-02T00:00:00Z, reason: holidays, allow: [hotfix]}}
  - {{cron: "0 17 * * FRI", duration: 63h, timezone: Europe/Berlin, reason: weekend}}
  holds:
  - {{reason: incident, by: alice, until: 2026-12-01T12:00:00Z, at: {COMMIT}}}
"""


def read(text: str, path: str = POLICY_FILE) -> PolicyReading:
    file = parse_yaml("test", path, text.encode())
    return promotion_policy(file.documents, (*file.problems, *file.warnings))


def test_every_field() -> None:
    reading = read(TEXT)
    assert reading.problems == ()
    policy = reading.policy
    assert policy is not None and policy.where is not None and policy.where.line == 1
    begins, ends = datetime(2026, 12, 19, 23, tzinfo=UTC), datetime(2027, 1, 2, tzinfo=UTC)
    assert policy == PromotionPolicy(
        deployed=("dev", "eu"),
        soak=timedelta(days=7),
        checks=(RequiredCheck("smoke", "acme-ci"),),
        queue="oldest",
        freezes=(
            Freeze("holidays", begins, ends, allow=("hotfix",)),
            Freeze(
                "weekend",
                cron="0 17 * * FRI",
                duration=timedelta(hours=63),
                timezone="Europe/Berlin",
            ),
        ),
        holds=(Hold("incident", "alice", datetime(2026, 12, 1, 12, tzinfo=UTC), COMMIT),),
        where=policy.where,
    )


@pytest.mark.parametrize(
    "text",
    [
        "spec: {}",
        "spec: {requires: , freezes: , holds: }",
        "spec: {requires: {deployed: , checks: []}, queue: newest}",
    ],
)
def test_what_is_left_out_requires_nothing(text: str) -> None:
    head = TEXT.partition("spec:")[0]
    policy = read(head + text).policy
    assert policy is not None
    assert policy == PromotionPolicy(where=policy.where)


@breaks(
    "a policy with a misspelled field counts without it",
    turned(promotion_policy, "(*diagnostics.problems, *diagnostics.warnings)", "(*diagnostics.problems,)"),
    case="misspelled",
)  # fmt: skip
@pytest.mark.parametrize(
    ("old", "new", "line", "said"),
    [
        ("7d", "1w", 7, "spec.requires.soak must be a duration: write, for example, 90s, 5m, 2h or 7d"),
        ("7d", "0h", 7, "spec.requires.soak must be longer than nothing, and at most 366 days"),
        ("7d", "367d", 7, "spec.requires.soak must be longer than nothing, and at most 366 days"),
        ("7d", "7", 7, "spec.requires.soak must be a duration"),
        ("deployed: [dev, eu]", "deployed: []", 5, "spec.requires needs deployed beside soak"),
        ("deployed: [dev, eu]", "deployed: dev", 6, "spec.requires.deployed must be a list, but it is the text 'dev'"),
        ("[dev, eu]", "[dev, ' ']", 6, "spec.requires.deployed.1 must not be empty"),
        (", from: acme-ci", "", 8, "spec.requires.checks.0.from is missing"),
        ("oldest", "random", 9, "spec.queue"),
        (", reason: holidays", "", 11, "spec.freezes.0.reason is missing"),
        ("from: 2026-12-20T00:00:00+01:00, ", "", 11, "spec.freezes.0 needs either from and to, or cron and duration"),
        ("from: 2026-12-20T00:00:00+01:00", "from: 2027-12-20T00:00:00+01:00", 11, "spec.freezes.0 ends before it begins"),
        ("reason: holidays", "reason: holidays, cron: '* * * * *'", 11, "spec.freezes.0 needs either"),
        ("reason: holidays", "reason: holidays, timezone: Europe/Berlin", 11, "spec.freezes.0 needs either"),
        ("00:00+01:00", "00:00", 11, "spec.freezes.0.from '2026-12-20T00:00:00' has no offset"),
        ("2026-12-20T00:00:00+01:00", "soon", 11, "spec.freezes.0.from 'soon' is no time"),
        ("2026-12-20T00:00:00+01:00", "0001-01-01T00:00:00+01:00", 11, "is no time"),
        ("* * FRI", "* * FRX", 12, "spec.freezes.1.cron '0 17 * * FRX' is no cron expression: Bad day-of-week"),
        ("0 17 *", "0 0 17 *", 12, "spec.freezes.1.cron must have five fields"),
        (", duration: 63h", "", 12, "spec.freezes.1 needs either"),
        ("Europe/Berlin", "Europe/Berlim", 12, "spec.freezes.1.timezone there is no time zone 'Europe/Berlim'"),
        ("Europe/Berlin", "../../etc/passwd", 12, "spec.freezes.1.timezone there is no time zone"),
        (", by: alice", "", 14, "spec.holds.0.by is missing"),
        ("at: a", "at: A", 14, "spec.holds.0.at must be a full commit id"),
        ("soak:", "soka:", 7, "unknown field spec.requires.soka"),
        ("holds:", "hold:", 13, "unknown field spec.hold"),
        ("kalypso.io/v1alpha1", "scheduler.kalypso.io/v1alpha1", 1, "PromotionPolicy has apiVersion 'scheduler.kalypso.io/v1alpha1'"),
        ("kalypso.io/v1alpha1", "v1", 1, "PromotionPolicy 'stage' is not a kind of Kalypso"),
        ("kind: PromotionPolicy", "kind: PromotionPolicies", 1, "PromotionPolicies 'stage' is not read"),
        ("metadata: {name: stage}", "x: 1", 1, "metadata is missing"),
        ("spec:", "spec: [", 0, ""),
        ("  queue: oldest", "  queue: oldest\n  queue: newest", 10, "queue"),
    ],
    ids=lambda value: value if value == "hold:" else "misspelled" if value == "soka:" else None,
)  # fmt: skip
def test_an_invalid_file_is_no_policy(old: str, new: str, line: int, said: str) -> None:
    assert old in TEXT
    reading = read(TEXT.replace(old, new, 1))
    assert reading.policy is None
    found = [item for item in reading.problems if said in item.message]
    assert found, [str(item) for item in reading.problems]
    assert not line or line in {item.where.line for item in found if item.where}


@pytest.mark.parametrize("path", [".github/kalypso/promotion.yml", "promotion.yaml"])
def test_a_policy_in_another_file_lets_nothing_in(path: str) -> None:
    reading = read(TEXT, path)
    assert reading.policy is None
    assert [problem.code for problem in reading.problems] == ["policy-misplaced"]


def test_two_policies_let_nothing_in() -> None:
    reading = read(f"{TEXT}---\n{TEXT}")
    assert reading.policy is None
    assert [problem.code for problem in reading.problems] == ["object-duplicate"]


def test_without_a_file_there_is_no_policy() -> None:
    assert promotion_policy((), ()) == PolicyReading()
