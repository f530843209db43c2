"""Draw the pages' Mermaid diagrams for the site, which loads nothing from other servers.

python -m tools.diagrams            draw missing diagrams, remove unused ones
python -m tools.diagrams --check    write nothing; exit 1 and list missing and unused ones

GitHub draws diagrams itself. This tool needs npm, and Chromium as `chromium` or in CHROMIUM.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
FOLDER: Final = ROOT / "docs" / "diagrams"
BUILD: Final = ROOT / ".build" / "mermaid"

MERMAID: Final = "11.17.2"
BLOCK: Final = re.compile(r"```mermaid\n(.*?)```", re.DOTALL)
DRAWING: Final = re.compile(r"<svg id=\"diagram\".*</svg>", re.DOTALL)

PAGE: Final = """\
<!doctype html><meta charset="utf-8"><body><script src="{script}"></script><script type="module">
mermaid.initialize({{startOnLoad: false, theme: "neutral", htmlLabels: false,
  fontFamily: "sans-serif", deterministicIds: true}});
const {{svg}} = await mermaid.render("diagram", {text});
document.body.insertAdjacentHTML("beforeend", svg);
</script>
"""


def name_of(text: str) -> str:
    """Return the file name of a diagram's drawing."""
    return f"{hashlib.sha256(text.encode()).hexdigest()[:12]}.svg"


def diagrams() -> dict[str, str]:
    """Return the text of each diagram, by the file name of its drawing."""
    pages = (*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"))
    texts = (text for page in pages for text in BLOCK.findall(page.read_text(encoding="utf-8")))
    return {name_of(text): text for text in texts}


def main() -> int:
    """Draw or check; return 1 if a drawing is missing or unused."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing, list differences")
    wanted = diagrams()
    present = {path.name for path in FOLDER.glob("*.svg")}
    missing, stale = sorted(wanted.keys() - present), sorted(present - wanted.keys())
    if parser.parse_args().check:
        for name in (*missing, *stale):
            print(f"docs/diagrams/{name} is missing or unused: run make diagrams")
        return 1 if missing or stale else 0
    FOLDER.mkdir(exist_ok=True)
    for name in missing:
        (FOLDER / name).write_text(drawn(wanted[name]), encoding="utf-8")
    for name in stale:
        (FOLDER / name).unlink()
    return 0


def drawn(text: str) -> str:
    """Draw a diagram as SVG, on white, so that it is visible on dark pages."""
    page = BUILD / "page.html"
    script = mermaid().as_uri()
    page.write_text(PAGE.format(script=script, text=_literal(text)), encoding="utf-8")
    done = subprocess.run(
        [
            *(os.environ.get("CHROMIUM", "chromium"), "--headless", "--no-sandbox"),
            *("--virtual-time-budget=20000", "--dump-dom", page.as_uri()),
        ],
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    drawing = DRAWING.search(done.stdout)
    if drawing is None:
        raise SystemExit(f"Mermaid cannot draw this:\n{text}")
    return drawing[0].replace('style="', 'style="background-color: white; ', 1).rstrip() + "\n"


def mermaid() -> Path:
    """Return the path of Mermaid's script, downloaded from npm once."""
    program = BUILD / "package" / "dist" / "mermaid.min.js"
    if not program.exists():
        BUILD.mkdir(parents=True, exist_ok=True)
        command = ["npm", "pack", f"mermaid@{MERMAID}", "--silent"]
        subprocess.run(command, cwd=BUILD, check=True, stdout=subprocess.DEVNULL)
        with tarfile.open(BUILD / f"mermaid-{MERMAID}.tgz") as package:
            package.extractall(BUILD, filter="data")
    return program


def _literal(text: str) -> str:
    """Format a text as a JavaScript literal that cannot end the script element."""
    escaped = text.replace("\\", "\\\\").replace("`", "\\`").replace("${", "\\${")
    return "`" + escaped.replace("</", "<\\/") + "`"


if __name__ == "__main__":
    sys.exit(main())
