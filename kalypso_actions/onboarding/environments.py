"""The environments of the set-up, and the GitOps branches that they propose to."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Final

from kalypso_actions.errors import KalypsoError, Location, Problem, UsageError
from kalypso_actions.model.documents import Document
from kalypso_actions.model.kinds import Environment, RepositoryPath
from kalypso_actions.model.urls import repository_key
from kalypso_actions.onboarding.setup import EnvironmentSetup, RepositorySetup

KALYPSO_API: Final = "scheduler.kalypso.io/"


def kalypso_documents(documents: Iterable[Document]) -> frozenset[tuple[str, str]]:
    """Return the kind and name of each Kalypso document."""
    return frozenset(
        (document.kind, document.name)
        for document in documents
        if document.api_version.startswith(KALYPSO_API)
    )


def may_hold_kalypso_documents(content: bytes) -> bool:
    """Whether a file that cannot be parsed may hold Kalypso documents."""
    return KALYPSO_API.encode() in content


def environment_setups(
    control_plane: RepositorySetup,
    existing: Mapping[str, Environment],
    names: Sequence[str],
    default_names: Sequence[str],
    reserved: Collection[str],
    *,
    is_new: bool,
) -> list[EnvironmentSetup]:
    """Return the environments of main, followed by the new ones of `names`.

    A new control plane without `names` gets `default_names`. `reserved` are the names of default
    branches. Raises UsageError for missing or reserved names.
    """
    if not names and not existing and not is_new:
        raise UsageError(
            "the control plane has no Environment objects",
            Location(control_plane.name),
            "name the environments with --environments",
        )
    wanted = names or (() if existing else default_names)
    for name in wanted:
        if name in reserved and name not in existing:
            raise UsageError(
                f"an environment cannot be named {name!r}, like the default branch",
                advice="an environment has a branch of its own: choose another name",
            )
    following = dict(pairwise(wanted))
    return [
        EnvironmentSetup(
            environment.name,
            environment.control_plane.branch,
            environment.control_plane.path,
            is_new=False,
            is_first=environment.is_first,
        )
        for environment in existing.values()
    ] + [
        EnvironmentSetup(
            name,
            name,
            next_environment=following.get(name, ""),
            is_first=not existing and name == wanted[0],
        )
        for name in wanted
        if name not in existing
    ]


def check_branch(environment: EnvironmentSetup, control_plane: RepositorySetup) -> None:
    """Check that an environment has its own branch. Raises KalypsoError."""
    if environment.branch == control_plane.main:
        raise KalypsoError(
            f"environment {environment.name!r} is on the branch {control_plane.main}, where "
            "promotion starts",
            Location(control_plane.name),
            "give it a branch of its own",
        )


def gitops_branches(
    environment: EnvironmentSetup,
    targets: Sequence[RepositoryPath],
    control_plane: RepositorySetup,
    gitops: RepositorySetup,
) -> tuple[tuple[str, ...], tuple[Problem, ...]]:
    """Return the branches of the GitOps repository that an environment uses, and warnings.

    `targets` are those of its GitOpsRepo objects. If there are none, the branch has the
    environment's name.
    """
    if not targets:
        return (environment.name,), ()
    branches = dict.fromkeys(
        target.branch
        for target in targets
        if repository_key(target.repo) == repository_key(gitops.url)
    )
    if branches:
        return tuple(branches), ()
    others = ", ".join(sorted({target.repo for target in targets}))
    warning = Problem(
        f"environment {environment.name} proposes to {others}, not to {gitops.name}: nothing is "
        "written for it there",
        Location(control_plane.name),
        "run init with that GitOps repository as well",
    )
    return (), (warning,)
