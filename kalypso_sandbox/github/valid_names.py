"""GitHub's rules for names of accounts and repositories, which become folders, and of refs."""

from __future__ import annotations

import re
from typing import Final

LOGIN: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}(\[bot\])?")
REPOSITORY: Final = re.compile(r"(?!\.+\Z)[A-Za-z0-9._-]{1,100}(?<!\.git)(?<!\.wiki)")

INVALID_REF: Final = re.compile(
    r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|/\.|\.lock(?:/|\Z)|[./]\Z|\ufffd|[\ud800-\udfff]"
)
"""The forbidden parts of a ref's name: https://git-scm.com/docs/git-check-ref-format"""


def is_valid_login(text: str) -> bool:
    """Return whether the text is a valid login of an account or a bot."""
    return LOGIN.fullmatch(text) is not None


def is_valid_repository_name(text: str) -> bool:
    """Return whether the name is valid. `x.git` is not: it is the clone URL of `x`."""
    return REPOSITORY.fullmatch(text) is not None


def is_valid_ref(text: str) -> bool:
    """Return whether the text is a full ref, such as `refs/heads/main`."""
    parts = text.split("/")
    return len(parts) > 2 and parts[0] == "refs" and parts[1] != "" and not INVALID_REF.search(text)
