"""What is left out of a source: Flux's default exclusions and `.sourceignore` files.

Patterns are those of .gitignore, relative to the folder of their file. As in Flux the last pattern
decides that matches a file or a folder it is in, whichever file it stands in, deeper ones last;
so, unlike with git, `!` can take a file back out of an excluded folder.

The default exclusions always apply, and come first: a `.sourceignore` can take back what they
leave out (`!.github/`).
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

# RE2 matches the patterns, so that none of them can take long; it has bounds of its own.
MAX_LINES = 1000
MAX_LENGTH = 1000

Spec = PathSpec[GitIgnoreSpecPattern]
DEFAULTS: Spec = PathSpec(
    [GitIgnoreSpecPattern(pattern) for pattern in DEFAULT_PATTERNS.splitlines()], backend="re2"
)


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """The exclusions of a repository: patterns by the folder that they are relative to."""

    specs: Mapping[str, Spec]

    def excludes(self, path: str) -> bool:
        """Whether the file `path` is left out."""
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
    """The exclusions of a repository, what makes them unusable, and patterns without effect."""

    ignore: IgnoreRules
    problems: tuple[Problem, ...]
    warnings: tuple[Problem, ...]


def read_ignore_files(repository: str, contents: Mapping[str, bytes]) -> IgnoreFiles:
    """The exclusions of these `.sourceignore` files."""
    specs: dict[str, Spec] = {}
    problems: list[Problem] = []
    warnings: list[Problem] = []
    for path, content in contents.items():
        where = Location(repository, printable(path))
        lines = [
            line.removesuffix("\r") for line in content.decode("utf-8-sig", "replace").split("\n")
        ]
        if len(lines) > MAX_LINES or max(map(len, lines)) > MAX_LENGTH:
            message = f"more than {MAX_LINES} lines, or a line of more than {MAX_LENGTH} characters"
            problems.append(Problem(message, where, "exclude whole folders instead"))
            continue
        try:
            specs[parent(path)] = PathSpec(_patterns(lines, where, warnings), backend="re2")
        except re2.error:
            problems.append(Problem("the patterns are too complex", where, "use fewer wildcards"))
    return IgnoreFiles(IgnoreRules(specs), tuple(problems), tuple(warnings))


def _patterns(
    lines: list[str], where: Location, warnings: list[Problem]
) -> list[GitIgnoreSpecPattern]:
    patterns = []
    for number, line in enumerate(lines, start=1):
        try:
            patterns.append(GitIgnoreSpecPattern(line))
        except GitIgnorePatternError:
            message = f"{line.strip()!r} is not a pattern and excludes nothing"
            place = Location(where.repository, where.path, number)
            warnings.append(Problem(message, place, "see git's documentation of .gitignore"))
    return patterns


def _decision(spec: Spec, path: str) -> bool | None:
    """True: left out; False: taken back by a `!` pattern; None: no pattern matches."""
    # Neither patterns nor the names they are held against need be UTF-8.
    text = path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return spec.check_file(text).include
