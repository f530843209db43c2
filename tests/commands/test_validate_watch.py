"""`kalypso validate --watch`: again with each change."""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.command_line import call_kalypso

RUN = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever runs the tests may ignore it
from kalypso_actions.__main__ import main
main()
"""
TEXT = "apiVersion: scheduler.kalypso.io/v1alpha1\nkind: ConfigSchema\nmetadata: {name: a}\n"


@pytest.mark.skipif(os.name != "posix", reason="Windows ends programs in another way")
def test_it_checks_again_until_ctrl_c(tmp_path: Path) -> None:
    file = tmp_path / "schema.yaml"
    file.write_text(f"{TEXT}spec: {{schema: '{{}}'}}\n", encoding="utf-8")
    command = [sys.executable, "-c", RUN, "validate", "--watch", str(tmp_path)]
    with (
        subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8"
        ) as process,
        contextlib.ExitStack() as at_the_end,
    ):
        at_the_end.callback(process.kill)
        lines: queue.Queue[str] = queue.Queue()
        reading = threading.Thread(target=lambda: [*map(lines.put, process.stdout or ())])
        reading.start()
        said = ""
        while "waiting for a change" not in said:
            said += lines.get(timeout=60)
        assert "0 problems" in said
        file.write_text(f"{TEXT}spec: {{schem: '{{}}'}}\n", encoding="utf-8")
        while "spec.schema" not in said:
            said += lines.get(timeout=60)
        process.send_signal(signal.SIGINT)
        reading.join(timeout=60)
        assert process.wait(timeout=60) == 130


def test_it_prints_text_only() -> None:
    done = call_kalypso("validate", "--watch", "--output", "json")
    assert done.returncode == 2
    assert "--watch is for people" in done.stderr
