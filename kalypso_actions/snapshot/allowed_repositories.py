"""The repositories that a run may read; it refuses others before any network request."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Self
from urllib.parse import urlsplit

from kalypso_actions.errors import KalypsoError, Location, UsageError
from kalypso_actions.model.urls import normal_url, repository_key, without_secret

SSH_FORM: Final = re.compile(r"[^/\s]+@|[^:/\s]+:(?![0-9]+/)")
"""`git@host:owner/name` or `host:owner/name`; digits after the colon are a port."""

WILDCARD: Final = re.compile(r"(\*\*/|\*\*|\*|\[!?[\w.-]+\])", re.ASCII)


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
        allowed = [*(globs or [f"{owner}/*"]), *own]
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
        message = "this repository is not among those that may be read"
        raise KalypsoError(message, Location(without_secret(url)), advice)


@dataclass(frozen=True, slots=True)
class _Glob:
    """`host` is a whole host, with `any_labels` the end of one; `path` has wildcards."""

    host: str
    any_labels: bool
    path: str

    @classmethod
    def parse(cls, glob: str, server: str) -> Self:
        first, is_long, _ = glob.rstrip("/").partition("/")
        if "://" not in glob and not SSH_FORM.match(glob):
            # The scheme prevents that a port is read as the path of the ssh form.
            has_host = "." in first or ":" in first
            is_long = is_long or ("/" if "**" in glob else "")
            whole = f"https://{glob}" if has_host else f"https://{server}/{glob}"
        else:
            whole, is_long = glob, "/"
        try:
            host, _, path = repository_key(whole).partition("/")
        except ValueError:
            host, path = "", ""
        any_labels = host == "*" or host.startswith("*.")
        host = host.removeprefix("*")
        if not (is_long and path) or "*" in host or set("?#\\") & set(glob):
            raise UsageError(
                f"allowed-repositories: {glob!r} is no glob of repositories",
                advice="write owner/*, **, host/owner/*, or *.example.com/**: * matches one "
                "segment of the path or, before the host, its first labels; ** crosses segments",
            )
        return cls(host, any_labels, path)

    def matches(self, host: str, path: str, *, crossing: bool = False) -> bool:
        """Whether it allows a repository; with `crossing`, `*` crosses segments as well."""
        # Only the leading labels are left out: the dot before the rest is part of `host`.
        is_host = host.endswith(self.host) if self.any_labels else host == self.host
        pattern = "".join(_pattern(part, crossing=crossing) for part in WILDCARD.split(self.path))
        return is_host and re.fullmatch(pattern, path) is not None


def _pattern(part: str, *, crossing: bool) -> str:
    """Return the regular expression of a wildcard or of literal text."""
    any_text = {"**/": "(?:.*/)?", "**": ".*", "*": ".*" if crossing else "[^/]*"}.get(part)
    if any_text or not WILDCARD.fullmatch(part):
        return any_text or re.escape(part)
    return part.replace("[!", "[^/")
