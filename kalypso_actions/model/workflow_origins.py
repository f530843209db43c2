"""Whose a workflow file is: ours, upstream Kalypso's, or somebody else's."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, Literal

from kalypso_actions.model.workflow_placeholders import FOLDER

Origin = Literal["current", "ours", "upstream", "foreign"]
"""As our template has it; by our actions, but different; upstream Kalypso's; somebody else's."""

USES_OURS: Final = re.compile(
    r"^\s*(?:-\s+)?uses:\s*['\"]?[^\s'\"]+(?:/actions/(?:ci|cd|schedule|check-promote|notify|poll)"
    r"|/kalypso-actions)@",
    re.MULTILINE,
)
SPEAKS_OF_PROMOTION: Final = re.compile(
    r"promoted[_-]commit|checkpromote|--label promoted|utils/(?:update-status|create-pr)\.sh",
    re.IGNORECASE,
)
"""What stands in every workflow of upstream, in all its versions."""

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
"""Files of upstream's control plane that ours have no counterpart for."""


def origin_of_workflow(text: str, template: str) -> Origin:
    """Whose a workflow file is that stands where `template` belongs."""
    if text.replace("\r\n", "\n") == template:
        return "current"
    if USES_OURS.search(text):
        return "ours"
    return "upstream" if SPEAKS_OF_PROMOTION.search(text) else "foreign"


def is_upstreams_other_file(path: str, text: str, templates: Mapping[str, str]) -> bool:
    """Whether it is upstream's, and nothing of ours stands in its place.

    The same workflow under another ending (`cd.yml`) would run beside ours.
    """
    if path in UPSTREAM:
        return True
    twin = path.removesuffix(".yml") + ".yaml"
    return (
        path.endswith(".yml") and twin in templates and origin_of_workflow(text, "") == "upstream"
    )
