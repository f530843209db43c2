"""Temporary folders and an environment for programs that render other people's files."""

from __future__ import annotations

from pathlib import Path
from typing import Final

NOTHING_LISTENS: Final = "http://127.0.0.1:9"
"""A proxy address where nothing listens (port 9, discard), so that every request fails at once."""

_PROXIES: Final = (
    *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"),
    *("http_proxy", "https_proxy", "all_proxy"),
)


def no_network() -> dict[str, str]:
    """Return variables that keep a Go program off the network."""
    return {
        **dict.fromkeys(_PROXIES, NOTHING_LISTENS),
        **dict.fromkeys(("NO_PROXY", "no_proxy"), ""),
    }


def write_file(root: Path, path: str, content: bytes) -> None:
    """Write a file. Raises ValueError if its path leaves the folder, a bug of the caller."""
    file = root / path
    if not file.resolve().is_relative_to(root.resolve()):
        raise ValueError(f"{path!r} leaves the folder")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)
