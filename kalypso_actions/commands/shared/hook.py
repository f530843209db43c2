"""Run a command of the user before or after a deployment; its exit code decides."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, Protocol

from kalypso_actions.clients.process import ProcessError, Programs, ending_leftovers
from kalypso_actions.errors import KalypsoError
from kalypso_actions.model.processes import Progress
from kalypso_actions.report import markdown

RUN: Final = ("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c")
SCRIPT: Final = 'exec 2>&1; eval "$KALYPSO_COMMAND"'
"""Takes the command from the environment: other users of the machine can read arguments."""

INHERITED: Final = (
    *("GITHUB_ACTIONS", "GITHUB_ACTOR", "GITHUB_API_URL", "GITHUB_EVENT_NAME", "GITHUB_EVENT_PATH"),
    *(
        "GITHUB_REF",
        "GITHUB_REPOSITORY",
        "GITHUB_RUN_ATTEMPT",
        "GITHUB_RUN_ID",
        "GITHUB_SERVER_URL",
    ),
    *("GITHUB_SHA", "GITHUB_WORKFLOW", "GITHUB_WORKSPACE", "RUNNER_OS"),
)
"""The variables of the job that a command inherits: no token, no file commands."""

LONGEST: Final = 60 * 60.0
"""The most seconds that a command may take."""

MOST_SHOWN: Final = 20_000
"""The last characters of the output that a summary shows."""


@dataclass(frozen=True, slots=True)
class HookRun:
    """The output and the exit code of a command."""

    name: str
    output: str
    status: int

    @property
    def failed(self) -> bool:
        """Whether the command stops the promotion."""
        return self.status != 0

    @property
    def reason(self) -> str:
        """The reason for a status or a problem."""
        return f"the {self.name} command ended with exit code {self.status}"

    def summary(self) -> str:
        """Return the output for a page, folded."""
        if not self.output.strip():
            return f"The {self.name} command wrote nothing."
        shown = self.output.rstrip()
        if len(shown) > MOST_SHOWN:
            shown = "…" + shown[-MOST_SHOWN:]
        return markdown.details(f"Output of the {self.name} command", markdown.block(shown))


class Machine(Protocol):
    """The programs of the machine, and what people see of a run."""

    @property
    def programs(self) -> Programs:
        """Start programs."""

    @property
    def progress(self) -> Progress:
        """Show how far a run is."""

    @property
    def log(self) -> Callable[[str], None]:
        """Print a line."""


def run_hook(
    name: str,
    command: str,
    runtime: Machine,
    about: Mapping[str, str],
    timeout: float = LONGEST,
) -> HookRun:
    """Run a command by bash and log its output.

    `name` is the name of the input. `about` become variables: `environment` becomes
    KALYPSO_ENVIRONMENT. RUNNER_TEMP is an empty folder of the command's own: the runner's has the
    files by which a step sets outputs and variables. Kill the processes that the command leaves
    behind, because they could read the environment of a later git. Raises KalypsoError if the
    command cannot be started or does not end.
    """
    runtime.log(f"Running the {name} command.")
    try:
        with TemporaryDirectory(ignore_cleanup_errors=True) as folder, ending_leftovers():
            output = _output(
                f"the {name} command", SCRIPT, command, runtime, about, folder, timeout
            )
        status = 0
    except ProcessError as error:
        if error.status is None:
            message = f"the {name} command: {error.problem.message}"
            raise KalypsoError(message, advice=error.problem.advice) from error
        output, status = error.stdout, error.status
    text = output.decode("utf-8", "replace")
    for line in text.splitlines():
        runtime.log(line)
    return HookRun(name, text, status)


def _output(
    name: str,
    script: str,
    command: str,
    runtime: Machine,
    about: Mapping[str, str],
    folder: str,
    timeout: float,
    *,
    variables: Iterable[str] = (),
    max_output: int | None = None,
) -> bytes:
    """Run a command in a script of bash, with a folder of its own; return its standard output.

    Raises ProcessError.
    """
    extra = {f"KALYPSO_{key.upper()}": value for key, value in about.items()}
    return runtime.programs.run(
        [*RUN, script],
        extra={"KALYPSO_COMMAND": command, "RUNNER_TEMP": folder, **extra},
        inherit=(*INHERITED, *variables),
        timeout=timeout,
        max_output=max_output,
        log_text=f"bash ({name})",
    )


REPORTS_SCRIPT: Final = 'exec 2>"$RUNNER_TEMP/stderr"; eval "$KALYPSO_COMMAND"'
"""Keeps standard output apart: it is the document alone."""

LARGEST_DOCUMENT: Final = 16 << 20
"""The most bytes of a document: 5,000 clusters with messages take 2 MiB."""

MOST_ERRORS: Final = 1 << 16


def run_reports_command(
    command: str,
    runtime: Machine,
    about: Mapping[str, str],
    variables: Iterable[str],
    timeout: float,
) -> str:
    """Run a command by bash as `run_hook` does; return its standard output, which is not logged.

    Its standard error goes to the log. The command also inherits the named `variables`. Raises
    KalypsoError with the last lines of standard error if the command fails or does not end.
    """
    name = "the reports-command"
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder, ending_leftovers():
        errors = Path(folder, "stderr")
        try:
            output = _output(
                name,
                REPORTS_SCRIPT,
                command,
                runtime,
                about,
                folder,
                timeout,
                variables=variables,
                max_output=LARGEST_DOCUMENT,
            )
        except ProcessError as error:
            lines = _logged(errors, runtime.log)
            ended = f"ended with exit code {error.status}" if error.status is not None else ""
            message = f"{name} {ended or error.problem.message}"
            last = "\n".join(lines[-LAST_LINES:])
            raise KalypsoError(
                f"{message}:\n{last}" if last else message,
                advice="correct the command: after any exit code but 0, clusters may be missing",
            ) from error
        _logged(errors, runtime.log)
    try:
        return output.decode("utf-8")
    except UnicodeDecodeError as error:
        raise KalypsoError(f"{name} printed no UTF-8: {error}") from error


LAST_LINES: Final = 10


def _logged(file: Path, log: Callable[[str], None]) -> list[str]:
    """Log the end of a file, and return its lines."""
    content = b""
    if file.exists():
        with file.open("rb") as errors:
            errors.seek(max(0, file.stat().st_size - MOST_ERRORS))
            content = errors.read()
    lines = content.decode("utf-8", "replace").splitlines()
    for line in lines:
        log(line)
    return lines
