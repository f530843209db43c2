"""The end of each command's help: examples and exit codes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from kalypso_actions.commands.registry import CHAIN

_APP_RENDER: Final = "kalypso app render --environment dev --source . --configs ../shop-configs"
_PLANE: Final = "--control-plane acme/control-plane"

EXAMPLES: Final[Mapping[str, tuple[str, ...]]] = {
    "init": (
        f"kalypso init {_PLANE} --gitops acme/gitops --dry-run",
        "kalypso init --control-plane-dir ../control-plane --gitops-dir ../gitops",
    ),
    "app render": (
        f"{_APP_RENDER} --version local --image-tag local --out tree",
        f"{_APP_RENDER} --gitops ../shop-gitops@dev --out tree",
    ),
    "doctor": (f"kalypso doctor {_PLANE}",),
    "render": (
        "kalypso render dev",
        "kalypso render dev --gitops ../gitops@dev --out tree",
        "kalypso render dev --base-commit main --diff",
    ),
    "diff": (
        "kalypso diff dev stage",
        "kalypso diff dev stage --deployed --stat",
        "kalypso diff dev --deployed",
        "kalypso diff stage --to main --exit-code",
    ),
    "explain": (
        "kalypso explain dev --target hello-world --cluster-type edge",
        "kalypso explain stage --key DATABASE_URL",
        "kalypso explain dev --file large/hello-world/reconciler.yaml",
    ),
    "validate": (
        "kalypso validate",
        f"kalypso validate {_PLANE}",
        "kalypso validate --source https://github.com/acme/shop=../shop",
        "kalypso validate --workload .",
    ),
    "status": (
        "kalypso status",
        "kalypso status --control-plane acme/control-plane --watch",
        "kalypso status --environment stage --clusters --json",
    ),
    "report": (
        "kalypso report --out fleet-report",
        "kalypso report --control-plane https://github.com/acme/control-plane --out report",
    ),
    "schemas": ("kalypso schemas --out .schemas",),
    "template": ("kalypso template templates/flux.yaml --values values.yaml",),
    "sandbox": ("kalypso sandbox --dir trial --repository acme/control-plane",),
    "demo": ("kalypso demo",),
    **{command.name: command.examples for command in CHAIN if command.examples},
}

FAILURE: Final[Mapping[str, str]] = {
    "init": "a problem, or no consent",
    "render": "problems, or with --exit-code a difference",
    "diff": "new problems, or with --exit-code a difference",
    "check-promote": "problems, or clusters that do not comply",
}
"""The meaning of exit code 1, for each command for which it is not `problems`."""


def help_end(command: str) -> str:
    """Return the lines below a command's options."""
    examples = EXAMPLES.get(command, ())
    heading = ["Example:" if len(examples) == 1 else "Examples:"] if examples else []
    failure = FAILURE.get(command, "problems")
    return "\n".join(
        [*heading, *examples, f"Exit codes: 0 done, 1 {failure}, 2 wrong options or inputs."]
    )
