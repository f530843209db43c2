"""Writes that happen once, even if a response is lost.

A response can be lost after GitHub has acted, and a proxy can deliver a request twice. Therefore
these functions search for the result before they write, and again after each failure after which
GitHub may have acted. They repeat the write only if the result is still missing.

GitHub refuses too long a text with 422. Texts are truncated in a deterministic way, so that a later
run recognizes the text that it wrote.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, Literal, TypeVar

from kalypso_actions.clients.github.connection import GitHub
from kalypso_actions.clients.github.errors import GitHubError

T = TypeVar("T")

WriteResult = Literal["created", "updated", "unchanged"]
"""The action of an `ensure` function."""

DELAYS: Final = (1.0, 3.0, 10.0)
"""Seconds to wait after each uncertain failure, because GitHub's lists lag behind its writes."""

CONFLICT_STATUSES: Final = frozenset({404, 405, 409, 422})
"""The write does not fit the current state: perhaps it has already happened."""


def write_if_absent(
    github: GitHub, find: Callable[[], T | None], write: Callable[[], T]
) -> tuple[T, bool]:
    """Return the result of `find`, or write it; also return whether this call wrote it.

    `find` returns None while the result is missing. Raises GitHubError as `write_verified` does.
    """
    existing = find()
    if existing is not None:
        return existing, False
    return write_verified(github, find, write), True


def write_verified(github: GitHub, find: Callable[[], T | None], write: Callable[[], T]) -> T:
    """Write a result that is known to be missing.

    After an uncertain failure, search for the result and write again only if it is missing. After
    a conflict, search once: the result may exist already. Raises GitHubError: the refusal, or the
    failure of the last attempt.
    """
    attempts = len(DELAYS)
    while True:
        try:
            return write()
        except GitHubError as error:
            if error.uncertain:
                github.sleep(DELAYS[-attempts])
                attempts -= 1
            elif error.status not in CONFLICT_STATUSES:
                raise
            existing = find()
            if existing is not None:
                return existing
            if not error.uncertain or not attempts:
                raise


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
