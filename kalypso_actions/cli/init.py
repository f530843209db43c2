"""The command init."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from kalypso_actions.cli.output import Output, VerboseCalls, errors_as_json
from kalypso_actions.cli.runtime import make_runtime
from kalypso_actions.cli.streams import configure_logging, print_json, stderr, stdout
from kalypso_actions.commands.init import Decide
from kalypso_actions.commands.init import init as run_init
from kalypso_actions.commands.init.repositories import check_token
from kalypso_actions.errors import Problem, UsageError
from kalypso_actions.inputs.checking import checked_inputs
from kalypso_actions.inputs.init import DEFAULT_ACTION, DEFAULT_ENVIRONMENTS, InitInputs
from kalypso_actions.inputs.reading import input_from_environment
from kalypso_actions.model.counts import counted
from kalypso_actions.model.progress import no_progress
from kalypso_actions.onboarding.branches import Consent
from kalypso_actions.report.documents import Document, ProblemEntry
from kalypso_actions.report.init_document import (
    InitDocument,
    print_preview,
    print_remaining,
    print_result,
)
from kalypso_actions.report.terminal import print_findings

Ask = Callable[[str], bool]


ControlPlaneOption = Annotated[
    str, typer.Option(metavar="OWNER/NAME", help="The control plane on GitHub.")
]

GitopsOption = Annotated[
    str, typer.Option(metavar="OWNER/NAME", help="Its GitOps repository on GitHub.")
]

ControlPlaneDirOption = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="Instead: a clone of the control plane. You push the new commits yourself. "
        "--control-plane is only needed if the clone's origin is not on GitHub.",
    ),
]

GitopsDirOption = Annotated[
    Path | None, typer.Option(metavar="DIR", help="A clone of the GitOps repository.")
]

EnvironmentsOption = Annotated[
    str,
    typer.Option(
        metavar="NAMES",
        help="The environments, in the order of promotion. Default: those of the control "
        f"plane; {','.join(DEFAULT_ENVIRONMENTS)} for a new one.",
    ),
]

ActionOption = Annotated[
    str,
    typer.Option(metavar="OWNER/NAME@REF", help="The actions that the workflows use."),
]

PullRequestOption = Annotated[
    bool,
    typer.Option(
        "--pull-request",
        help="Open a pull request for each branch instead of pushing to it. Missing branches "
        "are created.",
    ),
]

UpdateWorkflowsOption = Annotated[
    bool,
    typer.Option(
        "--update-workflows",
        help="Also overwrite workflow files that differ from the templates.",
    ),
]

DeleteUpstreamWorkflowsOption = Annotated[
    bool,
    typer.Option(
        "--delete-upstream-workflows",
        help="Also delete upstream's workflow files that are no longer used.",
    ),
]

DryRunOption = Annotated[
    bool, typer.Option("--dry-run", help="Show the changes, and write nothing.")
]


def init(
    control_plane: ControlPlaneOption = "",
    gitops: GitopsOption = "",
    control_plane_dir: ControlPlaneDirOption = None,
    gitops_dir: GitopsDirOption = None,
    environments: EnvironmentsOption = "",
    action: ActionOption = DEFAULT_ACTION,
    pull_request: PullRequestOption = False,
    update_workflows: UpdateWorkflowsOption = False,
    delete_upstream_workflows: DeleteUpstreamWorkflowsOption = False,
    dry_run: DryRunOption = False,
    yes: Annotated[bool, typer.Option("--yes", help="Write without asking.")] = False,
    output: Output = "text",
    verbose: VerboseCalls = False,
) -> None:
    """Set up two repositories, empty or not, as a control plane and its GitOps repository.

    Writes the workflows, the environments and their branches. An empty control
    plane also gets first templates and a sample workload. Shows the changes
    before it writes, and leaves people's files alone: in an existing control
    plane, it changes only workflow files. It can run again at any time. At the
    end, it lists the tasks that are left to you.

    On GitHub, it uses the token in KALYPSO_TOKEN, GH_TOKEN or GITHUB_TOKEN; for
    GitHub Enterprise Server, set GITHUB_SERVER_URL and GITHUB_API_URL.
    """
    given: dict[str, Any] = dict(locals())
    configure_logging(calls=verbose)
    interactive = not (yes or dry_run) and output == "text"

    def failed(problems: Sequence[Problem]) -> Document:
        return InitDocument(
            control_plane=control_plane, gitops=gitops, problems=ProblemEntry.all_of(problems)
        )

    with errors_as_json(output, failed):
        _check_consent_possible(given)
        given["token"] = input_from_environment("token", os.environ)
        if interactive:
            _ask_for_missing(given)
        inputs = checked_inputs(InitInputs, given)
        runtime = make_runtime(no_progress, sys.stderr, log=lambda _: None)
        document = run_init(inputs, runtime, _decision(inputs))
    _finish(inputs, document)
    has_changes = any(branch.files for branch in document.branches)
    raise typer.Exit(1 if interactive and has_changes and not document.written else 0)


def _check_consent_possible(given: Mapping[str, Any]) -> None:
    if given["yes"] or given["dry_run"]:
        return
    if given["output"] == "json" or not is_terminal():
        reason = "the output is JSON" if given["output"] == "json" else "there is no terminal"
        if _names_repositories(given):
            question, advice = "ask for consent", ""
        else:
            question = "ask which repositories to set up"
            advice = "name them with --control-plane OWNER/NAME and --gitops OWNER/NAME, and "
        raise UsageError(
            f"init cannot {question}: {reason}",
            advice=f"{advice}agree with --yes, or preview with --dry-run",
        )


def _names_repositories(given: Mapping[str, Any]) -> bool:
    return bool(
        given["control_plane_dir"]
        or given["gitops_dir"]
        or (given["control_plane"] and given["gitops"])
    )


def is_terminal() -> bool:
    """Whether a person can answer questions."""
    return sys.stdin.isatty()


def _ask_for_missing(given: dict[str, Any]) -> None:
    """Ask for the names that the options do not give."""
    if _names_repositories(given):
        return
    check_token(given["token"])
    for name, question in (
        ("control_plane", "Control plane (OWNER/NAME)"),
        ("gitops", "GitOps repository (OWNER/NAME)"),
    ):
        given[name] = given[name] or typer.prompt(question, err=True)


def _decision(inputs: InitInputs) -> Decide:
    """Return a function that shows the preview and asks for consent."""
    agreed = Consent(inputs.update_workflows, inputs.delete_upstream_workflows)

    def decide(preview: InitDocument) -> Consent | None:
        if inputs.output == "text":
            print_preview(stdout(), preview)
        if inputs.dry_run or not any(branch.files for branch in preview.branches):
            return None
        if inputs.yes:
            return agreed
        return _ask_consent(preview, agreed, lambda question: typer.confirm(question, err=True))

    return decide


def _ask_consent(preview: InitDocument, agreed: Consent, ask: Ask) -> Consent | None:
    """Ask for consent to the changes, except those that options have `agreed` to."""
    actions = [file.action for branch in preview.branches for file in branch.files]
    updates, deletions = actions.count("update"), actions.count("delete")
    consent = Consent(
        agreed.update_workflows
        or (updates > 0 and ask(f"Overwrite the workflow files that differ ({updates})?")),
        agreed.delete_upstream_workflows
        or (deletions > 0 and ask(f"Delete upstream's unused workflow files ({deletions})?")),
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
    print_findings(stderr(), document.findings)
