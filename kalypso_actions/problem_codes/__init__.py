"""The kinds of problems that have a stable code.

row             one kind
files           files, YAML, kustomizations
documents       documents, their fields and names
environments    environments, BaseRepos, promotion
scheduling      policies, cluster types, targets, registrations
placement       Placements, and cluster types as managed clusters
configuration   ConfigMaps and schemas
rendering       Templates
gitops          GitOps repositories
application     configs, manifests and trees of applications
charts          charts and their values

`make docs` writes `docs/reference/problems.md` from them.
"""

from __future__ import annotations

from collections.abc import Mapping

from kalypso_actions.problem_codes import (
    application,
    charts,
    configuration,
    documents,
    environments,
    files,
    gitops,
    placement,
    rendering,
    scheduling,
)
from kalypso_actions.problem_codes.row import Level, ProblemCode

TOPICS: Mapping[str, tuple[ProblemCode, ...]] = {
    "Files": files.CODES,
    "Documents": documents.CODES,
    "Environments": environments.CODES,
    "Scheduling": scheduling.CODES,
    "Placement": placement.CODES,
    "Configuration": configuration.CODES,
    "Templates": rendering.CODES,
    "GitOps repositories": gitops.CODES,
    "Applications": application.CODES,
    "Charts": charts.CODES,
}

CODES: Mapping[str, ProblemCode] = {code.name: code for codes in TOPICS.values() for code in codes}

__all__ = ["CODES", "TOPICS", "Level", "ProblemCode"]
