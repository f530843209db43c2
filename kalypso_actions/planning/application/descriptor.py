"""DeploymentDescriptors: the documents that tell the observability hub what should run."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from kalypso_actions.errors import Diagnostics, Location, Problem
from kalypso_actions.fleet.workloads import check_workloads
from kalypso_actions.model.application import (
    DESCRIPTOR_TEMPLATE,
    VALUES_FILE,
    Compatibility,
    Target,
)
from kalypso_actions.model.documents import Reading, Revision
from kalypso_actions.model.kinds import DeploymentTarget, Workload
from kalypso_actions.model.kubernetes_names import SUBDOMAIN_LIMIT, label_value_fault
from kalypso_actions.model.urls import repository_key
from kalypso_actions.planning.application.variables import replace_variables
from kalypso_actions.sources.yaml_documents import parse_yaml
from kalypso_go import goyaml

NOT_IN_NAMES: Final = re.compile(r"[^a-z0-9.-]+")
SERVER: Final = "https://github.com"


@dataclass(frozen=True, slots=True)
class DescriptorNames:
    """Names that are in no repository of the application."""

    workspace: str = ""
    application: str = ""
    server: str = SERVER


def from_template(
    template: bytes,
    target: Target,
    variables: Mapping[str, str],
    repository: str,
    compatibility: Compatibility,
) -> tuple[bytes, Diagnostics]:
    """Return upstream's descriptor: its template, with the variables of a target.

    The target's name is its whole path; with `2023`, it is only the name of the folder.
    """
    name = target.name if compatibility == "2023" else target.folder.replace("/", "-")
    own = {"DEPLOYMENT_TARGET": name, "DEPLOYMENT_TARGET_MANIFESTS_PATH": f"./{target.folder}"}
    where = Location(repository, DESCRIPTOR_TEMPLATE)
    return replace_variables(template, {**variables, **own}, where, compatibility)


def target_of(
    folder: str, environment: str, workloads: Sequence[Workload]
) -> DeploymentTarget | None:
    """Return the deployment target whose manifests are in a folder of the branch.

    The path of an Ansible target is a file in the folder.
    """
    for target in _targets(environment, workloads):
        if f"{_folder(target.manifests.get('path', ''))}/".startswith(f"{folder}/"):
            return target
    return None


def computed(
    target: DeploymentTarget,
    folder: str,
    variables: Mapping[str, str],
    names: DescriptorNames,
) -> bytes | None:
    """Return the descriptor of a deployment target; None if the workspace or a variable is unknown.

    The hub finds a target by the name that Kalypso gives it, `<workload>-<target>`, and the branch.
    The label `config-revision` changes the descriptor whenever the configuration changes, because
    the hub records a new commit only for a changed descriptor.
    """
    needed = ("SOURCE_REPO", "SOURCE_BRANCH", "VERSION", "SRC_COMMIT", "ENVIRONMENT")
    if not names.workspace or not all(name in variables for name in needed):
        return None
    environment = variables["ENVIRONMENT"]
    revision = variables.get("CONFIG_REVISION", "")
    labels = {"config-revision": revision} if revision and not label_value_fault(revision) else {}
    metadata: dict[str, object] = {"name": _name(environment, target.name)}
    if labels:
        metadata["labels"] = labels
    body = {
        "apiVersion": "hub.kalypso.io/v1alpha1",
        "kind": "DeploymentDescriptor",
        "metadata": metadata,
        "spec": _spec(target, folder, variables, names),
    }
    return goyaml.dump_v3(body).encode()


def _spec(
    target: DeploymentTarget,
    folder: str,
    variables: Mapping[str, str],
    names: DescriptorNames,
) -> dict[str, object]:
    application = names.application or target.labels.get("application") or target.workload
    environment = variables["ENVIRONMENT"]
    return {
        "workload": {
            "name": target.workload,
            "source": {
                "repo": f"{names.server}/{variables['SOURCE_REPO']}",
                "branch": variables["SOURCE_BRANCH"],
                "path": ".",
            },
            "application": {"name": application, "workspace": {"name": names.workspace}},
        },
        "deploymentTarget": {
            "name": target.name,
            "environment": environment,
            "manifests": {
                "repo": target.manifests.get("repo", ""),
                "branch": environment,
                "path": target.manifests.get("path", f"./{folder}"),
            },
        },
        "workloadVersion": {
            "version": variables["VERSION"],
            "commit": variables["SRC_COMMIT"],
        },
    }


def check_targets(
    targets: Sequence[Target],
    paths: Sequence[str],
    variables: Mapping[str, str],
    workloads: Sequence[Workload],
    repository: str,
) -> Iterator[Problem]:
    """Warn of deployment targets without a folder, and of folders without a deployment target.

    `paths` are the files of the resulting tree. Targets in other repositories are not checked.
    `repository` is that of the configs.
    """
    environment = variables.get("ENVIRONMENT", "")
    own = [target for target in _targets(environment, workloads) if _is_here(target, variables)]
    folders = {posixpath.dirname(path) for path in paths}
    places = {*paths, *folders}
    free = [item for item in targets if target_of(item.folder, environment, workloads) is None]
    for target in own:
        folder = _folder(target.manifests.get("path", ""))
        if folder not in places:
            others = ", ".join(f"{repository}: {item.folder}" for item in free)
            yield Problem(
                f"deployment target {target.name!r} names the folder {folder!r}, but no manifests "
                f"are made for it on the branch {environment!r}",
                target.at("path"),
                f"folders without a target: {others}" if others else "add it to the configs",
                "target-without-folder",
                tuple(Location(repository, item.folder) for item in free),
            )
    for item in free if own else ():
        target_names = ", ".join(
            f"{target.name} ({_folder(target.manifests.get('path', ''))}) in {target.where}"
            for target in own
        )
        yield Problem(
            f"no deployment target of the branch {environment!r} names the folder {item.folder!r}: "
            "nothing deploys its manifests",
            Location(repository, f"{item.folder}/{VALUES_FILE}"),
            f"add a target to workload.yaml; it has {target_names}",
            "folder-without-target",
            tuple(target.at("path") for target in own),
        )


def _targets(environment: str, workloads: Sequence[Workload]) -> Iterator[DeploymentTarget]:
    for workload in workloads:
        for target in workload.targets:
            if target.manifests.get("branch") == environment:
                yield target


def _is_here(target: DeploymentTarget, variables: Mapping[str, str]) -> bool:
    gitops = variables.get("GITOPS_REPO", "").lower()
    return not gitops or repository_key(target.manifests.get("repo", "")).endswith(f"/{gitops}")


def _folder(path: str) -> str:
    folder = posixpath.normpath(path.strip("/") or ".")
    return "" if folder == "." else folder


def _name(environment: str, target: str) -> str:
    """Return the name of the object, which is unique across branches."""
    return NOT_IN_NAMES.sub("-", f"{target}-{environment}".lower())[:SUBDOMAIN_LIMIT].strip("-.")


def workloads_of(
    contents: Mapping[str, bytes], where: Location
) -> tuple[Sequence[Workload], Diagnostics]:
    """Parse the YAML files of a folder of Workloads, at `where`.

    Their faults are warnings, since the manifests do not depend on them.
    """
    parsed = [
        parse_yaml(where.repository, path, content)
        for path, content in contents.items()
        if path.endswith((".yaml", ".yml"))
    ]
    if not parsed:
        message = "there is no Workload, so nothing says which target deploys which folder"
        advice = "add workload/workload.yaml, or name its folder with workload-path"
        return (), Diagnostics(notes=[Problem(message, where, advice, "workload-missing")])
    reading = Reading(
        Revision(where.repository, "", None, where.path, None),
        tuple(document for file in parsed for document in file.documents),
        tuple(problem for file in parsed for problem in file.problems),
    )
    workloads, diagnostics = check_workloads(reading)
    return workloads, Diagnostics(warnings=[*diagnostics.problems, *diagnostics.warnings])
