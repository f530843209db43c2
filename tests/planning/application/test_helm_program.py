"""Which helm is used: that of PATH, or in a job the pinned release."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from kalypso_actions.clients.process import Programs
from kalypso_actions.commands.app.by_helm import find_helm
from kalypso_actions.errors import KalypsoError, UsageError
from tests.planning.application.applications import POSIX

pytestmark = POSIX

JOB = {"GITHUB_ACTIONS": "true"}


def script(folder: Path, version: str) -> Path:
    folder.mkdir()
    program = folder / "helm"
    program.write_text(f"#!/bin/sh\necho {version}\n")
    program.chmod(0o755)
    return program


@pytest.mark.parametrize(
    ("on_path", "wanted", "job", "expected"),
    [
        ("v3.18.4", "", {}, "v3.18.4"),
        ("v3.18.4", "", JOB, "v3.18.4"),
        ("v3.18.4", "v3.18", JOB, "v3.18.4"),
        ("", "", JOB, "v3.22.0"),
        ("", "3.22", JOB, "v3.22.0"),
        ("v4.3.0", "v3", JOB, "v3.22.0"),
        ("v4.3.0", "v3", {}, UsageError),
        ("v3.18.4", "v3.1", JOB, UsageError),
        ("", "", {}, KalypsoError),
        ("", "v2", JOB, KalypsoError),
    ],
)
def test_the_version(
    tmp_path: Path,
    on_path: str,
    wanted: str,
    job: Mapping[str, str],
    expected: str | type[KalypsoError],
) -> None:
    path = script(tmp_path / "bin", on_path).parent if on_path else tmp_path / "none"
    variables = {"PATH": str(path), "RUNNER_TEMP": str(tmp_path), **job}

    def find() -> str:
        helm, version = find_helm(
            Programs(variables), wanted, 60, lambda folder, _: script(folder / "new", "v3.22.0")
        )
        assert helm.version() == version
        return version

    if isinstance(expected, str):
        assert find() == expected
    else:
        with pytest.raises(expected):
            find()
