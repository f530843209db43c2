"""URLs of repositories: equality, owner and name, loopback addresses."""

from __future__ import annotations

import ipaddress
import re
from urllib.parse import urlsplit

_SCP_FORM = re.compile(r"(?:[^@/\s]+@)?(?P<host>[^:/\s]{2,}):(?P<path>[^\s].*)\Z")
"""`git@host:owner/name`; a single letter before a colon is a Windows drive."""

_OWNER_AND_NAME = re.compile(r"(?P<owner>[A-Za-z0-9_-]+)/(?!\.{1,2}\Z)[A-Za-z0-9._-]+")
"""The names of managed accounts contain a `_`."""


def owner_of(repository: str) -> str | None:
    """Return the owner in `owner/name`; None for any other text."""
    match = _OWNER_AND_NAME.fullmatch(repository)
    return match["owner"] if match else None


def repository_key(url: str) -> str:
    """Return a key that is equal for URLs of the same repository.

    It ignores case, a final `.git` or `/`, user names, and the ssh or https form.
    """
    text = url.strip()
    scp = None if "://" in text else _SCP_FORM.match(text)
    if scp:
        place = f"{scp['host']}/{scp['path'].lstrip('/')}"
    elif "://" in text:
        parts = urlsplit(text)
        host = parts.netloc.rpartition("@")[2]
        place = f"{host}{parts.path}"
    else:
        place = text
    place = place.rstrip("/").lower()
    return place.removesuffix(".git").rstrip("/")


def name_in(url: str) -> str:
    """Return `owner/name` of a repository's URL, in the case of the URL."""
    path = urlsplit(url).path if "://" in url else url.partition(":")[2]
    return path.strip("/").removesuffix(".git")


def is_loopback(url: str) -> bool:
    """Whether a URL's host is a loopback address."""
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
