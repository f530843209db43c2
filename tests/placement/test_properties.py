"""Properties of the decisions for every Placement and every fleet."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from kalypso_placement.reconciliation import spread_evenly
from tests.placement.hubs import Body, cluster, decide, decided, placement, selecting

NAMES = [f"c{number}" for number in range(6)]
TAINT = {"key": "edge", "effect": "NoSelect"}

clusters = st.lists(
    st.builds(
        lambda name, zone, tainted: cluster(name, {"zone": zone}, taints=[TAINT] * tainted),
        st.sampled_from(NAMES),
        st.sampled_from("ab"),
        st.booleans(),
    ),
    min_size=1,
    max_size=6,
    unique_by=lambda body: body["metadata"]["name"],
)
others = st.lists(st.lists(st.sampled_from(NAMES), max_size=6), max_size=3)
specs = st.fixed_dictionaries(
    {},
    optional={
        "numberOfClusters": st.integers(0, 7),
        "predicates": st.just([selecting(labels={"zone": "a"})]),
        "tolerations": st.just([{"operator": "Exists"}]),
    },
)


def hub(fleet: list[Body], counts: list[list[str]], so_far: list[str]) -> list[Body]:
    return [
        *fleet,
        *(decided(f"other{number}", *names) for number, names in enumerate(counts)),
        decided("app", *so_far),
    ]


@settings(max_examples=60)
@given(
    clusters, others, st.lists(st.sampled_from(NAMES), max_size=3, unique=True), specs, st.randoms()
)
def test_every_decision(
    fleet: list[Body], counts: list[list[str]], so_far: list[str], spec: dict[str, Any], random: Any
) -> None:
    bodies = hub(fleet, counts, so_far)
    answer = decide(placement(**spec), *bodies)
    chosen, filtered = (
        answer["decisions"],
        answer["filteredPipelineResults"][-1]["filteredClusters"],
    )
    assert set(chosen) <= set(filtered)
    assert len(chosen) <= spec.get("numberOfClusters", len(fleet))
    random.shuffle(bodies)
    assert decide(placement(**spec), *bodies) == answer

    totals = {entry["clusterName"]: entry["score"] for entry in answer["aggregatedScores"]}
    balance = next(r["scores"] for r in answer["prioritizeResults"] if r["name"] == "Balance")
    for incumbent in set(so_far) & set(filtered) - set(chosen):
        for newcomer in set(chosen) - set(so_far):
            lead = balance[newcomer] - balance[incumbent]
            assert totals[newcomer] >= totals[incumbent]
            assert lead > 100 or (lead == 100 and newcomer < incumbent)


@settings(max_examples=40)
@given(clusters, st.integers(1, 6))
def test_a_required_spread_is_never_skewed(fleet: list[Body], wanted: int) -> None:
    term = {"topologyKey": "zone", "topologyKeyType": "Label", "whenUnsatisfiable": "DoNotSchedule"}
    spec = placement(
        numberOfClusters=wanted,
        spreadPolicy={"spreadConstraints": [term]},
        tolerations=[{"operator": "Exists"}],
    )
    chosen = decide(spec, *fleet, choose=spread_evenly)["decisions"]
    zones = {body["metadata"]["name"]: body["metadata"]["labels"]["zone"] for body in fleet}
    counts = [sum(zones[name] == zone for name in chosen) for zone in set(zones.values())]
    assert max(counts) - min(counts) <= 1
