"""The repositories that a job may read."""

from __future__ import annotations

import pytest

from kalypso_actions.errors import KalypsoError
from kalypso_actions.snapshot.allowed_repositories import AllowedRepositories


@pytest.mark.parametrize(
    ("globs", "url", "allowed"),
    [
        ([], "https://git.test:8443/acme/shop", True),
        ([], "https://git.test:8443/ACME/shop.git", True),
        ([], "https://git.test/acme/shop", False),
        ([], "https://git.test:8443/acme-evil/shop", False),
        ([], "https://other.test/acme/shop", False),
        (["friends/*"], "https://git.test:8443/friends/shop", True),
        (["friends/*"], "https://git.test:8443/acme/shop", False),
        (["friends/*"], "https://git.test:8443/acme/fleet", True),  # the control plane itself
        (["other.test/acme/*"], "https://other.test/acme/shop", True),
        (["other.test/acme/*"], "git@other.test:acme/shop", True),
        (["other.test:9000/acme/*"], "https://other.test:9000/acme/shop", True),
        (["localhost:9000/acme/*"], "http://localhost:9000/acme/shop", True),
        (["https://other.test/acme/*"], "https://other.test/acme/shop", True),
        (["git@other.test:acme/*"], "ssh://git@other.test/acme/shop", True),
        (["other.test:acme/*"], "ssh://git@other.test/acme/shop", True),
        (["*"], "https://git.test:8443/any/shop", True),
        (["*"], "https://other.test/any/shop", False),
    ],
)
def test_what_globs_allow(globs: list[str], url: str, allowed: bool) -> None:
    repositories = AllowedRepositories(globs, "https://git.test:8443", "acme/fleet")
    if allowed:
        repositories.check(url)
        return
    with pytest.raises(KalypsoError, match="not among those that may be read"):
        repositories.check(url)


def test_what_is_no_url_is_refused_as_such() -> None:
    with pytest.raises(KalypsoError, match="this is not a URL"):
        AllowedRepositories((), "https://github.com", "acme/fleet").check("https://[acme/x")
