"""Records of starts without a run."""

from __future__ import annotations

from kalypso_actions.promotion import start_records
from tests.commands.chain.organisation import Organisation
from tests.commands.chain.polls import (
    LONG,
    post,
)


def record(acme: Organisation, commit: str, context: str, subject: str, attempt: int = 1) -> None:
    """Record a start as of now."""
    post(acme, commit, start_records.starting(subject, attempt).status(context))


def lose(acme: Organisation, commit: str, context: str, subject: str, attempt: int = 1) -> None:
    """Record a start that counts as lost."""
    record(acme, commit, context, subject, attempt)
    acme.clock.sleep(LONG)
