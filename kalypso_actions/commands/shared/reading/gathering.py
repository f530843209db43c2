"""Read everything that an environment branch refers to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain

from kalypso_actions import gitops
from kalypso_actions.commands.shared.reading.control_plane import ControlPlane, read_control_plane
from kalypso_actions.commands.shared.reading.document_reader import Reader
from kalypso_actions.commands.shared.reading.registrations import (
    RegistrationReader,
    read_registrations,
)
from kalypso_actions.errors import KalypsoError
from kalypso_actions.model import kinds
from kalypso_actions.model.delivery import DELIVERY, DeliveryRules
from kalypso_actions.model.documents import Reading
from kalypso_actions.model.kinds import MAIN_BASE_REPO, Environment
from kalypso_actions.model.tree import BaseTree, Snapshot
from kalypso_actions.planning.fleet_checks import KnownRepositories, missing_repositories


def gather(
    environment: str,
    own: Reading,
    reader: Reader,
    *,
    promoted_commit: str | None = None,
    declared: Environment | None = None,
    delivery: DeliveryRules = DELIVERY,
    open_base_trees: Callable[[Sequence[kinds.GitOpsRepo]], Sequence[BaseTree]] = lambda _: (),
    look_at_sources: Callable[[ControlPlane], object] = lambda _: None,
    known: KnownRepositories | None = None,
) -> Snapshot:
    """Read everything that the environment branch refers to.

    `promoted_commit` replaces the one in `base-repo.yaml`. `declared` is the Environment object, if
    it is known, `delivery` what registrations may deliver. `open_base_trees` opens the trees of the
    environment's GitOpsRepos. The function calls `look_at_sources` before it reads registered
    repositories, and uses `known` for advice on missing documents. Raises KalypsoError if the
    control plane or a GitOps tree cannot be read; the snapshot has the problems of unreadable
    registrations.
    """
    read = read_control_plane(environment, own, reader, promoted_commit=promoted_commit)
    look_at_sources(read)
    base_trees = tuple(open_base_trees(read.fleet.gitops_repos))
    previous = gitops.previous_sources(base_trees, environment, read.promoted_commit)
    registrations = read_registrations(
        read.fleet.registrations,
        read.fleet.targets,
        RegistrationReader(environment, reader, previous, delivery),
    )
    everything = (own, *(reading for _, reading in read.bases))
    return Snapshot(
        environment=environment,
        own=own,
        bases=read.bases,
        fleet=read.fleet,
        registrations=registrations,
        base_trees=base_trees,
        unpromoted_templates=_unpromoted_templates(read, reader),
        problems=(*chain.from_iterable(r.problems for r in everything), *read.findings.problems),
        warnings=(
            *chain.from_iterable(r.warnings for r in everything),
            *read.findings.warnings,
        ),
        lacking=tuple(missing_repositories(environment, own, declared, known)),
        declared=declared,
        now=reader.now,
    )


def _unpromoted_templates(control_plane: ControlPlane, reader: Reader) -> frozenset[str]:
    """Return the Templates at the head of main, if the environment's commit lacks one."""
    known = {template.name for template in control_plane.fleet.templates}
    used = {
        name
        for cluster_type in control_plane.fleet.cluster_types
        for name in (cluster_type.reconciler, cluster_type.namespace_service)
    }
    main = next((base for base, _ in control_plane.bases if base.name == MAIN_BASE_REPO), None)
    if used <= known or main is None or main.commit is None:
        return frozenset()
    try:
        head = reader.documents(main.source)
    except KalypsoError:
        return frozenset()  # the environment does not need the head of main
    return frozenset(
        document.name for document in head.documents if document.kind == "Template"
    ).difference(known)
