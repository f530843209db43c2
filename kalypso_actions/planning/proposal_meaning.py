"""What the merge of a proposed tree means, from the plan and the records of the branch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kalypso_actions.gitops.proposal_decision import ProposedTree
from kalypso_actions.gitops.provenance import PreviousSources, read_sources
from kalypso_actions.model.change_titles import ChangeKind, ChangeMeaning
from kalypso_actions.model.github import CommitStatus
from kalypso_actions.model.kinds import Environment
from kalypso_actions.model.layout import TRACKING_FOLDER
from kalypso_actions.model.tree import BaseTree, Snapshot, TreeChanges
from kalypso_actions.planning.plan import Plan
from kalypso_actions.promotion.environments import annotated_next
from kalypso_actions.promotion.requests import meaning_of_push
from kalypso_actions.promotion.statuses import has_failed


def proposal_meaning(
    proposed: ProposedTree,
    changes: TreeChanges,
    base: BaseTree,
    plan: Plan,
    sources: Snapshot,
    environments: Mapping[str, Environment],
    latest: CommitStatus | None,
) -> ChangeMeaning:
    """Return the meaning of a proposed tree for the branch with the tree `base`.

    `latest` is the status of the promoted commit for the environment, if the branch names it
    already. Whether a promotion goes back is not known here: see `ChangeMeaning.with_commits`.
    """
    merge = meaning_of_push(
        proposed.branch_promoted_commit,
        proposed.promoted_commit,
        goes_back=False,
        environment_commit=proposed.promoted_commit,
        latest=latest,
    )
    kind: ChangeKind = merge.kind
    applications: tuple[str, ...] = ()
    previous = read_sources(base.sources, plan.environment)
    if kind == "configuration" and previous:
        applications = tuple(_moved(previous, sources))
        if applications and _has_same_configuration(previous, sources):
            kind = "application"
    cluster_types = {
        item.assignment.cluster_type.name: item.assignment.cluster_type for item in plan.assignments
    }
    named = [cluster_type.clusters for cluster_type in cluster_types.values()]
    tracking = f"{base.path}/{TRACKING_FOLDER}/" if base.path else f"{TRACKING_FOLDER}/"
    touched = (*changes.added, *changes.modified, *changes.deleted)
    return ChangeMeaning(
        kind=kind,
        environment=plan.environment,
        commit=proposed.promoted_commit or "",
        next_environments=annotated_next(plan.environment, environments),
        files=sum(not path.startswith(tracking) for path in touched),
        applications=applications,
        clusters=sum(map(len, named)) if all(named) else 0,
        cluster_types=len(cluster_types),
        failure=latest.description if has_failed(latest) and latest else "",
    )


def _has_same_configuration(previous: PreviousSources, sources: Snapshot) -> bool:
    """Whether the environment's branch and its base repositories are as the tree was made from."""
    branch = previous.environment_branch
    if branch is None or branch.tree is None or branch.tree != sources.own.revision.tree:
        return False
    bases = {base.name: reading.revision.commit for base, reading in sources.bases}
    return bases == {name: base.commit for name, base in previous.base_repos.items()}


def _moved(previous: PreviousSources, sources: Snapshot) -> Iterator[str]:
    """Yield the registrations whose folder differs from the one that the tree was made from."""
    for reading in sources.registrations:
        before = previous.registrations.get(reading.registration.name)
        if before and reading.revision and before.tree != reading.revision.tree:
            yield reading.registration.name
