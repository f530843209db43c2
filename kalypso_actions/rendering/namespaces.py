"""The name of an assignment's namespace."""

from __future__ import annotations

from typing import Literal

from kalypso_actions.model.kinds import Assignment

NamespaceScheme = Literal["current", "legacy"]


def namespace_of(assignment: Assignment, environment: str, scheme: NamespaceScheme) -> str:
    """Return `<environment>-<cluster type>-<target>`; `legacy` has the workspace in the middle."""
    legacy = scheme == "legacy"
    middle = assignment.target.workspace if legacy else assignment.cluster_type.name
    return f"{environment}-{middle}-{assignment.target.name}"
