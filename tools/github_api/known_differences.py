"""Where the sandbox's answers differ from recorded ones, and why they may."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Explained:
    """Differences whose text fits the pattern, in which `*` is any text."""

    pattern: str
    reason: str

    def explains(self, difference: str) -> bool:
        """Whether it is about this difference."""
        parts = map(re.escape, self.pattern.split("*"))
        return re.fullmatch(".*".join(parts), difference) is not None


EXPLAINED: Final[tuple[Explained, ...]] = (
    Explained("*: added header server", "taken out of the recordings"),
    Explained("*: missing header connection", "the sandbox keeps connections, as GitHub does"),
    *(
        Explained(f"*: added header {name}", "newer than the recordings")
        for name in ("x-accepted-github-permissions", "x-github-api-version-selected")
    ),
    *(
        Explained(f"*: missing header {name}", "speaks to browsers")
        for name in (
            "access-control-allow-origin",
            "access-control-expose-headers",
            "content-security-policy",
            "referrer-policy",
            "strict-transport-security",
            "x-content-type-options",
            "x-frame-options",
            "x-xss-protection",
        )
    ),
    *(
        Explained(f"*: missing header {name}", "the sandbox answers no conditional requests")
        for name in ("cache-control", "etag", "last-modified")
    ),
    *(
        Explained(f"*: missing header {name}", "told of classic tokens; here are none")
        for name in ("x-accepted-oauth-scopes", "x-oauth-scopes")
    ),
    Explained("*: added $*.user_view_type", "newer than the recordings"),
    Explained("GET /repos/{owner}/{repo} 200: *has_discussions*", "newer than the recordings"),
    Explained("* 422: added $.status", "newer than the recordings"),
    Explained(
        "GET /repos/{owner}/{repo} 200: missing $.temp_clone_token",
        "optional in the description, and the sandbox gives no other tokens than it is told to",
    ),
    Explained(
        "GET /repos/{owner}/{repo} 200: missing $.use_squash_pr_title_as_default",
        "optional in the description, which calls it closing down",
    ),
    Explained(
        "GET /repos/{owner}/{repo}/issues 200: added $[].closed_by",
        "optional in the description; the sandbox tells it in lists as well",
    ),
    Explained(
        "GET /repos/octokit-fixture-org/git-refs/git/refs/ is not answered",
        "no longer in the description: git/matching-refs is asked instead",
    ),
    Explained("PATCH /repos*/* is not answered", "no client renames repositories"),
)
