"""A token's usage of its rate limits.

https://docs.github.com/rest/rate-limit/rate-limit
"""

from __future__ import annotations

from kalypso_sandbox.github.api import lookups
from kalypso_sandbox.github.endpoints import Answer, Call, Json, endpoint

UNUSED = ("search", "code_search", "source_import", "integration_manifest")


@endpoint("GET", "/rate_limit", statuses=(200, 404))
def read(call: Call) -> Answer:
    """Return the usage of every resource; 404 on GitHub Enterprise Server without limits."""
    if call.store.flavour == "ghes":
        raise lookups.not_found()
    core = _usage(call, "core")
    unused = {"limit": 30, "used": 0, "remaining": 30, "reset": core["reset"]}
    resources = {
        "core": core,
        "graphql": _usage(call, "graphql"),
        **dict.fromkeys(UNUSED, unused),
    }
    return Answer(200, {"resources": resources, "rate": core})


def _usage(call: Call, resource: str) -> Json:
    usage = call.rate_limits.usage(call.identity, resource, call.store.now)
    return {
        "limit": usage.limit,
        "used": usage.used,
        "remaining": usage.limit - usage.used,
        "reset": usage.reset,
    }
