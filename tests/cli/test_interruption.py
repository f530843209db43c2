"""An interrupted run leaves no program, no folder, no traceback."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(os.name != "posix", reason="Windows ends programs in another way")

CHILD = "import socket, sys;s = socket.create_connection(('127.0.0.1', int(sys.argv[1])));s.recv(1)"
RUN = f"""
import os, signal, sys
from kalypso_actions.cli.app import app
from kalypso_actions.cli.main import main
from kalypso_actions.clients.git import RemoteRepositories
from kalypso_actions.clients.process import Programs
from kalypso_actions.commands.shared.reading.document_reader import in_parallel

port = sys.argv.pop()
signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever runs the tests may ignore it

@app.command()
def wait() -> None:
    programs = Programs(os.environ)
    with RemoteRepositories(programs):
        command = [os.path.basename(sys.executable), "-c", {CHILD!r}, port]
        in_parallel(lambda _: programs.run(command), range(40))

main()
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_nothing_is_left_of_it(tmp_path: Path, number: signal.Signals) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(60)
        process = subprocess.Popen(
            [sys.executable, "-c", RUN, "wait", str(server.getsockname()[1])],
            env={**os.environ, "TMPDIR": str(temporary), "PATH": path},
            stderr=subprocess.PIPE,
        )
        calls = [server.accept()[0] for _ in range(3)]
        assert list(temporary.iterdir())
        process.send_signal(number)
        _, words = process.communicate(timeout=60)
        for call in calls:
            with call:
                call.settimeout(60)
                assert call.recv(1) == b""
    assert (process.returncode, b"Traceback" in words) == (130, False)
    assert list(temporary.iterdir()) == []


IMPORTING = """
import signal, sys
from kalypso_actions.cli.main import main

name, number = sys.argv.pop(), int(sys.argv.pop())
signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever runs the tests may ignore it

class Interrupted:
    def find_spec(self, wanted, path=None, target=None):
        if wanted == name:
            signal.raise_signal(number)

sys.meta_path.insert(0, Interrupted())
main()
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("library", ["typer", "pydantic", "requests"])
def test_a_signal_during_imports_is_handled(library: str, number: signal.Signals) -> None:
    done = subprocess.run(
        [sys.executable, "-c", IMPORTING, "ci", str(number.value), library],
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")
