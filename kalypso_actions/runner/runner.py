"""The runner of GitHub Actions, if the process runs in a job."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from kalypso_actions.errors import Finding, Level, Location
from kalypso_actions.runner import files, workflow_commands

MAX_ANNOTATIONS = 10
"""GitHub shows ten annotations of a level for each step; the summary has all."""


class Stream(Protocol):
    """The output that the runner reads, line by line."""

    def write(self, text: str, /) -> object:
        """Write a text."""

    def flush(self) -> object:
        """Pass the written text on."""


class Runner:
    """Sends workflow commands to `stream`, and writes the files that `environment` names.

    It does nothing outside of GitHub Actions.
    """

    def __init__(self, environment: Mapping[str, str], stream: Stream) -> None:
        in_actions = environment.get("GITHUB_ACTIONS") == "true"
        self._stream = stream if in_actions else None
        self._repository = environment.get("GITHUB_REPOSITORY", "")
        self._output = _file(environment, "GITHUB_OUTPUT")
        self._summary = _file(environment, "GITHUB_STEP_SUMMARY")
        self._path = _file(environment, "GITHUB_PATH")

    def mask(self, secret: str) -> None:
        """Hide a secret in everything that the job logs from now on."""
        for line in workflow_commands.mask_commands(secret):
            self._send(line)

    def annotate(self, findings: Iterable[Finding], title: str) -> None:
        """Annotate files with their findings: of each level as many as GitHub shows.

        If there are more, the findings of one line share one annotation.
        """
        by_level: dict[Level, list[Finding]] = {}
        for finding in findings:
            by_level.setdefault(finding.level, []).append(finding)
        for every in by_level.values():
            shown = every if len(every) <= MAX_ANNOTATIONS else _by_line(every)
            for finding in shown[:MAX_ANNOTATIONS]:
                self._send(workflow_commands.annotation_command(finding, title, self._repository))

    def outputs(self, values: Mapping[str, str]) -> None:
        """Set outputs of the step."""
        if self._output:
            for name, value in values.items():
                files.append_output(self._output, name, value)

    def path(self, folder: Path) -> None:
        """Put a folder at the front of PATH for the job's next steps."""
        if self._path:
            files.append_path(self._path, folder)

    def summary(self, markdown: str) -> None:
        """Add to the step's summary."""
        if self._summary:
            files.append_summary(self._summary, markdown)

    def _send(self, line: str) -> None:
        if self._stream:
            self._stream.write(line + "\n")
            self._stream.flush()


def _file(environment: Mapping[str, str], name: str) -> Path | None:
    value = environment.get(name, "")
    return Path(value) if value else None


def _by_line(findings: Iterable[Finding]) -> list[Finding]:
    """Return the first finding of each line, with the number of the others."""
    groups: dict[Location | Finding, list[Finding]] = {}
    for finding in findings:
        line = finding.where if finding.where and finding.where.line else finding
        groups.setdefault(line, []).append(finding)
    return [
        replace(first, message=f"{first.message} (and {len(others)} more on this line)")
        if others
        else first
        for first, *others in groups.values()
    ]
