"""The extras of this package, which a job installs when a command first needs one.

Most jobs never do, so actions begin without them.
"""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path

from kalypso_actions.clients.process import ProcessError
from kalypso_actions.commands.shared.context import Runtime
from kalypso_actions.errors import KalypsoError, MissingExtraError

_INSTALLER_VARIABLES = ("PIP_", "UV_")


def action_installer() -> Path | None:
    """Return the script that has installed this package for an action; None elsewhere."""
    script = Path(__file__).resolve().parents[3] / "actions" / "install.py"
    return script if script.is_file() else None


def install_extra(missing: MissingExtraError, wheelhouse: str, runtime: Runtime) -> None:
    """Install a locked extra into the environment of the job's actions.

    Raises `missing` outside of an action, and KalypsoError if the installation fails.
    """
    if runtime.installer is None or not runtime.job.in_actions:
        raise missing
    runtime.log(f"{missing.problem.message}: installing the extra {missing.extra}.")
    base = str(getattr(sys, "_base_executable", sys.executable))  # not that of the environment
    names = [name for name in runtime.environment if name.startswith(_INSTALLER_VARIABLES)]
    try:
        runtime.programs.run(
            [base, "-I", "-X", "utf8", str(runtime.installer), missing.extra],
            extra={"KALYPSO_INPUTS": json.dumps({"wheelhouse": wheelhouse})},
            inherit=[*names, "RUNNER_TEMP"],
        )
    except ProcessError as error:
        message = f"the extra {missing.extra} cannot be installed: {error.stderr or error}"
        raise KalypsoError(message, advice=missing.problem.advice) from error
    importlib.invalidate_caches()
