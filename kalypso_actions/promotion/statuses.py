"""The commit statuses of a promotion: on the promoted commit of main, one context per environment.

    cd was started for it          pending   Waiting: cd
    a hold keeps it out            pending   Waiting: hold …
    the policy keeps it out        pending   Waiting: …
    written to the environment     pending   Promoted
    proposed to it instead         pending   Waiting for #<pull request>
    merged to the GitOps branch    pending   Deploying
    clusters comply                success   Deployed
    a failure                      failure   Failed to deploy: …
    another commit came            pending   Superseded by <commit>
    an older commit came back      pending   Rolled back to <commit>

`State` has these descriptions. The context, `Promoted`,
`Deploying`, `Deployed` and `Failed to deploy` are those of upstream.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Final

from kalypso_actions.model.github import CommitStatus, StatusState
from kalypso_actions.model.own_account import Identity


class State(Enum):
    """The state of a commit; `description` is that of its status, with "…" for any text."""

    ABSENT = ("absent", "", "no start brings the commit to the environment")
    STARTING = ("starting", "Waiting: cd", "`cd` was started, but no run has begun")
    GIVEN_UP = ("given up", "", "no start of `cd` led to a run")
    RECEIVED = ("received", "", "the first job of `cd` has begun; reviewers may have to approve")
    HELD = ("held", "Waiting: hold…", "a hold in the environment's policy keeps it out")
    WAITING = ("waiting", "Waiting: …", "the environment's policy does not let it in yet")
    PROPOSED = ("proposed", "Waiting for #…", "a pull request brings it to `base-repo.yaml`")
    PROMOTED = ("promoted", "Promoted", "`base-repo.yaml` names it")
    OFFERED = ("offered", "", "Kalypso's pull request in the GitOps repository is open")
    CLOSED = ("closed", "", "its pull request was closed, or its merge reverted")
    MERGED = ("merged", "", "the tracking file of the GitOps branch names it")
    DEPLOYING = ("deploying", "Deploying", "`check-promote` waits for the clusters")
    DEPLOYED = ("deployed", "Deployed", "the clusters complied")
    FAILED = ("failed", "Failed to deploy…", "the clusters or a command of the user refused it")
    SUPERSEDED = ("superseded", "Superseded by …", "a newer commit came first")
    ROLLED_BACK = ("rolled back", "Rolled back to …", "an older commit came back")

    def __init__(self, title: str, description: str, meaning: str) -> None:
        self.title = title
        self.description = description
        self.meaning = meaning

    def described(self, text: str = "") -> str:
        """Return the description of the status with this text."""
        return self.description.replace("…", text)


ENDS: Final = frozenset({State.SUPERSEDED, State.ROLLED_BACK})
AT_THE_DOOR: Final = frozenset({State.HELD, State.WAITING})
BEFORE_MERGE: Final = AT_THE_DOOR | {
    *(State.STARTING, State.PROPOSED, State.PROMOTED, State.OFFERED, State.CLOSED)
}
CI_CONTEXT: Final = "kalypso / ci"
MAX_DESCRIPTION: Final = 140


def context(environment: str) -> str:
    """Return the context of an environment's statuses."""
    return f"{environment} environment"


def awaits_cd(environment: str) -> CommitStatus:
    """Return the status of a commit for which cd was started; cd replaces it.

    Whoever starts cd posts it before the commit is `Deployed` in the environment before, so that a
    commit on its way is not green.
    """
    return _status(environment, State.STARTING)


def promoted(environment: str) -> CommitStatus:
    """Return the status of a commit that the environment branch names."""
    return _status(environment, State.PROMOTED)


def waiting(environment: str, reasons: str) -> CommitStatus:
    """Return the status of a commit that the environment's policy keeps out, for these reasons."""
    return CommitStatus(context(environment), "pending", cut(State.WAITING.described(reasons)))


def waiting_for(environment: str, pull_request: int | str) -> CommitStatus:
    """Return the status of a commit that a pull request brings to the environment branch."""
    return _status(environment, State.PROPOSED, str(pull_request))


def deploying(environment: str) -> CommitStatus:
    """Return the status of a commit that the GitOps branch names."""
    return _status(environment, State.DEPLOYING)


def deployed(environment: str) -> CommitStatus:
    """Return the status of a commit with which the clusters comply.

    Earlier versions posted it as pending while a next environment existed.
    """
    return _status(environment, State.DEPLOYED, state="success")


def failed(environment: str, reason: str) -> CommitStatus:
    """Return the status of a failure, with its reason cut to the length of a description."""
    text = cut(State.FAILED.described(f": {reason}"))
    return CommitStatus(context(environment), "failure", text)


def cut(text: str) -> str:
    """Return a text in one line, cut to the length of a status's description."""
    line = " ".join(text.split())
    return line if len(line) <= MAX_DESCRIPTION else line[: MAX_DESCRIPTION - 1] + "…"


def superseded(environment: str, by: str) -> CommitStatus:
    """Return the status of a commit after another one came to the environment."""
    return _status(environment, State.SUPERSEDED, by[:7])


def rolled_back(environment: str, to: str) -> CommitStatus:
    """Return the status of a commit after an older one came back to the environment."""
    return _status(environment, State.ROLLED_BACK, to[:7])


def posted_by_chain(
    posted: Mapping[str, CommitStatus], identity: Identity, *, any_app: bool = False
) -> dict[str, CommitStatus]:
    """Return the statuses, by context, that accounts of the chain posted: see `Identity`.

    Anyone with write access, and every App with the permission `statuses`, can post a status with
    any context. With `any_app` and a job's token, the statuses of every App count.
    """
    counts = identity.may_be_of_chain if any_app else identity.is_of_chain
    return {key: status for key, status in posted.items() if counts(status.author)}


def posted_by_others(
    posted: Mapping[str, CommitStatus], own: Mapping[str, CommitStatus]
) -> list[CommitStatus]:
    """Return the statuses with a context of the chain that are not among its `own`."""
    return [
        status
        for key, status in posted.items()
        if key not in own and (key.startswith("kalypso / ") or key.endswith(context("")))
    ]


def is_open(status: CommitStatus | None) -> bool:
    """Return whether this is a status of the chain that can still lead to `Deployed`."""
    return _state(status) not in {None, State.DEPLOYED}


def has_ended(status: CommitStatus | None) -> bool:
    """Return whether the commit is deployed, or another commit came."""
    return _state(status) in {State.DEPLOYED, *ENDS}


def has_begun(status: CommitStatus | None) -> bool:
    """Return whether a run of cd has told its result."""
    return status is not None and _state(status) is not State.STARTING


def is_before_merge(status: CommitStatus | None) -> bool:
    """Return whether no run knows of a merge to the GitOps branch yet.

    The merge of a pull request to the environment branch posts nothing, so the commit stays at
    `Waiting for …` until a run of the chain posts more.
    """
    return _state(status) in BEFORE_MERGE


def has_failed(status: CommitStatus | None) -> bool:
    """Return whether the clusters, or a command of the user, refused the commit."""
    return _state(status) is State.FAILED


def is_waiting(status: CommitStatus | None) -> bool:
    """Return whether the environment's policy keeps the commit out."""
    return _state(status) in AT_THE_DOOR


def is_outside(status: CommitStatus | None) -> bool:
    """Return whether the commit has not entered the environment: cd, or its policy, is awaited."""
    return is_waiting(status) or _state(status) is State.STARTING


def is_underway(status: CommitStatus | None) -> bool:
    """Return whether the commit has entered the environment, and its deployment has not ended."""
    return _state(status) in {State.PROMOTED, State.DEPLOYING}


def is_deployed(status: CommitStatus | None) -> bool:
    """Return whether the commit is deployed to the environment."""
    return _state(status) is State.DEPLOYED


def posted_for(description: str) -> State | None:
    """Return the state of a status with this description; None if it is not of the chain."""
    return next((state for state in State if _has_form(description, state.description)), None)


def _has_form(description: str, form: str) -> bool:
    beginning, dots, _ = form.partition("…")
    return bool(form) and (description.startswith(beginning) if dots else description == form)


def _status(
    environment: str, posted: State, text: str = "", *, state: StatusState = "pending"
) -> CommitStatus:
    return CommitStatus(context(environment), state, posted.described(text))


def _state(status: CommitStatus | None) -> State | None:
    return posted_for(status.description) if status else None
