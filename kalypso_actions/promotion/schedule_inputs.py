"""The digest of everything that schedule looks at beside the environment's branch.

The head of the environment's branch carries the digest in a status, so the branch itself is not
part of it. Folders count by their tree ids: commits beside a registered folder change nothing.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from kalypso_actions.model.kinds import RepositoryPath

LENGTH: Final = 16
"""Hexadecimal digits of a digest; a status's description has room for few."""


@dataclass(frozen=True, slots=True)
class GitOpsBranchState:
    """A GitOps branch at `head`, and our open pull requests into it: number -> head commit."""

    repository: str
    branch: str
    head: str
    pull_requests: Mapping[int, str] = field(default_factory=dict)


def inputs_digest(
    folders: Mapping[RepositoryPath, str | None], branches: Iterable[GitOpsBranchState]
) -> str:
    """The digest; `folders` maps each folder that is read to its tree id.

    These are registered folders, and those of base repositories without a commit. The tree id is
    None where the folder, its branch or its repository cannot be seen.
    """
    lines = sorted(
        json.dumps(["folder", place.repo, place.branch, place.path, tree])
        for place, tree in folders.items()
    )
    lines += sorted(
        json.dumps(["branch", one.repository.lower(), one.branch, one.head])
        + json.dumps(sorted(one.pull_requests.items()))
        for one in branches
    )
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:LENGTH]
