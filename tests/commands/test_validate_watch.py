"""`kalypso validate --watch`: again with each change."""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.command_line import call_kalypso

TEXT = "apiVersion: scheduler.kalypso.io/v1alpha1\nkind: ConfigSchema\nmetadata: {name: a}\n"


@pytest.mark.skipif(os.name != "posix", reason="Windows ends programs in another way")
def test_it_checks_again_until_ctrl_c(tmp_path: Path) -> None:
    file = tmp_path / "schema.yaml"
    file.write_text(f"{TEXT}spec: {{schema: '{{}}'}}\n", encoding="utf-8")
    command = [sys.executable, "-m", "kalypso_actions", "validate", "--watch", str(tmp_path)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8"
    ) as process:
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
