"""The documentation's site: complete, and without other servers."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tools.diagrams import diagrams

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
LOADED = re.compile(r"<(?:script|img|iframe)[^>]* src=\"?([^\" >]+)|<link[^>]*>")
FROM_ELSEWHERE = re.compile(r"https?://|^//")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1", "PYTHONUTF8": "1"},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return folder


def test_the_readme_is_the_first_page(site: Path) -> None:
    text = (site / "index.html").read_text(encoding="utf-8")
    assert 'href="guide/model.html"' in text
    assert "docs/guide" not in text


def test_pages_load_nothing_from_elsewhere(site: Path) -> None:
    for page in site.rglob("*.html"):
        for tag in LOADED.finditer(page.read_text(encoding="utf-8")):
            if "canonical" not in tag[0]:
                assert not FROM_ELSEWHERE.search(tag[1] or tag[0]), page


def test_every_diagram_is_drawn(site: Path) -> None:
    names = {path.name for path in (ROOT / "docs" / "diagrams").iterdir()}
    assert names == set(diagrams())
    shown = set()
    for page in site.rglob("*.html"):
        shown |= set(re.findall(r"diagrams/([0-9a-f]+\.svg)", page.read_text(encoding="utf-8")))
    assert shown == names


def test_links_out_of_the_documentation_are_their_text(site: Path) -> None:
    text = (site / "guide" / "templates.html").read_text(encoding="utf-8")
    assert "samples/templates/zarf.yaml" in text
    assert 'href="../../samples' not in text
