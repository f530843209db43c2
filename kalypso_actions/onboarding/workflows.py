"""Our workflow files, by branch."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from kalypso_actions.model.workflow_placeholders import FOLDER
from kalypso_actions.onboarding.starter import scalar

CD_FILE: Final = f"{FOLDER}cd.yaml"
CHECK_PROMOTE_FILE: Final = f"{FOLDER}check-promote.yaml"
MAIN: Final = "branches: [main]"
"""The line of a template that names the main branch."""

MODE: Final = re.compile(r"^\s*mode:\s*['\"]?pull-request\b", re.MULTILINE)
APP: Final = re.compile(r"^\s*app-private-key:", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class WorkflowFiles:
    """Our filled-in workflow files, by path, for each kind of branch.

    `main` is the control plane's main branch, `environment` an environment's branch there,
    `gitops` one in the GitOps repository.
    """

    main: Mapping[str, str]
    environment: Mapping[str, str]
    gitops: Mapping[str, str]


def for_branch(files: Mapping[str, str], branch: str) -> dict[str, str]:
    """Name the main branch in the control plane's workflow files."""
    ours = f"branches: [{scalar(branch)}]"
    return {path: text.replace(MAIN, ours) for path, text in files.items()}


def proposes(text: str) -> bool:
    """Whether a workflow file of ours opens pull requests by its job's token."""
    return bool(MODE.search(text)) and not APP.search(text)
