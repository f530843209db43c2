"""The writes of the clients to branches and commits, and the start of workflows."""

from __future__ import annotations

from typing import Final

from kalypso_actions.clients.github import branches, commits, statuses, workflows
from kalypso_actions.model.github import CommitStatus
from tests.faults.trials import Trial
from tests.faults.write import GRAPHQL, TOKENS, write

STATUS: Final = CommitStatus("Promoted/dev", "success", "to dev", "https://example.com/run")


def _create(trial: Trial) -> object:
    return branches.create(trial.github(), trial.repository, "new", trial.head())


def _create_by_app(trial: Trial) -> object:
    return branches.create(trial.app(), trial.repository, "new", trial.head())


def _two_branches(trial: Trial) -> None:
    trial.commit("behind")
    trial.known["before"] = trial.head("behind")
    trial.known["after"] = trial.commit("behind", "newer.txt")
    git = trial.sandbox.git(trial.repository)
    git.update_ref("refs/heads/behind", trial.known["before"], trial.known["after"])
    git.update_ref("refs/heads/ahead", trial.known["after"], None)


def _update(trial: Trial) -> object:
    known = trial.known
    return branches.update(
        trial.github(), trial.repository, "behind", known["after"], expected=known["before"]
    )


def _delete(trial: Trial) -> object:
    expected = trial.known["before"]
    return branches.delete(trial.github(), trial.repository, "behind", expected=expected)


def _commit_by_api(trial: Trial) -> object:
    """Commit to a branch: a text and a file that is no text; nothing if the branch has them."""
    github, repository = trial.github(), trial.repository
    head = branches.head(github, repository, "proposal")
    changes = {"ours.txt": b"1", "ours.png": b"\0"}
    if "ours.txt" in trial.sandbox.git(repository).files("proposal"):
        return "unchanged"
    commit = commits.create(
        github, repository, parent=trial.head(), changes=changes, message="Ours"
    )
    return branches.move(github, repository, "proposal", commit, expected=head, fast_forward=False)


def _post_status(trial: Trial) -> object:
    github, head = trial.github(), trial.head()
    github.recent_writes.add_push(trial.repository, "main", head)
    return statuses.post(github, trial.repository, head, STATUS)


def _dispatch(trial: Trial) -> object:
    return workflows.dispatch(trial.github(), trial.repository, "poll.yaml", ref="main", inputs={})


def _branch(trial: Trial) -> None:
    trial.commit("proposal")


BRANCH_WRITES: Final = (
    write("branches.create", "POST R/git/refs", _create),
    write("branches.update", "PATCH R/git/refs/{ref}", _update, _two_branches),
    write("branches.delete", "DELETE R/git/refs/{ref}", _delete, _two_branches),
    write("branches.move", f"POST {GRAPHQL}", _commit_by_api, _branch),
    write("commits.create", "POST R/git/commits", _commit_by_api, _branch),
    write("commits: tree", "POST R/git/trees", _commit_by_api, _branch),
    write("commits: blob", "POST R/git/blobs", _commit_by_api, _branch),
    write("statuses.post", "POST R/statuses/{sha}", _post_status, is_recent=True),
    write(
        "workflows.dispatch",
        "POST R/actions/workflows/{workflow_id}/dispatches",
        _dispatch,
        can_be_found=False,
    ),
    write("a token of an App", f"POST {TOKENS}", _create_by_app),
)
