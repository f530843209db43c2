"""The command doctor."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import typer

from kalypso_actions.cli.github_inputs import control_plane_of_clone
from kalypso_actions.cli.options import with_options
from kalypso_actions.cli.output import errors_as_json
from kalypso_actions.cli.runtime import make_runtime
from kalypso_actions.cli.streams import configure_logging, print_json, stderr, stdout
from kalypso_actions.commands.doctor import doctor as run_doctor
from kalypso_actions.doctor_rules.probe import BRANCH_PREFIX
from kalypso_actions.errors import Problem, UsageError
from kalypso_actions.inputs.checking import checked_inputs
from kalypso_actions.inputs.doctor import DoctorInputs
from kalypso_actions.inputs.reading import collect_inputs, secrets_of
from kalypso_actions.report.doctor_document import DoctorDocument, print_checks
from kalypso_actions.report.documents import Document, ProblemEntry
from kalypso_actions.report.escaping import escape_log_line
from kalypso_actions.report.terminal import ProgressDisplay
from kalypso_actions.runner import read_job_context

TEXT: Final = """Check the set-up of a control plane and its GitOps repositories.

    Checks branches, workflow files, names of secrets and variables, permissions
    of the GitHub App, rules of branches, approvals, registrations, rendering, and
    the answers of Azure. Writes nothing without --probe. The token (KALYPSO_TOKEN,
    GH_TOKEN or GITHUB_TOKEN) must be one that can read the repositories' settings.
    With KALYPSO_APP_ID and KALYPSO_APP_PRIVATE_KEY, the App is checked, too, and
    the probe uses it. In a clone of the control plane, --control-plane is not
    needed.
    """


def _run(given: dict[str, Any]) -> None:
    output = given.pop("output")
    configure_logging(calls=given.pop("verbose"))

    def failed(problems: Sequence[Problem]) -> Document:
        return DoctorDocument(
            control_plane=given.get("control-plane") or "", problems=ProblemEntry.all_of(problems)
        )

    is_printed = False

    def consent(checks: DoctorDocument, repositories: Sequence[str]) -> bool:
        nonlocal is_printed
        progress.stop()
        if output == "text":
            is_printed = True
            print_checks(stdout(), checks.checks)
        return inputs.yes or typer.confirm(_question(repositories), err=True)

    with errors_as_json(output, failed), ProgressDisplay(stderr, "checking") as progress:
        runtime = make_runtime(progress.update, sys.stderr, log=_log)
        runtime = replace(runtime, job=read_job_context(runtime.environment))
        given = collect_inputs(DoctorInputs, given, runtime.environment)
        if not given.get("control-plane") and not runtime.job.repository:
            given["control-plane"] = control_plane_of_clone(runtime.environment)
        inputs = checked_inputs(DoctorInputs, given)
        if inputs.probe and not inputs.yes:
            _check_consent_possible(output)
        for secret in secrets_of(inputs):
            runtime.runner.mask(secret)
        document = run_doctor(inputs, runtime, consent=consent)
    if output == "json":
        print_json(document)
    elif not is_printed:
        print_checks(stdout(), document.checks)
    if output == "text" and document.probe:
        stdout().print("\n[bold]The probe[/bold]\n")
        print_checks(stdout(), document.probe)
    raise typer.Exit(1 if document.fails else 0)


def _check_consent_possible(output: str) -> None:
    if output == "json" or not sys.stdin.isatty():
        reason = "the output is JSON" if output == "json" else "there is no terminal"
        raise UsageError(f"doctor cannot ask whether to probe: {reason}", advice="agree with --yes")


def _question(repositories: Sequence[str]) -> str:
    names = "".join(f"  {name}\n" for name in repositories)
    return (
        f"\nThe probe tries what GitHub accepts. In each of these repositories:\n\n{names}\n"
        f"it pushes two branches {BRANCH_PREFIX}…, opens a pull request between them, labels it,\n"
        "comments on it, posts a status and merges it. No workflow of Kalypso starts. At the end\n"
        "it deletes the branches; the closed pull requests remain.\n\nProbe?"
    )


def _log(line: str) -> None:
    stderr().print(escape_log_line(line), soft_wrap=True, markup=False)


doctor = with_options(DoctorInputs, "doctor", TEXT, _run)
