"""How long GitHub lets texts be, and how longer ones are cut.

GitHub refuses a longer text with 422; a cut one that says so is worth more than none. Cutting is
the same each time, so that what was written is recognised.
"""

from __future__ import annotations

import re
from typing import Final

TITLE: Final = 256
BODY: Final = 60_000
"""GitHub takes 65,536 characters; the note and what closes open blocks come behind the cut."""
STATUS_DESCRIPTION: Final = 140
STATUS_CONTEXT: Final = 255
LABEL_NAME: Final = 50
LABEL_DESCRIPTION: Final = 100

TRUNCATION_NOTE: Final = "_This text was longer than GitHub allows: its end is left out._"

_FENCE = re.compile(r" {0,3}(`{3,200}|~{3,200})")


def truncate(text: str, length: int) -> str:
    """`text` with at most `length` characters; an ellipsis stands for what is missing."""
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"


def truncate_body(text: str) -> str:
    """A body of a pull request, issue or comment: cut at the end of a line, with a note.

    A code block and `<details>` that the cut leaves open are closed, so that the note is seen.
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
    """Whether two bodies say the same: GitHub's editor writes CRLF and GitHub trims the end."""
    return _normal(first) == _normal(second)


def _normal(text: str) -> str:
    return text.replace("\r\n", "\n").rstrip()


def _open_fence(text: str) -> str:
    """The fence of the code block in which a Markdown text ends, or ""."""
    opened = ""
    for line in text.splitlines():
        match = _FENCE.match(line)
        if match is None:
            continue
        fence = match[1]
        if not opened:
            opened = fence
        elif fence.startswith(opened) and not line[match.end() :].strip():
            opened = ""
    return opened
