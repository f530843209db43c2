"""The state of an organisation: all that people see, except values that differ between runs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from kalypso_actions.commands.demo.scenario_runner import PLACES, ChainPlaces
from kalypso_sandbox import Sandbox
from kalypso_sandbox.store import Repository

WORKFLOWS: Final = ".github/workflows/"
ENVIRONMENTS_FOLDER: Final = ".environments/"
"""The state omits the files of this folder: variables can replace their annotations."""

IDS: Final = re.compile(r"\b[0-9a-f]{7,64}\b")
RUNS: Final = re.compile(r"/actions/runs/\d+")
TIMES: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
NUMBERS: Final = re.compile(r", \d+/\d+ clusters comply$")
"""The end of a record that a run posts while it waits, once a minute."""

ONWARD: Final = re.compile(
    r"[,;] (?:(?:when they comply, )?then (?:stage|the environment that NEXT_ENVIRONMENT names, if any)"
    r"|stage is the last environment)"
)
"""What follows an environment: titles and texts do not know what variables say."""


@dataclass(frozen=True)
class PullRequest:
    """The visible fields of a pull request."""

    title: str
    body: str
    labels: Sequence[str]
    base: str
    head: str
    merged: bool
    comments: Sequence[str]


@dataclass(frozen=True)
class State:
    """The whole state: `statuses` has a list for each commit with statuses, the earliest first;
    `runs` are those that dispatches have started, with their inputs and conclusions.
    """

    files: dict[str, dict[str, str]]
    statuses: list[list[tuple[str, str, str]]]
    pull_requests: dict[str, list[PullRequest]]
    issues: dict[str, list[str]]
    runs: list[tuple[str, dict[str, str], str | None]]


def state(sandbox: Sandbox, url: str, places: ChainPlaces = PLACES) -> State:
    """Return the state of a chain. `url` is that of the sandbox at the time of the writes.

    Ids of commits and runs, and the URL, are replaced by fixed texts.
    """
    with sandbox.lock:
        repositories = [sandbox.repository(name) for name in (places.repository, places.gitops)]
        return State(
            files={
                f"{repository.full_name}@{branch}": _files(sandbox, repository, branch, url)
                for repository in repositories
                for branch in ("main", *places.environments)
                if sandbox.git(repository.full_name).head(branch)
            },
            statuses=_statuses(repositories[0], url),
            pull_requests={
                repository.full_name: _pull_requests(repository, url) for repository in repositories
            },
            issues={
                repository.full_name: [
                    issue.title
                    for issue in repository.issues.values()
                    if issue.pull_request is None
                ]
                for repository in repositories
            },
            runs=[
                (
                    run.workflow.removeprefix(WORKFLOWS),
                    {name: masked(value, url) for name, value in run.inputs.items() if value},
                    run.conclusion,
                )
                for run in repositories[0].runs
            ],
        )


def masked(text: str, url: str) -> str:
    """Return the text without values that differ between runs."""
    without_runs = RUNS.sub("/actions/runs/N", text.replace(url, "URL"))
    return ONWARD.sub("", IDS.sub("ID", TIMES.sub("TIME", without_runs)))


def _files(sandbox: Sandbox, repository: Repository, branch: str, url: str) -> dict[str, str]:
    files = sandbox.git(repository.full_name).files(branch)
    return {
        path: masked(content.decode(), url)
        for path, content in files.items()
        if not path.startswith(ENVIRONMENTS_FOLDER)
    }


def _statuses(repository: Repository, url: str) -> list[list[tuple[str, str, str]]]:
    by_commit: dict[str, list[tuple[str, str, str]]] = {}
    newest: dict[tuple[str, str], tuple[str, str]] = {}
    for status in repository.statuses:
        text = NUMBERS.sub("", masked(status.description or "", url))
        key = status.commit, status.context
        if newest.get(key) != (status.state, text):
            newest[key] = status.state, text
            by_commit.setdefault(status.commit, []).append((status.context, *newest[key]))
    return list(by_commit.values())


def _pull_requests(repository: Repository, url: str) -> list[PullRequest]:
    return [
        PullRequest(
            title=masked(issue.title, url),
            body=masked(issue.body or "", url),
            labels=sorted(issue.labels),
            base=issue.pull_request.base_branch,
            head=issue.pull_request.head_branch,
            merged=issue.pull_request.merged_at is not None,
            comments=[masked(comment.body, url) for comment in issue.comments],
        )
        for issue in repository.issues.values()
        if issue.pull_request is not None
    ]
