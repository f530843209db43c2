"""SARIF against the standard's own JSON Schema, which an npm package has."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import tarfile
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import jsonschema
import pytest

from kalypso_actions.errors import Location, Problem
from kalypso_actions.report.sarif import sarif

pytestmark = pytest.mark.slow

PACKAGE: Final = "@microsoft/jest-sarif@1.0.0-beta.0"
MEMBER: Final = "package/lib/schemas/sarif-2.1.0-rtm.5.json"
SHA256: Final = "2d99159ae54a3eea97f81781cff48780548657c35949f4b7f25e99a2ba4de4f8"

PROBLEMS: Final = (
    Problem("wrong\n", Location("here", "a b/ü.yaml", 3, 5), "do better", "template-missing"),
    Problem("a", Location("https://github.com/acme/app", "w.yaml", 2, branch="dev")),
    Problem("b", Location("https://github.com/acme/x")),
    Problem("c"),
)


@pytest.fixture(scope="module")
def schema(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The schema of SARIF 2.1.0; skips without npm or its registry."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not installed")
    folder = tmp_path_factory.mktemp("sarif")
    command = [npm, "pack", "--silent", PACKAGE]
    done = subprocess.run(command, cwd=folder, capture_output=True, timeout=120, check=False)
    (archive,) = [*folder.glob("*.tgz"), None][:1]
    if done.returncode or archive is None:
        pytest.skip("npm's registry cannot be reached")
    return _schema(archive)


def _schema(archive: Path) -> dict[str, Any]:
    with tarfile.open(archive) as files:
        member = files.extractfile(MEMBER)
        assert member is not None
        content = member.read()
    assert hashlib.sha256(content).hexdigest() == SHA256
    document: dict[str, Any] = json.loads(content)
    return document


def test_findings_of_each_level(schema: dict[str, Any]) -> None:
    warning = replace(PROBLEMS[0], level="warning")
    acknowledged = replace(warning, code="policies-equal", reason="until May")
    text = sarif([*PROBLEMS, acknowledged, warning], lambda where: where.path)
    document = json.loads(text)
    jsonschema.validate(document, schema)
    document["runs"][0]["results"][0]["level"] = "fatal"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, schema)


def test_no_finding(schema: dict[str, Any]) -> None:
    jsonschema.validate(json.loads(sarif([], lambda where: where.path)), schema)
