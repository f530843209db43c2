"""The repositories that a run may read; it refuses others before any network request."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Sequence
from typing import Final
from urllib.parse import urlsplit

from kalypso_actions.errors import KalypsoError, Location
from kalypso_actions.model.urls import repository_key

SSH_FORM: Final = re.compile(r"[^/\s]+@|[^:/\s]+:(?![0-9]+/)")
"""`git@host:owner/name` or `host:owner/name`; digits after the colon are a port."""


class AllowedRepositories:
    """Globs of repositories: URLs, `host/owner/name`, or `owner/name` on the GitHub server.

    `*` matches any characters, `/` included; case, `.git` and the ssh form do not matter. Without
    globs, all repositories of the control plane's owner are allowed.
    """

    def __init__(self, globs: Sequence[str], server_url: str, control_plane: str) -> None:
        self._server = urlsplit(server_url).netloc
        owner = control_plane.partition("/")[0]
        allowed = [*globs, control_plane] if globs else [f"{owner}/*"]
        self._patterns = [self._pattern(glob) for glob in allowed]

    def check(self, url: str) -> None:
        """Refuse a repository that no glob allows. Raises KalypsoError."""
        try:
            key = repository_key(url)
        except ValueError as error:
            raise KalypsoError("this is not a URL", Location(url), "correct it") from error
        if not any(fnmatch.fnmatchcase(key, pattern) for pattern in self._patterns):
            raise KalypsoError(
                "this repository is not among those that may be read",
                Location(url),
                "add it to allowed-repositories, or correct the URL",
            )

    def _pattern(self, glob: str) -> str:
        if "://" in glob or SSH_FORM.match(glob):
            return repository_key(glob)
        first = glob.partition("/")[0]
        has_host = "." in first or ":" in first
        # The scheme prevents that a port is read as the path of the ssh form.
        return repository_key(f"https://{glob}" if has_host else f"https://{self._server}/{glob}")
