"""For every endpoint of the sandbox and every status that it gives: a request that gets it.

The list omits cases that all endpoints share (a wrong token, a missing permission, a hidden or
renamed repository): `test_sandbox_answers` derives those requests.
"""

from __future__ import annotations

from typing import Final

from tests.github_api.provocations import code, discussions, settings
from tests.github_api.provocations.provocation import Provocation
from tests.github_api.provocations.settings import DISPATCHES, INPUTS

__all__ = ["ON_SERVER", "PROVOCATIONS", "Provocation"]

PROVOCATIONS: Final = (
    *code.REFS,
    *code.COMMITS,
    *code.STATUSES,
    *discussions.PULL_REQUESTS,
    *discussions.ISSUES,
    *discussions.LABELS,
    *settings.ACTIONS,
    *settings.PAGES,
    *settings.ENVIRONMENTS,
    *settings.SETTINGS,
    *settings.REPOSITORIES,
    *settings.APPS,
    *settings.GRAPHQL,
)

ON_SERVER: Final = (
    Provocation(200, "GET", "/repos/acme/fleet"),
    Provocation(204, "POST", DISPATCHES, {"ref": "main", "inputs": INPUTS}),
    Provocation(
        400, "POST", DISPATCHES, {"ref": "main", "inputs": INPUTS, "return_run_details": True}
    ),
    Provocation(
        422,
        "POST",
        DISPATCHES,
        {"ref": "main", "inputs": {**INPUTS, **dict.fromkeys("abcdefghi", "1")}},
    ),
    Provocation(201, "POST", "/orgs/acme/repos", {"name": "{name}", "visibility": "internal"}),
    Provocation(200, "GET", "/installation/repositories", None, "installation"),
    Provocation(404, "GET", "/rate_limit"),
)
