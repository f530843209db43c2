"""The origin of a workflow file: our template, upstream Kalypso, or somebody else."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, Literal

from kalypso_actions.model.workflow_placeholders import FOLDER

Origin = Literal["current", "ours", "upstream", "foreign"]
"""Equal to our template; different, but with our actions; from upstream Kalypso; another."""

ACTIONS: Final = "ci|cd|schedule|check-promote|notify|poll|preview|preview-comment"
"""The names of our actions in templates, as a pattern."""

USES_OURS: Final = re.compile(
    rf"^\s*(?:-\s+)?uses:\s*['\"]?[^\s'\"]+(?:/actions/(?:{ACTIONS})|/kalypso-actions)@",
    re.MULTILINE,
)
MENTIONS_PROMOTION: Final = re.compile(
    r"promoted[_-]commit|checkpromote|--label promoted|utils/(?:update-status|create-pr)\.sh",
    re.IGNORECASE,
)
"""Matches all versions of upstream's workflows."""

UPSTREAM: Final = frozenset(
    {
        f"{FOLDER}transform.yaml",
        *(
            f"{FOLDER}utils/{name}"
            for name in (
                *("baserepo-template.yaml", "create-pr.sh", "generate-manifests.sh"),
                *("save-promoted-commit.sh", "transform.sh", "update-status.sh"),
                "wait-for-deployment.sh",
            )
        ),
    }
)
"""Files of upstream's control plane without a counterpart in our templates."""


def origin_of_workflow(text: str, template: str) -> Origin:
    """Return the origin of a workflow file at the path of `template`."""
    if text.replace("\r\n", "\n") == template:
        return "current"
    if USES_OURS.search(text):
        return "ours"
    return "upstream" if MENTIONS_PROMOTION.search(text) else "foreign"


def is_upstreams_other_file(path: str, text: str, templates: Mapping[str, str]) -> bool:
    """Whether a file is upstream's and none of our templates replaces it.

    With the other suffix (`cd.yml`), upstream's workflow would run beside ours.
    """
    if path in UPSTREAM:
        return True
    twin = path.removesuffix(".yml") + ".yaml"
    return (
        path.endswith(".yml") and twin in templates and origin_of_workflow(text, "") == "upstream"
    )
