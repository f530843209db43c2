"""`html`, `js` and `urlquery`: escape a text for another language."""

from __future__ import annotations

import re
from urllib.parse import quote_plus

from kalypso_go.gotemplate.characters import is_print
from kalypso_go.gotemplate.text import normal, to_bytes

_HTML = str.maketrans(
    {"\0": "\ufffd", '"': "&#34;", "'": "&#39;", "&": "&amp;", "<": "&lt;", ">": "&gt;"}
)
_JS = {"\\": r"\\", "'": r"\'", '"': r"\""}
_JS_SPECIAL = re.compile("[\\\\'\"<>&=\0-\x1f]|[^\0-\x7f]")


def escape_html(text: str) -> str:
    """Go's `template.HTMLEscapeString`."""
    return text.translate(_HTML)


def escape_js(text: str) -> str:
    """Go's `template.JSEscapeString`: also escape Unicode characters that are not printable."""
    return _JS_SPECIAL.sub(_escape_js, normal(text))


def _escape_js(match: re.Match[str]) -> str:
    rune = match.group()
    if rune in _JS:
        return _JS[rune]
    if rune >= "\x80" and ("\udc80" <= rune <= "\udcff" or is_print(rune)):
        return rune
    return f"\\u{ord(rune):04X}"


def escape_query(text: str) -> str:
    """Go's `url.QueryEscape`."""
    return quote_plus(to_bytes(text), safe="")
