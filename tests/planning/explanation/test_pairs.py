"""Why a target is, or is not, on a cluster type."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kalypso_actions.errors import KalypsoError, Location, UsageError
from kalypso_actions.model.kinds import Fleet
from kalypso_actions.planning.explanation import Question, explain_pairs, explain_policies
from kalypso_actions.report.explain_document import DecisionEntry, PairEntry
from kalypso_actions.scheduling import Decision, DecisionStep, Schedule, Scheduler
from tests.builders import cluster_type, fleet, policy, selector, target
from tests.planning.explanation.environments import environment
from tests.plans import reading

LARGE = cluster_type("large", size="large", region="west")
EDGE = cluster_type("edge", size="small")
WEB = target("web", tier="front")
JOB = target("job", tier="back", workload="batch")
FRONT = policy(
    "front",
    workspace="team",
    targets=selector(tier="front"),
    cluster_types=selector(("region", "NotIn", ["east"]), size="large"),
)
GPU = policy("gpu", targets=selector(tier="back"), cluster_types=selector(("gpu", "Exists", [])))
FLEET = fleet(cluster_types=[EDGE, LARGE], targets=[JOB, WEB], policies=[FRONT, GPU])


def pairs(target_: str = "", cluster_type_: str = "", of: Fleet = FLEET) -> tuple[PairEntry, ...]:
    return explain_pairs(Question.of(environment(of), target_, cluster_type_))


def terms(entry: DecisionEntry) -> list[tuple[str, str | None, bool]]:
    return [(term.requirement, term.value, term.matched) for _, term in entry.terms]


def test_the_terms_that_select_a_pair() -> None:
    (pair,) = pairs("app-web", "large")
    assert pair.policies == ("front",)
    assert [(item.policy, item.selected) for item in pair.decisions] == [
        ("front", True),
        ("gpu", False),
    ]
    assert terms(pair.decisions[0]) == [
        ("workspace = team", "team", True),
        ("tier = front", "front", True),
        ("size = large", "large", True),
        ("region not in (east)", "west", True),
    ]


def test_the_term_that_fails_with_its_value_and_the_nearest_miss_first() -> None:
    (pair,) = pairs("app-web", "edge")
    assert pair.policies == ()
    nearest, farther = pair.decisions
    assert (nearest.policy, nearest.misses) == ("front", 1)
    assert ("size = large", "small", False) in terms(nearest)
    assert ("region not in (east)", None, True) in terms(nearest)
    assert (farther.policy, farther.misses) == ("gpu", 2)


def test_of_equally_near_policies_the_one_with_more_matching_terms_is_first() -> None:
    short = policy("a-short", cluster_types=selector(size="none"))
    (pair,) = pairs("app-web", "edge", replace(FLEET, policies=(short, FRONT)))
    assert [item.policy for item in pair.decisions] == ["front", "a-short"]


def test_of_equally_near_policies_the_one_for_the_target_is_first() -> None:
    """A policy for other targets says nothing about this one, though it names the cluster type."""
    others = policy("all", targets=selector(tier="other"), cluster_types=selector(size="small"))
    own = policy("own", targets=selector(tier="front"), cluster_types=selector(size="large"))
    (pair,) = pairs("app-web", "edge", replace(FLEET, policies=(others, own)))
    assert [item.policy for item in pair.decisions] == ["own", "all"]


def test_a_target_on_all_cluster_types_has_the_deciding_policies_alone() -> None:
    assert [
        (p.cluster_type, p.policies, [d.policy for d in p.decisions]) for p in pairs("app-web")
    ] == [
        ("edge", (), ["front"]),
        ("large", ("front",), ["front"]),
    ]


def test_a_workload_names_all_of_its_targets() -> None:
    assert [pair.target for pair in pairs("batch", "edge")] == ["batch-job"]


def test_a_cluster_type_with_all_targets() -> None:
    assert [(pair.target, pair.policies) for pair in pairs("", "large")] == [
        ("app-web", ("front",)),
        ("batch-job", ()),
    ]


def test_the_place_of_a_term() -> None:
    where = Location("test", "policy.yaml", 7)
    narrow = replace(selector(size="large"), places={"size": where})
    (pair,) = pairs(
        "app-web", "edge", replace(FLEET, policies=(policy("p", cluster_types=narrow),))
    )
    (term,) = pair.decisions[0].cluster_type_terms
    assert term.where is not None
    assert term.where.location() == where


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (("app-wed", ""), "did you mean app-web? targets: app-web, batch-job"),
        (("bathc", ""), "did you mean batch? targets: app-web, batch-job"),
        (("zzz", ""), "targets: app-web, batch-job"),
        (("", "larg"), "did you mean large? cluster types: edge, large"),
    ],
    ids=["a target", "a workload", "nothing near", "a cluster type"],
)
def test_a_mistyped_name(names: tuple[str, str], said: str) -> None:
    with pytest.raises(UsageError) as caught:
        pairs(*names)
    assert caught.value.problems[0].advice == said


def test_a_target_of_another_environment() -> None:
    other = target("web", workload="shop", environment="stage")
    env = environment(FLEET, reading(other))
    with pytest.raises(KalypsoError, match="the target 'shop-web' is not for dev: it is for stage"):
        Question.of(env, "shop-web")


def test_policies_with_what_they_assign() -> None:
    policies, unassigned, empty = explain_policies(environment(FLEET))
    assert [(each.policy, each.targets, each.cluster_types) for each in policies] == [
        ("front", ("app-web",), ("large",)),
        ("gpu", (), ()),
    ]
    assert (unassigned, empty) == (("batch-job",), ("edge",))


class CuttingScheduler(Scheduler):
    """Assigns nothing, and says why."""

    def schedule(self, fleet: Fleet) -> Schedule:
        steps = (
            DecisionStep("score Steady", "100"),
            DecisionStep("cut", "rank 4 of 6, numberOfClusters: 3", passed=False),
        )
        return Schedule(
            (), (), lambda _target, _type: (Decision(fleet.policies[0].name, (), (), steps),)
        )


def test_another_scheduler_explains_itself() -> None:
    env = environment(FLEET, scheduler=CuttingScheduler())
    (pair,) = explain_pairs(Question.of(env, "app-web", "large"))
    (decision,) = pair.decisions
    assert (decision.selected, decision.misses) == (False, 1)
    assert [(step.name, step.passed) for step in decision.steps] == [
        ("score Steady", None),
        ("cut", False),
    ]
