"""The files of a source by folder, without those that Flux ignores.

Paths have `/` between segments and are relative to the repository's root, which is "".

Patterns of `.sourceignore` files have the syntax of .gitignore and are relative to the folder of
their file. As in Flux, the last pattern that matches a file or one of its folders decides; patterns
of deeper files come later. Unlike in git, `!` can therefore include a file of an excluded folder.
The default exclusions come first: a `.sourceignore` can include what they exclude (`!.github/`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

import re2
from pathspec import PathSpec
from pathspec.patterns.gitignore import GitIgnorePatternError
from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern
from pathspec.util import CheckResult

from kalypso_actions.errors import Location, Problem
from kalypso_actions.model.documents import GIT_LINK_MODE, SYMLINK_MODE, FileEntry
from kalypso_actions.sources.kustomization import FILE_NAMES

IGNORE_FILE = ".sourceignore"

DEFAULT_PATTERNS = """\
.git/
.gitignore
.gitmodules
.gitattributes
*.jpg
*.jpeg
*.gif
*.png
*.wmv
*.flv
*.tar.gz
*.zip
.github/
.circleci/
.travis.yml
.gitlab-ci.yml
appveyor.yml
.drone.yml
cloudbuild.yaml
codeship-services.yml
codeship-steps.yml
**/.goreleaser.yml
**/.sops.yaml
**/.flux.yaml
"""

# RE2 matches in linear time, and has limits of its own.
MAX_LINES = 1000
MAX_LENGTH = 1000

Spec = PathSpec[GitIgnoreSpecPattern]
DEFAULTS: Spec = PathSpec(
    [GitIgnoreSpecPattern(pattern) for pattern in DEFAULT_PATTERNS.splitlines()], backend="re2"
)

YAML_SUFFIXES = (".yaml", ".yml")
_MISNAMED = (*YAML_SUFFIXES, ".ymal", ".yaml.txt", ".yml.txt")
NON_FILE_MODES = frozenset({GIT_LINK_MODE, SYMLINK_MODE})
_WINDOWS_DRIVE = re.compile(r"[A-Za-z]:")


class OutsideRepositoryError(ValueError):
    """A path leaves the repository."""


def normalize(path: str) -> str:
    """Normalize the `path` of a source; `.`, `./x`, `x/` and `/x` are relative to the root.

    Raises OutsideRepositoryError if `..` leaves the repository.
    """
    return join("", path.lstrip("/"))


def join(folder: str, path: str) -> str:
    """Resolve a relative path.

    Raise OutsideRepositoryError for an absolute path, or one that leaves the root.
    """
    if path.startswith(("/", "\\")) or _WINDOWS_DRIVE.match(path):
        raise OutsideRepositoryError(path)
    segments = folder.split("/") if folder else []
    for segment in path.split("/"):
        if segment == "..":
            if not segments:
                raise OutsideRepositoryError(path)
            segments.pop()
        elif segment not in {"", "."}:
            segments.append(segment)
    return "/".join(segments)


def parent(path: str) -> str:
    """Return the folder of a file or folder."""
    return path.rpartition("/")[0]


def within(path: str, folder: str) -> bool:
    """Whether `path` is `folder` or below it."""
    return not folder or path == folder or path.startswith(folder + "/")


def printable(path: str) -> str:
    r"""Return a path for messages; bytes that are not UTF-8 are written as `\xff`."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """The patterns of a repository by the folder of their file; unusable if they have problems."""

    specs: Mapping[str, Spec]
    problems: tuple[Problem, ...] = ()
    warnings: tuple[Problem, ...] = ()

    def excludes(self, path: str) -> bool:
        """Whether a file is excluded."""
        _, decision = self._deciding(path)
        return bool(decision.include)

    def rule(self, path: str) -> tuple[str, int] | None:
        """Return the `.sourceignore` file and the line that exclude a file; None without any."""
        folder, decision = self._deciding(path)
        if folder is None or not decision.include:
            return None
        file = f"{folder}/{IGNORE_FILE}" if folder else IGNORE_FILE
        return file, (decision.index or 0) + 1

    def _deciding(self, path: str) -> tuple[str | None, CheckResult[str]]:
        """Return the folder of the file that decides (None: the default), and the decision."""
        folder = parent(path)
        while True:
            spec = self.specs.get(folder)
            if spec is not None:
                decision = _decision(spec, path[len(folder) + 1 :] if folder else path)
                if decision.include is not None:
                    return folder, decision
            if not folder:
                return None, _decision(DEFAULTS, path)
            folder = parent(folder)


def read_ignore_files(repository: str, contents: Mapping[str, bytes]) -> IgnoreRules:
    """Read `.sourceignore` files."""
    specs: dict[str, Spec] = {}
    compiled: dict[bytes, Spec] = {}  # many folders may have the same exclusions
    problems: list[Problem] = []
    warnings: list[Problem] = []
    for path, content in contents.items():
        where = Location(repository, printable(path))
        text = content.decode("utf-8-sig", "replace")
        lines = [line.removesuffix("\r") for line in text.split("\n")]
        if len(lines) > MAX_LINES or max(map(len, lines)) > MAX_LENGTH:
            message = f"more than {MAX_LINES} lines, or a line of more than {MAX_LENGTH} characters"
            advice = "exclude whole folders instead"
            problems.append(Problem(message, where, advice, "ignore-file-too-complex"))
            continue
        try:
            if content not in compiled:
                compiled[content] = PathSpec(_patterns(lines, where, warnings), backend="re2")
            specs[parent(path)] = compiled[content]
        except re2.error:
            message, advice = "the patterns are too complex", "use fewer wildcards"
            problems.append(Problem(message, where, advice, "ignore-file-too-complex"))
    return IgnoreRules(specs, tuple(problems), tuple(warnings))


def _patterns(
    lines: list[str], where: Location, warnings: list[Problem]
) -> list[GitIgnoreSpecPattern]:
    patterns = []
    for number, line in enumerate(lines, start=1):
        if line.startswith("<<<<<<< "):
            place = Location(where.repository, where.path, number)
            message = "the file has the markers of a merge conflict: each line counts as a pattern"
            advice = "resolve the conflict: keep one of the two parts, and remove the markers"
            warnings.append(Problem(message, place, advice, "ignore-pattern-invalid"))
        try:
            patterns.append(GitIgnoreSpecPattern(line))
        except (GitIgnorePatternError, re.error):
            message = f"{line.strip()!r} is not a pattern; it excludes nothing"
            place = Location(where.repository, where.path, number)
            advice = "see git's documentation of .gitignore"
            warnings.append(Problem(message, place, advice, "ignore-pattern-invalid"))
            patterns.append(GitIgnoreSpecPattern(""))  # each line has its pattern
    return patterns


def _decision(spec: Spec, path: str) -> CheckResult[str]:
    """Return the decision of the last pattern that matches, and its index.

    `include` is True: excluded; False: included by a `!` pattern; None: no pattern matches.
    """
    # Patterns and paths may contain bytes that are not UTF-8.
    text = path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return spec.check_file(text)


@dataclass(slots=True)
class Folder:
    """The paths of the files and folders directly in a folder."""

    files: list[str] = field(default_factory=list)
    folders: list[str] = field(default_factory=list)


class SourceTree:
    """Regular files that are not excluded; a source has no symbolic links and no submodules."""

    def __init__(
        self,
        entries: Mapping[str, FileEntry],
        ignore: IgnoreRules,
        *,
        kustomized: bool = True,
        follows_links: bool = False,
    ) -> None:
        """If not `kustomized`, kustomizations have no effect.

        If it `follows_links`, a folder may have nothing but symbolic links.
        """
        self.follows_links = follows_links
        self._entries = entries
        self._ignore = ignore
        self._kustomized = kustomized
        self.folders: dict[str, Folder] = {"": Folder()}
        for path, entry in entries.items():
            if entry.mode not in NON_FILE_MODES:
                self._add_folder(parent(path)).files.append(path)
            elif follows_links and entry.mode == SYMLINK_MODE:
                self._add_folder(parent(path))

    def _add_folder(self, path: str) -> Folder:
        missing = []
        while path not in self.folders:
            missing.append(path)
            path = parent(path)
        for folder in reversed(missing):
            self.folders[parent(folder)].folders.append(folder)
            self.folders[folder] = Folder()
        return self.folders[missing[0] if missing else path]

    def has_file(self, path: str) -> bool:
        """Whether a path is a regular file that is not excluded."""
        entry = self._entries.get(path)
        return (
            entry is not None
            and entry.mode not in NON_FILE_MODES
            and not self._ignore.excludes(path)
        )

    def ignored(self, root: str) -> Iterator[tuple[str, tuple[str, int]]]:
        """Yield the YAML files below a folder that ignore rules exclude, each with its rule."""
        for path, entry in self._entries.items() if self._ignore.specs else ():
            if path.endswith(YAML_SUFFIXES) and entry.mode not in NON_FILE_MODES:
                rule = self._ignore.rule(path) if within(path, root) else None
                if rule:
                    yield path, rule

    def of_mode(self, mode: str, root: str) -> list[str]:
        """Return the symbolic links or the submodules below a folder."""
        return [
            path
            for path, entry in self._entries.items()
            if entry.mode == mode and within(path, root) and not self._ignore.excludes(path)
        ]

    def kustomizations(self, folder: str) -> list[str]:
        """Return the kustomization files of a folder; more than one is an error."""
        if not self._kustomized:
            return []
        return [path for name in FILE_NAMES if self.has_file(path := join(folder, name))]

    def manifests(self, folder: str) -> list[str]:
        """Return the YAML files directly in a folder, without kustomizations."""
        return self._files(
            folder,
            lambda path: path.endswith(YAML_SUFFIXES) and path.rpartition("/")[2] not in FILE_NAMES,
        )

    def misnamed(self, folder: str) -> list[str]:
        """Return the files directly in a folder that look like YAML, but are not read as such."""
        return self._files(
            folder,
            lambda path: path.lower().endswith(_MISNAMED) and not path.endswith(YAML_SUFFIXES),
        )

    def other_texts(self, folder: str) -> list[str]:
        """Return the JSON files and the files without a suffix directly in a folder."""
        return self._files(
            folder, lambda path: path.endswith(".json") or "." not in path.rpartition("/")[2]
        )

    def files(self, folder: str) -> list[str]:
        """Return all files below a folder."""
        files: list[str] = []
        pending = [folder]
        while pending:
            inner = pending.pop()
            files += self._files(inner, lambda _: True)
            pending.extend(self.folders[inner].folders)
        return files

    def _files(self, folder: str, matches: Callable[[str], bool]) -> list[str]:
        """Return the files directly in a folder that match and are not excluded."""
        files = filter(matches, self.folders[folder].files)
        return [path for path in files if not self._ignore.excludes(path)]
