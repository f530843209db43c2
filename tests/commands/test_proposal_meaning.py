"""What the merge of a proposed tree means."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from kalypso_actions.commands.schedule.decision import proposal_meaning
from kalypso_actions.errors import Location
from kalypso_actions.gitops.proposal_decision import propose
from kalypso_actions.gitops.provenance import SourcesFile, sources_file
from kalypso_actions.model.change_titles import ChangeMeaning
from kalypso_actions.model.documents import Reading
from kalypso_actions.model.github import CommitStatus
from kalypso_actions.model.kinds import Environment, RepositoryPath
from kalypso_actions.model.processes import no_progress
from kalypso_actions.planning.plan import PlanOptions, make_plan
from kalypso_actions.promotion import statuses
from kalypso_actions.promotion.environments import annotated_next
from kalypso_actions.scheduling import LabelScheduler
from tests.breaks import breaks, turned
from tests.builders import cluster_type, fleet, target
from tests.plans import POLICY, REVISION, reading, snapshot_of, tree

OLD, NEW = "1" * 40, "2" * 40
FLEET = fleet(
    cluster_types=[replace(cluster_type("large"), annotations={"kalypso.io/clusters": "a, b"})],
    policies=[POLICY],
)
DEPLOYED, FAILED = statuses.deployed("dev"), statuses.failed("dev", "x")


def environments(**following: str) -> Mapping[str, Environment]:
    """Return environments with the annotation that names those after them."""
    place = RepositoryPath("https://x/fleet", "b", ".")
    key, where = "kalypso.io/next-environment", Location("x")
    return {
        name: Environment(name, place, {key: names} if names else {}, where, where)
        for name, names in following.items()
    }


def meaning(
    *,
    before: str | None = NEW,
    now: str | None = NEW,
    branch: str = "t" * 40,
    app: str = "t" * 40,
    latest: CommitStatus | None = DEPLOYED,
    order: Mapping[str, Environment] = environments(dev="stage", stage=""),
) -> ChangeMeaning:
    """Return the meaning for a branch that names `before` (None: it has no tree yet).

    The tree ids of the environment's branch, and of a registration, have been `t…`.
    """
    registered = replace(reading(target("web")), revision=replace(REVISION, tree=app))
    file = SourcesFile(
        version="1",
        environment="dev",
        options={},
        environment_branch=REVISION,
        base_repos={},
        registrations={"app": REVISION},
        targets={},
        workloads={},
    )
    base = tree({}, sources_file(file) if before else None)
    if before:
        base = replace(base, promoted_commit=before.encode())
    own = Reading(replace(REVISION, tree=branch))
    sources = replace(snapshot_of(FLEET, registered, base_trees=(base,)), own=own)
    plan = make_plan(sources, PlanOptions(), LabelScheduler(), no_progress)
    plan = replace(plan, promoted_commit=now)
    proposed = propose(plan.changes, base, "dev", now)
    return proposal_meaning(proposed, plan.changes, base, plan, sources, order, latest)


@breaks(
    "a correction counts as a change of configuration",
    turned(proposal_meaning, "merge.kind", "'configuration'"),
    case="correct",
)
@breaks(
    "a change of the environment's branch counts as one of an application",
    turned(
        "kalypso_actions.commands.schedule.decision._has_same_configuration",
        "branch.tree != sources.own.revision.tree",
        "False",
    ),
    case="both",
)
@pytest.mark.parametrize(
    ("given", "title"),
    [
        pytest.param({"before": None}, "promote 2222222", id="the first promotion"),
        pytest.param({"before": OLD}, "promote 2222222", id="another commit"),
        pytest.param({"latest": FAILED}, "correct 2222222, then stage", id="correct a failure"),
        pytest.param(
            {"latest": statuses.deploying("dev"), "order": {}},
            "correct 2222222",
            id="correct what still deploys",
        ),
        pytest.param({"app": "u" * 40}, "application app changed", id="application"),
        pytest.param(
            {"app": "u" * 40, "latest": FAILED},
            "correct 2222222, then stage",
            id="correct by an application",
        ),
        pytest.param({"branch": "u" * 40}, "configuration (4 files)", id="configuration"),
        pytest.param(
            {"branch": "u" * 40, "app": "u" * 40},
            "configuration and application app (4 files)",
            id="both",
        ),
        pytest.param({}, "configuration (4 files)", id="what people changed in the tree"),
        pytest.param(
            {"before": None, "now": None}, "configuration (4 files)", id="no commit of main"
        ),
    ],
)
def test_the_meaning_of_a_proposal(given: dict[str, Any], title: str) -> None:
    assert meaning(**given).words == title


def test_what_follows() -> None:
    assert meaning().after_merge == (
        "After the merge, 2 clusters follow this branch to the new tree; "
        "nothing goes on to another environment."
    )


@pytest.mark.parametrize(
    ("subject", "ahead", "behind", "title"),
    [
        ("Register web", 23, 0, 'promote 2222222 "Register web" (+22)'),
        ("Register web", 1, 0, 'promote 2222222 "Register web"'),
        ("Register web", None, 0, 'promote 2222222 "Register web"'),
        ("Register web", 2, 1, 'promote 2222222 "Register web" (+1)'),
        ("Register web", 0, 3, "roll back to 2222222"),
    ],
)
def test_the_commits_that_come_with_a_promotion(
    subject: str, ahead: int | None, behind: int, title: str
) -> None:
    assert meaning(before=OLD).with_commits(subject, ahead, behind).words == title
    assert meaning(latest=FAILED).with_commits(subject, ahead, behind).kind == "continuation"
    assert meaning(latest=FAILED).failure == "Failed to deploy: x"
    assert meaning(latest=statuses.deploying("dev")).failure == ""


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ({"dev": "stage, prod", "stage": "", "prod": ""}, ("stage", "prod")),
        ({"dev": "stage, gone", "stage": ""}, ("stage",)),
        ({"dev": "", "stage": "dev"}, ()),
        ({"dev": "", "stage": ""}, None),
    ],
)
def test_annotations_name_what_follows(
    order: dict[str, str], expected: tuple[str, ...] | None
) -> None:
    assert annotated_next("dev", environments(**order)) == expected
