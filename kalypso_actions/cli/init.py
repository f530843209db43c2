"""The command that sets up: init."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from kalypso_actions.cli.output import (
    Output,
    Verbose,
    configure_logging,
    errors_as_json,
    print_json,
    stderr,
    stdout,
)
from kalypso_actions.cli.runtime import make_runtime
from kalypso_actions.commands.init import Decide
from kalypso_actions.commands.init import init as run_init
from kalypso_actions.commands.init.repositories import check_token
from kalypso_actions.errors import Problem, UsageError
from kalypso_actions.inputs.checking import checked_inputs
from kalypso_actions.inputs.init import DEFAULT_ACTION, DEFAULT_ENVIRONMENTS, InitInputs
from kalypso_actions.inputs.reading import input_from_environment
from kalypso_actions.model.counts import counted
from kalypso_actions.model.progress import no_progress
from kalypso_actions.onboarding import Consent
from kalypso_actions.report.documents import Document, InitDocument, ProblemEntry
from kalypso_actions.report.init_report import print_preview, print_remaining, print_result
from kalypso_actions.report.terminal import print_findings

Ask = Callable[[str], bool]


def init(
    control_plane: Annotated[
        str, typer.Option(metavar="OWNER/NAME", help="The control plane, through the API.")
    ] = "",
    gitops: Annotated[str, typer.Option(metavar="OWNER/NAME", help="Its GitOps repository.")] = "",
    control_plane_dir: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Instead: a clone of it. Its branches get commits, which you push yourself. The "
            "name is needed only where origin does not say it.",
        ),
    ] = None,
    gitops_dir: Annotated[
        Path | None, typer.Option(metavar="DIR", help="A clone of the GitOps repository.")
    ] = None,
    environments: Annotated[
        str,
        typer.Option(
            metavar="NAMES",
            help="Environments that shall exist, in the order of promotion. Default: those of the "
            f"control plane; {','.join(DEFAULT_ENVIRONMENTS)} for a new one.",
        ),
    ] = "",
    action: Annotated[
        str,
        typer.Option(metavar="OWNER/NAME@REF", help="The actions that the workflows use."),
    ] = DEFAULT_ACTION,
    pull_request: Annotated[
        bool,
        typer.Option(
            "--pull-request",
            help="Propose to branches instead of pushing, by one pull request for each. Branches "
            "that do not exist yet are created.",
        ),
    ] = False,
    update_workflows: Annotated[
        bool,
        typer.Option(
            "--update-workflows",
            help="Also overwrite workflow files that differ from the templates.",
        ),
    ] = False,
    delete_upstream_workflows: Annotated[
        bool,
        typer.Option(
            "--delete-upstream-workflows",
            help="Also delete files of upstream's workflows that are no longer used.",
        ),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be written, and write nothing.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Ask nothing.")] = False,
    output: Output = "text",
    verbose: Verbose = False,
) -> None:
    """Make a control plane and a GitOps repository of two repositories, empty or not.

    Writes the workflows, the environments with their branches, and, where the
    control plane is empty, first templates and a sample workload. Shows what it
    would write before it does, and changes nothing that people have written:
    in an existing control plane of Kalypso, workflow files alone. It can be run
    again at any time. What is left to do by hand is told at the end.

    Through the API, a token is taken from KALYPSO_TOKEN, GH_TOKEN or
    GITHUB_TOKEN; for GitHub Enterprise Server, set GITHUB_SERVER_URL and
    GITHUB_API_URL. Exit codes: 0 done, 1 a problem, or not agreed to, 2 wrong
    usage.
    """
    given: dict[str, Any] = dict(locals())
    configure_logging(verbose=verbose)
    interactive = not (yes or dry_run) and output == "text"

    def failed(problems: Sequence[Problem]) -> Document:
        return InitDocument(
            control_plane=control_plane, gitops=gitops, problems=ProblemEntry.all_of(problems)
        )

    with errors_as_json(output, failed):
        _check_answerable(given)
        given["token"] = input_from_environment("token", os.environ)
        if interactive:
            _ask_for_missing(given)
        inputs = checked_inputs(InitInputs, given)
        runtime = make_runtime(no_progress, sys.stderr, log=lambda _: None)
        document = run_init(inputs, runtime, _decision(inputs))
    _finish(inputs, document)
    wanted = any(branch.files for branch in document.branches)
    raise typer.Exit(1 if interactive and wanted and not document.written else 0)


def _check_answerable(given: Mapping[str, Any]) -> None:
    if given["yes"] or given["dry_run"]:
        return
    if given["output"] == "json" or not is_terminal():
        why = "JSON is written" if given["output"] == "json" else "there is no terminal"
        raise UsageError(
            f"nobody can be asked: {why}",
            advice="agree with --yes, or look with --dry-run",
        )


def is_terminal() -> bool:
    """Whether there is somebody who can answer."""
    return sys.stdin.isatty()


def _ask_for_missing(given: dict[str, Any]) -> None:
    """The names that were not given as options."""
    if given["control_plane_dir"] or given["gitops_dir"]:
        return
    check_token(given["token"])
    for name, question in (
        ("control_plane", "Control plane (OWNER/NAME)"),
        ("gitops", "GitOps repository (OWNER/NAME)"),
    ):
        given[name] = given[name] or typer.prompt(question, err=True)


def _decision(inputs: InitInputs) -> Decide:
    """Show the preview, and ask where people are to be asked."""
    agreed = Consent(inputs.update_workflows, inputs.delete_upstream_workflows)

    def decide(preview: InitDocument) -> Consent | None:
        if inputs.output == "text":
            print_preview(stdout(), preview)
        if inputs.dry_run or not any(branch.files for branch in preview.branches):
            return None
        if inputs.yes:
            return agreed
        return _asked(preview, agreed, lambda question: typer.confirm(question, err=True))

    return decide


def _asked(preview: InitDocument, agreed: Consent, ask: Ask) -> Consent | None:
    """What people agree to; what is an option already is not asked."""
    actions = [file.action for branch in preview.branches for file in branch.files]
    updates, deletions = actions.count("update"), actions.count("delete")
    consent = Consent(
        agreed.update_workflows
        or (updates > 0 and ask(f"Overwrite the workflow files that differ ({updates})?")),
        agreed.delete_upstream_workflows
        or (deletions > 0 and ask(f"Delete what is left of upstream's workflows ({deletions})?")),
    )
    files = [
        file for branch in preview.branches for file in branch.files if consent.covers(file.action)
    ]
    if not files or not ask(f"Write this ({counted(len(files), 'file')})?"):
        return None
    return consent


def _finish(inputs: InitInputs, document: InitDocument) -> None:
    if inputs.output == "json":
        print_json(document)
        return
    console: Console = stdout()
    print_result(console, document, in_clones=inputs.in_clones)
    print_remaining(console, document.remaining)
    print_findings(stderr(), document.warnings, document.problems)
