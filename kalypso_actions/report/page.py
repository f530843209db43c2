"""The report as one HTML page, which needs no network and works from a file.

The data are compressed and in base64, so no name in them can close the script element. The
content security policy allows the page's own script and style by their hashes, and nothing else.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import html
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PageParts:
    """The texts of `page_parts`; in the body, TITLE is the place of the heading."""

    style: str
    script: str
    body: str


def report_page(title: str, data: str, parts: PageParts) -> str:
    """Return the page with a heading and the JSON text of the report."""
    style, script = parts.style, parts.script
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    # A timestamp in the compressed data would make equal reports differ.
    compressed = gzip.compress(data.encode("utf-8", "backslashreplace"), mtime=0)
    return "".join(
        (
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n',
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n',
            '<meta name="color-scheme" content="light dark">\n',
            f"<title>{html.escape(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n",
            parts.body.replace("TITLE", html.escape(title)),
            '<script type="application/octet-stream" id="data">',
            base64.b64encode(compressed).decode(),
            f"</script>\n<script>{script}</script>\n</body>\n</html>\n",
        )
    )


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"
