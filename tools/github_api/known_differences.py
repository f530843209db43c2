"""Intended differences between the sandbox's answers and recorded ones, with reasons."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class KnownDifference:
    """Differences whose text matches the pattern; `*` is any text."""

    pattern: str
    reason: str

    def explains(self, difference: str) -> bool:
        """Tell whether a difference matches."""
        parts = map(re.escape, self.pattern.split("*"))
        return re.fullmatch(".*".join(parts), difference) is not None


KNOWN_DIFFERENCES: Final[tuple[KnownDifference, ...]] = (
    KnownDifference("*: added header server", "taken out of the recordings"),
    KnownDifference(
        "*: missing header connection", "the sandbox keeps connections, as GitHub does"
    ),
    *(
        KnownDifference(f"*: added header {name}", "newer than the recordings")
        for name in ("x-accepted-github-permissions", "x-github-api-version-selected")
    ),
    *(
        KnownDifference(f"*: missing header {name}", "for browsers only")
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
        KnownDifference(f"*: missing header {name}", "the sandbox answers no conditional requests")
        for name in ("cache-control", "etag", "last-modified")
    ),
    *(
        KnownDifference(
            f"*: missing header {name}", "describes classic tokens, which the sandbox lacks"
        )
        for name in ("x-accepted-oauth-scopes", "x-oauth-scopes")
    ),
    KnownDifference("*: added $*.user_view_type", "newer than the recordings"),
    KnownDifference(
        "GET /repos/{owner}/{repo} 200: *has_discussions*", "newer than the recordings"
    ),
    KnownDifference("* 422: added $.status", "newer than the recordings"),
    KnownDifference(
        "GET /repos/{owner}/{repo} 200: missing $.temp_clone_token",
        "optional in the description, and the sandbox issues tokens only on request",
    ),
    KnownDifference(
        "GET /repos/{owner}/{repo} 200: missing $.use_squash_pr_title_as_default",
        "optional in the description, which calls it closing down",
    ),
    KnownDifference(
        "GET /repos/{owner}/{repo}/issues 200: added $[].closed_by",
        "optional in the description; the sandbox adds it to lists as well",
    ),
    KnownDifference(
        "GET /repos/octokit-fixture-org/git-refs/git/refs/ is not answered",
        "no longer in the description: git/matching-refs replaces it",
    ),
    KnownDifference("PATCH /repos*/* is not answered", "no client renames repositories or labels"),
    KnownDifference(
        "DELETE /repos/{owner}/{repo}/labels/{name} 204: has status 404",
        "the label has its old name, because no client renames labels",
    ),
    KnownDifference(
        "GET /repos/*/commits/*/status is not answered", "the clients read statuses by GraphQL"
    ),
)
