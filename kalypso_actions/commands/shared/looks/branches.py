"""What a branch wants of its targets, at each commit that the record does not know yet."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any, Final

from kalypso_actions.commands.shared.reading.repositories import Repositories
from kalypso_actions.errors import KalypsoError
from kalypso_actions.gitops.merge_history import UPSTREAM
from kalypso_actions.model.application import CONFIG_COMMIT_FILE, IMAGE_TAG_FILE, VERSION_FILE
from kalypso_actions.model.documents import RevisionFiles
from kalypso_actions.model.history import HistoryCommit
from kalypso_actions.model.layout import PROMOTED_COMMIT_FILE, SOURCES_FILE
from kalypso_actions.model.urls import repository_key
from kalypso_actions.observations.desired import BranchLook
from kalypso_actions.observations.real import Ancestry, Wanted
from kalypso_actions.observations.record import DesiredLine, ObservationRecord, TargetKey
from kalypso_actions.sources.kustomization import FILE_NAMES
from kalypso_actions.sources.yaml_documents import parse_yaml

CONTENT_DIGITS: Final = 16

WHOLE_LINE: Final = 1 << 31
"""More commits than any branch has."""

TRACKED: Final = (PROMOTED_COMMIT_FILE, VERSION_FILE, CONFIG_COMMIT_FILE, IMAGE_TAG_FILE)

LARGEST_DESCRIPTOR: Final = 1 << 16
"""Bytes; a descriptor has about 1,000."""


@dataclass(frozen=True, slots=True)
class BranchTargets:
    """The targets of an environment on one branch: their names and paths, without a content.

    `folder` is that of the tree, whose tracking files say the version. `is_platform`: the targets
    are the folders of cluster types.
    """

    environment: str
    url: str
    branch: str
    targets: tuple[DesiredLine, ...]
    folder: str = ""
    is_platform: bool = False

    @property
    def key(self) -> tuple[str, str, str]:
        """The URL, the branch and the folder."""
        return self.url, self.branch, self.folder

    def target(self, name: str) -> DesiredLine | None:
        """Return the target of a cluster type, or an application's by its path."""
        for line in self.targets:
            if (line.name if self.is_platform else line.path) == name:
                return line
        return None


@dataclass(frozen=True, slots=True)
class ReadBranch:
    """A branch at a look: `contents` of the targets at the reported commits, by commit and path."""

    look: BranchLook
    wanted: Mapping[TargetKey, Wanted] = field(default_factory=dict)
    contents: Mapping[tuple[str, str], str] = field(default_factory=dict)


def read_branch(
    repositories: Repositories,
    record: ObservationRecord,
    place: BranchTargets,
    reported: Collection[str],
) -> ReadBranch:
    """Read a branch and what it wants of its targets; `reported` are the commits of clusters.

    Raises KalypsoError if it cannot be read.
    """
    files = repositories.open(place.url, branch=place.branch)
    head = files.commit or ""
    if not head:
        raise KalypsoError(
            f"{place.url} is a folder without commits", advice="name a clone of the repository"
        )
    ancestors = repositories.ancestors(place.url, place.branch, head)
    known = _known(record, place)
    knows_all = known.targets >= {line.target for line in place.targets}
    commits, new = _commits(
        repositories.history(place.url, place.branch, WHOLE_LINE),
        known.commits,
        set(reported) & ancestors,
        is_whole=not knows_all,
    )
    if not commits:
        return ReadBranch(BranchLook(place.url, place.branch, head))
    versions = _Versions(repositories, place, files, commits)
    paths = {
        line.path: "" if leaves_folder(files, line.path) else line.path for line in place.targets
    }
    of_target = {
        line.target: _touching(new if line.target in known.targets else commits, line.path)
        for line in place.targets
    }
    asked = {
        (commit, paths[line.path])
        for line in place.targets
        for commit in {*(each.id for each in of_target[line.target]), commits[0].id, *reported}
    }
    trees = {
        place: tree[:CONTENT_DIGITS]
        for place, tree in repositories.trees(place.url, place.branch, sorted(asked)).items()
    }
    lines = {
        line.target: [
            at_commit._replace(content=trees.get((at_commit.commit, paths[line.path]), ""))
            for at_commit in versions.of(
                line,
                (*reversed(of_target[line.target]), commits[0]),
                is_described=line.target in known.described,
            )
        ]
        for line in place.targets
    }
    ancestry: dict[str, Ancestry] = {
        commit: "same" if commit == head else "ancestor" if commit in ancestors else "none"
        for commit in (*reported, *known.real_commits)
    }
    return ReadBranch(
        BranchLook(place.url, place.branch, head, lines),
        {
            line.target: Wanted(trees.get((commits[0].id, paths[line.path]), ""), ancestry)
            for line in place.targets
        },
        {
            (commit, line.path): trees.get((commit, paths[line.path]), "")
            for line in place.targets
            for commit in reported
        },
    )


@dataclass(frozen=True, slots=True)
class _Known:
    """What the record knows of a branch: commits of its line, targets, and those with versions."""

    commits: Set[str]
    targets: Set[TargetKey]
    described: Set[TargetKey]
    real_commits: Set[str]


def _known(record: ObservationRecord, place: BranchTargets) -> _Known:
    key = repository_key(place.url)
    desired = record.desired.get(place.environment, ())
    lines = [
        line
        for line in (*desired, *record.desired_before.get(place.environment, ()))
        if line.target[:2] == (key, place.branch)
    ]
    head = record.head(place.url, place.branch)
    return _Known(
        commits={line.commit for line in lines} | {head},
        targets={line.target for line in desired},
        described={line.target for line in lines if line.environment},
        real_commits={
            line.commit
            for (environment, _), real in record.real.items()
            for line in real
            if environment == place.environment
        },
    )


def _commits(
    line: Iterable[HistoryCommit],
    known: Set[str],
    reported: Set[str],
    *,
    is_whole: bool,
) -> tuple[list[HistoryCommit], list[HistoryCommit]]:
    """Return the newest commits of a line, newest first, and those that the record lacks.

    The former reach back to the reported commits. After a rewrite without a commit that the record
    knows, the latter are the head alone.
    """
    commits: list[HistoryCommit] = []
    remaining = set(reported)
    first_known: int | None = None
    for commit in line:
        if first_known is None and commit.id in known:
            first_known = len(commits)
        if first_known is not None and not is_whole and not remaining:
            commits = commits or [commit]
            break
        commits.append(commit)
        remaining.discard(commit.id)
    return commits, commits[: 1 if first_known is None else first_known]


def _touching(commits: Iterable[HistoryCommit], path: str) -> list[HistoryCommit]:
    """Return the commits that change a file of a folder; "" is the root."""
    folder = f"{path}/" if path else ""
    return [each for each in commits if any(name.startswith(folder) for name in each.changes)]


REFERENCES: Final = ("resources", "bases", "components", "patches", "patchesStrategicMerge", "crds")


def leaves_folder(files: RevisionFiles, folder: str) -> bool:
    """Return whether a kustomization in a folder uses files outside of it."""
    prefix = f"{folder}/" if folder else ""
    names = [
        path
        for path in files.entries()
        if path.startswith(prefix) and posixpath.basename(path) in FILE_NAMES
    ]
    contents = files.read(names) if names and folder else {}
    return any(
        not posixpath.normpath(posixpath.join(posixpath.dirname(path), name)).startswith(prefix)
        for path, content in contents.items()
        for name in _references(path, content)
        if "://" not in name
    )


def _references(path: str, content: bytes) -> Iterator[str]:
    for document in parse_yaml("", path, content).documents:
        for key in REFERENCES:
            entries = document.body.get(key)
            for entry in entries if isinstance(entries, Sequence) else ():
                name = entry.get("path") if isinstance(entry, Mapping) else entry
                if isinstance(name, str) and not isinstance(entries, str):
                    yield name


class _Versions:
    """The versions of a branch's targets at its commits, by tracking files and descriptors."""

    def __init__(
        self,
        repositories: Repositories,
        place: BranchTargets,
        files: RevisionFiles,
        commits: Sequence[HistoryCommit],
    ) -> None:
        self._place = place
        self._files = dict(_files_along(commits, files, self._counts_as_version))
        ids = {blob for blobs in self._files.values() for blob in blobs.values()}
        self._blobs = repositories.blobs(place.url, place.branch, ids)

    def _counts_as_version(self, path: str) -> bool:
        tracked = posixpath.join(self._place.folder, "") if self._place.folder else ""
        return path.removeprefix(tracked) in TRACKED or is_descriptor(path)

    def of(
        self, line: DesiredLine, commits: Iterable[HistoryCommit], *, is_described: bool
    ) -> Iterator[DesiredLine]:
        """Yield a target's line at each commit that counts, without its content.

        Every commit counts for a target without descriptors; `is_described`: it ever had one.
        """
        known: dict[str, Mapping[str, Any] | None] = {}
        descriptors = {
            commit: self._descriptor(line, blobs, known) for commit, blobs in self._files.items()
        }
        is_described = is_described or any(descriptors.values())
        for commit in commits:
            descriptor = descriptors[commit.id]
            if descriptor is not None or not is_described:
                fields = descriptor if descriptor and line.workload else {}
                yield self._line(line, commit)._replace(**fields)

    def _line(self, line: DesiredLine, commit: HistoryCommit) -> DesiredLine:
        """Return the target's line at a commit, as the tracking files say it."""
        blobs = self._files[commit.id]
        prefix = posixpath.join(self._place.folder, "") if self._place.folder else ""

        def tracked(name: str) -> str:
            return self._text(blobs.get(prefix + name, ""))

        promoted = tracked(PROMOTED_COMMIT_FILE)
        version = tracked(VERSION_FILE) or tracked(IMAGE_TAG_FILE) or promoted[:7] or commit.id[:7]
        return line._replace(
            version=version,
            source_commit=promoted,
            configuration_commit=tracked(CONFIG_COMMIT_FILE),
            commit=commit.id,
            since=commit.date,
            edited=bool(self._place.is_platform and promoted) and not self._is_own(commit),
        )

    def _is_own(self, commit: HistoryCommit) -> bool:
        """Return whether a commit merges a proposal: each changes the record of its sources.

        The upstream operator has no such record; its merges have messages of their own.
        """
        prefix = posixpath.join(self._place.folder, "") if self._place.folder else ""
        records = {prefix + name for name in (PROMOTED_COMMIT_FILE, SOURCES_FILE)}
        return not records.isdisjoint(commit.changes) or bool(UPSTREAM.match(commit.message))

    def _text(self, blob: str) -> str:
        return self._blobs.get(blob, b"").decode("utf-8", "replace").strip()

    def _descriptor(
        self,
        line: DesiredLine,
        blobs: Mapping[str, str],
        known: dict[str, Mapping[str, Any] | None],
    ) -> Mapping[str, Any] | None:
        """Return the fields of the target's descriptor among the files; None without one.

        `known` has those of the files that were read for the target, by blob.
        """
        folder = f"{line.path}/" if line.path else ""
        for path, blob in sorted(blobs.items()):
            if is_descriptor(path) and path.startswith(folder):
                if blob not in known:
                    content = self._blobs.get(blob, b"")
                    known[blob] = descriptor_fields(content, line, self._place.environment)
                if known[blob] is not None:
                    return known[blob]
        return None


def is_descriptor(path: str) -> bool:
    """Return whether a file may hold a descriptor, by its name."""
    name = posixpath.basename(path)
    return "descriptor" in name and name.endswith((".yaml", ".yml"))


def descriptor_fields(
    content: bytes, line: DesiredLine, environment: str
) -> Mapping[str, Any] | None:
    """Return what a descriptor says of a target; None if it is for another one.

    It counts for the environment, branch and path that it names: a branch that was cut from another
    one inherits foreign descriptors. Its environment is the branch or the platform's.
    """
    if len(content) > LARGEST_DESCRIPTOR:
        return None
    for document in parse_yaml("", "", content).documents:
        spec = document.body.get("spec")
        target = _map(spec, "deploymentTarget")
        manifests, version = _map(target, "manifests"), _map(spec, "workloadVersion")
        named = _text_of(target, "environment")
        if (
            document.kind == "DeploymentDescriptor"
            and repository_key(_text_of(manifests, "repo")) == repository_key(line.repository)
            and _text_of(manifests, "branch") == line.branch
            and normal_folder(_text_of(manifests, "path")) == line.path
            and named in {line.branch, environment}
        ):
            workload = _map(spec, "workload")
            application = _map(workload, "application")
            fields = {
                "name": _text_of(target, "name"),
                "environment": named,
                "version": _text_of(version, "version"),
                "source_commit": _text_of(version, "commit"),
                "workload": _text_of(workload, "name"),
                "application": _text_of(application, "name"),
                "workspace": _text_of(_map(application, "workspace"), "name"),
            }
            return {name: text for name, text in fields.items() if text}
    return None


def normal_folder(path: str) -> str:
    """Return the path of a folder in its repository, "" for the root."""
    folder = posixpath.normpath(path or ".").strip("/")
    return "" if folder == "." else folder


def _map(value: object, key: str) -> Mapping[str, object]:
    found = value.get(key) if isinstance(value, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def _text_of(value: Mapping[str, object], key: str) -> str:
    text = value.get(key, "")
    return text if isinstance(text, str) else str(text)


def _files_along(
    commits: Sequence[HistoryCommit], head: RevisionFiles, counts: Callable[[str], bool]
) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Yield the ids of the files that count at each commit, from the head back."""
    files = {path: entry.object_id for path, entry in head.entries().items() if counts(path)}
    for commit in commits:
        yield commit.id, dict(files)
        for path, change in commit.changes.items():
            if counts(path):
                files.pop(path, None)
                if change.before is not None:
                    files[path] = change.before.object_id
