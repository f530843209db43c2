"""What a command of the chain comes to."""

from __future__ import annotations

from dataclasses import dataclass

from kalypso_actions.report.chain_documents import ChainDocument


@dataclass(frozen=True, slots=True)
class CommandResult:
    """The result, its page for people in Markdown, and whether the command has failed (exit 1)."""

    document: ChainDocument
    summary: str
    failed: bool = False
