"""Constraints on versions like Masterminds/semver 1.5.0: `>= 1.2, < 3 || ^4.1.x`."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from kalypso_go.gotemplate.sprig.versions import TAGS, Version, parse_version

_SPACE = "[\t\n\f\r ]"
_SPACES = "\t\n\f\r "
_PART = r"[0-9|x|X|\*]+"
_VERSION = rf"v?({_PART})(\.{_PART})?(\.{_PART})?((?:-{TAGS})?)(?:\+{TAGS})?"

_RANGE = re.compile(rf"({_VERSION}){_SPACE}+-{_SPACE}+({_VERSION}){_SPACE}*")
_RANGE_MARK = re.compile(f"{_SPACE}-{_SPACE}")


@dataclass(frozen=True, slots=True)
class Constraint:
    """One comparison with a version.

    `minor_open` means that minor and patch are missing or `x`, `patch_open` that only the patch is;
    `open` means that any part is.
    """

    version: Version
    check: Callable[[Version, Constraint], bool]
    open: bool = False
    minor_open: bool = False
    patch_open: bool = False


Constraints = list[list[Constraint]]
"""Alternatives (`||`), each a list of comparisons that must all hold."""


def parse_constraints(text: str) -> Constraints:
    """Parse constraints; raise ValueError with Go's text."""
    return [
        [_parse(part) for part in alternative.split(",")]
        for alternative in _without_ranges(text).split("||")
    ]


def satisfies(constraints: Constraints, version: Version) -> bool:
    """Return whether the version satisfies one of the alternatives."""
    return any(
        all(constraint.check(version, constraint) for constraint in alternative)
        for alternative in constraints
    )


def _without_ranges(text: str) -> str:
    """Rewrite ranges such as `1.2 - 3` as two comparisons."""
    if not _RANGE_MARK.search(text):
        return text
    rewritten = text
    end = 0
    for match in _RANGE.finditer(text):
        # The match includes spaces before the range.
        start = len(text[end : match.start()].rstrip(_SPACES)) + end
        end = match.end()
        low, high = match[1], match[6]
        rewritten = rewritten.replace(text[start:end], f">= {low}, <= {high}", 1)
    return rewritten


def _parse(text: str) -> Constraint:
    match = _CONSTRAINT.fullmatch(text.strip(_SPACES))
    if match is None:
        raise ValueError(f"improper constraint: {text}")
    operator, version, major, minor, patch, prerelease = match.groups()
    minor, patch = minor or "", patch or ""
    minor_open = patch_open = False
    open_ = True
    if major in _ANY:
        version = "0.0.0"
    elif not minor or minor[1:] in _ANY:
        minor_open = True
        version = f"{major}.0.0{prerelease}"
    elif patch[1:] in _ANY:
        patch_open = True
        version = f"{major}{minor}.0{prerelease}"
    else:
        open_ = False
    try:
        return Constraint(
            parse_version(version), _OPERATORS[operator], open_, minor_open, patch_open
        )
    except ValueError:
        raise ValueError("constraint Parser Error") from None


_ANY = ("x", "X", "*")


def _is_excluded(version: Version, constraint: Constraint) -> bool:
    """Return whether the version is a pre-release and the constraint is not, so that it fails."""
    return bool(version.prerelease) and not constraint.version.prerelease


def _above(version: Version, constraint: Constraint) -> bool:
    """Return whether the version is above the given numbers of an open constraint."""
    bound = constraint.version
    return version.major > bound.major or (
        version.minor > bound.minor and not constraint.minor_open
    )


def _equal(version: Version, constraint: Constraint) -> bool:
    if constraint.open:
        return _tilde(version, constraint)
    return not _is_excluded(version, constraint) and version.compare(constraint.version) == 0


def _not_equal(version: Version, constraint: Constraint) -> bool:
    if not constraint.open:
        return version.compare(constraint.version) != 0
    bound = constraint.version
    return not _is_excluded(version, constraint) and (
        bound.major != version.major or (bound.minor != version.minor and not constraint.minor_open)
    )


def _greater(version: Version, constraint: Constraint) -> bool:
    return not _is_excluded(version, constraint) and version.compare(constraint.version) > 0


def _greater_or_equal(version: Version, constraint: Constraint) -> bool:
    return not _is_excluded(version, constraint) and version.compare(constraint.version) >= 0


def _less(version: Version, constraint: Constraint) -> bool:
    if _is_excluded(version, constraint):
        return False
    if constraint.open:
        return not _above(version, constraint)
    return version.compare(constraint.version) < 0


def _less_or_equal(version: Version, constraint: Constraint) -> bool:
    if _is_excluded(version, constraint):
        return False
    if constraint.open:
        return not _above(version, constraint)
    return version.compare(constraint.version) <= 0


def _tilde(version: Version, constraint: Constraint) -> bool:
    """Return whether major and minor version are equal and the version is at least as high."""
    bound = constraint.version
    if _is_excluded(version, constraint) or version.compare(bound) < 0:
        return False
    if (
        (bound.major, bound.minor, bound.patch) == (0, 0, 0)
        and not constraint.minor_open
        and not constraint.patch_open
    ):
        return True
    return version.major == bound.major and (version.minor == bound.minor or constraint.minor_open)


def _caret(version: Version, constraint: Constraint) -> bool:
    """Return whether the major versions are equal (even 0) and the version is at least as high."""
    bound = constraint.version
    return (
        not _is_excluded(version, constraint)
        and version.compare(bound) >= 0
        and version.major == bound.major
    )


_OPERATORS = {
    "": _equal,
    "=": _equal,
    "!=": _not_equal,
    ">": _greater,
    "<": _less,
    ">=": _greater_or_equal,
    "=>": _greater_or_equal,
    "<=": _less_or_equal,
    "=<": _less_or_equal,
    "~": _tilde,
    "~>": _tilde,
    "^": _caret,
}
_CONSTRAINT = re.compile(f"({'|'.join(map(re.escape, _OPERATORS))}){_SPACE}*({_VERSION})")
