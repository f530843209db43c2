"""A command of pre-deployment reads the processes above it: /proc/<pid>/environ and mem."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path

import pytest

import kalypso_actions
from kalypso_actions.clients.process import Programs
from kalypso_actions.commands.shared.context import Runtime
from kalypso_actions.commands.shared.hook import run_hook
from kalypso_actions.model.processes import no_progress
from kalypso_actions.runner import Runner
from tests.actions.checkout import POSIX, ROOT
from tests.actions.composite import Job
from tests.actions.conftest import job as job  # noqa: PLC0414 - the fixtures
from tests.actions.conftest import runner_temp as runner_temp  # noqa: PLC0414
from tests.actions.conftest import tools as tools  # noqa: PLC0414
from tests.actions.organisation import acme_of_today, job_of
from tests.commands.chain.organisation import Organisation
from tests.commands.chain.promotions import main_commit

pytestmark = [
    POSIX,
    pytest.mark.skipif(sys.platform != "linux", reason="only Linux has /proc"),
]

READER = """
import os, pathlib, sys
pid, texts = os.getpid(), []
while pid > 1:
    folder = pathlib.Path(f"/proc/{pid}")
    try:
        texts.append(f"{pid} {(folder / 'comm').read_text().strip()}".encode())
        texts.append((folder / "environ").read_bytes())
    except OSError as error:
        texts.append(str(error).encode())
    status = (folder / "status").read_text()
    pid = int(status.partition("PPid:")[2].split()[0])
pathlib.Path(sys.argv[1]).write_bytes(b"\\0".join(texts))
"""
"""Writes the environments of all ancestors to a file: the log would mask secrets."""

PACKAGE = Path(kalypso_actions.__file__).parents[1]

SECRETS = {
    "ACTIONS_ID_TOKEN_REQUEST_TOKEN": "request-token-5ecret",
    "ACTIONS_RUNTIME_TOKEN": "runtime-token-5ecret",
    "OTHER_PASSWORD": "other-5ecret",
}


@pytest.fixture
def acme(tmp_path: Path) -> Iterator[Organisation]:
    with acme_of_today(tmp_path / "acme") as acme:
        yield acme


def test_the_actions_run_this_tree(runner_temp: Path) -> None:
    command = "import kalypso_actions; print(kalypso_actions.__file__)"
    python = runner_temp / "installed" / "bin" / "python"
    done = subprocess.run([python, "-I", "-c", command], capture_output=True, text=True, check=True)
    assert Path(done.stdout.strip()).parents[1] == PACKAGE == ROOT


@pytest.mark.slow
@pytest.mark.parametrize("action", ["cd", "the root's"])
def test_no_ancestor_shows_a_secret(acme: Organisation, job: Job, action: str) -> None:
    """These tests may run as root, and root sees no secret either."""
    job_of(acme, job).variables |= SECRETS
    seen = job.folder / "seen"
    command = f"{shlex.quote(sys.executable)} -I -c {shlex.quote(READER)} {shlex.quote(str(seen))}"
    commit, credentials = main_commit(acme), "https://git.test=kalypso:credential-5ecret"
    if action == "cd":
        ran = job.uses(
            ROOT / "actions" / "cd",
            environment="dev",
            commit=commit,
            pre_deployment=command,
            git_credentials=credentials,
        )
    else:
        line = shlex.join(["--commit", commit, "--pre-deployment", command])
        ran = job.uses(ROOT, run=f"cd --environment dev {line}", git_credentials=credentials)
    assert ran.exit_code == 0, ran.log
    read = seen.read_bytes()
    assert read.count(b"python") > 1, "it saw the command that started it"
    assert b"PATH=/" in read
    assert acme.token.encode() not in read
    assert b"5ecret" not in read
    if action == "cd":
        assert b"pre-deployment" not in read.replace(command.encode(), b"")


LIKE_A_CONTAINER = """
import ctypes, os, sys
for capability in (19, 21, 38):  # SYS_PTRACE, SYS_ADMIN, PERFMON: not for the next program
    ctypes.CDLL(None).prctl(24, capability, 0, 0, 0)
os.execv(sys.executable, [sys.executable, "-c", sys.argv[1]])
"""

PARENT = """
import os, subprocess, sys
from kalypso_actions.cli.process import hide_process
hide_process(lambda name: name == "PATH")
assert os.environ["TOKEN"] == "5ecret" and os.environ["PATH"]
child = "import sys; sys.stdout.buffer.write(open(sys.argv[1], 'rb').read(9))"
for name in ("environ", "mem", "maps"):
    command = [sys.executable, "-I", "-c", child, f"/proc/{os.getpid()}/{name}"]
    done = subprocess.run(command, capture_output=True)
    print(name, done.returncode, "Permission" in done.stderr.decode())
print(open("/proc/self/environ", "rb").read().count(b"5ecret"))
"""


def test_a_program_of_the_same_user_cannot_read_the_process(tmp_path: Path) -> None:
    """Root with the capabilities of a container cannot read it either."""
    done = subprocess.run(
        [sys.executable, "-c", LIKE_A_CONTAINER, PARENT],
        env={"PATH": os.environ["PATH"], "TOKEN": "5ecret", "PYTHONPATH": str(PACKAGE)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    *others, own = done.stdout.splitlines()
    assert others == [f"{name} 1 True" for name in ("environ", "mem", "maps")]
    assert own == "0"


@pytest.fixture
def runtime(tmp_path: Path) -> Runtime:
    """The runtime of a job whose runner has a file for the outputs of the step."""
    folder = tmp_path / "temp" / "_runner_file_commands"
    folder.mkdir(parents=True)
    (folder / "set_output_1").touch()
    variables = {"PATH": os.environ["PATH"], "RUNNER_TEMP": str(folder.parent)}
    return Runtime(
        variables,
        Programs(variables),
        Runner(variables, StringIO()),
        no_progress,
        lambda _: None,
        lambda: datetime.now(UTC),
        lambda _: None,
    )


def test_a_command_finds_no_file_for_outputs(runtime: Runtime, tmp_path: Path) -> None:
    write = (
        'for file in "$RUNNER_TEMP"/*/*; do echo changed=forged >> "$file"; done; cd "$RUNNER_TEMP"'
    )
    run_hook("pre-deployment", write, runtime, {})
    assert (tmp_path / "temp" / "_runner_file_commands" / "set_output_1").read_text() == ""


def test_nothing_that_a_command_started_outlives_it(runtime: Runtime, tmp_path: Path) -> None:
    beat = tmp_path / "beat"
    # It ends by itself, much later: a version that does not end it would leave it to the machine.
    lasting = f"for _ in {{1..500}}; do echo x >> {shlex.quote(str(beat))}; sleep 0.02; done"
    nested = f"setsid -f bash -c {shlex.quote(lasting)}"
    commands = (lasting, nested)
    line = "; ".join(f"setsid -f bash -c {shlex.quote(command)}" for command in commands)
    ran = run_hook("pre-deployment", f"({line}) </dev/null >/dev/null 2>&1; sleep 0.2", runtime, {})
    assert not ran.failed
    size = beat.stat().st_size
    assert size
    time.sleep(0.2)
    assert beat.stat().st_size == size
