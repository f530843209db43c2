"""The job, from the runner's variables and the file of the event.

https://docs.github.com/en/actions/reference/workflows-and-actions/variables
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kalypso_actions.errors import KalypsoError


@dataclass(frozen=True, slots=True)
class JobContext:
    """The job; empty outside of GitHub Actions.

    `event` is the payload; `attempt` counts from 1; `actor` is the account that started the run.
    Paths of inputs are relative to `workspace`.
    """

    in_actions: bool = False
    repository: str = ""
    ref: str = ""
    commit: str = ""
    event_name: str = ""
    event: Mapping[str, Any] = field(default_factory=dict, repr=False)
    actor: str = ""
    attempt: int = 1
    server_url: str = ""
    run_url: str = ""
    workspace: Path = Path()

    @property
    def branch(self) -> str:
        """The branch of `ref`; "" for tags and merge refs."""
        prefix = "refs/heads/"
        return self.ref.removeprefix(prefix) if self.ref.startswith(prefix) else ""


def read_job_context(environment: Mapping[str, str]) -> JobContext:
    """Read the job's context. Raises KalypsoError for an unreadable event."""
    if environment.get("GITHUB_ACTIONS") != "true":
        return JobContext()
    server = environment.get("GITHUB_SERVER_URL", "https://github.com")
    repository = environment.get("GITHUB_REPOSITORY", "")
    run_id = environment.get("GITHUB_RUN_ID", "")
    return JobContext(
        in_actions=True,
        repository=repository,
        ref=environment.get("GITHUB_REF", ""),
        commit=environment.get("GITHUB_SHA", ""),
        event_name=environment.get("GITHUB_EVENT_NAME", ""),
        event=_event(environment.get("GITHUB_EVENT_PATH", "")),
        actor=environment.get("GITHUB_ACTOR", ""),
        attempt=int(environment.get("GITHUB_RUN_ATTEMPT") or 1),
        server_url=server,
        run_url=f"{server}/{repository}/actions/runs/{run_id}" if run_id else "",
        workspace=Path(environment.get("GITHUB_WORKSPACE", "")),
    )


def _event(path: str) -> Mapping[str, Any]:
    if not path:
        return {}
    try:
        event = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise KalypsoError(f"the event of GITHUB_EVENT_PATH cannot be read: {error}") from error
    return event if isinstance(event, dict) else {}
