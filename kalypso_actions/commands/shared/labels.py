"""The labels of our issues and pull requests."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final

from kalypso_actions.clients.github import labels
from kalypso_actions.commands.shared.context import CommandContext

KALYPSO: Final = "kalypso"
FAILURE: Final = "kalypso-failure"
"""The label of issues only, so that a list of issues contains no pull request."""

FAILURE_LABELS: Final = (FAILURE, KALYPSO)
"""The labels of issues about failures."""

PROMOTED: Final = "promoted"
WITHDRAWN: Final = "withdrawn"
"""The label of pull requests that Kalypso closed itself; no person has rejected them."""

LABELS: Final = {
    KALYPSO: ("5319e7", "Written by Kalypso"),
    FAILURE: ("d73a4a", "A failure that Kalypso reports, and closes when it is gone"),
    PROMOTED: ("0e8a16", "Brings another commit of the control plane's main"),
    WITHDRAWN: ("c5c5c5", "Closed by Kalypso itself: nobody has rejected it"),
}
"""Colour and description of each label by name, for repositories that lack it."""


def make_labels(
    repository: str,
    names: Iterable[str],
    context: CommandContext,
    present: Collection[str] | None = None,
) -> None:
    """Create missing labels in a repository (`owner/name`). Raises KalypsoError.

    `present` are the labels that it had when this run read them (None: not read). The run may have
    created others since.
    """
    recent = context.github.recent_writes
    wanted = [name for name in names if not recent.has_label(repository, name)]
    is_read = present is not None or len(wanted) > 1
    if is_read and wanted:
        present = labels.names(context.github, repository) if present is None else present
        wanted = labels.missing(wanted, present)
    for name in wanted:
        color, description = LABELS.get(name, ("ededed", ""))
        labels.ensure(
            context.github,
            repository,
            name,
            color=color,
            description=description,
            read_first=not is_read,
        )
