"""Workflow files: whose they are, and the placeholders of the templates with their values."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from kalypso_actions.errors import KalypsoError, Location, UsageError
from kalypso_actions.model.urls import owner_of

FOLDER: Final = ".github/workflows/"
"""GitHub's folder of workflows."""

TEMPLATES: Final = "workflows-templates"
"""The folder of the templates, in the repository and in the package."""

PLACEHOLDER: Final = re.compile(
    r"(?P<action>OWNER/kalypso-actions(?P<path>[\w/-]*)@REF)|OWNER/CONTROL-PLANE"
)
PARTS: Final = re.compile(r"\b(OWNER|REF|CONTROL-PLANE)\b")

REF: Final = re.compile(r"[A-Za-z0-9][\w./-]*")


@dataclass(frozen=True, slots=True)
class Placeholders:
    """The values of the placeholders.

    `actions` is the repository of Kalypso's actions (owner/name), `ref` its tag or commit,
    `control_plane` the control plane (owner/name). `version` is the tag of a commit, which
    Dependabot reads and updates in a comment.
    """

    actions: str
    ref: str
    control_plane: str
    version: str = ""

    def __post_init__(self) -> None:
        """Validate the values. Raises UsageError."""
        for repository in (self.actions, self.control_plane):
            if owner_of(repository) is None:
                raise UsageError(f"{repository!r} is not of the form owner/name")
        if not REF.fullmatch(self.ref):
            raise UsageError(
                f"{self.ref!r} is neither a tag nor a commit", advice="for example: v1"
            )


def fill_in(template: str, placeholders: Placeholders, name: str) -> str:
    """Fill in the placeholders of a template; `name` is the name of its file.

    Raises KalypsoError for an unknown placeholder.
    """
    for number, line in enumerate(template.split("\n"), start=1):
        unknown = PARTS.search(PLACEHOLDER.sub("", line))
        if unknown:
            where = Location(TEMPLATES, name, number)
            raise KalypsoError(f"the placeholder {unknown[0]} is unknown", where)

    def value(match: re.Match[str]) -> str:
        if match["action"]:
            comment = f" # {placeholders.version}" if placeholders.version else ""
            return f"{placeholders.actions}{match['path']}@{placeholders.ref}{comment}"
        return placeholders.control_plane

    return PLACEHOLDER.sub(value, template)


Origin = Literal["current", "ours", "upstream", "foreign"]
"""Equal to our template; different, but with our actions; from upstream Kalypso; another."""

ACTIONS: Final = (
    "ci|cd|schedule|check-promote|notify|poll|observe|preview|preview-comment|rollback|"
    "app-(?:ci|deploy|check|notify|poll|preview)"
)
"""The names of our actions in templates, as a pattern."""

USES_OURS: Final = re.compile(
    rf"^\s*(?:-\s+)?uses:\s*['\"]?[^\s'\"]+(?:/actions/(?:{ACTIONS})|/kalypso-actions)@",
    re.MULTILINE,
)
MENTIONS_PROMOTION: Final = re.compile(
    r"promoted[_-]commit|checkpromote|--label promoted|utils/(?:update-status|create-pr)\.sh|"
    r"CD_BOOTSTRAP_TOKEN",
    re.IGNORECASE,
)
"""Matches all versions of upstream's workflows, also those of applications."""

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

FORMER_DEPLOY: Final = frozenset({f"{FOLDER}cd.yml", f"{FOLDER}cd.yaml"})
"""What deploy.yml of an application was before."""


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
    if path in FORMER_DEPLOY and f"{FOLDER}deploy.yml" in templates:
        return origin_of_workflow(text, "") == "upstream"
    twin = path.removesuffix(".yml") + ".yaml"
    return (
        path.endswith(".yml") and twin in templates and origin_of_workflow(text, "") == "upstream"
    )
