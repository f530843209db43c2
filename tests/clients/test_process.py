"""Starting and killing programs."""

from __future__ import annotations

import logging
import os
import re
import select
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from kalypso_actions.clients import process
from kalypso_actions.clients.process import OutputLimitError, ProcessError, Programs

PYTHON = Path(sys.executable).name
HERE = Programs({"PATH": str(Path(sys.executable).parent)})


def python(code: str, programs: Programs = HERE, **more: Any) -> bytes:
    return programs.run([PYTHON, "-c", code], **more)


def test_bytes_go_in_and_come_out() -> None:
    code = "import sys; sys.stdout.buffer.write(sys.stdin.buffer.read()[::-1])"
    assert python(code, stdin=b"\x00ab\xff") == b"\xffba\x00"


def test_program_that_does_not_read_its_input_is_no_error() -> None:
    assert python("print(1)", stdin=b"x" * 1_000_000) == f"1{os.linesep}".encode()


@pytest.mark.parametrize("most", [None, 1000], ids=["any output", "limited output"])
def test_a_program_may_read_its_input_late(
    most: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The output of a program is looked at several times before the program reads its input."""
    monkeypatch.setattr(process, "ORPHAN_TIMEOUT", 0.05)
    code = "import sys, time; time.sleep(0.3); print(len(sys.stdin.buffer.read()))"
    assert int(python(code, stdin=b"x" * 1_000_000, timeout=60, max_output=most)) == 1_000_000


def test_large_output_and_error_output_do_not_block() -> None:
    code = "import sys; sys.stderr.write('e' * 10**6); sys.stdout.write('o' * 10**6)"
    assert len(python(code)) == 10**6


@pytest.mark.parametrize("code", ["while True: print('o' * 10**6)", "print('o' * 1001)"])
def test_a_program_may_be_given_a_bound_for_what_it_writes(code: str) -> None:
    with pytest.raises(OutputLimitError, match="wrote more than 1000 bytes"):
        python(code, max_output=1000)
    assert len(python("print('o' * 999, end='')", max_output=1000)) == 999


def test_runs_in_a_folder(tmp_path: Path) -> None:
    assert (
        Path(python("import os; print(os.getcwd())", folder=tmp_path).decode().strip()) == tmp_path
    )


def test_no_shell_reads_the_arguments() -> None:
    code = "import sys; print(sys.argv[1:])"
    assert HERE.run([PYTHON, "-c", code, "$HOME; *", "a b"]) == b"['$HOME; *', 'a b']\n"


def test_only_listed_variables_reach_a_program() -> None:
    path = str(Path(sys.executable).parent)
    programs = Programs(
        {
            "PATH": path,
            "HOME": "/home/me",
            "LC_TIME": "C",
            "https_proxy": "http://proxy",
            "SSL_CERT_FILE": "/ca",
            "GITHUB_TOKEN": "secret",
            "KALYPSO_INPUTS": "secret",
            "GIT_DIR": "/elsewhere",
            "LD_PRELOAD": "/evil.so",
            "PYTHONPATH": "/evil",
            "AWAITED": "yes",
        }
    )
    code = "import os, json; print(sorted(os.environ))"
    output = python(code, programs, extra={"GIT_X": "1"}, inherit=["AWAITED"]).decode()
    for name in ("LC_CTYPE", "__CF_USER_TEXT_ENCODING"):  # Python and macOS add these themselves
        output = output.replace(f", '{name}'", "")
    assert output.strip() == str(
        ["AWAITED", "GIT_X", "HOME", "LC_TIME", "PATH", "SSL_CERT_FILE", "https_proxy"]
    )


def test_failure_carries_the_words_of_the_program() -> None:
    with pytest.raises(ProcessError) as caught:
        python("import sys; sys.stderr.write('one\\rtwo \\x1b[31mred\\n'); print(1); sys.exit(7)")
    assert caught.value.status == 7
    assert caught.value.stdout.strip() == b"1"
    assert caught.value.stderr == "one\ntwo [31mred"
    assert caught.value.problem.message == f"{PYTHON}: one\ntwo [31mred"


def test_silent_failure_names_its_exit_code() -> None:
    with pytest.raises(ProcessError, match="exit code 3"):
        python("raise SystemExit(3)")


def test_long_words_are_cut_at_their_beginning() -> None:
    with pytest.raises(ProcessError) as caught:
        python("import sys; sys.exit('x' * 10000 + 'end')")
    assert caught.value.stderr.startswith("…x")
    assert caught.value.stderr.endswith("xend")
    assert len(caught.value.stderr) == 4001


@pytest.mark.parametrize("path", ["", "/nowhere"])
def test_absent_program(path: str) -> None:
    programs = Programs({"PATH": path})
    assert programs.find("kustomize") is None
    with pytest.raises(ProcessError, match="the program kustomize was not found") as caught:
        programs.run(["kustomize"])
    assert caught.value.status is None
    assert "install kustomize" in caught.value.problem.advice


@pytest.mark.skipif(os.name != "posix", reason="a file is executable by its mode")
@pytest.mark.parametrize("path", [".", "bin"])
def test_programs_of_the_current_folder_are_not_run(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / path / "git"
    program.parent.mkdir(exist_ok=True)
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    assert Programs({"PATH": path}).find("git") is None
    assert Programs({"PATH": str(program.parent)}).find("git") == program


@pytest.mark.skipif(os.name != "posix", reason="a file is executable by its mode")
def test_program_that_cannot_be_started(tmp_path: Path) -> None:
    (tmp_path / "broken").write_bytes(b"\x7fELF nothing")
    (tmp_path / "broken").chmod(0o755)
    with pytest.raises(ProcessError, match="broken cannot be started"):
        Programs({"PATH": str(tmp_path)}).run(["broken"])


def in_the_background(port: int) -> str:
    """Return a program that starts another one, which calls this port and keeps the output open."""
    child = (
        "import socket, sys, time;"
        f"s = socket.create_connection(('127.0.0.1', {port}));"
        "print(1, flush=True); print(file=sys.stderr, flush=True); time.sleep(600)"
    )
    return (
        "import subprocess, sys;"
        f"p = subprocess.Popen([sys.executable, '-c', {child!r}], stderr=subprocess.PIPE);"
        "p.stderr.read(1);"
    )


def ended(server: socket.socket) -> bool:
    """Tell whether the program that called has ended."""
    server.settimeout(60)
    connection, _ = server.accept()
    with connection:
        connection.settimeout(60)
        return connection.recv(1) == b""


@pytest.mark.skipif(os.name != "posix", reason="Windows ends only the program itself")
@pytest.mark.parametrize("then", ["wait", ""])
def test_time_limit_ends_the_program_and_what_it_started(then: str, tmp_path: Path) -> None:
    """A shell and `sleep` start at once, so both have begun by then even on a busy machine."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    held = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        script = f"{{ echo begun >&3; exec sleep 600; }} 3> '{pipe}' & {then}"
        with pytest.raises(ProcessError, match="did not finish within 2 seconds"):
            Programs(os.environ).run(["sh", "-c", script], timeout=2)
        assert os.read(held, 6) == b"begun\n"
        select.select([held], [], [], 60)
        assert os.read(held, 1) == b"", "nobody holds it any more"
    finally:
        os.close(held)


@pytest.mark.skipif(os.name != "posix", reason="Windows ends only the program itself")
def test_leftover_processes_are_not_awaited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "ORPHAN_TIMEOUT", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as server:
        code = in_the_background(server.getsockname()[1])
        with pytest.raises(ProcessError) as caught:
            python(code + "import time; time.sleep(2); print(2); sys.exit(3)")
        assert caught.value.status == 3
        assert caught.value.stdout.split() == [b"1", b"2"]
        assert ended(server)


@pytest.mark.skipif(not hasattr(os, "waitid"), reason="this system has no waitid")
def test_only_groups_that_are_certainly_our_own_are_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program in its own session survives; the id of an ended one may belong to another."""
    killed: list[int] = []
    kill = os.killpg

    def noted(group: int, number: int) -> None:
        os.kill(group, 0)  # it still exists, perhaps as a zombie
        killed.append(group)
        kill(group, number)

    monkeypatch.setattr(process, "ORPHAN_TIMEOUT", 0.5)
    monkeypatch.setattr(os, "killpg", noted)
    with socket.create_server(("127.0.0.1", 0)) as server:
        code = in_the_background(server.getsockname()[1]) + "print(2)"
        code = code.replace("stderr=", "start_new_session=True, stderr=")
        code = code.replace("time.sleep(600)", "s.recv(1)")  # until the connection ends
        assert python(code, timeout=600).split() == [b"1", b"2"]
        assert len(killed) == 1
        connection, _ = server.accept()
        with connection:
            connection.settimeout(0.2)
            with pytest.raises(TimeoutError):
                connection.recv(1)


def test_no_terminal_to_ask_on() -> None:
    if os.name == "posix":
        with pytest.raises(ProcessError, match="No such device or address"):
            python("open('/dev/tty')")


def test_a_call_may_be_logged_in_short(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, "kalypso_actions.clients.process"):
        Programs(os.environ).run([PYTHON, "-c", "pass"], log_text="in short")
    assert re.fullmatch(r"in short  \d+\.\d\d s", caplog.messages[0])


def test_each_call_is_logged_with_its_time(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, "kalypso_actions.clients.process"):
        python("pass", extra={"SECRET": "hidden"})
    assert re.fullmatch(rf"{PYTHON} -c pass  \d+\.\d\d s", caplog.messages[0])
    assert "hidden" not in caplog.text


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits other processes")
def test_a_limited_program_ends_without_this_process() -> None:
    """The system limits its processor time, because this process may be killed."""
    command = ["sh", "-c", "sleep 0.3; ulimit -t"]
    output = Programs(os.environ).run(command, timeout=20, max_memory=1 << 30)
    assert int(output) == 20 * (os.cpu_count() or 1) + 1


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits running programs")
def test_a_limit_of_this_process_is_not_raised() -> None:
    code = (
        "import os, resource\n"
        "from kalypso_actions.clients.process import Programs\n"
        "resource.setrlimit(resource.RLIMIT_CPU, (50, 50))\n"
        "Programs(os.environ).run(['true'], max_memory=1 << 30, timeout=600)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
