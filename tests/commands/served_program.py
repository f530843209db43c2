"""`kalypso sandbox` as a program of its own, and requests to it."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import requests

from tests.command_line import PROGRAM

ROOT = Path(__file__).resolve().parents[2]


def command(*arguments: object) -> list[str]:
    return [*PROGRAM, "sandbox", *map(str, arguments)]


@contextmanager
def started(folder: Path, *options: str, end: int = signal.SIGTERM) -> Iterator[dict[str, Any]]:
    """Yield the command's document; afterwards the command must stop on a signal."""
    arguments = command("--dir", folder, "--output", "json", *options)
    with subprocess.Popen(arguments, cwd=ROOT, stdout=subprocess.PIPE, encoding="utf-8") as process:
        assert process.stdout is not None
        try:
            lines = iter(process.stdout.readline, "}\n")
            yield json.loads("".join(lines) + "}")
        finally:
            process.send_signal(end)
            assert process.wait(timeout=60) == 0


def ask(document: dict[str, Any], method: str, path: str, *, token: str = "", **more: Any) -> Any:
    environment = document["environment"]
    token = token or environment["GITHUB_TOKEN"]
    with requests.Session() as session:
        session.trust_env = False
        answer = session.request(
            method,
            environment["GITHUB_API_URL"] + path,
            headers={"Authorization": f"Bearer {token}"},
            verify=environment.get("SSL_CERT_FILE", True),
            timeout=60,
            **more,
        )
    assert answer.ok, answer.text
    return answer.json()
