"""Inputs of `kalypso init`."""

from __future__ import annotations

import re
from typing import Annotated, Final

from pydantic import AfterValidator, Field, SecretStr, model_validator
from pydantic_core import PydanticCustomError

from kalypso_actions.inputs.paths import Folder
from kalypso_actions.inputs.values import Inputs, List, RepositoryName, fault
from kalypso_actions.model.kubernetes_names import dns_label_fault
from kalypso_actions.model.layout import OWN_BRANCHES

ACTION: Final = re.compile(r"[A-Za-z0-9_-]+/[A-Za-z0-9._-]+@[A-Za-z0-9._/-]+")
DEFAULT_ACTION: Final = "kalypso-actions/kalypso-actions@v0"
DEFAULT_ENVIRONMENTS: Final = ("dev", "stage")


def _action(text: str) -> str:
    if not ACTION.fullmatch(text):
        raise fault("action", text, "is not of the form owner/name@ref")
    return text


def _environments(names: tuple[str, ...]) -> tuple[str, ...]:
    """Check environment names, which also name branches, folders and upstream's namespaces."""
    for index, name in enumerate(names):
        wrong = dns_label_fault(name)
        # Git refuses a branch whose name is the folder of other branches.
        if f"{name}/" == OWN_BRANCHES:
            wrong = "is the prefix of Kalypso's own branches"
        elif name in names[:index]:
            wrong = "is named twice"
        if wrong:
            raise fault("environment", name, wrong)
    return names


class InitInputs(Inputs):
    """Inputs of `kalypso init`.

    The two repositories are on GitHub, or clones; a clone needs no name if its origin is on GitHub.
    `environments` are in the order of promotion.
    """

    control_plane: RepositoryName = ""
    gitops: RepositoryName = ""
    control_plane_dir: Folder | None = None
    gitops_dir: Folder | None = None
    environments: Annotated[List, AfterValidator(_environments)] = ()
    action: Annotated[str, AfterValidator(_action)] = DEFAULT_ACTION
    pull_request: bool = False
    update_workflows: bool = False
    delete_upstream_workflows: bool = False
    dry_run: bool = False
    yes: bool = False
    token: SecretStr = Field(default=SecretStr(""), repr=False)

    @property
    def in_clones(self) -> bool:
        """Whether init writes to clones."""
        return self.control_plane_dir is not None

    @model_validator(mode="after")
    def _two_repositories(self) -> InitInputs:
        folders = (self.control_plane_dir, self.gitops_dir)
        if any(folders) and not all(folders):
            raise PydanticCustomError(
                "init", "--control-plane-dir and --gitops-dir are required together"
            )
        if not any(folders) and not (self.control_plane and self.gitops):
            raise PydanticCustomError(
                "init",
                "two repositories are required: --control-plane and --gitops as owner/name, or "
                "--control-plane-dir and --gitops-dir for clones of them",
            )
        if self.control_plane and self.control_plane.lower() == self.gitops.lower():
            raise PydanticCustomError(
                "init", "--gitops is the control plane itself: it must be another repository"
            )
        return self

    @model_validator(mode="after")
    def _proposes_to_github(self) -> InitInputs:
        if self.in_clones and self.pull_request:
            raise PydanticCustomError(
                "init",
                "--pull-request needs repositories on GitHub: name them by --control-plane and "
                "--gitops, without --control-plane-dir and --gitops-dir",
            )
        return self
