"""An application's repositories: the variables of its configuration, and the layout of its tree.

<target>/gen_manifests.yaml
<target>/kustomization.yaml
<target>/descriptor/deployment_descriptor.yaml
.github/tracking/Promoted_Commit_Id, Config_Commit_Id, Version, Image_tag | Image_name
.github/tracking/application.json
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from kalypso_actions.model.documents import Path
from kalypso_actions.model.layout import APPLICATION_FILE, TRACKING_FOLDER

Compatibility = Literal["none", "current", "2023"]
"""none     levels merge deeply; an undefined variable is an error
current  upstream's bytes of today: texts of levels are joined; an undefined variable is empty
2023     upstream's bytes of 2023: in addition, configs have no variables, and IMAGE_NAME is the
         whole reference of the image
"""

GENERATOR_NAMES: Final = ("auto", "helm", "kustomize", "plain", "services", "command")

VARIABLES: Final = (
    "WORKLOAD",
    "ENVIRONMENT",
    "SOURCE_REPO",
    "GITOPS_REPO",
    "SOURCE_BRANCH",
    "VERSION",
    "IMAGE_TAG",
    "IMAGE_NAME",
    "SRC_COMMIT",
    "CONFIG_REVISION",
)
"""The only variables that charts and configs may use. Upstream replaces every variable of the
environment, and so could print any secret in it."""

VARIABLE_VALUE: Final = re.compile(r"[A-Za-z0-9._:/@+~-]*")
"""A value that cannot break the YAML into which it is written."""
VARIABLE_VALUE_RULE: Final = "may hold letters, digits and . _ : / @ + ~ - only"

ORDER_FILE: Final = ".github/kalypso/environments.yaml"
"""The file of the source's main that names the environments, each with those that follow it."""

CONFIGS_VARIABLE: Final = "CONFIGS_REPO"
GITOPS_VARIABLE: Final = "MANIFESTS_REPO"
SOURCE_VARIABLE: Final = "SRC_REPO"
"""Upstream's variables, by which the repositories name one another as owner/name."""

NO_ENVIRONMENTS: Final = frozenset({"main", "master"})
"""Branches of the configs and the GitOps repository that are no environments.

Another default branch can be one: upstream's set-up pushes environments into empty repositories.
"""

VALUES_FILE: Final = "values.yaml"
MANIFESTS_FILE: Final = "gen_manifests.yaml"
KUSTOMIZATION_FILE: Final = "kustomization.yaml"
DESCRIPTOR_FILE: Final = "descriptor/deployment_descriptor.yaml"
DESCRIPTOR_TEMPLATE: Final = ".github/workflows/utils/templates/deployment-descriptor-template.yaml"

KUSTOMIZATION_START: Final = b"""\
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources:
"""
KUSTOMIZATION: Final = KUSTOMIZATION_START + b"- gen_manifests.yaml\n"
"""The text that `kustomize create --autodetect` writes. Upstream runs it while the merged values
are in the folder: it lists empty values, although upstream deletes them afterwards."""

CONFIG_COMMIT_FILE: Final = f"{TRACKING_FOLDER}/Config_Commit_Id"
VERSION_FILE: Final = f"{TRACKING_FOLDER}/Version"
IMAGE_TAG_FILE: Final = f"{TRACKING_FOLDER}/Image_tag"
IMAGE_NAME_FILE: Final = f"{TRACKING_FOLDER}/Image_name"
RECORD_FILE: Final = APPLICATION_FILE
APPLICATION_SCHEMA: Final = "kalypso.app-sources/v1"
"""The schema of this record."""


@dataclass(frozen=True, slots=True)
class Target:
    """A folder of the configs tree that gets manifests.

    `levels` are the files of its values, from the first level down to its own. A target without
    its own is for the generator `command`.
    """

    folder: str
    levels: tuple[str, ...]

    @property
    def has_values(self) -> bool:
        """Whether its folder has a file of values."""
        return f"{self.folder}/{VALUES_FILE}" in self.levels

    @property
    def name(self) -> str:
        """The name of the folder."""
        return posixpath.basename(self.folder)


CORRECT_TEMPLATE: Final = "correct the template, or the values that it reads"
"""The advice for a fault whose cause is not known."""


class SchemaFault(NamedTuple):
    """A fault of an object by a schema; another release may accept one that is not certain."""

    path: Path
    message: str
    is_certain: bool = True
    code: str = "manifest-schema"
    advice: str = CORRECT_TEMPLATE


@dataclass(frozen=True, slots=True)
class ApplicationChanges:
    """The files of a run, and how the tree changes; the lists are sorted bytewise.

    The lists leave out our record, whose change alone does not count. `kept` are files of others,
    `edited` are generated files that people have changed, `targets` the folders that earlier runs
    generated.
    """

    files: Mapping[str, bytes]
    added: tuple[str, ...] = ()
    modified: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    edited: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
