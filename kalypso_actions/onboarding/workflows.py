"""Our workflow files, by branch."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from kalypso_actions.model.workflow_placeholders import FOLDER
from kalypso_actions.onboarding.starter import scalar

SCHEDULE_FILE: Final = f"{FOLDER}schedule.yaml"
CD_FILE: Final = f"{FOLDER}cd.yaml"
START_SCHEDULE_FILE: Final = f"{FOLDER}start-schedule.yaml"
CHECK_PROMOTE_FILE: Final = f"{FOLDER}check-promote.yaml"
MAIN: Final = re.compile(r"(?<=branches: \[)main(?=\])|(?<=branches-ignore: \[)main(?=,)")
"""The main branch, in the triggers of a template."""

FORMER_PATHS: Final = {START_SCHEDULE_FILE: f"{FOLDER}schedule.yaml"}
"""The former paths of templates for an environment's branch: main has another schedule.yaml."""

STARTS_SCHEDULE: Final = re.compile(r"^\s*run:\s*['\"]?start-schedule\b", re.MULTILINE)

MODE: Final = re.compile(r"^\s*mode:\s*['\"]?pull-request\b", re.MULTILINE)
TOKEN: Final = re.compile(r"^\s*token:", re.MULTILINE)
APP: Final = re.compile(r"^\s*app-private-key:", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class WorkflowFiles:
    """Our filled-in workflow files, by path, for each kind of branch.

    `main` is for the control plane's main branch, and `environment` for an environment's branch
    there. `gitops` is for all branches of the GitOps repository, including main: a credential
    without the permission `workflows` may only push workflow files that the repository already has,
    and GitHub may look for those only on the default branch.
    """

    main: Mapping[str, str]
    environment: Mapping[str, str]
    gitops: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class RuleNeeds:
    """The requirements of branch rules that workflows must meet.

    `cd_by_app`: cd pushes as the App, since no ruleset can let a job's token bypass it. `cd_signs`
    and `schedule_signs`: GitHub makes and signs the commits of these jobs.
    """

    cd_by_app: bool = False
    cd_signs: bool = False
    schedule_signs: bool = False


def for_branch(files: Mapping[str, str], branch: str) -> dict[str, str]:
    """Name the main branch in the control plane's workflow files."""
    return {path: MAIN.sub(scalar(branch), text) for path, text in files.items()}


def former_paths(texts: Mapping[str, str]) -> dict[str, str]:
    """Return the former path of each of our workflow files that still has one, by its new path."""
    return {
        path: former
        for path, former in FORMER_PATHS.items()
        if path not in texts and STARTS_SCHEDULE.search(texts.get(former, ""))
    }


def under_present_paths(texts: Mapping[str, str]) -> dict[str, str]:
    """Return the workflow files of a branch by their present paths instead of the former ones."""
    present = dict(texts)
    for path, former in former_paths(texts).items():
        present[path] = present.pop(former)
    return present


def for_rules(files: Mapping[str, str], needs: RuleNeeds) -> dict[str, str]:
    """Adapt the workflow files of the control plane's main branch to the branch rules."""
    by_app = ("app-id", "app-private-key") if needs.cd_by_app else ()
    names = {
        CD_FILE: (*by_app, *(("commit-by",) if needs.cd_signs else ())),
        SCHEDULE_FILE: ("commit-by",) if needs.schedule_signs else (),
    }
    return {path: _with_offered(text, names.get(path, ())) for path, text in files.items()}


def runs_by_job(text: str) -> bool:
    """Whether a workflow file of ours uses its job's token, without the App or another token."""
    return bool(text) and not APP.search(text) and not TOKEN.search(text)


def proposes(text: str) -> bool:
    """Whether a workflow file of ours opens pull requests with its job's token."""
    return bool(MODE.search(text)) and runs_by_job(text)


def _with_offered(text: str, names: Iterable[str]) -> str:
    """Uncomment the named inputs, which a template offers in comments."""
    for name in names:
        text = re.sub(rf"(?m)^( *)# ({name}: )", r"\1\2", text)
    return text
