"""The commit statuses of a promotion: on the promoted commit of main, one context per environment.

    written to the environment     pending   Promoted
    proposed to it instead         pending   Waiting for #<pull request>
    merged to the GitOps branch    pending   Deploying
    clusters comply                success   Deployed   (pending while a next environment exists)
    anything failed                failure   Failed to deploy: …
    another commit came            pending   Superseded by <commit>
    an older commit came back      pending   Rolled back to <commit>

Context, `Promoted`, `Deploying`, `Deployed` and `Failed to deploy` are upstream's.
"""

from __future__ import annotations

import re
from typing import Final

from kalypso_actions.model.github import CommitStatus

CI_CONTEXT: Final = "kalypso / ci"
DEPLOYED: Final = "Deployed"
PROMOTED: Final = "Promoted"
MAX_DESCRIPTION: Final = 140

OPEN: Final = re.compile(
    r"Promoted|Waiting for #\d+|Deploying|Failed to deploy.*|Superseded by .*|Rolled back to .*",
    re.DOTALL,
)


def context(environment: str) -> str:
    """The context of an environment's statuses."""
    return f"{environment} environment"


def promoted(environment: str) -> CommitStatus:
    """The environment branch names the commit."""
    return CommitStatus(context(environment), "pending", PROMOTED)


def waiting_for(environment: str, pull_request: int) -> CommitStatus:
    """The commit reaches the environment branch with a pull request."""
    return CommitStatus(context(environment), "pending", f"Waiting for #{pull_request}")


def deploying(environment: str) -> CommitStatus:
    """The GitOps branch names the commit."""
    return CommitStatus(context(environment), "pending", "Deploying")


def deployed(environment: str, *, is_last: bool) -> CommitStatus:
    """The clusters comply; the chain is at its end where no next environment exists."""
    return CommitStatus(context(environment), "success" if is_last else "pending", DEPLOYED)


def failed(environment: str, reason: str) -> CommitStatus:
    """It does not work, and why, as far as a description is long."""
    text = " ".join(f"Failed to deploy: {reason}".split())
    if len(text) > MAX_DESCRIPTION:
        text = text[: MAX_DESCRIPTION - 1] + "…"
    return CommitStatus(context(environment), "failure", text)


def superseded(environment: str, by: str) -> CommitStatus:
    """Another commit came to the environment."""
    return CommitStatus(context(environment), "pending", f"Superseded by {by[:7]}")


def rolled_back(environment: str, to: str) -> CommitStatus:
    """An older commit came back to the environment."""
    return CommitStatus(context(environment), "pending", f"Rolled back to {to[:7]}")


def is_open(status: CommitStatus | None) -> bool:
    """Whether this is one of ours that still leads to `Deployed`."""
    return status is not None and OPEN.fullmatch(status.description) is not None


def is_before_merge(status: CommitStatus | None) -> bool:
    """Whether nothing is known yet of a merge to the GitOps branch.

    A commit that came to the environment branch by a pull request says that it waits for it until
    something of the chain runs: that pull request's merge posts nothing.
    """
    return status is not None and (
        status.description == PROMOTED or status.description.startswith("Waiting for #")
    )


def has_failed(status: CommitStatus | None) -> bool:
    """Whether the clusters, or a command of the user, have refused the commit."""
    return status is not None and status.description.startswith("Failed to deploy")


def is_deployed(status: CommitStatus | None) -> bool:
    """Whether the commit has been deployed to the environment."""
    return status is not None and status.description == DEPLOYED
