"""Print the notes of a release from CHANGELOG.md: `python -m tools.release_notes v1.2.3`.

It fails if the tag is not that of the package's version, or the section is missing.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import kalypso_actions

CHANGELOG = Path(__file__).resolve().parents[1] / "CHANGELOG.md"


class ReleaseError(Exception):
    """The release has no notes, or a wrong tag."""


def notes(tag: str, version: str, changelog: str) -> str:
    """Return the text below the heading `## [<version>] - <date>`. Raises ReleaseError."""
    if tag != f"v{version}":
        raise ReleaseError(f"the tag {tag} is not that of the package's version {version}")
    heading = rf"^## \[{re.escape(version)}\] - \d{{4}}-\d\d-\d\d\n(.*?)(?=^## |^\[|\Z)"
    section = re.search(heading, changelog, re.MULTILINE | re.DOTALL)
    text = section[1].strip() if section else ""
    if not text:
        raise ReleaseError(f"CHANGELOG.md has no section {version} with a date and a text")
    return text


def main() -> None:
    """Print the notes of the tag that the argument names."""
    try:
        (tag,) = sys.argv[1:]
        print(notes(tag, kalypso_actions.__version__, CHANGELOG.read_text(encoding="utf-8")))
    except (ReleaseError, ValueError) as error:
        sys.exit(f"release_notes: {error}")


if __name__ == "__main__":
    main()
