"""The machine and the job around a command, as this process finds them."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TextIO

from kalypso_actions.clients.process import Programs
from kalypso_actions.commands.runtime.context import Runtime
from kalypso_actions.inputs.reading import SECRET_VARIABLES
from kalypso_actions.report.progress import ProgressDisplay
from kalypso_actions.runner import Runner


def make_runtime(progress: ProgressDisplay, stream: TextIO, log: Callable[[str], None]) -> Runtime:
    """Take over the environment; secrets leave that of the process.

    `stream` is where the runner is spoken to, and `log` tells people what goes on.
    """
    environment = dict(os.environ)
    for name in SECRET_VARIABLES:  # Azure's library starts programs with all that is there
        os.environ.pop(name, None)
    return Runtime(
        environment=environment,
        programs=Programs(environment),
        runner=Runner(environment, stream),
        progress=progress.update,
        log=log,
        now=lambda: datetime.now(UTC),
        sleep=time.sleep,
    )
