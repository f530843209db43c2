"""GitHub's limits on the length of texts, and functions that truncate longer ones.

GitHub refuses a longer text with 422. Truncation is deterministic, so that a later run recognizes
the text that it wrote.
"""

from __future__ import annotations

import re
from typing import Final

TITLE: Final = 256
BODY: Final = 60_000
"""GitHub's limit is 65,536; a truncated text also gets the note and the ends of open blocks."""
STATUS_DESCRIPTION: Final = 140
STATUS_CONTEXT: Final = 255
LABEL_NAME: Final = 50
LABEL_DESCRIPTION: Final = 100

TRUNCATION_NOTE: Final = "_This text was longer than GitHub allows; its end is missing._"

_FENCE = re.compile(r" {0,3}(`{3,200}|~{3,200})")


def truncate(text: str, length: int) -> str:
    """Truncate `text` to `length` characters, with an ellipsis at the end."""
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"


def truncate_body(text: str) -> str:
    """Truncate the body of a pull request, issue or comment at the end of a line; add a note.

    Close an open code block and open `<details>`, so that the note is visible.
    """
    if len(text) <= BODY:
        return text
    kept = text[: text.rfind("\n", 0, BODY + 1)] if "\n" in text[: BODY + 1] else text[:BODY]
    fence = _open_fence(kept)
    details = kept.count("<details") - kept.count("</details>")
    closing = [fence] if fence else []
    closing += ["</details>"] * min(max(details, 0), 100)
    return "\n".join([kept, *closing, "", TRUNCATION_NOTE])


def same_text(first: str, second: str) -> bool:
    """Whether two bodies are equal apart from CRLF and trailing space, which GitHub changes."""
    return _normalize(first) == _normalize(second)


def _normalize(text: str) -> str:
    return text.replace("\r\n", "\n").rstrip()


def _open_fence(text: str) -> str:
    """Return the fence of the code block that is open at the end of a Markdown text, or ""."""
    open_fence = ""
    for line in text.splitlines():
        match = _FENCE.match(line)
        if match is None:
            continue
        fence = match[1]
        if not open_fence:
            open_fence = fence
        elif fence.startswith(open_fence) and not line[match.end() :].strip():
            open_fence = ""
    return open_fence
