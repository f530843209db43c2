"""Replace the record of a start when its run begins, ends, or is refused."""

from __future__ import annotations

from collections.abc import Collection

from kalypso_actions.commands.shared.carry_out import carry_out
from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.commands.shared.own_statuses import latest_record
from kalypso_actions.promotion import start_records
from kalypso_actions.promotion.start_records import StartRecord
from kalypso_actions.promotion.starts import record_of


def acknowledge_cd(context: CommandContext, environment: str, promoted_commit: str) -> None:
    """Record that a run of cd has begun, unless a person started it. Raises GitHubError."""
    status_context = start_records.cd_context(environment)
    record = latest_record(context, promoted_commit, status_context)
    if record and record.kind in {"starting", "given up"}:
        received = StartRecord("received", record.subject)
        post_record(context, promoted_commit, status_context, received)


def acknowledge_check_promote(
    context: CommandContext,
    environment: str,
    promoted_commit: str | None,
    repository: str,
    gitops_commit: str,
) -> None:
    """Record that a run of check-promote checks this commit of a GitOps branch.

    Raises GitHubError.
    """
    if promoted_commit is not None:
        status_context = start_records.check_promote_context(environment, repository)
        post_record(
            context, promoted_commit, status_context, StartRecord("received", gitops_commit)
        )


def record_compliant(
    context: CommandContext,
    environment: str,
    promoted_commit: str,
    repository: str,
    gitops_commit: str,
    compliant: tuple[int, int],
) -> None:
    """Record the numbers of compliant clusters and of all clusters for `kalypso status`.

    The record of a start for a later merge stays. Raises GitHubError.
    """
    status_context = start_records.check_promote_context(environment, repository)
    record = latest_record(context, promoted_commit, status_context)
    if record and record.kind == "received" and record.subject == gitops_commit:
        new = StartRecord("received", gitops_commit, compliant=compliant)
        post_record(context, promoted_commit, status_context, new)


def record_refusal(
    context: CommandContext,
    environment: str,
    promoted_commit: str | None,
    repository: str,
    gitops_commit: str,
) -> None:
    """Record that the repositories contradict a recorded start, so that poll does not repeat it.

    Record nothing for other requests. Raises GitHubError.
    """
    if not (promoted_commit and repository):
        return
    status_context = start_records.check_promote_context(environment, repository)
    record = latest_record(context, promoted_commit, status_context)
    if record and record.kind == "starting" and record.subject == gitops_commit:
        post_record(context, promoted_commit, status_context, StartRecord("refused", gitops_commit))


def acknowledge_end(
    context: CommandContext,
    environment: str,
    promoted_commit: str | None,
    repository: str,
    checked: Collection[str],
    gitops_commit: str,
) -> None:
    """Record the newest commit that a run of check-promote has `checked`, at its end.

    The record of a start for a later merge stays. Raises GitHubError.
    """
    if promoted_commit is None:
        return
    status_context = start_records.check_promote_context(environment, repository)
    record = latest_record(context, promoted_commit, status_context)
    if record and record.kind == "starting" and record.subject not in checked:
        return
    acknowledge_check_promote(context, environment, promoted_commit, repository, gitops_commit)


def post_record(
    context: CommandContext, commit: str, status_context: str, record: StartRecord
) -> None:
    """Post a record on a commit of the control plane: see `PostStatus`. Raises GitHubError."""
    write = record_of(context.control_plane, commit, status_context, record)
    carry_out([write], context)
