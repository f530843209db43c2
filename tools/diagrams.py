"""Draw the pages' Mermaid diagrams for the site, which loads nothing from elsewhere.

python -m tools.diagrams            draw those that are missing, remove those that are not used
python -m tools.diagrams --check    write nothing; exit 1 and list what is missing or not used

GitHub draws them by itself. Drawing needs npm, and Chromium as `chromium` or in CHROMIUM.
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
    """The file that a diagram is drawn into, by its text."""
    return f"{hashlib.sha256(text.encode()).hexdigest()[:12]}.svg"


def diagrams() -> dict[str, str]:
    """The text of each diagram of the pages, by its file's name."""
    pages = (*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"))
    texts = (text for page in pages for text in BLOCK.findall(page.read_text(encoding="utf-8")))
    return {name_of(text): text for text in texts}


def main() -> int:
    """Draw or check; 1 where a drawing is missing or not used."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing, list differences")
    wanted = diagrams()
    present = {path.name for path in FOLDER.glob("*.svg")}
    missing, stale = sorted(wanted.keys() - present), sorted(present - wanted.keys())
    if parser.parse_args().check:
        for name in (*missing, *stale):
            print(f"docs/diagrams/{name} is missing or not used: run make diagrams")
        return 1 if missing or stale else 0
    FOLDER.mkdir(exist_ok=True)
    for name in missing:
        (FOLDER / name).write_text(drawn(wanted[name]), encoding="utf-8")
    for name in stale:
        (FOLDER / name).unlink()
    return 0


def drawn(text: str) -> str:
    """A diagram as SVG, on white, which stands out of a dark page."""
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
    found = DRAWING.search(done.stdout)
    if found is None:
        raise SystemExit(f"Mermaid cannot draw this:\n{text}")
    return found[0].replace('style="', 'style="background-color: white; ', 1).rstrip() + "\n"


def mermaid() -> Path:
    """Mermaid's program, from npm once."""
    program = BUILD / "package" / "dist" / "mermaid.min.js"
    if not program.exists():
        BUILD.mkdir(parents=True, exist_ok=True)
        command = ["npm", "pack", f"mermaid@{MERMAID}", "--silent"]
        subprocess.run(command, cwd=BUILD, check=True, stdout=subprocess.DEVNULL)
        with tarfile.open(BUILD / f"mermaid-{MERMAID}.tgz") as package:
            package.extractall(BUILD, filter="data")
    return program


def _literal(text: str) -> str:
    """The text as one of JavaScript, which cannot end the script."""
    escaped = text.replace("\\", "\\\\").replace("`", "\\`").replace("${", "\\${")
    return "`" + escaped.replace("</", "<\\/") + "`"


if __name__ == "__main__":
    sys.exit(main())
