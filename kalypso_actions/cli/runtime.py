"""Build the runtime of a command from this process."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import TextIO

from kalypso_actions.clients.process import Programs
from kalypso_actions.commands.shared.context import Runtime
from kalypso_actions.commands.shared.run import action_installer
from kalypso_actions.inputs.reading import SECRET_VARIABLES
from kalypso_actions.model.progress import Progress
from kalypso_actions.runner import Runner


def make_runtime(
    progress: Progress,
    stream: TextIO,
    log: Callable[[str], None],
    variables: Mapping[str, str] | None = None,
) -> Runtime:
    """Take the environment's variables, and remove secrets from the process.

    Workflow commands go to `stream`, and messages for people to `log`. `variables` are those that
    an earlier call has taken.
    """
    environment = dict(os.environ if variables is None else variables)
    for name in SECRET_VARIABLES:  # Azure's library hands the whole environment to programs
        os.environ.pop(name, None)
    return Runtime(
        environment=environment,
        programs=Programs(environment),
        runner=Runner(environment, stream),
        progress=progress,
        log=log,
        now=lambda: datetime.now(UTC),
        sleep=time.sleep,
        started=datetime.now(UTC),
        installer=action_installer(),
    )
