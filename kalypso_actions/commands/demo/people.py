"""The actions of people in the demo: commit, propose, merge."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from kalypso_actions.clients.github import (
    GitHub,
    GitHubServer,
    TokenAuth,
    merging,
    pull_requests,
)
from kalypso_actions.commands.demo.organisation import OWNER
from kalypso_actions.errors import KalypsoError
from kalypso_actions.model.github import PullRequest
from kalypso_sandbox import Sandbox
from kalypso_sandbox.workflow_runner.clock import Clock
from kalypso_sandbox.workflow_runner.runner_environment import RunnerEnvironment

THINKING: Final = 45
"""Seconds before each action."""


class People:
    """The people at Acme, with a token for all repositories."""

    def __init__(self, sandbox: Sandbox, clock: Clock, machine: Mapping[str, str]) -> None:
        token = sandbox.create_token(owner=OWNER)
        self._sandbox = sandbox
        self._clock = clock
        environment = RunnerEnvironment(sandbox, machine).environment()
        server = GitHubServer.of_environment(environment)
        self._github = GitHub(server, TokenAuth(token), environment, clock.sleep, clock)

    def push(self, repository: str, branch: str, files: Mapping[str, str], message: str) -> str:
        """Commit to a branch, and return the commit."""
        self._clock.sleep(THINKING)
        return self._sandbox.commit(repository, files, branch=branch, message=message)

    def propose(
        self, repository: str, branch: str, files: Mapping[str, str], title: str
    ) -> PullRequest:
        """Open a pull request into main from a new branch with one commit."""
        git = self._sandbox.git(repository)
        with self._sandbox.lock:
            git.update_ref(f"refs/heads/{branch}", git.head("main"), None)
        self.push(repository, branch, files, title)
        return pull_requests.ensure(
            self._github, repository, head=branch, base="main", title=title, body=""
        )[0]

    def merge(self, repository: str, base: str) -> tuple[PullRequest, str]:
        """Merge the only open pull request into a branch; return it and the merge commit.

        Raises KalypsoError if there is not exactly one, or GitHub refuses.
        """
        self._clock.sleep(THINKING)
        pulls = pull_requests.open_into(self._github, repository, base)
        if len(pulls) != 1:
            raise KalypsoError(f"{len(pulls)} pull requests are open into {base} of {repository}")
        pull = pulls[0]
        merged = merging.merge(self._github, repository, pull.number, head=pull.head_commit)
        if isinstance(merged, merging.Refused):
            raise KalypsoError(f"{repository}#{pull.number} cannot be merged: {merged.reason}")
        return pull, merged.commit
