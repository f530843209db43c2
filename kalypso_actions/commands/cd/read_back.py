"""What schedule will read after cd's write: exactly one BaseRepo named main, with the commit.

    changes, warnings = changes_for(commit, branch, main, context)

A `kustomization.yaml` that does not list the file gets it; anything else that hides the file from
schedule is an error before the push, because no run would see the promotion.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import yaml

from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.commands.shared.environment_branch import EnvironmentBranch
from kalypso_actions.commands.shared.reading.control_plane import EnvironmentReading
from kalypso_actions.errors import KalypsoError, Location, Problem
from kalypso_actions.model.documents import FILE_MODE, FileEntry, RevisionFiles
from kalypso_actions.model.kinds import MAIN_BASE_REPO
from kalypso_actions.model.object_ids import blob_id
from kalypso_actions.model.tree_listing import bytewise
from kalypso_actions.promotion.base_repo import with_commit
from kalypso_actions.sources.kustomization import FILE_NAMES
from kalypso_actions.sources.source_tree import IGNORE_FILE, normalize, parent, read_ignore_files

CODE = "base-repo-unread"


@dataclass(frozen=True, slots=True)
class ChangedFiles:
    """The files of a revision with some new or changed ones."""

    files: RevisionFiles
    changes: Mapping[str, bytes]

    @property
    def repository(self) -> str:
        """The URL of the revision's repository."""
        return self.files.repository

    @property
    def commit(self) -> None:
        """There is no commit with these files yet."""

    def entries(self, *limits: int) -> Mapping[str, FileEntry]:
        """Return all files by path, as `RevisionFiles`."""
        known = dict(self.files.entries(*limits))
        for path, text in self.changes.items():
            known[path] = FileEntry(path, FILE_MODE, blob_id(text), len(text))
        return {path: known[path] for path in bytewise(known)}

    def read(self, paths: Iterable[str], max_bytes: int | None = None) -> Mapping[str, bytes]:
        """Return the contents of files, as `RevisionFiles`."""
        wanted = list(paths)
        unchanged = [path for path in wanted if path not in self.changes]
        contents = self.files.read(unchanged, max_bytes)
        return {path: self.changes.get(path, contents.get(path, b"")) for path in wanted}

    def tree_id(self, _: str) -> None:
        """There is no tree with these files yet."""

    def folder_ids(self, _: str) -> Mapping[str, str]:
        """Return none: there is no tree with these files yet."""
        return {}


def changes_for(
    commit: str, branch: EnvironmentBranch, main: str, context: CommandContext
) -> tuple[Mapping[str, bytes], tuple[Problem, ...]]:
    """Return the files that let the environment's branch name a commit of main, and warnings.

    A warning says why it is not known what schedule reads: the branch cannot be built here, or a
    fault of its own hides the file. Raises KalypsoError if schedule would not read the commit.
    """
    path = branch.where.path
    text = with_commit(branch.text, commit, repo=branch.url, branch=main, where=branch.where)
    changes = {path: text.encode()}
    files = context.remotes.fetch(branch.url, commit=branch.head)
    reading = _read(ChangedFiles(files, changes), branch, context)
    commits = _commits(reading)
    if commits == [commit]:
        _check_faultless(reading, path, _read(files, branch, context))
        return changes, ()
    if commits:
        raise KalypsoError(
            f"schedule would read {len(commits)} BaseRepos named {MAIN_BASE_REPO!r}",
            branch.where,
            "remove the others, also from what the kustomization makes",
            "object-duplicate",
        )
    for kustomization in _kustomizations(path, branch, files):
        listed = _with_resource(kustomization, path, files)
        if listed is None:
            continue
        more = {**changes, kustomization: listed}
        listing = _read(ChangedFiles(files, more), branch, context)
        if _commits(listing) == [commit]:
            _check_faultless(listing, path, _read(files, branch, context))
            return more, ()
    if reading.problems:
        first = reading.problems[0]
        message = f"it is not known whether schedule reads {path}: {first.message}"
        return changes, (Problem(message, first.where, first.advice, first.code),)
    raise KalypsoError.of([_hidden(path, branch, files)])


def _check_faultless(now: EnvironmentReading, path: str, before: EnvironmentReading) -> None:
    """Raise KalypsoError if the edited file has a new fault, for which schedule would stop."""
    known = {problem.message for problem in before.problems}
    faults = [
        Problem(f"cd cannot edit the file: {problem.message}", problem.where, problem.advice, CODE)
        for problem in now.problems
        if problem.where and problem.where.path == path and problem.message not in known
    ]
    if faults:
        raise KalypsoError.of(faults)


def _read(
    files: RevisionFiles, branch: EnvironmentBranch, context: CommandContext
) -> EnvironmentReading:
    """Read an environment's branch with these files by the discovery of schedule."""
    place = branch.environment.control_plane
    own = context.reader.documents_of(files, branch=place.branch, path=place.path)
    return EnvironmentReading(branch.environment.name, own, branch.environment, branch.url)


def _commits(reading: EnvironmentReading) -> list[str | None]:
    return [base.commit for base in reading.base_repos if base.name == MAIN_BASE_REPO]


def _kustomizations(path: str, branch: EnvironmentBranch, files: RevisionFiles) -> Iterator[str]:
    """Yield the kustomizations of the file's folder and of those above, in the environment's."""
    top, folder = normalize(branch.environment.control_plane.path), parent(path)
    while True:
        for name in FILE_NAMES:
            candidate = f"{folder}/{name}" if folder else name
            if candidate in files.entries():
                yield candidate
        if folder in {top, ""}:
            return
        folder = parent(folder)


def _with_resource(kustomization: str, path: str, files: RevisionFiles) -> bytes | None:
    """Return the text of a kustomization that lists one more file; None if that is impossible."""
    folder = parent(kustomization)
    name = path.removeprefix(f"{folder}/" if folder else "")
    text = files.read([kustomization])[kustomization].decode("utf-8", "replace")
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
        edited = _listed(text, root, name)
        before, after = yaml.safe_load(text), yaml.safe_load(edited)
    except yaml.YAMLError:
        return None
    if not isinstance(before, dict):
        return None
    listed = [*(before.get("resources") or ()), name]
    return edited.encode() if after == {**before, "resources": listed} else None


def _listed(text: str, root: yaml.Node | None, name: str) -> str:
    """Add a name to the resources of a kustomization; return the text itself for other forms."""
    if not isinstance(root, yaml.MappingNode) or root.flow_style:
        return text
    resources = {key.value: value for key, value in root.value}.get("resources")
    if resources is None:
        return f"{text.rstrip()}\nresources:\n- {name}\n"
    start, end = resources.start_mark.index, resources.end_mark.index
    if not resources.value or resources.value in ("null", "~"):
        return f"{text[:start]}{' ' if start == end else ''}[{name}]{text[end:]}"
    return _with_item(text, resources, name) if isinstance(resources, yaml.SequenceNode) else text


def _with_item(text: str, resources: yaml.SequenceNode, name: str) -> str:
    if name in {item.value.removeprefix("./") for item in resources.value if item.id == "scalar"}:
        return text
    end = resources.value[-1].end_mark.index
    if resources.flow_style:
        return f"{text[:end]}, {name}{text[end:]}"
    line_end = text.find("\n", end - 1)
    head, rest = (text, "\n") if line_end < 0 else (text[:line_end], text[line_end:])
    return f"{head}\n{' ' * resources.start_mark.column}- {name}{rest}"


def _hidden(path: str, branch: EnvironmentBranch, files: RevisionFiles) -> Problem:
    """Return the problem of a file that schedule does not read, at the place that hides it."""
    ignore_files = [name for name in files.entries() if name.rpartition("/")[2] == IGNORE_FILE]
    rule = read_ignore_files(branch.url, files.read(ignore_files)).rule(path)
    if rule:
        file, line = rule
        inner = path.removeprefix(f"{parent(file)}/" if parent(file) else "")
        return Problem(
            f"schedule would not read {path}: this pattern ignores it",
            Location(branch.url, file, line),
            f"remove the pattern, or add the line !{inner}",
            CODE,
        )
    place = next(_kustomizations(path, branch, files), path)
    return Problem(
        f"schedule would not read the BaseRepo {MAIN_BASE_REPO!r} of {path}",
        Location(branch.url, place),
        f"list {path} under resources, without a change of its name or its commit"
        if place != path
        else "move it out of what Flux excludes by default, or remove the annotation that makes it "
        "local",
        CODE,
    )
