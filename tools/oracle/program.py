"""Building the oracle's Go program, and asking it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).parent
PROGRAM = SOURCE.parents[1] / ".build" / "oracle"


def build() -> None:
    """Compile the Go program to `.build/oracle`; raise CalledProcessError with Go's messages."""
    subprocess.run(["go", "build", "-o", str(PROGRAM), "."], cwd=SOURCE, check=True)


def ask(requests: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return one answer per request, in order: `{"output": …}` or `{"error": "…"}`."""
    lines = [json.dumps(request) for request in requests]
    done = subprocess.run(
        [str(PROGRAM)], input="\n".join(lines), capture_output=True, encoding="utf-8", check=True
    )
    answers = [json.loads(line) for line in done.stdout.split("\n") if line]
    if len(answers) != len(lines):
        raise RuntimeError(f"{len(lines)} requests, but {len(answers)} answers: {done.stderr}")
    return answers
