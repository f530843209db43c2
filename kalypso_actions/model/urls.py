"""URLs of repositories: their normal form, equality, owner and name, loopback addresses."""

from __future__ import annotations

import ipaddress
import re
import unicodedata
from typing import Final
from urllib.parse import SplitResult, quote, unquote_to_bytes, urlsplit

from kalypso_actions.errors import KalypsoError, Location

_OWNER_AND_NAME = re.compile(r"(?P<owner>[A-Za-z0-9_-]+)/(?!\.{1,2}\Z)[A-Za-z0-9._-]+")
"""The names of managed accounts contain a `_`."""


MAX_LENGTH: Final = 2048
MOST_SHOWN: Final = 100

DEFAULT_PORTS: Final = {"https": "443", "http": "80", "ssh": "22", "git": "9418"}

OTHER_HOSTS: Final = {"ssh.github.com": "github.com", "ssh.github.com:443": "github.com"}
"""Hosts that serve the repositories of another host.

https://docs.github.com/authentication/troubleshooting-ssh/using-ssh-over-the-https-port
"""

_SCP_URL = re.compile(r"((?:[\w.-]+@)?(?:[\w.-]{2,}|\[[0-9a-fA-F:]+\])):(?!//)(.*)")
"""`git@host:owner/name`; a single letter before a colon is a Windows drive."""

_WINDOWS_PATH = re.compile(r"[A-Za-z]:[\\/]")
_TOKEN = re.compile(r"gh[pousr]_|github_pat_|glpat-")
_LOGIN = re.compile(r"//[^/]*@")
_HOST = re.compile(r"(?!-)[a-z0-9_-]+(?:\.[a-z0-9_-]+)*|\[[0-9a-f:.]+\]")
"""A name in ASCII or an address; git interprets `*` and `%` in the host of a URL."""
_USER = re.compile(r"\w[\w.+-]*", re.ASCII)
_ENCODED = re.compile(r"%(?:([0-9A-Fa-f]{2})|)")
_NEVER_ENCODED: Final = frozenset("/\\.%?#;:@")
"""Characters with a meaning in URLs: servers and proxies decode them at different times."""
_PATH_CHARACTERS: Final = "-._~!$&'()*+,;=:@"
"""RFC 3986, pchar."""


def normal_url(url: str) -> str:
    """Return the normal form of a repository's URL, for checks, comparisons and git.

    Scheme and host are in lower case; there is no default port, no final `/`, and no user name
    except for ssh. `https://org@dev.azure.com/…` is how Azure DevOps writes its URLs. The scp form
    stays, since its path can be relative. Raises KalypsoError for a URL that servers, proxies and
    this check could interpret differently.
    """
    if len(url) > MAX_LENGTH:
        message = f"the URL of a repository must not have more than {MAX_LENGTH} characters"
        raise KalypsoError(message, Location(f"{without_secret(url[:MOST_SHOWN])}…"))
    parts = split(url)
    where = Location(without_secret(url))
    if url.startswith("-") or (parts.hostname or "").startswith("-"):
        raise KalypsoError("the URL of a repository must not begin with '-'", where)
    if _has_secret(parts):
        advice = "remove it from the URL, and pass it in git-credentials"
        raise KalypsoError("the URL contains a password or token", where, advice)
    host = _normal_host(parts)
    user = parts.netloc.rpartition("@")[0] if parts.scheme == "ssh" else ""
    # remote::address starts the program git-remote-REMOTE.
    is_url = parts.scheme != "file" and host and "::" not in url.partition("/")[0]
    is_plain = url.isprintable() and not set(" \\") & set(url)
    if not is_url or not is_plain or (user and not _USER.fullmatch(user)):
        raise KalypsoError("this is not the URL of a repository", where, _advice(url, parts))
    if "?" in url or "#" in url:
        raise KalypsoError("the URL of a repository must not have a query or a fragment", where)
    segments = parts.path.removesuffix("/").split("/")[1:]
    for segment in segments:
        message = _segment_fault(segment)
        if message:
            raise KalypsoError(f"the URL of a repository must not have {message}", where)
    server = f"{user}@{host}" if user else host
    if "://" not in url:
        # The scp form tells an absolute path from one in the user's home.
        return f"{server}:{url.partition(':')[2] if host[0] != '[' else url.partition(']:')[2]}"
    path = "".join(f"/{_normal_segment(segment)}" for segment in segments)
    return f"{parts.scheme}://{server}{path}"


def split(url: str) -> SplitResult:
    """Split a URL; `user@host:path` is ssh, and a path without a scheme is file.

    An invalid URL has no scheme.
    """
    if "://" in url:
        try:
            parts = urlsplit(url)
            _ = parts.port, parts.hostname
        except ValueError:
            return SplitResult("", "", url, "", "")
        return parts
    scp_url = _SCP_URL.fullmatch(url)
    if scp_url and not _WINDOWS_PATH.match(url):
        return SplitResult("ssh", scp_url[1], "/" + scp_url[2].lstrip("/"), "", "")
    return SplitResult("file", "", url, "", "")


def without_secret(url: str) -> str:
    """Return the URL with masked secrets: passwords, and every user name of https."""
    parts = split(url)
    if not parts.scheme:
        return _LOGIN.sub("//***@", url)
    # Some servers take a token as the user, and only a few tokens have a known form.
    is_login = parts.scheme in {"http", "https"} and "@" in parts.netloc
    if not (is_login or _has_secret(parts)):
        return url
    return parts._replace(netloc="***@" + parts.netloc.rpartition("@")[2]).geturl()


def owner_of(repository: str) -> str | None:
    """Return the owner in `owner/name`; None for any other text."""
    match = _OWNER_AND_NAME.fullmatch(repository)
    return match["owner"] if match else None


def repository_key(url: str) -> str:
    """Return a key that is equal for URLs of the same repository.

    It ignores case, a final `.git` or `/`, user names, default ports, and the ssh or https form.
    The key of an invalid URL is "".
    """
    parts = split(url.strip())
    if not parts.scheme:
        return ""
    # In the scp form, digits after the colon belong to the path.
    place = f"{_host(parts.netloc, DEFAULT_PORTS.get(parts.scheme, ''))}{parts.path}"
    place = place.rstrip("/").lower()
    return place.removesuffix(".git").rstrip("/")


def name_in(url: str) -> str:
    """Return `owner/name` of a repository's URL, in the case of the URL."""
    path = urlsplit(url).path if "://" in url else url.partition(":")[2]
    return path.strip("/").removesuffix(".git")


def web_page(url: str) -> str:
    """Return the page of a repository `owner/name` on its server; "" for paths and other names."""
    parts = split(url)
    if parts.scheme not in {"http", "https", "ssh"} or owner_of(name_in(url)) is None:
        return ""
    scheme = "http" if parts.scheme == "http" else "https"
    # A web page does not have the port of ssh.
    host = _host(parts.netloc) if parts.scheme != "ssh" else parts.hostname or ""
    return f"{scheme}://{OTHER_HOSTS.get(host, host)}/{name_in(url)}"


def is_loopback(url: str) -> bool:
    """Whether a URL's host is a loopback address."""
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _has_secret(parts: SplitResult) -> bool:
    user = parts.username or ""
    return parts.password is not None or _TOKEN.match(user) is not None


def _advice(url: str, parts: SplitResult) -> str:
    """Return advice on a text that is not a URL; "" if there is none."""
    is_foreign = not (parts.hostname or "").isascii()
    is_bare = parts.scheme == "file" and "://" not in url and url[:1] not in {"", "/", "-"}
    is_ssh = parts.scheme == "ssh" and "@" in parts.netloc
    faults = (
        (is_foreign, "write the name of the server in ASCII (xn--…)"),
        (" " in url, "write %20 for a space"),
        ("\\" in url, "write / for a backslash, and a user of ssh without a domain"),
        (not parts.scheme, "after the server, a : begins a port, which is a number up to 65535"),
        (is_bare, "begin it with https://"),
        (is_ssh, "the user of ssh consists of letters, digits, and . _ + -"),
    )
    return next((advice for is_fault, advice in faults if is_fault), "")


def _normal_host(parts: SplitResult) -> str:
    """Return the host in lower case with a port that is not the default; "" if it is invalid."""
    name = (parts.hostname or "").removesuffix(".")
    name = f"[{name}]" if ":" in name else name
    if not _HOST.fullmatch(name):
        return ""
    is_default = parts.port is None or str(parts.port) == DEFAULT_PORTS.get(parts.scheme)
    return name if is_default else f"{name}:{parts.port}"


def _segment_fault(segment: str) -> str:
    """Return the part of a path that two programs could read differently; "" for none."""
    if not segment:
        return "// in its path"
    try:
        text = unicodedata.normalize("NFKC", unquote_to_bytes(segment).decode())
    except UnicodeDecodeError:
        return "bytes in its path that are not UTF-8"
    # Servers in Java cut parameters off: `..;x`.
    if not text.partition(";")[0].strip(" ."):
        return ". or .. in its path"
    for encoded in _ENCODED.finditer(segment):
        character = chr(int(encoded[1], 16)) if encoded[1] else "%"
        if character in _NEVER_ENCODED:
            return f"{encoded[0]} in its path"
    if not text.isprintable():
        return "control characters in its path"
    is_slash = "/" in text or "\\" in text
    return "backslashes, or letters that look like slashes, in its path" if is_slash else ""


def _normal_segment(segment: str) -> str:
    return quote(unquote_to_bytes(segment), safe=_PATH_CHARACTERS)


def _host(netloc: str, default_port: str = "") -> str:
    """Return the host in lower case, with its port unless that is the default."""
    host = netloc.rpartition("@")[2].lower()
    host = OTHER_HOSTS.get(host, host)
    name, _, port = host.rpartition(":")
    return name if name and port == default_port else host
