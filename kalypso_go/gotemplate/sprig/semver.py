"""Functions on semantic versions, and versions as values with methods."""

from __future__ import annotations

from kalypso_go.gotemplate.budget import Budget
from kalypso_go.gotemplate.sprig.nesting import NIL_DEREFERENCE
from kalypso_go.gotemplate.sprig.signature import Methods, function
from kalypso_go.gotemplate.sprig.versions import Version, parse_version
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
    # Few templates need this import.
    from kalypso_go.gotemplate.sprig.constraints import (  # noqa: PLC0415
        parse_constraints,
        satisfies,
    )

    # The search for ranges takes quadratic time.
    budget.spend(len(constraint) ** 2, "semverCompare")
    try:
        constraints = parse_constraints(constraint)
        return satisfies(constraints, parse_version(text))
    except ValueError as error:
        raise FunctionError(str(error)) from None


@_METHODS("String", returns=STRING)
def _string(version: Version) -> str:
    return str(version)


@_METHODS("Original", returns=STRING)
def _original(version: Version) -> str:
    return version.original


@_METHODS("Major", returns=INT64)
def _major(version: Version) -> GoInt:
    return GoInt(INT64, version.major)


@_METHODS("Minor", returns=INT64)
def _minor(version: Version) -> GoInt:
    return GoInt(INT64, version.minor)


@_METHODS("Patch", returns=INT64)
def _patch(version: Version) -> GoInt:
    return GoInt(INT64, version.patch)


@_METHODS("Prerelease", returns=STRING)
def _prerelease(version: Version) -> str:
    return version.prerelease


@_METHODS("Metadata", returns=STRING)
def _metadata(version: Version) -> str:
    return version.metadata


def _order(version: Version, other: VersionValue | None) -> int:
    if other is None:
        raise FunctionError(NIL_DEREFERENCE)
    return version.compare(other.version)


@_METHODS("Compare", VERSION_POINTER, returns=INT)
def _compare(version: Version, other: VersionValue | None) -> int:
    return _order(version, other)


@_METHODS("Equal", VERSION_POINTER, returns=BOOL)
def _equal(version: Version, other: VersionValue | None) -> bool:
    return _order(version, other) == 0


@_METHODS("LessThan", VERSION_POINTER, returns=BOOL)
def _less_than(version: Version, other: VersionValue | None) -> bool:
    return _order(version, other) < 0


@_METHODS("GreaterThan", VERSION_POINTER, returns=BOOL)
def _greater_than(version: Version, other: VersionValue | None) -> bool:
    return _order(version, other) > 0


@_METHODS("MarshalJSON", returns=slice_of(UINT8))
def _marshal_json(version: Version) -> GoSlice:
    return GoSlice(slice_of(UINT8), [GoInt(UINT8, byte) for byte in f'"{version}"'.encode()])


@_STRUCT_METHODS("IncMajor", returns=VERSION)
def _inc_major(version: Version) -> VersionStruct:
    return VersionStruct(version.next_major())


@_STRUCT_METHODS("IncMinor", returns=VERSION)
def _inc_minor(version: Version) -> VersionStruct:
    return VersionStruct(version.next_minor())


@_STRUCT_METHODS("IncPatch", returns=VERSION)
def _inc_patch(version: Version) -> VersionStruct:
    return VersionStruct(version.next_patch())


@_STRUCT_METHODS("SetPrerelease", STRING, returns=VERSION)
def _set_prerelease(version: Version, prerelease: str) -> VersionStruct:
    try:
        return VersionStruct(version.with_prerelease(prerelease))
    except ValueError as error:
        raise FunctionError(str(error)) from None


@_STRUCT_METHODS("SetMetadata", STRING, returns=VERSION)
def _set_metadata(version: Version, metadata: str) -> VersionStruct:
    try:
        return VersionStruct(version.with_metadata(metadata))
    except ValueError as error:
        raise FunctionError(str(error)) from None
