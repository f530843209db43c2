"""The command status."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NoReturn

import typer
from rich.live import Live

from kalypso_actions.cli.options import with_options
from kalypso_actions.cli.output import configure_logging, errors_as_json, print_json, stderr, stdout
from kalypso_actions.cli.runtime import make_runtime
from kalypso_actions.clients.github import GitHubServer
from kalypso_actions.clients.process import Programs
from kalypso_actions.commands.runtime.context import Runtime, open_context
from kalypso_actions.commands.runtime.current_clone import find_clone
from kalypso_actions.commands.status import status as read_status
from kalypso_actions.errors import KalypsoError, Problem, UsageError
from kalypso_actions.inputs.checking import checked_inputs
from kalypso_actions.inputs.reading import collect_inputs, secrets_of
from kalypso_actions.inputs.status import StatusInputs
from kalypso_actions.model.urls import name_in, repository_key
from kalypso_actions.report.documents import ProblemEntry
from kalypso_actions.report.escaping import escape_log_line
from kalypso_actions.report.progress import ProgressDisplay
from kalypso_actions.report.status_document import StatusDocument
from kalypso_actions.report.status_report import pipeline, print_status
from kalypso_actions.runner import read_job_context

INTERVAL: Final = 15.0
"""Seconds between two looks of --watch: an hour of it takes a tenth of a token's requests."""

TEXT: Final = """Show the pipeline: what each environment has, its state, and what waits for whom.

    From GitHub's statuses, branches, pull requests and issues; --clusters also
    asks the cluster reports. The token (KALYPSO_TOKEN, GH_TOKEN or GITHUB_TOKEN)
    needs contents, statuses, pull requests and issues: read. In a clone of the
    control plane, --control-plane is not needed.
    """


def _run(given: dict[str, Any]) -> None:
    output = given.pop("output")
    configure_logging(calls=given.pop("verbose"))

    def failed(problems: Sequence[Problem]) -> StatusDocument:
        name = given.get("control-plane") or ""
        return StatusDocument(control_plane=name, problems=ProblemEntry.all_of(problems))

    with errors_as_json(output, failed), ProgressDisplay(stderr(), "reading") as progress:
        runtime = make_runtime(progress.update, sys.stderr, log=_log)
        runtime = replace(runtime, job=read_job_context(runtime.environment))
        given = collect_inputs(StatusInputs, given, runtime.environment)
        if not given.get("control-plane") and not runtime.job.repository:
            given["control-plane"] = _of_clone(runtime.environment)
        inputs = checked_inputs(StatusInputs, given)
        for secret in secrets_of(inputs):
            runtime.runner.mask(secret)
        if inputs.watch and output == "json":
            raise UsageError("--watch is for people: it prints text only")
        if inputs.watch:
            progress.stop()
            _watch(inputs, runtime)
        with open_context(inputs, runtime) as context:
            document = read_status(inputs, context)
    if output == "json":
        print_json(document)
    else:
        print_status(stdout(), document)
    fails = any(entry.problems for entry in document.environments)
    raise typer.Exit(1 if fails else 0)


def _watch(inputs: StatusInputs, runtime: Runtime) -> NoReturn:
    """Show the pipeline until Ctrl-C; a failed look leaves the last one on the screen."""
    with Live(console=stdout(), auto_refresh=False) as live:
        while True:
            try:
                with open_context(inputs, runtime) as context:
                    live.update(pipeline(read_status(inputs, context)), refresh=True)
            except KalypsoError as error:
                _log(f"{error.problem.message}; looking again in {INTERVAL:.0f} s")
            runtime.sleep(INTERVAL)


def _of_clone(environment: Mapping[str, str]) -> str:
    """Return owner/name of the clone that contains the current folder; "" if it is elsewhere."""
    clone = find_clone(Path(), Programs(os.environ))
    server = repository_key(GitHubServer.of_environment(environment).server_url)
    urls = clone[1].remotes() if clone else ()
    return next((name_in(url) for url in urls if repository_key(url).startswith(f"{server}/")), "")


def _log(line: str) -> None:
    stderr().print(escape_log_line(line), soft_wrap=True, markup=False)


status = with_options(StatusInputs, "status", TEXT, _run)
