"""Write or check the generated files."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from kalypso_actions.commands.schemas import editor_files
from tools import reference
from tools.reference.actions import ACTIONS, action_file
from tools.reference.actions_page import actions_text
from tools.reference.commands import commands_text
from tools.reference.problems import problems_text
from tools.reference.promotion import promotion_text, with_lifecycle
from tools.reference.schemas import openapi_text, schema_files

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = "docs/reference"
PROMOTION = "docs/guide/promotion.md"


def main() -> int:
    """Write or check; return 1 if a file is stale."""
    parser = argparse.ArgumentParser(description=(reference.__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing, list differences")
    files = written_files()
    if parser.parse_args().check:
        return check(files)
    for stale in present() - files.keys():
        (ROOT / stale).unlink()
    for name, text in files.items():
        (ROOT / name).parent.mkdir(parents=True, exist_ok=True)
        (ROOT / name).write_text(text, encoding="utf-8", newline="\n")
    return 0


def check(files: dict[str, str]) -> int:
    """Compare the files with the code."""
    wrong = [
        name
        for name in sorted(present() | files.keys())
        if name not in files
        or not (ROOT / name).exists()
        or (ROOT / name).read_text(encoding="utf-8") != files[name]
    ]
    for name in wrong:
        print(f"{name} is stale: run make docs")
    return 1 if wrong else 0


def present() -> set[str]:
    """Return the existing files that only this tool writes."""
    files = (path for path in (ROOT / REFERENCE).rglob("*") if path.is_file())
    return {path.relative_to(ROOT).as_posix() for path in files}


def written_files() -> dict[str, str]:
    """Return the text of every file, by path."""
    return {
        **{f"{REFERENCE}/{name}": text for name, text in schema_files().items()},
        f"{REFERENCE}/hub.openapi.json": openapi_text(),
        **{f"{REFERENCE}/schemas/{name}": text for name, text in editor_files().items()},
        f"{REFERENCE}/actions.md": actions_text(),
        f"{REFERENCE}/commands.md": commands_text(),
        f"{REFERENCE}/problems.md": problems_text(),
        f"{REFERENCE}/promotion.md": promotion_text(),
        **{action.path: action_file(action) for action in ACTIONS},
        PROMOTION: with_lifecycle((ROOT / PROMOTION).read_text(encoding="utf-8")),
    }


if __name__ == "__main__":
    sys.exit(main())
