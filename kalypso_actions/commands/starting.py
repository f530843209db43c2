"""Workflows of the control plane, started so that each of them surely starts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from kalypso_actions.clients.github import GitHubError, workflows
from kalypso_actions.commands.chain_session import ChainSession

DELAYS: Final = (1.0, 3.0, 10.0)
"""Seconds after each dispatch of which nobody knows what became of it."""


def start_workflow(session: ChainSession, workflow: str, inputs: Mapping[str, str]) -> str:
    """Start a workflow of main by its file's name; the run's page, or that of the workflow's runs.

    Inputs without a value are left out. A start is rather doubled than lost: what is started
    bears to be started twice. Raises GitHubError.
    """
    given = {name: value for name, value in inputs.items() if value}
    delays = iter(DELAYS)
    while True:
        try:
            run = workflows.dispatch(
                session.github,
                session.control_plane,
                workflow,
                ref=session.main(),
                inputs=given,
            )
            break
        except GitHubError as error:
            delay = next(delays, None)
            if delay is None or not error.uncertain:
                raise
            session.around.sleep(delay)
    runs = f"{session.url(session.control_plane)}/actions/workflows/{workflow}"
    url = run.url if run else runs
    told = ", ".join(f"{name} {value}" for name, value in given.items())
    session.around.say(f"Started {workflow} ({told}): {url}")
    return url
