"""Serve a sandbox for the actions of this checkout, in a job of the self-test.

    python -m tools.selftest start FOLDER [--broken]    serve the sample organisation
    python -m tools.selftest merge FOLDER               merge the pull request to dev
    python -m tools.selftest stop FOLDER                stop the server; it also stops after a while

`start` returns when the server is ready. A workflow cannot set GitHub's own variables of a job, so
steps get `BASH_ENV`: bash reads that file before a step's script, and its variables lead to the
sandbox. `start` and `merge` print outputs for other steps, for GITHUB_OUTPUT:

    control-plane, gitops   BASH_ENV for a push to main of the control plane, or to dev of GitOps
    commit                  the head of main; after a merge, of dev
    token                   a token with all permissions in the sandbox
"""

from __future__ import annotations

import argparse
import json
import os
import secrets
import shlex
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import requests

from kalypso_actions.clients.process import Programs
from kalypso_actions.commands.demo.organisation import (
    CONTROL_PLANE,
    GITOPS,
    OWNER,
    create_organisation,
)
from kalypso_sandbox import Sandbox

STARTS_WITHIN: Final = 60
SERVES_FOR: Final = 20 * 60
"""Seconds; a job of the self-test takes no longer."""

NO_CONSOLE: Final = 8 if os.name == "nt" else 0
"""DETACHED_PROCESS: https://learn.microsoft.com/windows/win32/procthread/process-creation-flags"""

BROKEN: Final = {"templates/faulty.yaml": "kind: [\n"}
READY: Final = "ready.json"
STOP: Final = "stop"


def main() -> None:
    """Run the subcommand of the arguments."""
    parser = argparse.ArgumentParser(prog="python -m tools.selftest")
    parser.add_argument("command", choices=["start", "serve", "merge", "stop"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--broken", action="store_true", help="main has a faulty template")
    given = parser.parse_args()
    folder: Path = given.folder.absolute()
    if given.command == "serve":
        serve(folder, broken=given.broken)
        return
    if given.command == "stop":
        (folder / STOP).touch()
        while (folder / READY).exists():
            time.sleep(0.1)
        return
    if given.command == "start":
        start(folder, broken=given.broken)
        ready = json.loads((folder / READY).read_text(encoding="utf-8"))
        outputs = {name: ready[name] for name in ("control-plane", "commit", "token")}
    else:
        outputs = merge(folder)
    for name, value in outputs.items():
        print(f"{name}={value}")


def start(folder: Path, *, broken: bool) -> None:
    """Start the server as a program of its own, and wait until it serves."""
    folder.mkdir(parents=True)
    command = [sys.executable, "-m", "tools.selftest", "serve", str(folder)]
    log = folder / "log.txt"
    # A step ends only when no process holds its output open, so the server writes to a file.
    with log.open("wb") as written:
        server = subprocess.Popen(
            [*command, "--broken"] if broken else command,
            stdin=subprocess.DEVNULL,
            stdout=written,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            creationflags=NO_CONSOLE,
        )
    until = time.monotonic() + STARTS_WITHIN
    while not (folder / READY).exists():
        if server.poll() is not None or time.monotonic() > until:
            sys.exit(f"the sandbox does not serve:\n{log.read_text(encoding='utf-8')}")
        time.sleep(0.1)


def serve(folder: Path, *, broken: bool) -> None:
    """Serve the sample organisation, for a while."""
    with Sandbox(folder / "sandbox", Programs(os.environ)) as sandbox:
        create_organisation(sandbox)
        before = sandbox.git(CONTROL_PLANE).head("main")
        change = BROKEN if broken else {"notes.txt": "The change that is checked.\n"}
        commit = sandbox.commit(CONTROL_PLANE, change)
        token = sandbox.create_token(owner=OWNER)
        push = {"ref": "refs/heads/main", "before": before, "after": commit}
        ready = {
            "control-plane": job(folder, sandbox.environment(), CONTROL_PLANE, push),
            "commit": commit,
            "token": token,
            "environment": sandbox.environment(),
        }
        unfinished = folder / secrets.token_hex(4)
        unfinished.write_text(json.dumps(ready), encoding="utf-8")
        unfinished.rename(folder / READY)
        until = time.monotonic() + SERVES_FOR
        while not (folder / STOP).exists() and time.monotonic() < until:
            time.sleep(0.2)
    (folder / READY).unlink()


def merge(folder: Path) -> dict[str, str]:
    """Merge the open pull request to dev, and return the outputs."""
    ready = json.loads((folder / READY).read_text(encoding="utf-8"))
    environment, token = ready["environment"], ready["token"]
    pulls = f"{environment['GITHUB_API_URL']}/repos/{GITOPS}/pulls"
    headers = {"Authorization": f"Bearer {token}"}
    (pull,) = _json(requests.get(f"{pulls}?base=dev", headers=headers, timeout=60))
    number, before = pull["number"], pull["base"]["sha"]
    merged = _json(requests.put(f"{pulls}/{number}/merge", json={}, headers=headers, timeout=60))
    push = {"ref": "refs/heads/dev", "before": before, "after": merged["sha"]}
    return {"gitops": job(folder, environment, GITOPS, push), "commit": merged["sha"]}


def job(folder: Path, environment: Mapping[str, str], repository: str, push: Any) -> str:
    """Write the variables of a job that a push starts, and return the file's path."""
    event = folder / f"event-{push['after']}.json"
    event.write_text(json.dumps(push), encoding="utf-8")
    variables = {
        **environment,
        "GITHUB_REPOSITORY": repository,
        "GITHUB_EVENT_NAME": "push",
        "GITHUB_EVENT_PATH": event.as_posix(),
        "GITHUB_REF": push["ref"],
        "GITHUB_REF_NAME": push["ref"].removeprefix("refs/heads/"),
        "GITHUB_SHA": push["after"],
    }
    lines = [f"export {name}={shlex.quote(value)}\n" for name, value in variables.items()]
    file = folder / f"job-{push['after']}.sh"
    file.write_text("".join(lines), encoding="utf-8", newline="\n")
    return file.as_posix()


def _json(answer: requests.Response) -> Any:
    answer.raise_for_status()
    return answer.json()


if __name__ == "__main__":
    main()
