"""Our workflow files, and whose one is that stands in a branch already."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from kalypso_actions.model.workflow_marks import FOLDER
from kalypso_actions.onboarding.starter import scalar

Owner = Literal["current", "ours", "upstream", "foreign"]
"""As our template has it; by our actions, but different; upstream Kalypso's; somebody else's."""

CD_FILE: Final = f"{FOLDER}cd.yaml"
CHECK_PROMOTE_FILE: Final = f"{FOLDER}check-promote.yaml"
MAIN: Final = "branches: [main]"
"""Where a template names the default branch."""

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

MODE: Final = re.compile(r"^\s*mode:\s*['\"]?pull-request\b", re.MULTILINE)
APP: Final = re.compile(r"^\s*app-private-key:", re.MULTILINE)

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


@dataclass(frozen=True, slots=True)
class WorkflowFiles:
    """Ours, with names filled in, by their paths: for each kind of branch.

    `main` is for the control plane's default branch, `environment` for its environments' branches,
    `gitops` for the environments' branches of the GitOps repository.
    """

    main: Mapping[str, str]
    environment: Mapping[str, str]
    gitops: Mapping[str, str]


def for_branch(files: Mapping[str, str], branch: str) -> dict[str, str]:
    """Workflow files of the control plane's default branch, which has this name."""
    ours = f"branches: [{scalar(branch)}]"
    return {path: text.replace(MAIN, ours) for path, text in files.items()}


def proposes(text: str) -> bool:
    """Whether a workflow file of ours opens pull requests by the job's own token."""
    return bool(MODE.search(text)) and not APP.search(text)


def owner_of_workflow(text: str, template: str) -> Owner:
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
    return path.endswith(".yml") and twin in templates and owner_of_workflow(text, "") == "upstream"
