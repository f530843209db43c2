"""Complete values in a shell, from the clone that contains the current folder."""

from __future__ import annotations

import os
from pathlib import Path

from kalypso_actions.clients.process import Programs
from kalypso_actions.commands.runtime.local_context import LocalContext
from kalypso_actions.errors import KalypsoError
from kalypso_actions.model.progress import no_progress


def complete_environment(incomplete: str) -> list[str]:
    """Return the environments of the control plane that begin so; a shell shows no errors."""
    context = LocalContext(Programs(os.environ), no_progress, folder=Path())
    try:
        with context.reader(()) as reader:
            clone = context.clone(reader)
            names = clone.environments if clone else ()
    except (KalypsoError, OSError):
        return []
    return [name for name in names if name.startswith(incomplete)]
