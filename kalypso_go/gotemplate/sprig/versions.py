"""Semantic versions like those of Masterminds/semver 1.5.0."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import zip_longest

from kalypso_go.gotemplate.numerals import MAX_INT64, MAX_UINT64
from kalypso_go.gotemplate.sprig.coercion import wrap_int64

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
        return self._rewritten(Version(wrap_int64(self.major + 1)))

    def next_minor(self) -> Version:
        """Return the next minor version."""
        return self._rewritten(Version(self.major, wrap_int64(self.minor + 1)))

    def next_patch(self) -> Version:
        """Return the next patch; for a pre-release, that is its release."""
        patch = self.patch if self.prerelease else wrap_int64(self.patch + 1)
        return self._rewritten(Version(self.major, self.minor, patch))

    def with_prerelease(self, prerelease: str) -> Version:
        """Return the version with this pre-release; raise ValueError if it is invalid."""
        if prerelease and not _TAGS.match(prerelease):
            raise ValueError("Invalid Prerelease string")
        return self._rewritten(replace(self, prerelease=prerelease))

    def with_metadata(self, metadata: str) -> Version:
        """Return the version with this metadata; raise ValueError if it is invalid."""
        if metadata and not _TAGS.match(metadata):
            raise ValueError("Invalid Metadata string")
        return self._rewritten(replace(self, metadata=metadata))

    def _rewritten(self, changed: Version) -> Version:
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
