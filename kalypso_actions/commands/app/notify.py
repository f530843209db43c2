"""`kalypso app notify`: tell an application's source of a push to another repository of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError

from kalypso_actions.commands.notify import check_reach, has_no_notifier, pushed_branch
from kalypso_actions.commands.shared.carry_out import carry_out
from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.commands.shared.result import CommandResult, dry_run_result
from kalypso_actions.inputs.app import AppNotifyInputs
from kalypso_actions.inputs.values import EnvironmentName
from kalypso_actions.model.application import NO_ENVIRONMENTS
from kalypso_actions.model.writes import StartWorkflow
from kalypso_actions.report.application_document import AppNotifyDocument, app_notify_summary

PREVIEW: Final = "preview.yml"
WORKFLOWS: Final = {"gitops": "post-deployment.yml", "configs": "deploy.yml"}


def app_notify(inputs: AppNotifyInputs, context: CommandContext) -> CommandResult:
    """Tell an application's source of a push to its GitOps repository or its configs.

    A pull request of the configs starts its preview.

    The started workflow finds out what the push means, so the notifier needs no other permission
    than to start it. Raises UsageError for another event, and GitHubError.
    """
    job = context.runtime.job
    pull = job.event.get("pull_request")
    push = None if isinstance(pull, Mapping) else pushed_branch(context)
    reason, environment = "", ""
    starts: tuple[StartWorkflow, ...] = ()
    if isinstance(pull, Mapping):
        reason, environment = _previewed(pull, inputs, context)
        if environment:
            _, ref = check_reach(context)
            given = {"environment": environment, "pull_request": str(job.event["number"])}
            workflow = inputs.workflow or PREVIEW
            starts = (StartWorkflow(context.control_plane, workflow, given, ref=ref),)
    elif push is None or push.after is None:
        reason = f"the branch {push.branch} was deleted" if push else "no branch was pushed"
    elif not _is_environment(push.branch):
        reason = f"no environment can have the branch {push.branch}"
    elif push.branch in NO_ENVIRONMENTS:
        reason = f"{push.branch} is no environment of {job.repository}"
    elif has_no_notifier(inputs, context):
        reason = "no notifier tells the source: poll finds the push later"
    else:
        environment = push.branch
        commit = push.after if inputs.pushed == "gitops" else ""
        workflow = inputs.workflow or WORKFLOWS[inputs.pushed]
        _, ref = check_reach(context)
        given = {"environment": environment, "commit_id": commit}
        starts = (StartWorkflow(context.control_plane, workflow, given, ref=ref),)
    document = AppNotifyDocument(reason=reason)
    if starts:
        document = document.model_copy(
            update={"environment": environment, "workflow": starts[0].workflow}
        )
    if inputs.dry_run:
        return dry_run_result("app notify", document, starts, context)
    done = carry_out(starts, context)
    if starts:
        document = document.model_copy(update={"run_url": done.page})
    return CommandResult(document, app_notify_summary(document))


def _previewed(
    pull: Mapping[str, Any], inputs: AppNotifyInputs, context: CommandContext
) -> tuple[str, str]:
    """Return why a pull request of the configs has no preview, or its environment."""
    base = str(pull["base"]["ref"])
    head = (pull["head"]["repo"] or {}).get("full_name", "")
    if inputs.pushed != "configs" or not _is_environment(base):
        return f"a pull request into {base} changes no configuration", ""
    if head.lower() != context.runtime.job.repository.lower():
        return "GitHub gives a pull request of a fork no notifier: its preview needs a branch", ""
    if has_no_notifier(inputs, context):
        return "no notifier tells the source: there is no preview", ""
    return "", base


def _is_environment(branch: str) -> bool:
    """Whether a branch can be an environment's: Kalypso's own branches, and others, cannot."""
    try:
        TypeAdapter(EnvironmentName).validate_python(branch)
    except ValidationError:
        return False
    return True
