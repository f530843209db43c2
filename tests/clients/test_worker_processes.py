"""Items computed by forked processes: in order, with their errors, and never by a dead process."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import threading

import pytest

from kalypso_actions.clients.worker_processes import WorkerProcesses

pytestmark = [pytest.mark.skipif(sys.platform != "linux", reason="only Linux forks safely")]


def run(body: str) -> str:
    """Run Python in a process of its own: this one has threads."""
    code = textwrap.dedent(body)
    command = [sys.executable, "-c", f"{IMPORTS}\n{code}"]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    return done.stdout + done.stderr


IMPORTS = """
import os, signal
from kalypso_actions.clients.worker_processes import WorkerProcesses
from kalypso_actions.errors import KalypsoError
compute = WorkerProcesses(0).compute
"""


def test_results_are_in_order_and_of_their_processes() -> None:
    output = run("""
        owners = [index % 3 % 2 for index in range(1000)]
        results = list(compute(owners, lambda index, _: (index, os.getpid())))
        assert [index for index, _ in results] == list(range(1000))
        pids = {(owner, pid) for owner, (_, pid) in zip(owners, results)}
        print(len(pids), os.getpid() in {pid for _, pid in pids})
    """)
    assert output == "2 False\n"


def test_an_error_is_raised_here_with_its_place() -> None:
    output = run("""
        def fail(index, _):
            return 1 // (index - 150)
        results = []
        try:
            results.extend(compute([0, 1] * 200, fail))
        except ZeroDivisionError as error:
            print("in fail" in error.__notes__[0])
    """)
    assert output == "True\n"


def test_a_killed_process_is_an_error() -> None:
    output = run("""
        def kill(index, _):
            os.kill(os.getpid(), signal.SIGKILL)
        try:
            list(compute([0, 1], kill))
        except KalypsoError as error:
            print(error.problem.message)
    """)
    assert output == "a rendering process was killed, probably for lack of memory\n"


def test_no_process_is_left_if_nobody_wants_more() -> None:
    output = run("""
        results = compute([0, 1] * 100_000, lambda index, _: "x" * 1000)
        next(results)
        results.close()
        try:
            os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            print("none")
    """)
    assert output == "none\n"


def test_few_items_and_threads_need_this_process() -> None:
    assert WorkerProcesses().usable(1_999) == 1
    ends = threading.Event()
    thread = threading.Thread(target=ends.wait)
    thread.start()
    try:
        assert WorkerProcesses(0).usable(10) == 1
    finally:
        ends.set()
        thread.join()
    usable = run("print(WorkerProcesses().usable(2_000))")
    assert int(usable) == min(4, len(os.sched_getaffinity(0)))


def test_contents_are_written_where_they_are_computed() -> None:
    output = run("""
        from pathlib import Path
        from tempfile import TemporaryDirectory
        folder = TemporaryDirectory()
        def write(contents):
            for number, content in enumerate(contents):
                (Path(folder.name) / f"{os.getpid()}-{number}").write_bytes(content)
        results = list(WorkerProcesses(0, write).compute(
            [0, 1] * 200, lambda index, keep: (index, keep(b"%d" % index))
        ))
        contents = {file.read_bytes() for file in Path(folder.name).iterdir()}
        assert contents == {b"%d" % index for index in range(400)}
        print(results[7], len({name.split("-")[0] for name in os.listdir(folder.name)}))
        folder.cleanup()
    """)
    assert output == "(7, 'c7930257dfef505fd996e1d6f22f2f35149990d0') 2\n"


def test_nothing_is_done_before_all_contents_are_written() -> None:
    output = run("""
        def write(contents):
            for _ in contents:
                pass
            raise KalypsoError("no space left on device")
        results = []
        try:
            results.extend(WorkerProcesses(0, write).compute([0] * 10, lambda index, keep: keep(b"")))
        except KalypsoError as error:
            print(error.problem.message)
    """)
    assert output == "no space left on device\n"
