"""The result of a command of the promotion chain, and of a dry run, which writes nothing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.model.writes import Write
from kalypso_actions.report.chain_document import (
    DRY_RUN,
    ChainDocument,
    WriteEntry,
    dry_run_summary,
)


@dataclass(frozen=True, slots=True)
class CommandResult:
    """The document, its page in Markdown, and whether the command failed (exit code 1)."""

    document: ChainDocument
    summary: str
    failed: bool = False


def dry_run_result(
    command: str, document: ChainDocument, writes: Iterable[Write], context: CommandContext
) -> CommandResult:
    """Return a command's result before its writes: they are listed, and not carried out.

    `document` has the findings. The run fails if there are problems, as without `dry-run`.
    """
    entries = WriteEntry.all_of(writes)
    document = document.model_copy(update={"writes": entries})
    for entry in entries:
        context.runtime.log(f"Would {entry.line}")
    context.runtime.log(f"{DRY_RUN}.")
    summary = dry_run_summary(command, document)
    return CommandResult(document, summary, failed=document.failed)
