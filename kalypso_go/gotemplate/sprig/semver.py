"""Semantic versions like those of Masterminds/semver 1.5.0: functions, values, constraints."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import zip_longest

from kalypso_go.gotemplate.budget import Budget
from kalypso_go.gotemplate.numerals import MAX_INT64, MAX_UINT64
from kalypso_go.gotemplate.sprig.coercion import NIL_DEREFERENCE, wrap_int64
from kalypso_go.gotemplate.sprig.signature import Methods, function
from kalypso_go.gotemplate.values import (
    BOOL,
    INT,
    INT64,
    STRING,
    UINT8,
    FunctionError,
    GoInt,
    GoSlice,
    GoStruct,
    Type,
    pointer_to,
    slice_of,
)

VERSION = Type("struct", "semver.Version")
VERSION_POINTER = pointer_to(VERSION)

_METHODS = Methods()
"""The methods of `*semver.Version`."""

_STRUCT_METHODS = Methods()
"""The methods of `semver.Version`, which the pointer has, too."""


class VersionValue(GoStruct):
    """A `*semver.Version`."""

    __slots__ = ("version",)

    def __init__(self, version: Version) -> None:
        super().__init__(VERSION, {}, pointer=True)
        self.become(version)

    def become(self, version: Version) -> None:
        """Set the version in place, visible through all pointers to it."""
        self.version = version
        self.hidden = _private_fields(version)
        self.methods = _METHODS.of(version) | _STRUCT_METHODS.of(version)

    def pointed_to(self) -> GoStruct:
        """Return the version as a struct."""
        return VersionStruct(self.version)


class VersionStruct(GoStruct):
    """A `semver.Version`, the result of methods that change a version."""

    __slots__ = ("version",)

    def __init__(self, version: Version) -> None:
        hidden = _private_fields(version)
        super().__init__(VERSION, {}, _STRUCT_METHODS.of(version), hidden=hidden)
        self.version = version

    def __eq__(self, other: object) -> bool:
        """Go's `==`."""
        return isinstance(other, VersionStruct) and self.version == other.version

    def __hash__(self) -> int:
        return hash(self.version)


def _private_fields(version: Version) -> dict[str, object]:
    return {
        "major": GoInt(INT64, version.major),
        "minor": GoInt(INT64, version.minor),
        "patch": GoInt(INT64, version.patch),
        "pre": version.prerelease,
        "metadata": version.metadata,
        "original": version.original,
    }


@function("semver", STRING, returns=VERSION_POINTER)
def semver(text: str) -> VersionValue:
    """Parse a version."""
    try:
        return VersionValue(parse_version(text))
    except ValueError as error:
        raise FunctionError(str(error)) from None


@function("semverCompare", STRING, STRING, returns=BOOL, takes_budget=True)
def semver_compare(budget: Budget, constraint: str, text: str) -> bool:
    """Return whether the version `text` satisfies the constraint."""
    # The search for ranges takes quadratic time.
    budget.spend(len(constraint) ** 2, "semverCompare")
    try:
        constraints = parse_constraints(constraint)
        return satisfies(constraints, parse_version(text))
    except ValueError as error:
        raise FunctionError(str(error)) from None


def _order(version: Version, other: VersionValue | None) -> int:
    if other is None:
        raise FunctionError(NIL_DEREFERENCE)
    return version.compare(other.version)


def _json_bytes(version: Version) -> GoSlice:
    return GoSlice(slice_of(UINT8), [GoInt(UINT8, byte) for byte in f'"{version}"'.encode()])


_pointer = _METHODS.add
_pointer("String", STRING, str)
_pointer("Original", STRING, lambda version: version.original)
_pointer("Major", INT64, lambda version: GoInt(INT64, version.major))
_pointer("Minor", INT64, lambda version: GoInt(INT64, version.minor))
_pointer("Patch", INT64, lambda version: GoInt(INT64, version.patch))
_pointer("Prerelease", STRING, lambda version: version.prerelease)
_pointer("Metadata", STRING, lambda version: version.metadata)
_pointer("Compare", INT, _order, VERSION_POINTER)
_pointer("Equal", BOOL, lambda one, other: _order(one, other) == 0, VERSION_POINTER)
_pointer("LessThan", BOOL, lambda one, other: _order(one, other) < 0, VERSION_POINTER)
_pointer("GreaterThan", BOOL, lambda one, other: _order(one, other) > 0, VERSION_POINTER)
_pointer("MarshalJSON", slice_of(UINT8), _json_bytes)

_struct = _STRUCT_METHODS.add
_struct("IncMajor", VERSION, lambda version: VersionStruct(version.next_major()))
_struct("IncMinor", VERSION, lambda version: VersionStruct(version.next_minor()))
_struct("IncPatch", VERSION, lambda version: VersionStruct(version.next_patch()))
_struct(
    "SetPrerelease", VERSION, lambda version, text: _changed(version, "Prerelease", text), STRING
)
_struct("SetMetadata", VERSION, lambda version, text: _changed(version, "Metadata", text), STRING)


def _changed(version: Version, part: str, text: str) -> VersionStruct:
    """Set the text after the hyphen or after the plus. Raises FunctionError if it is invalid."""
    if text and not _TAGS.match(text):
        raise FunctionError(f"Invalid {part} string")
    is_prerelease = part == "Prerelease"
    changed = (
        replace(version, prerelease=text) if is_prerelease else replace(version, metadata=text)
    )
    return VersionStruct(version.rewritten(changed))


TAGS = r"[0-9A-Za-z\-]+(?:\.[0-9A-Za-z\-]+)*"
"""Matches the text after the hyphen of a pre-release, or after the plus of metadata."""

_VERSION = re.compile(rf"v?([0-9]+)(?:\.([0-9]+))?(?:\.([0-9]+))?(?:-({TAGS}))?(?:\+({TAGS}))?\Z")
_TAGS = re.compile(rf"{TAGS}\Z")
_NUMBER = re.compile(r"[0-9]+\Z")


@dataclass(frozen=True, slots=True)
class Version:
    """A version; `original` is the text it was parsed from."""

    major: int = 0
    minor: int = 0
    patch: int = 0
    prerelease: str = ""
    metadata: str = ""
    original: str = ""

    def __str__(self) -> str:
        text = f"{self.major}.{self.minor}.{self.patch}"
        if self.prerelease:
            text += f"-{self.prerelease}"
        return f"{text}+{self.metadata}" if self.metadata else text

    def compare(self, other: Version) -> int:
        """Return -1, 0 or 1 for less, equal or greater, ignoring metadata."""
        mine = (self.major, self.minor, self.patch, not self.prerelease)
        others = (other.major, other.minor, other.patch, not other.prerelease)
        if mine != others:
            return 1 if mine > others else -1
        return _compare_prereleases(self.prerelease, other.prerelease)

    def next_major(self) -> Version:
        """Return the next major version."""
        return self.rewritten(Version(wrap_int64(self.major + 1)))

    def next_minor(self) -> Version:
        """Return the next minor version."""
        return self.rewritten(Version(self.major, wrap_int64(self.minor + 1)))

    def next_patch(self) -> Version:
        """Return the next patch; for a pre-release, that is its release."""
        patch = self.patch if self.prerelease else wrap_int64(self.patch + 1)
        return self.rewritten(Version(self.major, self.minor, patch))

    def rewritten(self, changed: Version) -> Version:
        """Return the changed version with its new text, which keeps a leading `v`."""
        prefix = "v" if self.original.startswith("v") else ""
        return replace(changed, original=f"{prefix}{changed}")


def parse_version(text: str) -> Version:
    """Parse a version of one to three numbers; raise ValueError with Go's text."""
    match = _VERSION.match(text)
    if match is None:
        raise ValueError("Invalid Semantic Version")
    major, minor, patch = (_segment(digits or "0") for digits in match.group(1, 2, 3))
    return Version(major, minor, patch, match[4] or "", match[5] or "", text)


def _segment(digits: str) -> int:
    significant = digits.lstrip("0") or "0"
    if len(significant) > 19 or int(significant) > MAX_INT64:
        raise ValueError(
            f'Error parsing version segment: strconv.ParseInt: parsing "{digits}": '
            "value out of range"
        )
    return int(significant)


def _compare_prereleases(mine: str, other: str) -> int:
    for part, others in zip_longest(mine.split("."), other.split("."), fillvalue=""):
        if part != others:
            return 1 if _rank(part) > _rank(others) else -1
    return 0


def _rank(part: str) -> tuple[int, int, str]:
    """Order empty parts before numbers, and numbers (up to 64 bits) before texts."""
    digits = part.lstrip("0")
    if _NUMBER.match(part) and len(digits) <= 20 and int(digits or "0") <= MAX_UINT64:
        return (1, int(digits or "0"), "")
    return (2, 0, part) if part else (0, 0, "")


_SPACE = "[\t\n\f\r ]"
_WHITE_SPACE = "\t\n\f\r "
_PART = r"[0-9|x|X|\*]+"
_CONSTRAINED = rf"v?({_PART})(\.{_PART})?(\.{_PART})?((?:-{TAGS})?)(?:\+{TAGS})?"

_RANGE = re.compile(rf"({_CONSTRAINED}){_SPACE}+-{_SPACE}+({_CONSTRAINED}){_SPACE}*")
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
        start = len(text[end : match.start()].rstrip(_WHITE_SPACE)) + end
        end = match.end()
        low, high = match[1], match[6]
        rewritten = rewritten.replace(text[start:end], f">= {low}, <= {high}", 1)
    return rewritten


def _parse(text: str) -> Constraint:
    match = _CONSTRAINT.fullmatch(text.strip(_WHITE_SPACE))
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


def _meets_equal(version: Version, constraint: Constraint) -> bool:
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


def _less(version: Version, constraint: Constraint, *, or_equal: bool = False) -> bool:
    if _is_excluded(version, constraint):
        return False
    if constraint.open:
        return not _above(version, constraint)
    return version.compare(constraint.version) < or_equal


def _less_or_equal(version: Version, constraint: Constraint) -> bool:
    return _less(version, constraint, or_equal=True)


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
    "": _meets_equal,
    "=": _meets_equal,
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
_CONSTRAINT = re.compile(f"({'|'.join(map(re.escape, _OPERATORS))}){_SPACE}*({_CONSTRAINED})")
