"""The parts of the page, which are files of the package."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from kalypso_actions import report
from kalypso_actions.report.report_document import PageParts

FOLDER: Final = Path(report.__file__).parent / "page_parts"
SCRIPTS: Final = ("elements", "overview", "matrix", "detail", "start")
"""The parts of the script, in order."""


def page_parts() -> PageParts:
    """Read the style, the script and the body of the page."""
    script = "\n".join(_text(f"{name}.js") for name in SCRIPTS)
    return PageParts(_text("page.css"), script, _text("body.html"))


def _text(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")
