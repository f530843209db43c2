"""Run one job of a workflow by act on this machine, and read its log, which is lines of JSON.

https://nektosact.com/usage/index.html
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

TIMEOUT: Final = 240
"""Seconds for one job: the slowest takes a few of them on an idle machine."""

RUNNER: Final = "ubuntu-latest"
LEVELS: Final = frozenset({"error", "warning", "notice"})
MASKS: Final = "add-mask"


class ActError(Exception):
    """act did not run the job at all; the message contains its output."""


@dataclass(frozen=True, slots=True)
class Annotation:
    """A text that GitHub shows with a job; `properties` are its title, file, line and column."""

    level: str
    text: str
    properties: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class JobRun:
    """The result of a job: `success`, `failure` or `skipped`, and the outputs of its steps.

    `steps` has the outputs of each step by its `id`, `outputs` those of all steps, because their
    names differ here; people see `log`.
    """

    result: str
    outputs: Mapping[str, str]
    steps: Mapping[str, Mapping[str, str]]
    summary: str
    annotations: Sequence[Annotation]
    log: str


SKIPPED: Final = JobRun("skipped", {}, {}, "", (), "")


@dataclass(frozen=True, slots=True)
class Job:
    """A job for act: the text of a workflow with this job alone, and its event.

    `checkout` is a clone of the repository; `environment` are variables of the runner.
    """

    name: str
    workflow: str
    checkout: Path
    event: str
    payload: Mapping[str, Any]
    actor: str
    secrets: Mapping[str, str]
    variables: Mapping[str, str]
    environment: Mapping[str, str]


class Act:
    """The program act, with its home in `folder`; `path` is the PATH of its jobs."""

    def __init__(self, program: Path, folder: Path, path: str) -> None:
        self._program = program
        self._folder = folder
        self._path = path
        (folder / "home").mkdir(parents=True)

    def run(self, job: Job, folder: Path) -> JobRun:
        """Run a job in an empty folder, which keeps its files but no secrets. Raises ActError."""
        files = {
            "--workflows": _written(folder / "workflow.yaml", job.workflow),
            "--eventpath": _written(folder / "event.json", json.dumps(job.payload, indent=2)),
            "--secret-file": _written(folder / "secrets.yaml", yaml.safe_dump(dict(job.secrets))),
            "--var-file": _written(folder / "variables.yaml", yaml.safe_dump(dict(job.variables))),
            "--env-file": _written(
                folder / "environment.yaml", yaml.safe_dump(dict(job.environment))
            ),
        }
        command = [
            *(str(self._program), job.event, "--json", "--no-cache-server"),
            *("--directory", str(job.checkout), "--job", job.name, "--actor", job.actor),
            *("--platform", f"{RUNNER}=-self-hosted"),
            *("--action-cache-path", str(self._folder / "actions")),
            *(word for option, file in files.items() for word in (option, str(file))),
        ]
        try:
            output = self._call(command)
        finally:
            for option in ("--secret-file", "--env-file"):
                files[option].unlink()
        try:
            run = read_run(output.split("\n"), job.name)
        except ValueError as error:
            raise ActError(f"{job.name}: {error}\n{output}") from error
        (folder / "log.txt").write_text(run.log, encoding="utf-8")
        (folder / "summary.md").write_text(run.summary, encoding="utf-8")
        return run

    def _call(self, command: Sequence[str]) -> str:
        """Return all output of act. After a time limit, end the job and its programs."""
        environment = {
            "PATH": self._path,
            "HOME": str(self._folder / "home"),
            "LANG": "C.UTF-8",
        }
        with subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        ) as process:
            try:
                output, _ = process.communicate(timeout=TIMEOUT)
            except subprocess.TimeoutExpired:
                _end(process)
                raise ActError(f"nothing came of it in {TIMEOUT} s: {' '.join(command)}") from None
        return output


def _end(process: subprocess.Popen[str]) -> None:
    """Ask act to end with its steps; if it does not, end all of them."""
    process.send_signal(signal.SIGINT)
    try:
        process.communicate(timeout=30)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)


def read_run(lines: Iterable[str], job: str) -> JobRun:
    """Return the result of a job from act's lines. Raises ValueError if it did not run.

    An action repeats the outputs and summaries of its inner steps; only the action's lines count.
    act silently skips a job with an unknown label; then there is no result.
    """
    entries = [entry for line in lines if isinstance(entry := _line(line), dict)]
    result = next((entry["jobResult"] for entry in entries if "jobResult" in entry), "")
    if not result:
        others = "\n".join(
            entry["msg"] for entry in entries if entry.get("level") in ("error", "fatal")
        )
        raise ValueError(f"act did not run the job {job}\n{others}")
    steps: dict[str, dict[str, str]] = {}
    summaries: dict[str, str] = {}
    annotations: list[Annotation] = []
    log: list[str] = []
    for entry in entries:
        command, step_ids = entry.get("command"), entry.get("stepID", [])
        if command == "set-output" and len(step_ids) == 1:
            steps.setdefault(step_ids[0], {})[entry["name"]] = entry["arg"]
        elif command == "summary" and len(step_ids) == 1:
            summaries[step_ids[0]] = entry["content"]
        elif command in LEVELS:
            annotations.append(Annotation(command, entry["arg"], entry.get("kvPairs") or {}))
        if command != MASKS and entry.get("job"):
            log.append(entry["msg"].rstrip("\n"))
    return JobRun(
        result=result,
        outputs={name: value for outputs in steps.values() for name, value in outputs.items()},
        steps=steps,
        summary="\n".join(summaries.values()),
        annotations=annotations,
        log="\n".join(log) + "\n",
    )


def _line(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return {"level": "error", "msg": text}


def _written(file: Path, text: str) -> Path:
    file.touch(mode=0o600)
    file.write_text(text, encoding="utf-8")
    return file
