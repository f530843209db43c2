"""Exclusions of a source: Flux's defaults and `.sourceignore` files.

Patterns have the syntax of .gitignore and are relative to the folder of their file. As in Flux, the
last pattern that matches a file or one of its folders decides; patterns of deeper files come later.
Unlike in git, `!` can therefore include a file of an excluded folder.

The default exclusions come first: a `.sourceignore` can include what they exclude (`!.github/`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import re2
from pathspec import PathSpec
from pathspec.patterns.gitignore import GitIgnorePatternError
from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

from kalypso_actions.errors import Location, Problem
from kalypso_actions.sources.paths import parent, printable

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


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """The exclusions of a repository: patterns by the folder of their file."""

    specs: Mapping[str, Spec]

    def excludes(self, path: str) -> bool:
        """Whether a file is excluded."""
        folder = parent(path)
        while True:
            spec = self.specs.get(folder)
            if spec is not None:
                decision = _decision(spec, path[len(folder) + 1 :] if folder else path)
                if decision is not None:
                    return decision
            if not folder:
                return bool(_decision(DEFAULTS, path))
            folder = parent(folder)


@dataclass(frozen=True, slots=True)
class IgnoreFiles:
    """The exclusions of a repository, which are unusable if they have problems."""

    ignore: IgnoreRules
    problems: tuple[Problem, ...]
    warnings: tuple[Problem, ...]


def read_ignore_files(repository: str, contents: Mapping[str, bytes]) -> IgnoreFiles:
    """Read `.sourceignore` files."""
    specs: dict[str, Spec] = {}
    compiled: dict[bytes, Spec] = {}
    problems: list[Problem] = []
    warnings: list[Problem] = []
    for path, content in contents.items():
        where = Location(repository, printable(path))
        lines = [
            line.removesuffix("\r") for line in content.decode("utf-8-sig", "replace").split("\n")
        ]
        if len(lines) > MAX_LINES or max(map(len, lines)) > MAX_LENGTH:
            message = f"more than {MAX_LINES} lines, or a line of more than {MAX_LENGTH} characters"
            advice = "exclude whole folders instead"
            problems.append(Problem(message, where, advice, "ignore-file-too-complex"))
            continue
        try:
            spec = compiled.get(content)  # many folders may have the same exclusions
            if spec is None:
                spec = PathSpec(_patterns(lines, where, warnings), backend="re2")
                compiled[content] = spec
            specs[parent(path)] = spec
        except re2.error:
            message, advice = "the patterns are too complex", "use fewer wildcards"
            problems.append(Problem(message, where, advice, "ignore-file-too-complex"))
    return IgnoreFiles(IgnoreRules(specs), tuple(problems), tuple(warnings))


def _patterns(
    lines: list[str], where: Location, warnings: list[Problem]
) -> list[GitIgnoreSpecPattern]:
    patterns = []
    for number, line in enumerate(lines, start=1):
        try:
            patterns.append(GitIgnoreSpecPattern(line))
        except GitIgnorePatternError:
            message = f"{line.strip()!r} is not a pattern; it excludes nothing"
            place = Location(where.repository, where.path, number)
            advice = "see git's documentation of .gitignore"
            warnings.append(Problem(message, place, advice, "ignore-pattern-invalid"))
    return patterns


def _decision(spec: Spec, path: str) -> bool | None:
    """True: excluded; False: included by a `!` pattern; None: no pattern matches."""
    # Patterns and paths may contain bytes that are not UTF-8.
    text = path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return spec.check_file(text).include
