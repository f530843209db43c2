"""The notes of a release come from CHANGELOG.md."""

from __future__ import annotations

import pytest

from tools.release_notes import CHANGELOG, ReleaseError, notes

TEXT = """\
# Changelog

## [Unreleased]

- later

## [0.2.0] - 2026-05-01

### Added

- two

## [0.1.0] - 2026-04-01

- one

[0.2.0]: https://example.com
"""


@pytest.mark.parametrize(
    ("version", "wanted"),
    [("0.2.0", "### Added\n\n- two"), ("0.1.0", "- one")],
)
def test_the_section_of_a_version(version: str, wanted: str) -> None:
    assert notes(f"v{version}", version, TEXT) == wanted


@pytest.mark.parametrize(
    ("tag", "version", "said"),
    [
        ("v0.2.1", "0.2.0", "v0.2.1 is not that of the package's version 0.2.0"),
        ("0.2.0", "0.2.0", "0.2.0 is not that"),
        ("v0.3.0", "0.3.0", "no section 0.3.0"),
        ("v0.20", "0.20", "no section 0.20"),
    ],
)
def test_versions_that_are_no_release(tag: str, version: str, said: str) -> None:
    with pytest.raises(ReleaseError, match=said):
        notes(tag, version, TEXT)


def test_the_changelog_has_a_place_for_what_comes_next() -> None:
    text = CHANGELOG.read_text(encoding="utf-8")
    assert "\n## [Unreleased]\n" in text
    with pytest.raises(ReleaseError, match="no section"):
        notes("v9.9.9", "9.9.9", text)
