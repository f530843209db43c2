"""Which repositories a run may read: others are refused before anything is asked of the network."""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence
from urllib.parse import urlsplit

from kalypso_actions.errors import KalypsoError, Location
from kalypso_actions.model.urls import repository_key


class AllowedRepositories:
    """Globs of repositories: URLs, `host/owner/name`, or `owner/name` on the GitHub server.

    `*` stands for any characters, `/` included; case, `.git` and the ssh form make no difference.
    Without globs, everything of the control plane's owner.
    """

    def __init__(self, globs: Sequence[str], server_url: str, control_plane: str) -> None:
        self._server = urlsplit(server_url).netloc
        owner = control_plane.partition("/")[0]
        wanted = [*globs, control_plane] if globs else [f"{owner}/*"]
        self._patterns = [self._pattern(glob) for glob in wanted]

    def check(self, url: str) -> None:
        """Refuse a repository that no glob allows. Raises KalypsoError."""
        key = repository_key(url)
        if not any(fnmatch.fnmatchcase(key, pattern) for pattern in self._patterns):
            raise KalypsoError(
                "this repository is not among those that may be read",
                Location(url),
                "add it to allowed-repositories, or correct the URL",
            )

    def _pattern(self, glob: str) -> str:
        has_host = "://" in glob or "." in glob.partition("/")[0] or ":" in glob.partition("/")[0]
        return repository_key(glob if has_host else f"{self._server}/{glob}")
