"""Run a command of the user for each target."""

from __future__ import annotations

import tempfile
from pathlib import Path

from kalypso_actions.clients.folder import FolderFiles
from kalypso_actions.clients.scratch import write_file
from kalypso_actions.commands.app.places import OpenPlace
from kalypso_actions.commands.app.work import MAX_BYTES, Generated, Work, check_size
from kalypso_actions.commands.shared.hook import HookRun, run_hook
from kalypso_actions.errors import KalypsoError, Location, Problem
from kalypso_actions.model.application import Target
from kalypso_actions.model.documents import FILE_MODE, FilesTooLargeError

NAME = "generator-command"


def generate_by_command(work: Work) -> Generated:
    """Run the command for each target in turn, with the environment of hooks.

    The command gets copies of the repositories in $KALYPSO_SOURCE and $KALYPSO_CONFIGS, the
    target's folder in $KALYPSO_TARGET, and the variables as $KALYPSO_VERSION and so on. It writes
    to $KALYPSO_OUT.
    """
    generated = Generated()
    with tempfile.TemporaryDirectory(prefix="kalypso-app-", ignore_cleanup_errors=True) as folder:
        top = Path(folder).resolve()
        for name, place in (("source", work.source), ("configs", work.configs)):
            _copy(place, top / name)
        for number, target in enumerate(work.targets):
            work.progress(number, len(work.targets))
            out = top / f"out-{number}"
            out.mkdir()
            run = _run(work, target, top, out)
            if run.failed:
                generated.findings.problems.append(_failure(work, target, run))
                continue
            files, faults = _output(out, target)
            generated.files[target.folder] = files
            generated.findings.problems += faults
    return generated


def _run(work: Work, target: Target, top: Path, out: Path) -> HookRun:
    about = {
        **{name.lower(): value for name, value in work.variables.items()},
        "target": target.folder,
        "source": str(top / "source"),
        "configs": str(top / "configs"),
        "out": str(out),
    }
    timeout = work.inputs.timeout.total_seconds()
    try:
        return run_hook(NAME, work.inputs.generator_command, work, about, timeout)
    except KalypsoError as error:
        message = f"target {target.folder!r}: {error.problem.message}"
        where = Location(work.configs.repository, target.folder)
        raise KalypsoError(message, where, "look for a loop, or set timeout") from error


def _copy(place: OpenPlace, folder: Path) -> None:
    folder.mkdir()
    check_size(
        sum(entry.size for entry in place.files.entries().values()), Location(place.repository)
    )
    for path, content in place.read_all("").items():
        write_file(folder, path, content)


def _failure(work: Work, target: Target, run: HookRun) -> Problem:
    where = Location(work.configs.repository, target.folder)
    lines = run.output.strip().splitlines()
    message = f"target {target.folder!r}: {run.reason}"
    message += f": {lines[-1]}" if lines else ""
    return Problem(message, where, "the log has its output", "generator-failed")


def _output(out: Path, target: Target) -> tuple[dict[str, bytes], list[Problem]]:
    """Return the files that the command wrote, and the faults among them."""
    where = Location("", target.folder)
    entries = FolderFiles(out).entries()
    links = [path for path, entry in entries.items() if not entry.mode.startswith(FILE_MODE[:3])]
    faults = [
        Problem(f"{path} is a symbolic link", where, "write a file", "generator-failed")
        for path in links
    ]
    try:
        files = dict(FolderFiles(out).read(entries.keys() - set(links), MAX_BYTES))
    except FilesTooLargeError as error:
        message = f"the files of {target.folder!r} have more than {MAX_BYTES >> 20} MB"
        raise KalypsoError(message, where, f"the largest is {error.largest}") from error
    if not files:
        message = f"the command wrote no files for {target.folder!r}"
        faults.append(Problem(message, where, "write to $KALYPSO_OUT", "generator-failed"))
    return files, faults
