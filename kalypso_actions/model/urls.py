"""URLs of repositories: equality, owner and name, loopback addresses."""

from __future__ import annotations

import ipaddress
import re
from typing import Final
from urllib.parse import urlsplit

_SCP_FORM = re.compile(r"(?:[^@/\s]+@)?(?P<host>[^:/\s]{2,}):(?P<path>[^\s].*)\Z")
"""`git@host:owner/name`; a single letter before a colon is a Windows drive."""

_OWNER_AND_NAME = re.compile(r"(?P<owner>[A-Za-z0-9_-]+)/(?!\.{1,2}\Z)[A-Za-z0-9._-]+")
"""The names of managed accounts contain a `_`."""


DEFAULT_PORTS: Final = {"https": "443", "http": "80", "ssh": "22", "git": "9418"}

OTHER_HOSTS: Final = {"ssh.github.com": "github.com", "ssh.github.com:443": "github.com"}
"""Hosts that serve the repositories of another one.

https://docs.github.com/authentication/troubleshooting-ssh/using-ssh-over-the-https-port
"""


def owner_of(repository: str) -> str | None:
    """Return the owner in `owner/name`; None for any other text."""
    match = _OWNER_AND_NAME.fullmatch(repository)
    return match["owner"] if match else None


def repository_key(url: str) -> str:
    """Return a key that is equal for URLs of the same repository.

    It ignores case, a final `.git` or `/`, user names, default ports, and the ssh or https form.
    """
    text = url.strip()
    scp = None if "://" in text else _SCP_FORM.match(text)
    if scp:
        place = f"{_host(scp['host'])}/{scp['path'].lstrip('/')}"
    elif "://" in text:
        parts = urlsplit(text)
        place = f"{_host(parts.netloc, DEFAULT_PORTS.get(parts.scheme, ''))}{parts.path}"
    else:
        place = text
    place = place.rstrip("/").lower()
    return place.removesuffix(".git").rstrip("/")


def _host(netloc: str, default_port: str = "") -> str:
    """Return the host in lower case, with its port unless that is the default."""
    host = netloc.rpartition("@")[2].lower()
    host = OTHER_HOSTS.get(host, host)
    name, _, port = host.rpartition(":")
    return name if name and port == default_port else host


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
