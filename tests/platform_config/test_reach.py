"""`Reach` gives the same result as matching every cluster type with every target."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kalypso_actions.model.kinds import ClusterType, DeploymentTarget
from kalypso_actions.platform_config.matching import LabelMasks, Reach, matched_labels
from tests.builders import assignment, cluster_type, target

KEYS = st.sampled_from(["size", "region", "team", "cluster-type", "workload", "deployment-target"])
VALUES = st.sampled_from(["", "a", "b", "app", "app-a"])
LABELS = st.dictionaries(KEYS, VALUES, max_size=3)
CLUSTER_TYPES = st.lists(st.builds(lambda name, labels: cluster_type(name, **labels), st.sampled_from("abc"), LABELS), max_size=3, unique_by=lambda item: item.name)  # fmt: skip
TARGETS = st.lists(st.builds(lambda name, labels: target(name, **{k: v for k, v in labels.items() if k != "workload"}), st.sampled_from("abc"), LABELS), max_size=3, unique_by=lambda item: item.name)  # fmt: skip


@given(CLUSTER_TYPES, TARGETS, LABELS)
def test_as_the_masks_of_all_pairs(
    cluster_types: list[ClusterType], targets: list[DeploymentTarget], labels: dict[str, str]
) -> None:
    wanted = matched_labels(labels)
    masks = LabelMasks()
    required = masks.required(wanted)
    applies = any(
        masks.provided(assignment(item, place)) & required == required
        for place in cluster_types
        for item in targets
    )
    reach = Reach(cluster_types, targets)
    if wanted and cluster_types and targets:
        assert reach.includes(wanted) == applies
