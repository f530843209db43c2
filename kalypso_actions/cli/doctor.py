"""The command doctor."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import typer

from kalypso_actions.cli.options import with_options
from kalypso_actions.cli.output import configure_logging, errors_as_json, print_json, stderr, stdout
from kalypso_actions.cli.runtime import make_runtime
from kalypso_actions.commands.doctor import doctor as run_doctor
from kalypso_actions.errors import Problem
from kalypso_actions.inputs.checking import checked_inputs
from kalypso_actions.inputs.doctor import DoctorInputs
from kalypso_actions.inputs.reading import collect_inputs, secrets_of
from kalypso_actions.report.doctor_report import print_checks
from kalypso_actions.report.documents import DoctorDocument, Document, ProblemEntry
from kalypso_actions.report.progress import ProgressDisplay
from kalypso_actions.runner import read_job_context

TEXT: Final = """Check the set-up of a control plane and its GitOps repositories.

    Checks branches, workflow files, names of secrets and variables, permissions
    of the GitHub App, rules of branches, approvals, registrations, rendering, and
    the answers of Azure. Writes nothing. The token (KALYPSO_TOKEN, GH_TOKEN or
    GITHUB_TOKEN) must be one that can read the repositories' settings. With
    KALYPSO_APP_ID and KALYPSO_APP_PRIVATE_KEY, the App is checked, too. Exit
    codes: 0 no problems, 1 problems, 2 wrong usage.
    """


def _run(given: dict[str, Any]) -> None:
    output = given.pop("output")
    configure_logging(verbose=given.pop("verbose"))

    def failed(problems: Sequence[Problem]) -> Document:
        return DoctorDocument(
            control_plane=given.get("control-plane") or "", problems=ProblemEntry.all_of(problems)
        )

    with errors_as_json(output, failed), ProgressDisplay(stderr(), "checking") as progress:
        runtime = make_runtime(progress.update, sys.stderr, log=lambda _: None)
        given = collect_inputs(DoctorInputs, given, runtime.environment)
        inputs = checked_inputs(DoctorInputs, given)
        for secret in secrets_of(inputs):
            runtime.runner.mask(secret)
        document = run_doctor(inputs, replace(runtime, job=read_job_context(runtime.environment)))
    if output == "json":
        print_json(document)
    else:
        print_checks(stdout(), document)
    raise typer.Exit(1 if document.fails else 0)


doctor = with_options(DoctorInputs, "doctor", TEXT, _run)
