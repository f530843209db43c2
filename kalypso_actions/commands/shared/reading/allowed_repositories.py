"""The repositories that a run may read; it refuses others before any network request."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Self
from urllib.parse import urlsplit

from kalypso_actions.clients.git.urls import Authorize, no_credential
from kalypso_actions.errors import KalypsoError, Location, UsageError
from kalypso_actions.model.urls import normal_url, repository_key, without_secret

SSH_FORM: Final = re.compile(r"(?:[^/\s:@]+@)?(?:\[[^\]]*\]|[^:/\s\[]+):(?![0-9]+/)")
"""`git@host:owner/name` or `host:owner/name`; digits after the colon are a port."""

WILD_HOST: Final = re.compile(r"(.*?://|)([^/@]*@|)\*(\.|(?=[:/]))(.*)")
"""A URL whose host is `*` or begins with `*.`."""

CHARACTERS: Final = re.compile(r"(\[!?[\w.-]+\])", re.ASCII)
"""A set of characters, as in `app-[0-9]`."""

ANY_HOST: Final = "any"


class AllowedRepositories:
    """Globs of repositories: URLs, `host/owner/name`, or `owner/name` on the GitHub server.

    In the path, `*` matches characters of one segment and `**` crosses segments; before the host,
    `*.` matches labels. Case, `.git` and the ssh form do not matter. Without globs, all
    repositories of the control plane's owner are allowed.
    """

    def __init__(
        self, globs: Sequence[str], server_url: str, control_plane: str, own_repository: str = ""
    ) -> None:
        """The control plane and the job's `own_repository` are always allowed.

        Raises UsageError for a glob that names no repository.
        """
        server = urlsplit(server_url).netloc
        owner = control_plane.partition("/")[0]
        own = filter(None, (control_plane, own_repository))
        self._default = f"{owner}/*"
        allowed = [*(globs or [self._default]), *own]
        self._replaced = _Glob.parse(self._default, server) if globs and owner else None
        self._globs = [_Glob.parse(glob, server) for glob in allowed]

    def check(self, url: str) -> None:
        """Refuse a repository that no glob allows. Raises KalypsoError."""
        host, _, path = repository_key(normal_url(url)).partition("/")
        if any(glob.matches(host, path) for glob in self._globs):
            return
        advice = "add it to allowed-repositories, or correct the URL"
        if any(glob.matches(host, path, crossing=True) for glob in self._globs):
            advice = (
                "in allowed-repositories, * matches one segment of a path: write ** for several"
            )
        elif self._replaced and self._replaced.matches(host, path):
            advice = (
                f"allowed-repositories replaces its default {self._default}: add that to it, or "
                "this repository"
            )
        message = "this repository is not among those that may be read"
        raise KalypsoError(message, Location(without_secret(url)), advice)


@dataclass(frozen=True, slots=True)
class _Glob:
    """A parsed glob; `host` is a whole host or, with `any_labels`, the end of one.

    `groups` are the patterns of the path's segments, divided at each `**`.
    """

    host: str
    any_labels: bool
    path: str
    groups: Sequence[Sequence[re.Pattern[str]]]

    @classmethod
    def parse(cls, glob: str, server: str) -> Self:
        try:
            host, any_labels, path = _host_and_path(_url(glob, server))
            return cls(host, any_labels, path, _groups(path))
        except (KalypsoError, re.error) as error:
            raise UsageError(
                f"allowed-repositories: {without_secret(glob)!r} is not a glob of repositories",
                advice="write owner/*, **, host/owner/*, or *.example.com/**: * matches one "
                "segment of the path or, before the host, its first labels; ** crosses segments",
            ) from error

    def matches(self, host: str, path: str, *, crossing: bool = False) -> bool:
        """Whether the glob allows a repository; with `crossing`, `*` crosses segments as well."""
        # Only the leading labels are left out: the dot before the rest is part of `host`.
        is_host = host.endswith(self.host) if self.any_labels else host == self.host
        if is_host and crossing:
            return _pattern(self.path.replace("**/", "*")).fullmatch(path) is not None
        return is_host and _match(self.groups, path.split("/"))


def _url(glob: str, server: str) -> str:
    """Return a glob with scheme and host, unless it has the ssh form. Raises KalypsoError."""
    text = glob.strip().rstrip("/").replace(" ", "%20")
    if set("{}") & set(text) or re.match(r"[^@/]+:\*/", text):
        raise KalypsoError("braces and the port * have no meaning")
    # Without a scheme, a port would look like the path of the ssh form.
    if "://" in text or SSH_FORM.match(text):
        return text
    first, is_long, _ = text.partition("/")
    if "." in first or ":" in first:
        return f"https://{text}"
    if not is_long and text != "**":
        raise KalypsoError("it names no repository")
    return f"https://{server}/{text}"


def _host_and_path(url: str) -> tuple[str, bool, str]:
    """Return the host or its end, whether it is the end, and the path. Raises KalypsoError."""
    wild = WILD_HOST.fullmatch(url)
    if wild:
        scheme, user, dot, rest = wild.groups()
        url = f"{scheme}{user}{'' if dot else ANY_HOST}{rest}"
    host, _, path = repository_key(normal_url(url)).partition("/")
    if not path:
        raise KalypsoError("it names no repository")
    if wild and not wild[3]:
        if host != ANY_HOST:
            raise KalypsoError("a port needs a host")
        return "", True, path
    return f".{host}" if wild else host, wild is not None, path


def _groups(path: str) -> Sequence[Sequence[re.Pattern[str]]]:
    """Compile a path. Raises KalypsoError, re.error."""
    # The normal form of a URL encodes brackets.
    segments = path.replace("%5b", "[").replace("%5d", "]").split("/")
    groups: list[list[re.Pattern[str]]] = [[]]
    for segment in segments:
        if segment == "**":
            groups.append([])
        elif "**" in segment:
            raise KalypsoError("** is a whole segment")
        else:
            groups[-1].append(_pattern(segment))
    if segments[-1] == "**":
        groups[-1].append(_pattern("*"))
    return groups


def _match(groups: Sequence[Sequence[re.Pattern[str]]], segments: Sequence[str]) -> bool:
    """Match each group at its first possible place: a later place never allows more."""
    first, *others = groups
    if not others:
        return len(first) == len(segments) and _match_at(first, segments, 0)
    *middle, last = others
    start, end = len(first), len(segments) - len(last)
    if start > end or not (_match_at(first, segments, 0) and _match_at(last, segments, end)):
        return False
    for group in middle:
        places = range(start, end - len(group) + 1)
        place = next((at for at in places if _match_at(group, segments, at)), None)
        if place is None:
            return False
        start = place + len(group)
    return True


def _match_at(group: Sequence[re.Pattern[str]], segments: Sequence[str], at: int) -> bool:
    parts = segments[at : at + len(group)]
    return all(pattern.fullmatch(part) for pattern, part in zip(group, parts, strict=True))


def _pattern(text: str) -> re.Pattern[str]:
    """Compile a text with `*`; each part matches at its first place only, without backtracking."""
    first, *others = map(_literal, re.split(r"\*+", text))
    if not others:
        return re.compile(first)
    *middle, last = others
    parts = "".join(f"(?>.*?{part})" for part in middle)
    return re.compile(f"{first}{parts}.*{last}")


def _literal(text: str) -> str:
    """Return the regular expression of text with sets of characters. Raises KalypsoError."""
    parts = CHARACTERS.split(text)
    if any(set("[]") & set(part) for part in parts[::2]):
        raise KalypsoError("a bracket is not closed")
    parts[::2] = map(re.escape, parts[::2])
    return "".join(part.replace("[!", "[^") for part in parts)


class TrustedRepositories:
    """Gives the run's credentials to all repositories, until `restrict` names some."""

    def __init__(self, authorize: Authorize) -> None:
        """`authorize` returns the run's credential for a URL."""
        self._authorize = authorize
        self._keys: frozenset[str] | None = None
        self._others: Authorize = no_credential

    def authorize(self, url: str) -> str:
        """Return the header Authorization for a URL; "" for none."""
        if self._keys is None or repository_key(url) in self._keys:
            return self._authorize(url)
        return self._others(url)

    def restrict(self, urls: Iterable[str], others: Authorize) -> None:
        """From now on, give the run's credentials only to these repositories.

        `others` returns the credential for every other URL.
        """
        self._keys = frozenset(map(repository_key, urls))
        self._others = others
