"""The command line of `kalypso template`."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from kalypso_actions.report.render_document import TemplateDocument
from tests.command_line import call_kalypso
from tools.reference.schemas import schema_of


def test_standard_output_is_what_would_be_written(tmp_path: Path) -> None:
    file = tmp_path / "template.txt"
    file.write_text("a:\t{{ .Workload }}  [bold] :smile:\n" + "x" * 300 + "\n\x1b[31m é")
    done = call_kalypso("template", file)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "a:\tapp  [bold] :smile:\n" + "x" * 300 + "\n\x1b[31m é"


def test_failures_on_a_terminal(tmp_path: Path) -> None:
    file = tmp_path / "template.txt"
    file.write_text("a: 1\nb: {{ .Nope }}\n")
    done = call_kalypso("template", file)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.splitlines() == [
        f"problem {tmp_path}/template.txt:2:7: Template 'template.txt' fails: no assignment has the "
        "field .Nope [template-failed]",
        "    → fields: .DeploymentTargetName, .Namespace, .Environment, .Workspace, .Workload, "
        ".Labels, .Manifests, .ClusterType, .ConfigData, .Repo, .Branch, .Path",
        '      template: template:2:6: executing "template" at <.Nope>: can\'t evaluate field Nope '
        "in type scheduler.dataType",
        "    2 | b: {{ .Nope }}",
        "      |       ^",
    ]


def test_json(tmp_path: Path) -> None:
    file = tmp_path / "template.txt"
    file.write_text("b: {{ .Nope }}")
    done = call_kalypso("template", file, "--output", "json")
    document = json.loads(done.stdout)
    assert (done.returncode, done.stderr) == (1, "")
    jsonschema.validate(document, schema_of(TemplateDocument))
    assert document["schema"] == "kalypso.template/v1"
    assert document["problems"][0]["where"] == {
        "repository": str(tmp_path),
        "path": "template.txt",
        "line": 1,
        "column": 7,
        "branch": "",
        "commit": "",
    }


@pytest.mark.parametrize("missing", ["template", "values"])
def test_files_that_cannot_be_read(tmp_path: Path, missing: str) -> None:
    (tmp_path / "there").write_text("{}")
    names = {"template": "there", "values": "there", missing: "nowhere"}
    done = call_kalypso(
        "template", tmp_path / names["template"], "--values", tmp_path / names["values"]
    )
    assert done.returncode == 2
    assert "nowhere cannot be read: No such file or directory" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_file_that_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(b"\xff\xfe\xfd")
    done = call_kalypso("template", tmp_path / "binary")
    assert done.returncode == 2
    assert "the file is not UTF-8" in done.stderr
