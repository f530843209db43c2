"""The files of the tree: manifests, kustomizations, descriptors, tracking, and our record."""

from __future__ import annotations

import json
import posixpath
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from kalypso_actions.errors import Diagnostics, KalypsoError, Location, Problem
from kalypso_actions.model.application import (
    APPLICATION_SCHEMA,
    CONFIG_COMMIT_FILE,
    DESCRIPTOR_FILE,
    DESCRIPTOR_TEMPLATE,
    IMAGE_NAME_FILE,
    IMAGE_TAG_FILE,
    KUSTOMIZATION,
    KUSTOMIZATION_FILE,
    KUSTOMIZATION_START,
    MANIFESTS_FILE,
    RECORD_FILE,
    VARIABLE_VALUE,
    VARIABLE_VALUE_RULE,
    VERSION_FILE,
    ApplicationChanges,
    Compatibility,
    Target,
)
from kalypso_actions.model.documents import FILE_MODE, FileEntry
from kalypso_actions.model.kinds import DeploymentTarget, Workload
from kalypso_actions.model.layout import PROMOTED_COMMIT_FILE, TRACKING_FOLDER
from kalypso_actions.model.object_ids import blob_id
from kalypso_actions.model.tree_listing import bytewise
from kalypso_actions.planning.application.descriptor import (
    DescriptorNames,
    computed,
    from_template,
    target_of,
)
from kalypso_actions.planning.application.helm import ChartPlace
from kalypso_actions.planning.application.levels import folders_above
from kalypso_actions.planning.manifests import ManifestRules, check_manifests
from kalypso_actions.sources.yaml_documents import parse_yaml
from kalypso_go import goyaml


@dataclass(frozen=True, slots=True)
class TreeOptions:
    """The options for the content of the tree other than manifests.

    `template` is upstream's template of descriptors, None if the source at `repository` has none.
    The folders `bare` get no kustomization.
    """

    compatibility: Compatibility
    variables: Mapping[str, str]
    workloads: Sequence[Workload] = ()
    names: DescriptorNames = field(default_factory=DescriptorNames)
    template: bytes | None = None
    repository: str = ""
    bare: Collection[str] = ()


def no_target(repository: str) -> Problem:
    """Return the problem of configs without targets, whose whole tree would be deleted."""
    return Problem(
        "the configs have no target: no folder has a values.yaml",
        Location(repository),
        "add <target>/values.yaml, which may be empty",
        "configs-without-target",
    )


def other_branch(checked_out: str, environment: str, repository: str) -> Iterator[Problem]:
    """Warn of configs whose folder is on another branch than the environment's."""
    if checked_out and checked_out != environment:
        yield Problem(
            f"the configs are those of the branch {checked_out!r}, not of {environment!r}",
            Location(repository),
            f"check {environment} out, or name it: --configs PATH@{environment}",
            "configs-branch",
        )


def check_targets_manifests(
    generated: Mapping[str, Mapping[str, bytes]],
    rules: ManifestRules,
    sources: Mapping[str, ChartPlace],
) -> tuple[dict[str, tuple[str, ...]], Diagnostics]:
    """Check the manifests of all targets, by folder; return the images of each."""
    images: dict[str, tuple[str, ...]] = {}
    findings = Diagnostics()
    for folder, files in generated.items():
        used: set[str] = set()
        known: dict[tuple[str, ...], Location] | None = {} if _lists_all(files) else None
        manifests = _manifests(files)
        if not manifests and _lists_all(files):
            message = f"the files of {folder!r} are not for Kubernetes, and get no kustomization"
            note = Problem(message, Location("", folder), code="target-not-kubernetes")
            findings.notes.append(note)
        for name in manifests:
            where = Location("", f"{folder}/{name}")
            file_images, file_findings = check_manifests(
                where, files[name], rules, sources.get(folder), known
            )
            findings.add(file_findings)
            used |= file_images
        images[folder] = tuple(sorted(used))
    return images, findings


def _manifests(files: Mapping[str, bytes]) -> list[str]:
    """Return the manifests of a target, sorted; none if no document of a command is an object."""
    names = sorted(
        name
        for name in files
        if name.endswith(YAML) and posixpath.basename(name) not in KUSTOMIZATION_NAMES
    )
    if MANIFESTS_FILE in files:
        return names
    parsed = [parse_yaml("", name, files[name]) for name in names]
    objects = [item for file in parsed for item in file.documents if item.kind or item.api_version]
    faults = [problem.code for file in parsed for problem in file.problems]
    is_other = parsed and not objects and set(faults) <= {"document-not-kubernetes"}
    return [] if is_other else names


def _lists_all(files: Mapping[str, bytes]) -> bool:
    """Whether a target has no kustomization of its own, so that Kalypso lists all manifests."""
    return not any(name in files for name in KUSTOMIZATION_NAMES)


def tree_files(
    generated: Mapping[str, Mapping[str, bytes]], targets: Sequence[Target], options: TreeOptions
) -> tuple[dict[str, bytes], Diagnostics]:
    """Return all files of the tree except our record, by path."""
    files: dict[str, bytes] = {}
    findings = Diagnostics()
    for target in targets:
        own = dict(generated[target.folder])
        manifests = _manifests(own) if _lists_all(own) else []
        if manifests and target.folder not in options.bare:
            rows = b"".join(b"- " + goyaml.dump_v3(name).encode() for name in manifests)
            own[KUSTOMIZATION_FILE] = KUSTOMIZATION_START + rows
        descriptor, problems = _descriptor(target, options)
        findings.add(problems)
        if descriptor is not None:
            own[DESCRIPTOR_FILE] = descriptor
        files |= {f"{target.folder}/{name}": content for name, content in own.items()}
    return files | tracking_files(options.variables, options.compatibility), findings


def _descriptor(target: Target, options: TreeOptions) -> tuple[bytes | None, Diagnostics]:
    """Return the descriptor of a target; None if values are missing, or nothing deploys it."""
    if options.compatibility == "none":
        deployment = _deployment(target, options)
        if deployment is None:
            return None, Diagnostics()
        own = computed(deployment, target.folder, options.variables, options.names)
        return own, Diagnostics()
    if options.template is None:
        return None, Diagnostics()
    return from_template(
        options.template, target, options.variables, options.repository, options.compatibility
    )


def missing_descriptors(
    targets: Sequence[Target], options: TreeOptions, changes: ApplicationChanges, repository: str
) -> Diagnostics:
    """Note targets whose descriptor has no values, and warn of descriptors that are deleted.

    `repository` is that of the GitOps tree.
    """
    findings = Diagnostics()
    for target in targets:
        path = f"{target.folder}/{DESCRIPTOR_FILE}"
        deployment = _deployment(target, options)
        reason = "the workspace, or the source repository, commit or version is not known"
        advice = "give --workspace, --source-repository, --source-commit and --version"
        if options.compatibility != "none":
            deployment, reason = None, "the source has no template of descriptors"
            advice = f"restore {DESCRIPTOR_TEMPLATE}"
        elif deployment is None:
            reason = "no deployment target of the Workloads names the folder"
            advice = "add it to workload/workload.yaml"
        if path in changes.deleted:
            message, where = f"the descriptor is deleted: {reason}", Location(repository, path)
            findings.warnings.append(Problem(message, where, advice, "descriptor-missing"))
        elif deployment and path not in changes.files:
            message = f"there is no descriptor for {target.folder!r}: {reason}"
            note = Problem(message, deployment.where, advice, "descriptor-missing")
            findings.notes.append(note)
    return findings


def _deployment(target: Target, options: TreeOptions) -> DeploymentTarget | None:
    return target_of(target.folder, options.variables["ENVIRONMENT"], options.workloads)


KUSTOMIZATION_NAMES: Final = ("kustomization.yaml", "kustomization.yml", "Kustomization")
YAML: Final = (".yaml", ".yml")
BASES: Final = ("resources", "bases", "components", "crds")

OWN_OVERLAYS: Final = 4
"""The first places of a target's kustomization are its own; targets may share the others."""


def overlay_folders(folder: str, environment: str, target: Target) -> list[str]:
    """Return the possible places of a target's kustomization, the most specific first."""
    names = (
        f"overlays/{environment}/{target.folder}",
        f"overlays/{target.folder}",
        f"{environment}/{target.folder}",
        target.folder,
        f"overlays/{environment}",
        environment,
        "base",
        "",
    )
    return [posixpath.join(folder, name).rstrip("/") for name in names]


def overlay_of(
    files: Collection[str], folder: str, environment: str, target: Target, *, own: bool = False
) -> str | None:
    """Return the folder of a target's kustomization; None if it has none, or with `own` no own."""
    for place in overlay_folders(folder, environment, target)[: OWN_OVERLAYS if own else None]:
        if any(posixpath.join(place, name) in files for name in KUSTOMIZATION_NAMES):
            return place
    return None


def manifests_of(
    files: Collection[str], folder: str, environment: str, target: Target, *, own: bool = False
) -> list[str]:
    """Return the plain manifests of a target: all below its own folder, else those in `folder`."""
    manifests = [path for path in files if path.endswith(YAML)]
    for name in (f"{environment}/{target.folder}", target.folder, *([] if own else [environment])):
        prefix = f"{posixpath.join(folder, name)}/"
        below = [path for path in manifests if path.startswith(prefix)]
        if below:
            return sorted(below)
    return [] if own else sorted(path for path in manifests if posixpath.dirname(path) == folder)


def missing_overlay(folder: str, environment: str, target: Target, repository: str) -> Problem:
    """Return the problem of a target without a kustomization or manifests."""
    places = ", ".join(dict.fromkeys(overlay_folders(folder, environment, target)))
    return Problem(
        f"nothing is made for the target {target.folder!r}",
        Location(repository, folder),
        f"the first of these folders counts: {places}",
        "overlay-missing",
    )


def remote_bases(files: Mapping[str, bytes], repository: str) -> Iterator[Problem]:
    """Yield a problem for each base of a kustomization that is not in the repository."""
    for path, content in files.items():
        if posixpath.basename(path) not in KUSTOMIZATION_NAMES:
            continue
        for document in parse_yaml(repository, path, content).documents:
            for name in BASES:
                entries = document.body.get(name)
                for index, entry in enumerate(entries if isinstance(entries, list) else ()):
                    if _is_remote(str(entry)):
                        yield Problem(
                            f"the kustomization names {entry}, which is not in the repository",
                            document.at(name, index),
                            "copy it into the source: kustomize runs without the network",
                            "kustomize-remote",
                        )


def _is_remote(entry: str) -> bool:
    return "://" in entry or "?ref=" in entry or entry.startswith(("github.com/", "git@"))


MAX_NAMED: Final = 100
"""The number of removed targets that a problem names."""
MAX_SHOWN: Final = 80


class RecordedRevision(BaseModel):
    """A repository; `commit` and `tree` are null for a plain folder."""

    model_config = ConfigDict(frozen=True)

    repository: str
    commit: str | None
    tree: str | None


class Record(BaseModel):
    """The content of `application.json`: sources, options, and the ids of generated files.

    `dependencies` are the digests of the archives that were fetched for charts, by path.
    """

    model_config = ConfigDict(frozen=True, populate_by_name=True)

    schema_name: str = Field(APPLICATION_SCHEMA, alias="schema")
    version: str
    environment: str
    generator: str
    programs: Mapping[str, str]
    dependencies: Mapping[str, str] = {}
    options: Mapping[str, str]
    source: RecordedRevision
    configs: RecordedRevision
    targets: tuple[str, ...] = ()
    files: Mapping[str, str]

    def content(self) -> bytes:
        """Return the bytes of the file: sorted keys, two-space indent, final newline."""
        body = self.model_dump(by_alias=True, mode="json")
        text = json.dumps(body, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
        return text.encode("utf-8", "backslashreplace")


def read_record(content: bytes | None) -> RecordedFiles | None:
    """Return the targets and files of an earlier run; None if there is no record."""
    if content is None:
        return None
    try:
        body = json.loads(content)
        if not isinstance(body, dict) or body.get("schema") != APPLICATION_SCHEMA:
            return None
        return RecordedFiles.model_validate(body)
    except (ValueError, RecursionError, ValidationError):
        return None


def recorded_paths(content: bytes) -> frozenset[str]:
    """Return the paths of the files that a run has written; empty without a valid record."""
    record = read_record(content)
    return frozenset(record.files if record else ())


class RecordedFiles(BaseModel):
    """The targets, the blob ids of files, and the digests of archives, of an earlier run."""

    dependencies: Mapping[str, str] = {}
    targets: tuple[str, ...] = ()
    files: Mapping[str, str]


def recorded_files(files: Mapping[str, bytes]) -> dict[str, str]:
    """Return the blob ids of generated files."""
    return {path: blob_id(content) for path, content in files.items()}


def tracking_files(variables: Mapping[str, str], compatibility: Compatibility) -> dict[str, bytes]:
    """Return upstream's tracking files: one line each, for the variables that have a value."""
    return {
        path: f"{variables[name]}\n".encode()
        for path, name in tracking_names(compatibility).items()
        if name in variables
    }


def tracking_names(compatibility: Compatibility) -> dict[str, str]:
    """Return the variable that each tracking file holds, by path."""
    image = {IMAGE_TAG_FILE: "IMAGE_TAG"}
    return {
        PROMOTED_COMMIT_FILE: "SRC_COMMIT",
        CONFIG_COMMIT_FILE: "CONFIG_REVISION",
        VERSION_FILE: "VERSION",
        **({IMAGE_NAME_FILE: "IMAGE_NAME"} if compatibility == "2023" else image),
    }


def tracked_variables(
    contents: Mapping[str, bytes], repository: str, compatibility: Compatibility
) -> dict[str, str]:
    """Return the variables that the tracking files of a GitOps tree hold.

    Raises KalypsoError for texts that could break the YAML into which they are written.
    """
    variables: dict[str, str] = {}
    for path, name in tracking_names(compatibility).items():
        text = contents.get(path, b"").decode("utf-8", "replace").strip()
        if not VARIABLE_VALUE.fullmatch(text):
            raise KalypsoError(
                f"the tracked ${name} {text[:MAX_SHOWN]!r} {VARIABLE_VALUE_RULE}",
                Location(repository, path),
                "correct the file",
            )
        variables |= {name: text} if text else {}
    return variables


def compute_changes(
    files: Mapping[str, bytes], entries: Mapping[str, FileEntry], record: bytes | None
) -> ApplicationChanges:
    """Compare the files of a run with the existing tree and the record in it.

    The run deletes only generated files: those of the record or, in a tree that upstream wrote,
    those with upstream's names in a folder with a gen_manifests.yaml.
    """
    recorded = read_record(record)
    own = _upstreams_files(entries) if recorded is None else recorded.files
    present = [path for path in own if path in entries]
    targets = (recorded.targets if recorded else ()) or _folders_with_manifests(present)
    folders = {folder for path in present for folder in folders_above(path)}
    deleted = [
        path for path in present if path not in files and not path.startswith(f"{TRACKING_FOLDER}/")
    ]
    same = {
        path
        for path, content in files.items()
        if path in entries
        and (entries[path].mode, entries[path].object_id) == (FILE_MODE, blob_id(content))
    }
    return ApplicationChanges(
        files=files,
        added=_listed(files.keys() - entries.keys()),
        modified=_listed(path for path in files if path in entries and path not in same),
        deleted=_listed(deleted),
        unchanged=_listed(same),
        kept=_listed(entries.keys() - files.keys() - set(deleted)),
        edited=_listed(_edited(own, entries, same)),
        targets=tuple(folder for folder in targets if folder in folders),
    )


def removal(
    changes: ApplicationChanges, targets: Sequence[Target], percent: int, repository: str
) -> Problem | None:
    """Return the problem of a run that removes most targets of the tree; None for other runs.

    More than `percent` of the targets are too many, but one of several may always go, unless the
    limit is 0: an application with two targets that drops one is usual. A target that has become a
    group is not gone; `new_groups` reports it.
    """
    made = {target.folder for target in targets}
    made |= {parent for folder in made for parent in folders_above(folder)}
    gone = [folder for folder in changes.targets if folder not in made]
    count = len(changes.targets)
    limit = max(count * percent // 100, min(percent, 1))
    if not gone or len(gone) <= min(limit, count - 1):
        return None
    names = ", ".join(gone[:MAX_NAMED])
    names += f" and {len(gone) - MAX_NAMED} more" if len(gone) > MAX_NAMED else ""
    return Problem(
        f"{len(gone)} of {count} targets of the GitOps tree are gone from the configs, so their "
        f"manifests would be deleted: {names}",
        Location(repository),
        "check the configs; allow it with allow-removals, or raise max-removal-percent",
        "mass-removal",
    )


def edit_warnings(changes: ApplicationChanges, repository: str) -> Iterator[Problem]:
    """Warn of manual edits that the run overwrites or deletes."""
    for path in changes.edited:
        fate = "deletes" if path in changes.deleted else "overwrites"
        yield Problem(
            f"somebody has edited this generated file; the run {fate} it",
            Location(repository, path),
            "change the chart or the configs instead",
            "gitops-file-edited",
        )


def _folders_with_manifests(paths: Iterable[str]) -> list[str]:
    """Return the folders of a tree that have generated manifests, sorted."""
    folders = (posixpath.split(path) for path in paths)
    return sorted(folder for folder, name in folders if name == MANIFESTS_FILE and folder)


def _upstreams_files(entries: Mapping[str, FileEntry]) -> dict[str, str]:
    """Map each file that has one of upstream's names to the blob id of upstream's content.

    If upstream's content is unknown, map the file to the id of its present content.
    """
    own: dict[str, str] = {}
    for folder in _folders_with_manifests(entries):
        own[f"{folder}/{MANIFESTS_FILE}"] = ""
        own[f"{folder}/{KUSTOMIZATION_FILE}"] = blob_id(KUSTOMIZATION)
        own[f"{folder}/{DESCRIPTOR_FILE}"] = ""
    return {
        path: known or entries[path].object_id for path, known in own.items() if path in entries
    }


def _edited(
    own: Mapping[str, str], entries: Mapping[str, FileEntry], same: Iterable[str]
) -> Iterator[str]:
    unchanged = set(same)
    for path, object_id in own.items():
        entry = entries.get(path)
        if entry is not None and entry.object_id != object_id and path not in unchanged:
            yield path


def _listed(paths: Iterable[str]) -> tuple[str, ...]:
    own = (path for path in paths if path != RECORD_FILE)
    return tuple(bytewise(own))
