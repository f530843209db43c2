"""Breaks of Placements: floating point, expiry, the last decision, time."""

from __future__ import annotations

from typing import Final

from tools.mutants.breaks import Break

ROOM: Final = "kalypso_placement"
DECISIONS: Final = "tests/placement/test_decisions.py"
SCHEDULER: Final = "tests/placement/test_scheduler.py"
CEL: Final = "tests/placement/test_cel.py"

PLACEMENT_BREAKS: Final = (
    Break(
        "Balance is rounded once, not cut as OCM does",
        f"{ROOM}/prioritizers.py",
        "2 * int(HIGHEST * (0.5 - n / largest))",
        "int(2 * HIGHEST * (0.5 - n / largest) + 1e-9)",
        (f"{DECISIONS}::test_balance_counts_other_placements_and_is_computed_in_doubles",),
    ),
    Break(
        "a toleration holds at its very end",
        f"{ROOM}/filters.py",
        "        if now < end:",
        "        if now <= end:",
        (f"{DECISIONS}::test_tolerations",),
    ),
    Break(
        "seconds do not overflow",
        f"{ROOM}/instants.py",
        "duration - _INT64 if duration >= _INT64 // 2 else duration",
        "duration",
        (f"{DECISIONS}::test_tolerations",),
    ),
    Break(
        "an expired score counts",
        f"{ROOM}/prioritizers.py",
        "question.now > published.valid_until",
        "question.now > published.valid_until + 10**18",
        (f"{DECISIONS}::test_scores_of_add_ons_expire_with_a_warning",),
    ),
    Break(
        "a group's size is exact, not computed in doubles",
        f"{ROOM}/groups.py",
        "math.ceil(float(size[:-1]) / 100 * total)",
        "-(-int(float(size[:-1]) * total) // 100)",
        (f"{DECISIONS}::test_seven_percent_of_a_hundred_are_eight",),
    ),
    Break(
        "a misconfigured Placement empties its cluster types",
        f"{ROOM}/scheduler.py",
        "hub.clusters.items() if name in incumbents)",
        "hub.clusters.items() if not name)",
        (f"{SCHEDULER}::test_misconfiguration_keeps_the_last_decision_and_is_a_problem",),
    ),
    Break(
        "the clusterTypeSelector of a policy with a Placement does not count",
        f"{ROOM}/scheduler.py",
        "if unit.policy.cluster_types.matches(cluster.labels)",
        "if cluster.labels is not None",
        (f"{SCHEDULER}::test_both_selectors_hold_and_the_decision_is_recorded",),
    ),
    Break(
        "a costly expression of CEL matches",
        f"{ROOM}/cel/costs.py",
        "LIMIT: Final = 1_000_000",
        "LIMIT: Final = 10_000_000",
        (f"{CEL}::test_too_costly_an_expression_does_not_match",),
    ),
    Break(
        "an error of CEL is a match",
        f"{ROOM}/cel/environment.py",
        "            return False, meter.cost",
        "            return True, meter.cost",
        (f"{CEL}::test_an_expression_without_a_value_does_not_match",),
    ),
    Break(
        "poll starts schedule again and again in the minute that is over",
        "kalypso_actions/promotion/schedule_runs.py",
        "minute > record.again_at",
        "now >= record.again_at",
        ("tests/promotion/test_schedule_runs.py::test_schedule_is_due_once_its_time_is_over",),
    ),
)
