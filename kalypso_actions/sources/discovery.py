"""Find the files of a repository that contain documents, by the rules of Flux.

These are all YAML files below a folder that are not excluded. In a folder with a
`kustomization.yaml`, only the files that it names count, in the folder and below.

Flux leaves symbolic links out. An application team that shares a Workload between folders expects
otherwise, so in a registered folder links to files and folders of the same repository count.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final
from unicodedata import normalize as normalized

from kalypso_actions.errors import Location, Problem
from kalypso_actions.model.counts import counted
from kalypso_actions.model.documents import GIT_LINK_MODE, SYMLINK_MODE, Document, FileEntry
from kalypso_actions.model.kinds import IGNORE_ANNOTATION
from kalypso_actions.model.nearest import nearest
from kalypso_actions.sources.kustomization import (
    Kustomization,
    KustomizationItem,
    read_kustomization,
)
from kalypso_actions.sources.limits import Limits
from kalypso_actions.sources.objects import read_objects
from kalypso_actions.sources.source_tree import (
    IGNORE_FILE,
    NON_FILE_MODES,
    YAML_SUFFIXES,
    IgnoreRules,
    OutsideRepositoryError,
    SourceTree,
    join,
    normalize,
    parent,
    printable,
    read_ignore_files,
    within,
)
from kalypso_actions.sources.yaml_documents import MAX_BYTES, MAX_DEPTH, ParsedFile, too_large

UNREAD: Final = re.compile(
    rb'"scheduler\.kalypso\.io/|"kind"\s*:\s*"ConfigMap"|^apiVersion: *scheduler\.kalypso\.io/',
    re.MULTILINE,
)
"""A document of a control plane, in JSON or YAML."""


EFFECTIVE: Final = re.compile(rb"scheduler\.kalypso\.io/|platform-config|azure-app-config")
"""Texts of documents that have an effect in a control plane."""


def _has_effect(document: Document) -> bool:
    """Whether a document would have an effect that nobody has acknowledged to be missing."""
    match document.body:
        case {"metadata": {"annotations": dict(annotations)}}:
            if "document-ignored" in str(annotations.get(IGNORE_ANNOTATION, "")):
                return False
    if document.api_version.startswith("scheduler.kalypso.io/"):
        return document.kind != "Environment"
    match document.body:
        case {"metadata": {"labels": {"platform-config": "true"}}}:
            return document.kind == "ConfigMap"
    return document.kind == "ConfigMap" and document.name.startswith("azure-app-config")


def _taken_away(excluded: Sequence[Document], where: Location, by: str = "this line") -> Problem:
    """Return the finding of a rule that excludes documents with an effect."""
    first = excluded[0]
    return Problem(
        f"{by} takes {counted(len(excluded), 'document')} of Kalypso's kinds away: {first.kind} "
        f"{first.name!r} in {first.where.path}{', …' if excluded[1:] else ''}",
        where,
        f"remove the line, or add a line !{first.where.path} below it; rename the files, for "
        "example to .yaml.off, if they must have no effect, or acknowledge it in the documents",
        "document-ignored",
        related=tuple(document.where for document in excluded[:3]),
    )


def hidden_by_git(
    repository: str,
    hidden: Mapping[str, tuple[str, int]],
    contents: Mapping[str, bytes],
    rules: IgnoreRules,
) -> Iterator[Problem]:
    """Yield a warning for each line by which git ignores documents of a control plane.

    `hidden` has the ignore file and the line of each file that git ignores, `contents` the files
    to look at. What the `rules` of `.sourceignore` exclude is meant to have no effect.
    """
    by_rule: dict[tuple[str, int], list[Document]] = {}
    for path, content in contents.items():
        if EFFECTIVE.search(content) and not rules.excludes(path):
            documents = read_objects(repository, path, content).documents
            by_rule.setdefault(hidden[path], []).extend(filter(_has_effect, documents))
    for (file, line), excluded in sorted(by_rule.items()):
        if excluded:
            is_inside = not file.startswith(("/", "..", ".git/"))
            where = Location(repository, printable(file), line) if is_inside else excluded[0].where
            by = "this line" if is_inside else f"git ignores this file by {file}:{line}, which"
            yield _taken_away(excluded, where, by)


def paths_alike(repository: str, paths: Iterable[str]) -> Iterator[Problem]:
    """Yield a warning for each path that differs from another in letter case alone.

    macOS and Windows keep only one of them: the same holds for the two forms that Unicode has for a
    letter with an accent.
    """
    known: dict[str, str] = {}
    for path in sorted(paths):
        other = known.setdefault(normalized("NFC", path).casefold(), path)
        if other != path:
            first = Location(repository, printable(other))
            yield Problem(
                f"this file and {first} are one file on macOS and Windows: a clone there has only "
                "one of the two",
                Location(repository, printable(path)),
                "rename one of the two",
                "paths-alike",
                related=(first,),
            )


def unfinished_merges(repository: str, paths: Iterable[str]) -> Iterator[Problem]:
    """Yield a warning for each file of which git's index has several versions."""
    for path in sorted(paths):
        yield Problem(
            "the merge of this file is not resolved: git has several versions of it",
            Location(repository, printable(path)),
            f"git add {path} keeps the file as it is, git rm {path} deletes it; then commit",
            "merge-unfinished",
        )


@dataclass(frozen=True, slots=True)
class Build:
    """A folder that the kustomize program must build, because its kustomization has `fields`.

    `where` is the place of the first field; `files` are all files that the build may need.
    """

    folder: str
    where: Location
    fields: tuple[str, ...]
    files: frozenset[str]


@dataclass(frozen=True, slots=True)
class Discovery:
    """The documents in the contents read so far.

    They are complete if `wanted` (files to read) and `builds` (folders to build) are empty.
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
    parsed: ParsedContents | None = None,
) -> Discovery:
    """Find the documents below the folder `root` of a repository, in the order of their files.

    `contents` are the files read so far, `built` the outputs of kustomize by folder. If the result
    has `wanted` files or `builds`, call again with these, and the same `parsed`, which holds the
    limits and the parsed files of earlier calls.

    With `whole_tree`, only the default exclusions apply: `.sourceignore` files and kustomizations
    have no effect.
    """
    parsed = parsed or ParsedContents()
    if whole_tree:
        tree = SourceTree(entries, IgnoreRules({}), kustomized=False)
        search = _Search(repository, tree, entries, contents, built, parsed)
        search.start(root)
        return search.result()
    ignore_files = sorted(
        path
        for path, entry in entries.items()
        if path.rpartition("/")[2] == IGNORE_FILE and entry.mode not in NON_FILE_MODES
    )
    problem = _excess(parsed.limits, repository, root, entries, ignore_files, contents)
    if problem:
        return Discovery(problems=(problem,))
    missing = frozenset(ignore_files) - contents.keys()
    if missing:
        return Discovery(wanted=missing)
    if parsed.ignore is None or parsed.tree is None:
        found = {path: contents[path] for path in ignore_files}
        parsed.ignore = read_ignore_files(repository, found)
        is_registered = parsed.limits is not None
        parsed.tree = SourceTree(entries, parsed.ignore, follows_links=is_registered)
    if parsed.ignore.problems:
        return Discovery(problems=parsed.ignore.problems, warnings=parsed.ignore.warnings)
    search = _Search(repository, parsed.tree, entries, contents, built, parsed)
    search.warnings.extend(parsed.ignore.warnings)
    search.start(root)
    return search.result()


def _excess(
    limits: Limits | None,
    repository: str,
    root: str,
    entries: Mapping[str, FileEntry],
    ignore_files: Sequence[str],
    contents: Mapping[str, bytes],
) -> Problem | None:
    """Return the problem of a folder with too many files, or of too many exclusions."""
    if limits is None:
        return None
    lines = sum(contents[path].count(b"\n") for path in ignore_files if path in contents)
    if len(ignore_files) > limits.ignore_files or lines > limits.ignore_lines:
        return limits.too_many_exclusions(Location(repository, printable(ignore_files[-1])))
    if len(entries) <= limits.listed:
        return None
    try:
        folder = normalize(root)
    except OutsideRepositoryError:
        return None  # the search reports it
    count = sum(within(path, folder) for path in entries)
    return limits.too_many_entries(repository, root, count) if count > limits.listed else None


@dataclass(slots=True)
class ParsedContents:
    """The parsed files of one reading, and its limits; None: only each file has limits.

    Content at several paths is parsed once.
    """

    limits: Limits | None = None
    ignore: IgnoreRules | None = None
    tree: SourceTree | None = None
    _objects: dict[bytes, ParsedFile] = field(default_factory=dict)
    _kustomizations: dict[str, tuple[Kustomization | None, ParsedFile]] = field(
        default_factory=dict
    )
    _values: int = 0

    def objects(self, where: Location, content: bytes) -> ParsedFile:
        """Return the objects of a file; beyond the limit of values, only that problem."""
        if self._excess(where):
            return ParsedFile()  # an earlier file has the problem
        parsed = self._objects.get(content)
        if parsed is None:
            parsed = read_objects(where.repository, where.path, content, self._left())
            self._objects[content] = parsed
        self._values += parsed.values
        excess = self._excess(where)
        return ParsedFile(problems=(excess,)) if excess else _moved(parsed, where.path)

    def kustomization(
        self, where: Location, content: bytes
    ) -> tuple[Kustomization | None, ParsedFile]:
        """Return the kustomization of a file, or None, with its problems."""
        known = self._kustomizations.get(where.path)
        if known is None:
            known = read_kustomization(where, content, self._left())
            self._values += known[1].values
            excess = self._excess(where)
            if excess:
                known = None, ParsedFile(problems=(excess,))
            self._kustomizations[where.path] = known
        return known

    def _left(self) -> int | None:
        return None if self.limits is None else max(0, self.limits.values - self._values)

    def _excess(self, where: Location) -> Problem | None:
        if self.limits is None or self._values <= self.limits.values:
            return None
        return self.limits.too_many_values(where)


def _moved(parsed: ParsedFile, path: str) -> ParsedFile:
    """Return a parsed file of the same content, moved to this path."""
    places = [document.where for document in parsed.documents]
    places += [problem.where for problem in parsed.problems + parsed.warnings if problem.where]
    if all(where.path == path for where in places):
        return parsed

    def moved(problems: tuple[Problem, ...]) -> tuple[Problem, ...]:
        return tuple(
            replace(problem, where=replace(problem.where, path=path)) if problem.where else problem
            for problem in problems
        )

    documents = (replace(each, where=replace(each.where, path=path)) for each in parsed.documents)
    problems, warnings = moved(parsed.problems), moved(parsed.warnings)
    return ParsedFile(tuple(documents), problems, warnings, parsed.values)


@dataclass(slots=True)
class _Search:
    """One walk over a tree: the files to read, and problems on the way."""

    repository: str
    tree: SourceTree
    entries: Mapping[str, FileEntry]
    contents: Mapping[str, bytes]
    built: Mapping[str, bytes]
    parsed: ParsedContents
    sources: list[tuple[str, bytes, Location | None]] = field(default_factory=list)
    """Path and content of each file; for the output of kustomize, what made the build necessary."""
    problems: list[Problem] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)
    wanted: set[str] = field(default_factory=set)
    builds: dict[str, Build] = field(default_factory=dict)
    included: dict[str, Location] = field(default_factory=dict)
    kustomized: list[str] = field(default_factory=list)
    """The folders whose files count only if their kustomization includes them."""
    linked: set[str] = field(default_factory=set)
    """The files and folders outside of the root that links lead to."""

    def start(self, path: str) -> None:
        """Search below `path`, a path written by a user."""
        try:
            root = normalize(path)
        except OutsideRepositoryError:
            message = f"the path {path!r} leads out of the repository"
            self._problem("path-outside-repository", message, self._at(""))
            return
        if root in self.tree.folders:
            self._walk(root)
            self._check_symlinks(root)
            self._check_submodules(root)
            if self.parsed.limits is None:
                self._ignored_documents(root)
                self._left_out_documents()
        else:
            entry = self.entries.get(root)
            where = self._at(root if entry else "")
            self.problems.append(self._missing_folder(path, root, entry, where))

    def result(self) -> Discovery:
        """Return the documents if everything has been read, else the missing files and builds."""
        if self.wanted or self.builds:
            builds = tuple(self.builds[folder] for folder in sorted(self.builds))
            return Discovery(wanted=frozenset(self.wanted), builds=builds)
        documents: list[Document] = []
        files = {path for path, _, built_by in self.sources if built_by is None}
        self.warnings.extend(paths_alike(self.repository, files))
        for path, content, built_by in sorted(self.sources, key=lambda source: source[0]):
            parsed = self.parsed.objects(self._at(path), content)
            if built_by is None and self.parsed.limits is None and not content.strip():
                advice = "restore it from the branch's history, or remove it"
                empty = Problem("the file is empty", self._at(path), advice, "file-empty")
                self.warnings.append(empty)
            self.problems.extend(parsed.problems)
            self.warnings.extend(parsed.warnings)
            if built_by:
                # Lines of kustomize's output do not exist in the repository.
                documents.extend(
                    replace(document, where=built_by, marks={}, blocks={})
                    for document in parsed.documents
                )
            else:
                documents.extend(parsed.documents)
        return Discovery(tuple(documents), tuple(self.problems), tuple(self.warnings))

    def _walk(self, root: str) -> None:
        pending = [root]
        while pending:
            folder = pending.pop()
            if self.tree.kustomizations(folder):
                self.kustomized.append(folder)
                self._kustomization(folder, self._at(folder), ())
                continue
            for path in self.tree.manifests(folder):
                if path not in self.linked:
                    self._file(path, self._at(path))
            for path in self.tree.misnamed(folder):
                message = "the file is not read: its name ends neither with .yaml nor with .yml"
                self._misnamed(path, message, "rename it, or list it in .sourceignore")
            if self.parsed.limits is None:  # registered folders have a limit on files to read
                self._unread_documents(folder)
            pending.extend(self.tree.folders[folder].folders)

    def _unread_documents(self, folder: str) -> None:
        """Warn of other files with documents of a control plane, which Flux does not read."""
        for path in self.tree.other_texts(folder):
            content = self._content(path) if self.entries[path].size <= MAX_BYTES else None
            if content and b"apiVersion" in content and UNREAD.search(content):
                message = "the documents of this file are not read: it does not end with .yaml"
                is_json = content.lstrip().startswith((b"{", b"["))
                advice = "rename it to end with .yaml"
                advice += ", which may hold JSON" if is_json else ""
                advice += "; or list it in .sourceignore"
                self._misnamed(path, message, advice)

    def _ignored_documents(self, root: str) -> None:
        """Warn of rules that exclude documents of a control plane, each rule once.

        Environments count in any case, so control planes hide them from Flux.
        """
        hidden: dict[tuple[str, int], list[Document]] = {}
        for path, rule in self.tree.ignored(root):
            content = self._content(path) if self.entries[path].size <= MAX_BYTES else None
            if content and EFFECTIVE.search(content):
                documents = self.parsed.objects(self._at(path), content).documents
                hidden.setdefault(rule, []).extend(filter(_has_effect, documents))
        for (file, line), excluded in sorted(hidden.items()):
            if excluded:
                where = Location(self.repository, printable(file), line)
                self.warnings.append(_taken_away(excluded, where))

    def _left_out_documents(self) -> None:
        """Warn of files with documents of a control plane that no kustomization includes.

        A build may use files in any way.
        """
        pending = [] if self.problems or self.built or self.builds else [*self.kustomized]
        while pending:
            folder = pending.pop()
            pending.extend(self.tree.folders[folder].folders)
            for path in self.tree.manifests(folder):
                known = path in self.included or self.entries[path].size > MAX_BYTES
                content = None if known else self._content(path)
                if not content or not EFFECTIVE.search(content):
                    continue
                documents = self.parsed.objects(self._at(path), content).documents
                left_out = [*filter(_has_effect, documents)]
                if left_out:
                    names = ", ".join(map(str, left_out[:3]))
                    more = ", …" if left_out[3:] else ""
                    self.warnings.append(
                        Problem(
                            f"no kustomization includes this file: {names}{more} has no effect",
                            left_out[0].where,
                            "add the file to the resources of the kustomization.yaml above it; "
                            "rename it, for example to .yaml.off, if it must have no effect, or "
                            "acknowledge it in the document",
                            "document-ignored",
                        )
                    )

    def _misnamed(self, path: str, message: str, advice: str) -> None:
        self.warnings.append(Problem(message, self._at(path), advice, "file-misnamed"))

    def _file(self, path: str, where: Location) -> None:
        if self._add_once(path, where):
            content = self._content(path)
            if content is not None:
                self.sources.append((path, content, None))

    def _add_once(self, path: str, where: Location) -> bool:
        """Return False, with a problem, if the path was included before."""
        first = self.included.setdefault(path, where)
        if first is where:
            return True
        message = f"{printable(path) or 'the root'} is included twice, first by {first}"
        advice = "kustomize refuses duplicate objects"
        self._problem("kustomization-invalid", message, where, advice)
        return False

    def _content(self, path: str) -> bytes | None:
        """Return the content if it has been read; otherwise request it, unless it is too large."""
        content = self.contents.get(path)
        if content is None:
            size = self.entries[path].size
            if size > MAX_BYTES:
                self.problems.append(too_large(self._at(path), size))
            else:
                self.wanted.add(path)
        return content

    def _kustomization(self, folder: str, where: Location, ancestors: tuple[str, ...]) -> None:
        """Follow or build the kustomization of a folder."""
        if not self._add_once(folder, where):
            return
        kustomization = self._read_kustomization(folder)
        if kustomization is None:
            return
        if kustomization.is_component:
            message = "a Component has an effect only if a kustomization lists it under components"
            advice = "make it a Kustomization"
            self._problem("kustomization-invalid", message, kustomization.where, advice)
        elif kustomization.build_fields:
            self._build(folder, kustomization)
        else:
            for resource in kustomization.resources:
                self._resource(folder, resource, (*ancestors, folder))

    def _read_kustomization(self, folder: str) -> Kustomization | None:
        """Return the kustomization of a folder; None if it is not read yet, or invalid."""
        paths = self.tree.kustomizations(folder)
        if len(paths) > 1:
            message = f"the folder has several kustomizations: {', '.join(paths)}"
            self._problem("kustomization-invalid", message, self._at(paths[0]))
            return None
        content = self._content(paths[0])
        if content is None:
            return None
        kustomization, parsed = self.parsed.kustomization(self._at(paths[0]), content)
        self.problems.extend(parsed.problems)
        self.warnings.extend(parsed.warnings)
        return kustomization

    def _resource(
        self, folder: str, resource: KustomizationItem, ancestors: tuple[str, ...]
    ) -> None:
        target = self._resolve(folder, resource)
        if target is None:
            return
        if target not in self.tree.folders:
            self._file(target, resource.where)
        elif target in ancestors:
            message = f"{resource.path} leads back to this kustomization"
            self._problem("kustomization-invalid", message, resource.where)
        elif len(ancestors) >= MAX_DEPTH:
            message = f"more than {MAX_DEPTH} kustomizations refer to one another in a chain"
            self._problem("kustomization-invalid", message, resource.where)
        else:
            self._kustomization(target, resource.where, ancestors)

    def _resolve(self, folder: str, resource: KustomizationItem) -> str | None:
        """Return the file, or the folder with a kustomization, that an entry names."""
        try:
            target = join(folder, resource.path)
        except OutsideRepositoryError:
            target = None
        if target is not None and self.tree.has_file(target):
            return target
        advice = ""
        if resource.is_remote:
            message = f"{resource.path} is remote, but only files of this repository are read"
            advice = "copy it into the repository"
        elif target is None:
            message = f"{resource.path} leads out of the repository"
        elif target not in self.tree.folders:
            message = f"{resource.path} does not exist"
            advice = "check whether it is a symbolic link, or excluded by .sourceignore"
        elif not self.tree.kustomizations(target):
            message = f"the folder {resource.path} has no kustomization.yaml"
            advice = "add one, or list the files of the folder"
        else:
            return target
        self._problem("kustomization-resource-missing", message, resource.where, advice)
        return None

    def _build(self, folder: str, kustomization: Kustomization) -> None:
        path = self.tree.kustomizations(folder)[0]
        if folder in self.built:
            self.sources.append((path, self.built[folder], kustomization.where))
            return
        files = self._files_of_build(folder, kustomization)
        if files is not None:
            fields = kustomization.build_fields
            self.builds[folder] = Build(folder, kustomization.where, fields, frozenset(files))

    def _files_of_build(self, folder: str, kustomization: Kustomization) -> set[str] | None:
        """Return all files of the folders that a build reaches; None if they are not known yet.

        Remote resources are problems: kustomize would use the network for them.
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
        """Report links that leave the repository; warn of links that are ignored, as by Flux."""
        for path in self.tree.of_mode(SYMLINK_MODE, root):
            content = self._content(path)
            if content is None:
                continue
            target = content.decode("utf-8", "surrogateescape")
            name = repr(printable(target))
            try:
                resolved = join(parent(path), target)
            except OutsideRepositoryError:
                message = f"the symbolic link leads out of the repository, to {name}"
                advice = "remove it, or exclude it by .sourceignore"
                self._problem("path-outside-repository", message, self._at(path), advice)
                continue
            if self.tree.follows_links and self._follow(path, resolved, root):
                continue
            is_dangling = not any(within(each, resolved) for each in self.entries)
            if path.endswith(YAML_SUFFIXES) or resolved in self.tree.folders or is_dangling:
                message = f"the symbolic link to {name} is ignored, as by Flux"
                if is_dangling:
                    message = f"the symbolic link leads to {name}, which does not exist"
                advice = "replace it by the files"
                self.warnings.append(Problem(message, self._at(path), advice, "symlink-ignored"))

    def _check_submodules(self, root: str) -> None:
        """Warn of submodules, whose files are in another repository."""
        for path in self.tree.of_mode(GIT_LINK_MODE, root):
            message = f"{printable(path)} is a submodule: its files are not read, as by Flux"
            advice = "replace it by the files; if it has no documents, list it in .sourceignore"
            self.warnings.append(Problem(message, self._at(path), advice, "submodule-ignored"))

    def _follow(self, path: str, target: str, root: str) -> bool:
        """Read what a link below `root` leads to; return False if it has no effect.

        A target that is read itself, or contains the link, is not read again. A kustomization names
        the files that count.
        """
        folder = parent(path)
        while within(folder, root):
            if self.tree.kustomizations(folder):
                return False
            if folder == root:
                break
            folder = parent(folder)
        if within(target, root):
            return False
        if path.endswith(YAML_SUFFIXES) and self.tree.has_file(target):
            if target not in self.included:
                self.linked.add(target)
                self._file(target, self._at(target))
            return True
        if target not in self.tree.folders or within(root, target):
            return False
        if target not in self.linked:
            self.linked.add(target)
            self._walk(target)
        return True

    def _missing_folder(
        self, path: str, root: str, entry: FileEntry | None, where: Location
    ) -> Problem:
        """Return the problem of a path that is not a folder, with the nearest folder as advice.

        `entry` is the entry at the path, if any; `root` is the path in normal form.
        """
        if entry is not None:
            others = {SYMLINK_MODE: "symbolic link", GIT_LINK_MODE: "submodule"}
            message = f"the path {path!r} is a {others.get(entry.mode, 'file')}, not a folder"
            advice = f"write its folder: {parent(path) or '.'}" if entry.mode not in others else ""
            return Problem(message, where, advice, "folder-missing")
        upper = root
        while upper not in self.tree.folders:
            upper = parent(upper)
        near = nearest(root, self.tree.folders[upper].folders)
        advice = f"is {near!r} meant?" if near else "check path and branch"
        return Problem(f"the folder {path!r} does not exist", where, advice, "folder-missing")

    def _at(self, path: str) -> Location:
        return Location(self.repository, printable(path))

    def _problem(self, code: str, message: str, where: Location, advice: str = "") -> None:
        self.problems.append(Problem(message, where, advice, code))
