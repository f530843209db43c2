"""Names of accounts and repositories, which become folders, and of refs: what GitHub takes."""

from __future__ import annotations

import re
from typing import Final

LOGIN: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}(\[bot\])?")
REPOSITORY: Final = re.compile(r"(?!\.+\Z)[A-Za-z0-9._-]{1,100}(?<!\.git)(?<!\.wiki)")

INVALID_REF: Final = re.compile(
    r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|/\.|\.lock(?:/|\Z)|[./]\Z|\ufffd|[\ud800-\udfff]"
)
"""What no ref's name holds: https://git-scm.com/docs/git-check-ref-format"""


def is_valid_login(text: str) -> bool:
    """Whether an account, or a bot's, can be called so."""
    return LOGIN.fullmatch(text) is not None


def is_valid_repository_name(text: str) -> bool:
    """Whether a repository can be called so in its account: `x.git` would be the clone of `x`."""
    return REPOSITORY.fullmatch(text) is not None


def is_valid_ref(text: str) -> bool:
    """Whether a branch, tag or the like can be called so in full: `refs/heads/main`."""
    parts = text.split("/")
    return len(parts) > 2 and parts[0] == "refs" and parts[1] != "" and not INVALID_REF.search(text)
