"""Environments: branches, rendering, promotion, and GitHub environments."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Final

from kalypso_actions.doctor_rules import pages
from kalypso_actions.doctor_rules.check import Check, ok, problem, warning
from kalypso_actions.errors import Problem
from kalypso_actions.model.counts import counted
from kalypso_actions.model.kinds import ClusterType

NEXT_ENVIRONMENT: Final = "NEXT_ENVIRONMENT"
"""The variable or secret of a GitHub environment that names the next environments."""


def no_environments(control_plane: str, main: str) -> Check:
    """Report a control plane without Environment objects."""
    return problem(
        control_plane,
        f"{main} has no Environment object",
        "kalypso init writes Environment objects and their branches",
    )


def branch_check(control_plane: str, environment: str, branch: str, *, exists: bool) -> Check:
    """Check that the environment has its branch in the control plane."""
    if exists:
        return ok(control_plane, f"the environment {environment} has its branch {branch}")
    return problem(
        control_plane,
        f"the environment {environment} has no branch {branch}",
        "kalypso init creates it",
    )


def rendering_check(control_plane: str, environment: str, assignments: int | None) -> Check:
    """Report the number of rendered assignments; None if rendering fails."""
    if assignments is None:
        return problem(
            control_plane,
            f"{environment} cannot be read and rendered",
            "solve the problems that this report lists for it",
        )
    return ok(
        control_plane,
        f"{environment} can be read and rendered: {counted(assignments, 'assignment')}",
    )


def has_reporting_clusters(cluster_types: Collection[ClusterType]) -> bool:
    """Whether clusters of an environment report their state.

    An environment without cluster types counts, because it may still get such clusters.
    """
    return not cluster_types or any(
        cluster_type.reports_compliance for cluster_type in cluster_types
    )


def is_named_by_secret(
    used_in_environment: Collection[str], secrets_of_environment: Collection[str]
) -> bool:
    """Whether the workflow takes the next environment from a secret, which nobody can read."""
    return (
        f"secrets.{NEXT_ENVIRONMENT}" in used_in_environment
        and NEXT_ENVIRONMENT in secrets_of_environment
    )


def promotes_by_secret(control_plane: str, environment: str) -> Check:
    """Report that a secret names the next environment."""
    return ok(control_plane, f"the secret {NEXT_ENVIRONMENT} of {environment} names its next one")


def promotion_check(control_plane: str, environment: str, following: Sequence[str]) -> Check:
    """Report the environments that an environment promotes to."""
    text = f"goes on to {', '.join(following)}" if following else "is a last environment"
    return ok(control_plane, f"{environment} {text}")


def promotion_problems(
    control_plane: str, environment: str, problems: Sequence[Problem], *, by_variable: bool
) -> Iterator[Check]:
    """Report that the names of the next environments are wrong."""
    page = pages.ENVIRONMENTS if by_variable else ""
    for wrong in problems:
        yield problem(control_plane, f"{environment}: {wrong.message}", wrong.advice, page)


def github_environment_check(
    control_plane: str, environment: str, existing: Collection[str]
) -> Check:
    """Check that GitHub has an environment of this name, in upper or lower case."""
    if environment.lower() in {name.lower() for name in existing}:
        return ok(control_plane, f"there is a GitHub environment {environment}")
    return warning(
        control_plane,
        f"there is no GitHub environment {environment}: its first job creates it, unprotected",
        "create it, with the people who must review deployments",
        pages.NEW_ENVIRONMENT,
    )
