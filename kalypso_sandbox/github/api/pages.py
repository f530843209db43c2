"""GitHub Pages of a repository, published by its workflows.

https://docs.github.com/rest/pages/pages
"""

from __future__ import annotations

from typing import Final

from kalypso_sandbox.github.api import lookups
from kalypso_sandbox.github.endpoints import Answer, Call, Json, RefusedError, endpoint
from kalypso_sandbox.github.payloads.view import View

SITE: Final = "/repos/{owner}/{repo}/pages"


@endpoint("GET", SITE, "pages: read", statuses=(200, 404))
def read(call: Call) -> Answer:
    """Return the repository's site."""
    if not call.named_repository.has_pages:
        raise lookups.not_found()
    return Answer(200, _payload(call))


@endpoint("POST", SITE, "administration: write", statuses=(201, 409))
def create(call: Call) -> Answer:
    """Create the site, which everybody may read, even if the repository is private."""
    if call.named_repository.has_pages:
        raise RefusedError(409, "GitHub Pages is already enabled.")
    call.named_repository.has_pages = True
    return Answer(201, _payload(call))


def _payload(call: Call) -> Json:
    repository = call.named_repository
    return {
        "url": f"{View.of(call).api(repository)}/pages",
        "status": None,
        "cname": None,
        "custom_404": False,
        "html_url": f"https://{repository.owner}.github.io/{repository.name}/",
        "build_type": "workflow",
        "source": {"branch": repository.default_branch, "path": "/"},
        "public": True,
        "protected_domain_state": None,
        "pending_domain_unverified_at": None,
        "https_enforced": True,
    }
