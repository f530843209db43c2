"""Which files of a repository hold its documents, by the rules of Flux.

Every YAML file below a folder counts, unless it is excluded. A folder with a `kustomization.yaml`
stands for what that asks for, and nothing else in it or below it counts.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from kalypso_actions.errors import Location, Problem
from kalypso_actions.model.documents import GIT_LINK_MODE, SYMLINK_MODE, Document, FileEntry
from kalypso_actions.sources.ignore_rules import IGNORE_FILE, IgnoreRules, read_ignore_files
from kalypso_actions.sources.kustomization import Kustomization, Resource, read_kustomization
from kalypso_actions.sources.objects import read_objects
from kalypso_actions.sources.paths import OutsideError, join, normalise, parent, printable
from kalypso_actions.sources.source_tree import NON_FILE_MODES, YAML_SUFFIXES, SourceTree
from kalypso_actions.sources.yaml_documents import MAX_BYTES, MAX_DEPTH, too_large


@dataclass(frozen=True, slots=True)
class Build:
    """A folder that the kustomize program must build, because its kustomization has `fields`.

    `where` is the place of the first of them; `files` are all files that the build may need.
    """

    folder: str
    where: Location
    fields: tuple[str, ...]
    files: frozenset[str]


@dataclass(frozen=True, slots=True)
class Discovery:
    """What can be said about the documents with the contents read so far.

    Final when `wanted` (files still to be read) and `builds` (folders still to be built) are empty.
    """

    documents: tuple[Document, ...] = ()
    problems: tuple[Problem, ...] = ()
    warnings: tuple[Problem, ...] = ()
    wanted: frozenset[str] = frozenset()
    builds: tuple[Build, ...] = ()


def discover(
    repository: str,
    root: str,
    entries: Mapping[str, FileEntry],
    contents: Mapping[str, bytes],
    built: Mapping[str, bytes],
    *,
    whole_tree: bool = False,
) -> Discovery:
    """Documents below the folder `root` of a repository, in the order of their files.

    `contents` are the files read so far, `built` what the kustomize program made of folders.
    A file of `entries` whose content is wanted is asked for by `wanted`; call again with it.

    With `whole_tree` every YAML file counts that the default exclusions leave: neither
    `.sourceignore` files nor kustomizations choose.
    """
    if whole_tree:
        search = _Search(
            repository,
            SourceTree(entries, IgnoreRules({}), kustomized=False),
            entries,
            contents,
            built,
        )
        search.start(root)
        return search.result()
    ignore_files = sorted(
        path
        for path, entry in entries.items()
        if path.rpartition("/")[2] == IGNORE_FILE and entry.mode not in NON_FILE_MODES
    )
    missing = frozenset(ignore_files) - contents.keys()
    if missing:
        return Discovery(wanted=missing)
    reading = read_ignore_files(repository, {path: contents[path] for path in ignore_files})
    if reading.problems:
        return Discovery(problems=reading.problems, warnings=reading.warnings)
    search = _Search(repository, SourceTree(entries, reading.ignore), entries, contents, built)
    search.warnings.extend(reading.warnings)
    search.start(root)
    return search.result()


@dataclass(frozen=True, slots=True, order=True)
class _Source:
    """Something to read objects from: a file, or what kustomize made of one."""

    path: str
    content: bytes
    is_build: bool = False


@dataclass(slots=True)
class _Search:
    """One walk over a tree: what to read, and what is wrong on the way."""

    repository: str
    tree: SourceTree
    entries: Mapping[str, FileEntry]
    contents: Mapping[str, bytes]
    built: Mapping[str, bytes]
    sources: list[_Source] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)
    wanted: set[str] = field(default_factory=set)
    builds: dict[str, Build] = field(default_factory=dict)
    reached: dict[str, Location] = field(default_factory=dict)

    def start(self, path: str) -> None:
        """Search below `path`, which is as somebody wrote it."""
        try:
            root = normalise(path)
        except OutsideError:
            self._problem(f"the path {path!r} leads out of the repository", self._at(""))
            return
        if root in self.tree.folders:
            self._check_symlinks(root)
            self._walk(root)
        else:
            self._no_such_folder(path, root)

    def result(self) -> Discovery:
        """Documents only when everything has been read: until then parsing would be in vain."""
        if self.wanted or self.builds:
            builds = tuple(self.builds[folder] for folder in sorted(self.builds))
            return Discovery(wanted=frozenset(self.wanted), builds=builds)
        documents: list[Document] = []
        for source in sorted(self.sources):
            parsed = read_objects(self.repository, printable(source.path), source.content)
            self.problems.extend(parsed.problems)
            self.warnings.extend(parsed.warnings)
            if source.is_build:
                # Lines of what kustomize wrote say nothing about the file people know.
                whole = self._at(source.path)
                documents.extend(replace(one, where=whole, lines={}) for one in parsed.documents)
            else:
                documents.extend(parsed.documents)
        return Discovery(tuple(documents), tuple(self.problems), tuple(self.warnings))

    def _walk(self, root: str) -> None:
        pending = [root]
        while pending:
            folder = pending.pop()
            if self.tree.kustomizations(folder):
                self._kustomization(folder, self._at(folder), ())
                continue
            for path in self.tree.manifests(folder):
                self._file(path, self._at(path))
            pending.extend(self.tree.folders[folder].folders)

    def _file(self, path: str, where: Location) -> None:
        if self._first_time(path, where):
            content = self._content(path)
            if content is not None:
                self.sources.append(_Source(path, content))

    def _first_time(self, path: str, where: Location) -> bool:
        """False, with a problem, for what counts already: its objects would exist twice."""
        first = self.reached.setdefault(path, where)
        if first is where:
            return True
        message = f"{printable(path) or 'the root'} is included twice, first by {first}"
        self._problem(message, where, "kustomize refuses objects that occur twice")
        return False

    def _content(self, path: str) -> bytes | None:
        """The content if it has been read already; else it is wanted, unless it is too large."""
        content = self.contents.get(path)
        if content is None:
            size = self.entries[path].size
            if size > MAX_BYTES:
                self.problems.append(too_large(self._at(path), size))
            else:
                self.wanted.add(path)
        return content

    def _kustomization(self, folder: str, where: Location, ancestors: tuple[str, ...]) -> None:
        """What a folder with a kustomization asks for, followed or built."""
        if not self._first_time(folder, where):
            return
        kustomization = self._read_kustomization(folder)
        if kustomization is None:
            return
        if kustomization.is_component:
            message = "a Component counts only where a kustomization lists it under components"
            self._problem(message, kustomization.where, "make it a Kustomization")
        elif kustomization.build_fields:
            self._build(folder, kustomization)
        else:
            for resource in kustomization.resources:
                self._resource(folder, resource, (*ancestors, folder))

    def _read_kustomization(self, folder: str) -> Kustomization | None:
        """The kustomization of a folder; None while it is wanted, or with a problem."""
        paths = self.tree.kustomizations(folder)
        if len(paths) > 1:
            self._problem(
                f"the folder has several kustomizations: {', '.join(paths)}", self._at(paths[0])
            )
            return None
        content = self._content(paths[0])
        if content is None:
            return None
        kustomization, problems, warnings = read_kustomization(self.repository, paths[0], content)
        self.problems.extend(problems)
        self.warnings.extend(warnings)
        return kustomization

    def _resource(self, folder: str, resource: Resource, ancestors: tuple[str, ...]) -> None:
        target = self._resolve(folder, resource)
        if target is None:
            return
        if target not in self.tree.folders:
            self._file(target, resource.where)
        elif target in ancestors:
            self._problem(f"{resource.path} leads back to this kustomization", resource.where)
        elif len(ancestors) >= MAX_DEPTH:
            message = f"kustomizations refer to one another over more than {MAX_DEPTH} steps"
            self._problem(message, resource.where)
        else:
            self._kustomization(target, resource.where, ancestors)

    def _resolve(self, folder: str, resource: Resource) -> str | None:
        """The file, or the folder with a kustomization, that an entry names."""
        try:
            target = join(folder, resource.path)
        except OutsideError:
            target = None
        if target is not None and self.tree.has_file(target):
            return target
        advice = ""
        if resource.is_remote:
            message = f"{resource.path} is remote, and only files of this repository are read"
            advice = "copy it into the repository"
        elif target is None:
            message = f"{resource.path} leads out of the repository"
        elif target not in self.tree.folders:
            message = f"{resource.path} does not exist"
            advice = "or it is a link, or excluded by .sourceignore"
        elif not self.tree.kustomizations(target):
            message = f"the folder {resource.path} has no kustomization.yaml"
            advice = "add one, or list the files of the folder"
        else:
            return target
        self._problem(message, resource.where, advice)
        return None

    def _build(self, folder: str, kustomization: Kustomization) -> None:
        path = self.tree.kustomizations(folder)[0]
        if folder in self.built:
            self.sources.append(_Source(path, self.built[folder], is_build=True))
            return
        files = self._files_of_build(folder, kustomization)
        if files is not None:
            fields = kustomization.build_fields
            self.builds[folder] = Build(folder, kustomization.where, fields, frozenset(files))

    def _files_of_build(self, folder: str, kustomization: Kustomization) -> set[str] | None:
        """All files of the folders that a build reaches; None while that cannot be said.

        kustomize is not started where it would go to the network for a resource.
        """
        before = len(self.problems)
        files: set[str] = set()
        seen = {folder}
        pending = [(folder, kustomization)]
        complete = True
        while pending:
            current, kustomization = pending.pop()
            files.update(self.tree.files(current))
            for resource in kustomization.resources:
                target = self._resolve(current, resource)
                if target is None or target in seen:
                    continue
                seen.add(target)
                if target not in self.tree.folders:
                    files.add(target)
                    continue
                inner = self._read_kustomization(target)
                if inner is None:
                    complete = False
                else:
                    pending.append((target, inner))
        return files if complete and len(self.problems) == before else None

    def _check_symlinks(self, root: str) -> None:
        """A link out of the repository is a problem; others are passed over, as Flux does."""
        for path in self.tree.symlinks(root):
            content = self._content(path)
            if content is None:
                continue
            target = content.decode("utf-8", "surrogateescape")
            name = repr(printable(target))
            try:
                resolved = join(parent(path), target)
            except OutsideError:
                message = f"the symbolic link leads out of the repository, to {name}"
                advice = "remove it, or exclude it by .sourceignore"
                self._problem(message, self._at(path), advice)
                continue
            if path.endswith(YAML_SUFFIXES) or resolved in self.tree.folders:
                message = f"the symbolic link to {name} is passed over, as Flux does"
                where = self._at(path)
                self.warnings.append(Problem(message, where, "put the files in its place"))

    def _no_such_folder(self, path: str, root: str) -> None:
        entry = self.entries.get(root)
        if entry is not None:
            name = {SYMLINK_MODE: "symbolic link", GIT_LINK_MODE: "submodule"}.get(
                entry.mode, "file"
            )
            self._problem(f"the path {path!r} is a {name}, not a folder", self._at(root))
            return
        upper = root
        while upper not in self.tree.folders:
            upper = parent(upper)
        near = difflib.get_close_matches(root, self.tree.folders[upper].folders, n=1)
        advice = f"is {near[0]!r} meant?" if near else "check path and branch"
        self._problem(f"the folder {path!r} does not exist", self._at(""), advice)

    def _at(self, path: str) -> Location:
        return Location(self.repository, printable(path))

    def _problem(self, message: str, where: Location, advice: str = "") -> None:
        self.problems.append(Problem(message, where, advice))
