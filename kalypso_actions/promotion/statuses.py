"""The commit statuses of a promotion: on the promoted commit of main, one context per environment.

    written to the environment     pending   Promoted
    proposed to it instead         pending   Waiting for #<pull request>
    merged to the GitOps branch    pending   Deploying
    clusters comply                success   Deployed   (pending while a next environment exists)
    anything failed                failure   Failed to deploy: …
    another commit came            pending   Superseded by <commit>
    an older commit came back      pending   Rolled back to <commit>

`lifecycle` has these descriptions, and what leads from one to another. Context, `Promoted`,
`Deploying`, `Deployed` and `Failed to deploy` are upstream's.
"""

from __future__ import annotations

from typing import Final

from kalypso_actions.model.github import CommitStatus, StatusState
from kalypso_actions.promotion.lifecycle import BEFORE_MERGE, ENDS, State, posted_for

CI_CONTEXT: Final = "kalypso / ci"
MAX_DESCRIPTION: Final = 140


def context(environment: str) -> str:
    """The context of an environment's statuses."""
    return f"{environment} environment"


def promoted(environment: str) -> CommitStatus:
    """The environment branch names the commit."""
    return _status(environment, State.PROMOTED)


def waiting_for(environment: str, pull_request: int) -> CommitStatus:
    """The commit reaches the environment branch with a pull request."""
    return _status(environment, State.PROPOSED, str(pull_request))


def deploying(environment: str) -> CommitStatus:
    """The GitOps branch names the commit."""
    return _status(environment, State.DEPLOYING)


def deployed(environment: str, *, is_last: bool) -> CommitStatus:
    """The clusters comply; the chain is at its end where no next environment exists."""
    return _status(environment, State.DEPLOYED, state="success" if is_last else "pending")


def failed(environment: str, reason: str) -> CommitStatus:
    """It does not work, and why, as far as a description is long."""
    text = " ".join(State.FAILED.described(f": {reason}").split())
    if len(text) > MAX_DESCRIPTION:
        text = text[: MAX_DESCRIPTION - 1] + "…"
    return CommitStatus(context(environment), "failure", text)


def superseded(environment: str, by: str) -> CommitStatus:
    """Another commit came to the environment."""
    return _status(environment, State.SUPERSEDED, by[:7])


def rolled_back(environment: str, to: str) -> CommitStatus:
    """An older commit came back to the environment."""
    return _status(environment, State.ROLLED_BACK, to[:7])


def is_open(status: CommitStatus | None) -> bool:
    """Whether this is one of ours that still leads to `Deployed`."""
    return _state(status) not in {None, State.DEPLOYED}


def has_ended(status: CommitStatus | None) -> bool:
    """Whether nothing waits for the commit: it is deployed, or another commit came."""
    return _state(status) in {State.DEPLOYED, *ENDS}


def is_before_merge(status: CommitStatus | None) -> bool:
    """Whether nothing is known yet of a merge to the GitOps branch.

    A commit that came to the environment branch by a pull request says that it waits for it until
    something of the chain runs: that pull request's merge posts nothing.
    """
    return _state(status) in BEFORE_MERGE


def has_failed(status: CommitStatus | None) -> bool:
    """Whether the clusters, or a command of the user, have refused the commit."""
    return _state(status) is State.FAILED


def is_deployed(status: CommitStatus | None) -> bool:
    """Whether the commit has been deployed to the environment."""
    return _state(status) is State.DEPLOYED


def _status(
    environment: str, posted: State, text: str = "", *, state: StatusState = "pending"
) -> CommitStatus:
    return CommitStatus(context(environment), state, posted.described(text))


def _state(status: CommitStatus | None) -> State | None:
    return posted_for(status.description) if status else None
