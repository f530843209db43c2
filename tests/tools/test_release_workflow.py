"""The tag of the major version, and the releases that move it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Final

import pytest
import yaml

from tools.release_notes import CHANGELOG

pytestmark = pytest.mark.skipif(os.name == "nt", reason="a release is made on Linux")

WORKFLOW: Final = CHANGELOG.parent / ".github" / "workflows" / "release.yml"
GH: Final = """\
#!/bin/sh
case "$1 $2 $3" in
"release list "*) printf '%s\\n' $RELEASED ;;
"api --method PATCH") echo "$@" >> "$CALLS"; [ -n "$HAS_TAG" ] ;;
"api --method POST") echo "$@" >> "$CALLS" ;;
*) exit 9 ;;
esac
"""
MOVED: Final = "api --method PATCH repos/o/n/git/refs/tags/{} --raw-field sha=c0ffee"
MADE: Final = "api --method POST repos/o/n/git/refs --raw-field ref=refs/tags/{}"


def run(folder: Path, tag: str, released: str, *, has_tag: bool = True) -> list[str]:
    """Run the last step, and return its writing requests to GitHub."""
    job = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))["jobs"]["github"]
    (folder / "gh").write_text(GH)
    (folder / "gh").chmod(0o755)
    calls = folder / "calls"
    calls.touch()
    variables = {
        "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}",
        "GITHUB_REF_NAME": tag,
        "GITHUB_SHA": "c0ffee",
        "GH_REPO": "o/n",
        "RELEASED": released,
        "HAS_TAG": "1" if has_tag else "",
        "CALLS": str(calls),
    }
    subprocess.run(["bash", "-e", "-c", job["steps"][-1]["run"]], env=variables, check=True)
    return calls.read_text().splitlines()


@pytest.mark.parametrize(
    ("tag", "released", "major"),
    [
        ("v0.1.0", "v0.1.0", "v0"),
        ("v0.10.0", "v0.10.0 v0.9.0 v0.2.10", "v0"),
        ("v0.2.0", "v0.1.0", "v0"),  # GitHub's list may be slightly outdated
        ("v1.0.0", "v1.0.0 v0.9.0 v10.0.0", "v1"),
        ("v0.2.0", "v0.2.0 v0.3.0-rc1 v0.3.0.1", "v0"),
    ],
)
def test_the_newest_release_moves_it(tmp_path: Path, tag: str, released: str, major: str) -> None:
    (call,) = run(tmp_path, tag, released)
    assert call.startswith(MOVED.format(major))


def test_the_first_release_makes_it(tmp_path: Path) -> None:
    calls = run(tmp_path, "v1.0.0", "v1.0.0", has_tag=False)
    assert calls[1].startswith(MADE.format("v1"))


@pytest.mark.parametrize("released", ["v0.1.0 v0.2.0", "v0.1.1 v0.1.0", "v0.10.0 v0.9.0 v0.1.0"])
def test_a_release_that_is_repeated_or_of_an_older_line_takes_nothing_back(
    tmp_path: Path, released: str
) -> None:
    assert run(tmp_path, "v0.1.0", released) == []
