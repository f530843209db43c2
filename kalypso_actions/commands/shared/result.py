"""The result of a command of the promotion chain."""

from __future__ import annotations

from dataclasses import dataclass

from kalypso_actions.report.chain_document import ChainDocument


@dataclass(frozen=True, slots=True)
class CommandResult:
    """The document, its page in Markdown, and whether the command failed (exit code 1)."""

    document: ChainDocument
    summary: str
    failed: bool = False
