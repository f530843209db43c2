"""`.github/tracking/sources.json`: the repositories and commits from which a tree was made."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from kalypso_actions import __version__
from kalypso_actions.model.application import APPLICATION_SCHEMA
from kalypso_actions.model.documents import Revision
from kalypso_actions.model.kinds import MAIN_BASE_REPO, DeploymentTarget
from kalypso_actions.model.object_ids import blob_id
from kalypso_actions.model.placements import PlacedDecision
from kalypso_actions.model.tree import BaseTree, RegistrationReading, Snapshot
from kalypso_actions.model.urls import repository_key

SOURCES_SCHEMA: Final = "kalypso.sources/v1"

ID_LENGTH: Final = 24
"""Hexadecimal digits of a tree's id; the description of a status is short."""


class InputsRecord(BaseModel):
    """Digests by the names of cluster types and targets; null: a run renders the folders again."""

    model_config = ConfigDict(frozen=True, populate_by_name=True)

    cluster_types: Mapping[str, str | None] = Field(alias="clusterTypes")
    targets: Mapping[str, str | None]


class SourcesFile(BaseModel):
    """The content of `sources.json`; `targets` and `workloads` name their registrations.

    The commit and the tree of a registration that no run could read are null, too.
    """

    model_config = ConfigDict(frozen=True, populate_by_name=True)

    schema_name: str = Field(SOURCES_SCHEMA, alias="schema")
    version: str
    environment: str
    options: Mapping[str, str]
    environment_branch: Revision = Field(alias="environmentBranch")
    base_repos: Mapping[str, Revision] = Field(alias="baseRepos")
    registrations: Mapping[str, Revision]
    targets: Mapping[str, str]
    workloads: Mapping[str, str]
    inputs: InputsRecord | None = None


class PreviousSources(BaseModel):
    """The fields of an earlier run's file that a later run needs."""

    model_config = ConfigDict(frozen=True, populate_by_name=True)

    environment: str = ""
    environment_branch: Revision | None = Field(None, alias="environmentBranch")
    base_repos: Mapping[str, Revision] = Field(default_factory=dict, alias="baseRepos")
    registrations: Mapping[str, Revision] = Field(default_factory=dict)
    targets: Mapping[str, str] = Field(default_factory=dict)
    workloads: Mapping[str, str] = Field(default_factory=dict)
    inputs: InputsRecord | None = None

    def has_read(self, registration: str) -> bool:
        """Whether an earlier run knew the targets of a registration."""
        revision = self.registrations.get(registration)
        is_read = revision is not None and revision.commit is not None
        return is_read or registration in self.targets.values()


def sources_file(content: SourcesFile) -> bytes:
    """Return the bytes of the file: sorted keys, two-space indent, final newline."""
    without = set() if content.inputs else {"inputs"}
    body = content.model_dump(by_alias=True, mode="json", exclude=without)
    text = json.dumps(body, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
    return text.encode("utf-8", "backslashreplace")  # a path need not be UTF-8


def read_sources(content: bytes | None, environment: str) -> PreviousSources | None:
    """Return an earlier run's file for `environment`; None for no file or another format.

    A branch that was cut from another environment's branch still has the file of that environment.
    """
    previous = _parsed(content)
    return previous if previous and previous.environment == environment else None


def tree_id(sources: bytes | None, folders: Mapping[str, str]) -> str:
    """Return the id of a tree, a digest of its record and of the folders that the record names.

    The record `sources` is `sources.json` with cluster types, or the `application.json` of an
    application with targets, whose topmost folders count. `folders` has git's id of each folder.
    Other files of the repository do not count. A tree without such a record has the id "". Anybody
    with write access to the GitOps repository can change the record and the files together, so a
    run records the id of the tree that it writes in a place that they cannot change: in a status of
    the control plane or of the application's source, or in the settings of a repository on this
    machine. Only a tree with a recorded id has unchanged folders.
    """
    names = _recorded_folders(sources)
    if sources is None or names is None:
        return ""
    lines: list[str] = [blob_id(sources)]
    lines += [f"{folders.get(name)} {name}" for name in sorted(names)]
    text = "\n".join(lines).encode("utf-8", "surrogateescape")
    return hashlib.sha256(text).hexdigest()[:ID_LENGTH]


def _recorded_folders(record: bytes | None) -> Collection[str] | None:
    previous = _parsed(record)
    if previous:
        return previous.inputs.cluster_types if previous.inputs else None
    match _json(record):
        case {"schema": schema, "targets": list(targets)} if schema == APPLICATION_SCHEMA:
            return {str(target).partition("/")[0] for target in targets}
    return None


def is_of_another(content: bytes | None, environment: str) -> bool:
    """Whether a file belongs to another environment, from whose branch this branch was cut."""
    return environment_of(content) not in {None, environment}


def environment_of(content: bytes | None) -> str | None:
    """Return the environment of which an earlier run wrote a file; None as `read_sources`."""
    previous = _parsed(content)
    return previous.environment if previous else None


def contradicts(content: bytes | None, environment: str, promoted_commit: str) -> bool:
    """Whether a tree was made from another commit of main than its tracking file names.

    `content` is the `sources.json` of the tree; upstream's trees have none.
    """
    sources = read_sources(content, environment)
    if sources is None:
        return False
    main = sources.base_repos.get(MAIN_BASE_REPO)
    return main is None or main.commit != promoted_commit


def becomes_credible(
    old: bytes | None, new: bytes | None, environment: str, promoted_commit: str
) -> bool:
    """Whether a change of `sources.json` ends a contradiction with the tracking file.

    `old` and `new` are the file before and after the change; `promoted_commit` is the commit that
    the tracking file names after it.
    """
    return contradicts(old, environment, promoted_commit) and not contradicts(
        new, environment, promoted_commit
    )


def previous_sources(
    bases: Sequence[BaseTree], environment: str, promoted_commit: str | None
) -> PreviousSources | None:
    """Merge the files of earlier runs in the branches of an environment; None without any.

    If several files have the same registration, the first file that has its commit counts. Branches
    that name the promoted commit come first: if the pull request of only one GitOpsRepo has been
    merged, its branch has the last good revisions.
    """
    promoted = promoted_commit.encode() if promoted_commit else None
    in_order = sorted(bases, key=lambda base: (base.promoted_commit or b"").strip() != promoted)
    files = [file for base in in_order if (file := read_sources(base.sources, environment))]
    if not files:
        return None
    base_repos: dict[str, Revision] = {}
    registrations: dict[str, Revision] = {}
    targets: dict[str, str] = {}
    workloads: dict[str, str] = {}
    for file in reversed(files):
        base_repos |= file.base_repos
        registrations |= {
            name: source
            for name, source in file.registrations.items()
            if source.commit is not None or name not in registrations
        }
        targets |= file.targets
        workloads |= file.workloads
    return PreviousSources(
        environment=environment,
        base_repos=base_repos,
        registrations=registrations,
        targets=targets,
        workloads=workloads,
    )


def _parsed(content: bytes | None) -> PreviousSources | None:
    body = _json(content)
    if not isinstance(body, dict) or body.get("schema") != SOURCES_SCHEMA:
        return None
    try:
        return PreviousSources.model_validate(body)
    except ValidationError:
        return None


def _json(content: bytes | None) -> object:
    try:
        return json.loads(content or b"")
    except (ValueError, RecursionError):
        return None


def run_sources(
    snapshot: Snapshot,
    targets: Collection[DeploymentTarget],
    options: Mapping[str, str],
    preserved_targets: Collection[str],
    inputs: InputsRecord | None = None,
) -> SourcesFile:
    """Return the content of `sources.json` for a tree with these targets.

    Preserved targets keep their old commits. Registrations without a usable commit keep the names
    of their Workloads.
    """
    previous = previous_sources(
        snapshot.base_trees, snapshot.environment, snapshot.promoted_commit
    ) or PreviousSources(environment=snapshot.environment)
    registrations = {
        reg.registration.name: _registered(reg, previous.registrations.get(reg.registration.name))
        for reg in snapshot.registrations
    }
    owners = {target: previous.targets[target] for target in preserved_targets}
    owners |= {target.name: target.registration for target in targets if target.registration}
    for owner in previous.registrations.keys() & owners.values():
        registrations.setdefault(owner, previous.registrations[owner])
    kept = {reg.registration.name for reg in snapshot.registrations if reg.state == "kept"}
    workloads = {name: owner for name, owner in previous.workloads.items() if owner in kept}
    workloads |= {
        workload.name: reg.registration.name
        for reg in snapshot.registrations
        for workload in reg.workloads
    }
    return SourcesFile(
        version=__version__,
        environment=snapshot.environment,
        options=options,
        environment_branch=snapshot.own.revision,
        base_repos={base.name: reading.revision for base, reading in snapshot.bases},
        registrations=registrations,
        targets=owners,
        workloads=workloads,
        inputs=inputs,
    )


def _registered(reading: RegistrationReading, previous: Revision | None) -> Revision:
    """Return the revision of a registration in the tree, read by this run or an earlier one.

    A registration that no run could read has no commit.
    """
    if reading.revision is not None:
        return reading.revision
    source = reading.registration.source
    if (
        previous is not None
        and previous.commit is not None
        and repository_key(previous.repository) == repository_key(source.repo)
    ):
        return previous
    return Revision(
        repository=source.repo, branch=source.branch, path=source.path, commit=None, tree=None
    )


PLACEMENTS_SCHEMA: Final = "kalypso.placements/v1"


def placements_file(decisions: Iterable[PlacedDecision]) -> bytes:
    """Return the record, sorted."""
    entries = [
        {
            "clusterTypes": list(item.cluster_types),
            "placement": item.placement,
            "policy": item.policy,
            "target": item.target,
            "time": item.time,
        }
        for item in sorted(decisions, key=lambda d: (d.policy, d.placement, d.target))
    ]
    body = {"placements": entries, "schema": PLACEMENTS_SCHEMA}
    return (json.dumps(body, indent=2, sort_keys=True, ensure_ascii=False) + "\n").encode()


def read_placements(content: bytes | None) -> tuple[PlacedDecision, ...] | None:
    """Return the decisions of a record; None if there is no readable record."""
    try:
        body = json.loads(content or b"")
        if body["schema"] != PLACEMENTS_SCHEMA:
            return None
        return tuple(
            PlacedDecision(
                str(item["policy"]),
                str(item["placement"]),
                str(item["target"]),
                tuple(map(str, item["clusterTypes"])),
                str(item["time"]),
            )
            for item in body["placements"]
        )
    except (ValueError, KeyError, TypeError):
        return None


def recorded_placements(trees: Sequence[BaseTree]) -> tuple[PlacedDecision, ...] | None:
    """Return the decisions of the first tree that has a record."""
    records = (read_placements(tree.placements) for tree in trees)
    return next((record for record in records if record is not None), None)


def assigned_cluster_types(trees: Sequence[BaseTree]) -> Mapping[str, tuple[str, ...]]:
    """Return, by target, the cluster types that hold it in the first tree."""
    holders: dict[str, set[str]] = {}
    for tree in trees[:1]:
        prefix = tree.prefix
        for path in tree.entries:
            cluster_type, slash, rest = path.removeprefix(prefix).partition("/")
            target, below, _ = rest.partition("/")
            if path.startswith(prefix) and slash and below and not cluster_type.startswith("."):
                holders.setdefault(target, set()).add(cluster_type)
    return {target: tuple(sorted(names)) for target, names in holders.items()}
