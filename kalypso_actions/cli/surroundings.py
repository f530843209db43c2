"""The machine and the job around a command, as this process finds them."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TextIO

from kalypso_actions.clients.process import Programs
from kalypso_actions.commands.chain_session import Surroundings
from kalypso_actions.inputs.reading import SECRET_VARIABLES
from kalypso_actions.report.progress import ProgressDisplay
from kalypso_actions.runner import Runner


def surroundings(
    progress: ProgressDisplay, stream: TextIO, say: Callable[[str], None]
) -> Surroundings:
    """Take over the environment; secrets leave that of the process.

    `stream` is where the runner is spoken to, and `say` tells people what goes on.
    """
    environment = dict(os.environ)
    for name in SECRET_VARIABLES:  # Azure's library starts programs with all that is there
        os.environ.pop(name, None)
    return Surroundings(
        environment=environment,
        programs=Programs(environment),
        runner=Runner(environment, stream),
        progress=progress.update,
        say=say,
        now=lambda: datetime.now(UTC),
        sleep=time.sleep,
    )
