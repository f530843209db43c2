"""The digest of all inputs of a run of schedule except the environment's branch.

A status on the head of that branch holds the digest, so the branch is not part of it. Folders count
by their tree ids, so a commit outside a registered folder does not change the digest.
`kalypso_actions.planning.unchanged.input_digests` has the digests of single assignments.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Final

from kalypso_actions.model.kinds import RepositoryPath
from kalypso_actions.model.tree import GitOpsBranch

LENGTH: Final = 16
"""Hexadecimal digits of a digest; the description of a status is short."""


def inputs_digest(
    folders: Mapping[RepositoryPath, str | None], branches: Iterable[GitOpsBranch]
) -> str:
    """Return the digest; `folders` maps each folder that schedule reads to its tree id.

    These are registered folders, and those of base repositories without a commit. The tree id is
    None if the folder, its branch or its repository cannot be read.
    """
    lines = sorted(
        json.dumps(["folder", place.repo, place.branch, place.path, tree])
        for place, tree in folders.items()
    )
    lines += sorted(
        json.dumps(["branch", branch.repository.lower(), branch.branch, branch.head])
        + json.dumps(sorted(branch.own_pulls.items()))
        for branch in branches
    )
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:LENGTH]
