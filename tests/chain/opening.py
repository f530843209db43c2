"""The opening of a story: Acme at rest, made once for each layout and copied for each story."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from kalypso_actions.commands.demo.scenario_runner import InProcess
from kalypso_sandbox import Sandbox
from kalypso_sandbox.embedded import USUAL_LAG
from kalypso_sandbox.workflow_runner.clock import Clock
from kalypso_sandbox.workflow_runner.runs import WorkflowRunner
from tests.chain.clock import StoryClock
from tests.chain.driver import Chain
from tests.chain.organisation import Layout, found, may_sign_in
from tests.chain.quick_reads import quick_reads
from tests.commands.chain.organisation import NOON, Organisation
from tests.git_repositories import programs
from tests.sandbox_copies import FOLDER, copy_sandbox, wait_until_free

PER_MINUTE: Final = 80
PER_HOUR: Final = 500
"""New contents that GitHub allows."""


@dataclass(frozen=True)
class Opening:
    """A stopped sandbox: its folder, the port in its URLs, its time and its secrets."""

    layout: Layout
    folder: Path
    port: int
    time: datetime
    secrets: Mapping[str, str]


def founded(folder: Path, layout: Layout) -> Opening:
    """Make Acme before schedule ran."""
    with Sandbox(folder / FOLDER, programs(), now=Clock(NOON), sign_in=True) as sandbox:
        secrets = found(sandbox, layout)
        port = urlsplit(sandbox.url).port
        assert port
        return Opening(layout, folder, port, NOON, secrets)


def settled(folder: Path, layout: Layout) -> Opening:
    """Make Acme with its first commit deployed in all environments.

    Leave out the actions of the clusters and of check-promote.
    """
    begun = founded(folder, layout)
    with served(begun) as chain, quick_reads(chain.acme.sandbox):
        commit = chain.acme.head("main") or ""
        for name in layout.environments:
            chain.start("schedule", environment=name)
            chain.run_everything(but={"check-promote"})
            for repository in layout.gitops:
                if chain.pull_requests(name, repository):  # none if schedule merges automatically
                    chain.merge_pull_request(name, repository)
            chain.forget_what_is_due()
            chain.acme.status(commit, f"{name} environment", "Deployed", "success")
            chain.start("schedule", environment=name)  # so that poll finds the environment at rest
            chain.run_everything()
        for name in layout.environments:
            chain.expect(name, commit, RELEASE="zero", REGION="west")
        return replace(begun, time=chain.acme.clock())


def copied(opening: Opening, folder: Path) -> Opening:
    """Copy an opening."""
    copy_sandbox(opening.folder, folder)
    return replace(opening, folder=folder)


@contextmanager
def served(opening: Opening) -> Iterator[Chain]:
    """Start the sandbox of an opening, in its folder.

    The sandbox knows workflow files only from the default branch. This is the stricter of GitHub's
    two possible rules, so GitHub accepts every write that the sandbox accepts.
    """
    clock = StoryClock(opening.time)
    folder = opening.folder
    machine = {"PATH": os.environ["PATH"], "HOME": str(folder)}
    wait_until_free(opening.port)
    with Sandbox(
        folder / FOLDER,
        programs(),
        now=clock,
        port=opening.port,
        sign_in=True,
        lag=USUAL_LAG,
    ) as sandbox:
        may_sign_in(sandbox, opening.layout)
        sandbox.state.rate_limits.contents_per_minute = PER_MINUTE
        sandbox.state.rate_limits.contents_per_hour = PER_HOUR
        sandbox.store.workflows_known_from = "default branch"
        runs = folder / "runs"
        workflows = WorkflowRunner(sandbox, clock, machine, opening.secrets, runs, InProcess(clock))
        acme = Organisation(sandbox, clock, folder)
        yield Chain(acme, workflows, clock, opening.layout.gitops)
