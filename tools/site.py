"""Hooks of mkdocs: the first page, links, and diagrams.

The README is the first page. Diagrams appear as drawn by tools/diagrams.py. A link to a file of
the repository leads to `repo_url` of mkdocs.yml; without it, only the link's text remains.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Final

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from tools.diagrams import name_of

README: Final = "README.md"
INDEX: Final = "index.md"
DOCS: Final = "docs"

TOKEN: Final = re.compile(
    r"```mermaid\n(?P<diagram>.*?)```"
    r"|(?P<code>^(?P<fence> *`{3,})[^\n]*\n.*?^(?P=fence)`*$|`[^`\n]+`)"
    r"|\[(?P<text>(?:[^\[\]]|\[[^\[\]]*\])*)\]\((?P<target>[^()\s#]+)(?P<anchor>#[^()\s]*)?\)",
    re.MULTILINE | re.DOTALL,
)
"""A diagram, other code, or a link."""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the README as the first page."""
    readme = Path(config.docs_dir).parent / README
    text = readme.read_text(encoding="utf-8")
    files.append(File.generated(config, INDEX, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Rewrite the links of a page, and replace its diagrams by drawings."""
    folder = "" if page.file.src_uri == INDEX else posixpath.dirname(f"{DOCS}/{page.file.src_uri}")

    def rewrite(token: re.Match[str]) -> str:
        if token["diagram"]:
            drawing = _from(page, f"diagrams/{name_of(token['diagram'])}")
            return f"![Diagram]({drawing})"
        text, target, anchor = token["text"], token["target"], token["anchor"] or ""
        if token["code"] or "://" in target:
            return token[0]
        path = posixpath.normpath(posixpath.join(folder, target))
        inside = INDEX if path == README else path.removeprefix(f"{DOCS}/")
        if path == README or (path != inside and files.get_file_from_path(inside)):
            return f"[{text}]({_from(page, inside)}{anchor})"
        if config.repo_url:
            return f"[{text}]({config.repo_url.rstrip('/')}/blob/HEAD/{path}{anchor})"
        return text

    return TOKEN.sub(rewrite, markdown)


def _from(page: Page, path: str) -> str:
    """Return a path relative to a page."""
    return posixpath.relpath(path, posixpath.dirname(page.file.src_uri) or ".")
