"""The parts of the page, which are files of the package."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from kalypso_actions import report
from kalypso_actions.report.page import PageParts

FOLDER: Final = Path(report.__file__).parent / "page_parts"


def page_parts() -> PageParts:
    """Read the style, the script and the body of the page."""
    style, script, body = (
        (FOLDER / name).read_text(encoding="utf-8") for name in ("page.css", "page.js", "body.html")
    )
    return PageParts(style, script, body)
