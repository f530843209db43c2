"""`kalypso schedule`: propose an environment's manifests to its GitOps repositories."""

from __future__ import annotations

from kalypso_actions.commands.schedule.at_rest import result_at_rest
from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.commands.shared.result import CommandResult
from kalypso_actions.inputs.schedule import ScheduleInputs


def schedule(inputs: ScheduleInputs, context: CommandContext) -> CommandResult:
    """Render an environment and propose its tree: one pull request for each GitOpsRepo.

    The command is idempotent, also if several jobs run at once. Raises KalypsoError if the control
    plane or a GitOps branch cannot be read, or others keep changing them.
    """
    if at_rest := result_at_rest(inputs, context):
        return at_rest
    # A run that ends at once does not wait for these imports.
    from kalypso_actions.commands.schedule.full_run import run_in_full  # noqa: PLC0415

    return run_in_full(inputs, context)
