"""The interface to GitHub Actions' runner: the job, annotations, masks, outputs, step summary.

    runner = Runner(os.environ, sys.stdout)  # does nothing outside of GitHub Actions
    runner.annotate(findings, "kalypso")

https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands
https://docs.github.com/en/actions/reference/workflows-and-actions/variables
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Protocol

from kalypso_actions.errors import Finding, KalypsoError, Level, Location


@dataclass(frozen=True, slots=True)
class JobContext:
    """The job; empty outside of GitHub Actions.

    `event` is the payload; `attempt` counts from 1. `actor` is the account that started the run,
    `triggering_actor` the one that started this attempt. Paths of inputs are relative to
    `workspace`.
    """

    in_actions: bool = False
    repository: str = ""
    ref: str = ""
    commit: str = ""
    event_name: str = ""
    event: Mapping[str, Any] = field(default_factory=dict, repr=False)
    actor: str = ""
    triggering_actor: str = ""
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
        triggering_actor=environment.get("GITHUB_TRIGGERING_ACTOR")
        or environment.get("GITHUB_ACTOR", ""),
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
        for line in mask_commands(secret):
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
                self._send(annotation_command(finding, title, self._repository))

    def outputs(self, values: Mapping[str, str]) -> None:
        """Set outputs of the step."""
        if self._output:
            for name, value in values.items():
                append_output(self._output, name, value)

    def path(self, folder: Path) -> None:
        """Put a folder at the front of PATH for the job's next steps."""
        if self._path:
            append_path(self._path, folder)

    def summary(self, markdown: str) -> None:
        """Add to the step's summary."""
        if self._summary:
            append_summary(self._summary, markdown)

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


MIN_MASKED = 4
"""Masking shorter values would hide unrelated text all over the log."""


def annotation_command(finding: Finding, title: str, repository: str) -> str:
    """Return the command that shows a finding, at its file if that is in `repository` (owner/name).

    The advice has its own line.
    """
    where = finding.where
    properties = {"title": title}
    text = finding.message
    if where and where.path and _same_repository(where.repository, repository):
        properties["file"] = where.path
        if where.line:
            properties["line"] = str(where.line)
            if where.column:
                properties["col"] = str(where.column)
    elif where:
        text = f"{where}: {text}"
    if finding.code:
        text += f" [{finding.code}]"
    if finding.advice:
        text += f"\n{finding.advice}"
    return command("notice" if finding.level == "note" else finding.level, properties, text)


def mask_commands(secret: str) -> list[str]:
    """Return the commands that mask a secret: one for each line, because the runner masks lines."""
    lines = {line.strip() for line in secret.splitlines()}
    return [command("add-mask", {}, line) for line in sorted(lines) if len(line) >= MIN_MASKED]


def command(name: str, properties: Mapping[str, str], text: str) -> str:
    """Return `::name key=value,…::text`, escaped as the runner expects it."""
    written = ",".join(f"{key}={_escaped_property(value)}" for key, value in properties.items())
    return f"::{name}{' ' if written else ''}{written}::{_escaped(text)}"


def escape_workflow_commands(text: str) -> str:
    """Escape the workflow commands in a text, so that the runner only logs it.

    The current form (`::name::`) counts at the start of a line, the old one (`##[name]`) anywhere.
    """
    return "\n".join(map(_escape_line, text.splitlines()))


def _escape_line(line: str) -> str:
    escaped = line.replace("##[", "## [")
    return "\u200b" + escaped if escaped.lstrip().startswith("::") else escaped


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _escaped_property(text: str) -> str:
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")


def _same_repository(where: str, repository: str) -> bool:
    """Whether a URL or owner/name is the job's repository."""
    name = where.lower().rstrip("/").removesuffix(".git")
    job_repository = repository.lower()
    return bool(job_repository) and f"/{name}".endswith(f"/{job_repository}")


SUMMARY_LIMIT: Final = 1024 * 1024
"""Bytes of one step's summary; GitHub drops a longer one."""

OUTPUT_LIMIT: Final = 1024 * 1024

CUT_NOTE: Final = "\n\n_The summary is longer than GitHub allows; the rest was left out._\n"


def append_output(file: Path, name: str, value: str) -> None:
    """Set an output of the step, with a random delimiter that no value can contain.

    Raises KalypsoError for a value that is too long for GitHub.
    """
    if len(value.encode()) > OUTPUT_LIMIT:
        raise KalypsoError(f"the output {name} is longer than {OUTPUT_LIMIT} bytes")
    delimiter = f"ghadelimiter_{uuid.uuid4()}"
    _append(file, f"{name}<<{delimiter}\n{value}\n{delimiter}\n")


def append_summary(file: Path, markdown: str) -> None:
    """Append to the step's summary; cut it after a line at GitHub's limit."""
    used = file.stat().st_size if file.exists() else 0
    room = SUMMARY_LIMIT - used - len(CUT_NOTE)
    written = markdown.rstrip() + "\n\n"
    if len(written.encode()) > room:
        cut = written.encode()[: max(room, 0)].decode("utf-8", "ignore")
        written = cut[: cut.rfind("\n") + 1] + CUT_NOTE
    if used + len(written.encode()) <= SUMMARY_LIMIT:
        _append(file, written)


def append_path(file: Path, folder: Path) -> None:
    """Put a folder at the front of PATH for the job's next steps."""
    _append(file, f"{folder}\n")


def write_files(folder: Path, files: Mapping[str, str]) -> None:
    """Write the files of an artifact, which a later step uploads. Raises KalypsoError."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (folder / name).write_text(text, encoding="utf-8", errors="replace", newline="\n")
    except OSError as error:
        message = f"the artifact cannot be written: {error.strerror}"
        raise KalypsoError(message, Location(str(folder)), "choose another folder") from error


def read_file(path: Path, most: int) -> bytes | None:
    """Return the content of a file in a downloaded artifact; None if there is no such file.

    Raises KalypsoError for a link, which the maker of the artifact chose, and for a file of more
    than `most` bytes.
    """
    try:
        if not path.exists() and not path.is_symlink():
            return None
        if path.is_symlink() or not path.is_file():
            raise KalypsoError("it is not a file", Location(str(path)))
        with path.open("rb") as stream:
            content = stream.read(most + 1)
    except OSError as error:
        message = f"it cannot be read: {error.strerror}"
        raise KalypsoError(message, Location(str(path))) from error
    if len(content) > most:
        raise KalypsoError(f"it has more than {most} bytes", Location(str(path)))
    return content


def _append(file: Path, text: str) -> None:
    with file.open("a", encoding="utf-8", newline="\n") as stream:
        stream.write(text)
