"""Texts of others in the output of a job: the runner must find no command in them."""

from __future__ import annotations

import json
import re
from io import StringIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from kalypso_actions.report.documents import ChangesEntry
from kalypso_actions.report.escaping import json_text
from kalypso_actions.report.render_document import RenderDocument, print_render
from tests.command_line import WIDE, call_kalypso

COMMANDS = (
    *("::add-mask::a", "::stop-commands::x", "::set-output name=a::b", "::error::x"),
    *("##[add-mask]a", "##[stop-commands]x", "##[set-output name=a]b", "###[[error]x"),
)
SEPARATORS = ("\n", "\r", "\x0b", "\x85", "\u2028", "\u2029", "\x1b[31m", "\u202e", "\u2066")
HOSTILE = "".join(separator + command for command in COMMANDS for separator in SEPARATORS)
UNSEEN = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")

JOB = {**WIDE, "GITHUB_ACTIONS": "true", "GITHUB_REPOSITORY": "acme/fleet"}


def commands(output: str) -> list[str]:
    """Return the commands in an output, as the runner looks for them (ActionCommand.cs)."""
    return [
        line
        for line in re.split("\r\n|\r|\n", output)
        if (line.lstrip().startswith("::") and "::" in line.lstrip()[2:]) or "##[" in line
    ]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.sampled_from((HOSTILE, *COMMANDS)),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)


@given(value=JSON, indent=st.sampled_from([None, 2]))
def test_json_is_equal_when_parsed_and_commands_nothing(value: object, indent: int | None) -> None:
    text = json_text(value, indent=indent)
    assert json.loads(text) == value
    assert commands(text) == []
    assert "::" not in text
    assert not UNSEEN.search(text)
    text.encode()


def test_every_command_with_every_separator() -> None:
    text = json_text({HOSTILE: [HOSTILE, "\\##[error]", "\\\\::x::"]}, indent=2)
    assert commands(text) == []
    assert not UNSEEN.search(text)
    assert json.loads(text) == {HOSTILE: [HOSTILE, "\\##[error]", "\\\\::x::"]}


@pytest.fixture
def application(tmp_path: Path) -> Path:
    """The repository of a team that writes commands into names and texts."""
    kind = json.dumps(f"Workload{HOSTILE}")
    folder = tmp_path / "app" / "workload"
    folder.mkdir(parents=True)
    text = (
        "apiVersion: scheduler.kalypso.io/v1alpha1\n"
        f"kind: {kind}\nmetadata: {{name: {json.dumps(HOSTILE)}}}\n"
    )
    (folder / "a ##[stop-commands]x.yaml").write_text(text)
    (folder / "a ##[add-mask]x.yaml").write_text("a: '##[set-output name=a]b\n::error::x")
    return tmp_path / "app"


@pytest.mark.parametrize("output", ["json", "sarif"])
def test_findings_about_an_application(application: Path, output: str) -> None:
    done = call_kalypso("validate", "--workload", application, "--output", output, variables=JOB)
    assert done.returncode == 1
    assert "stop-commands" in done.stdout
    assert commands(done.stdout) == []
    assert {line.split(" ")[0] for line in commands(done.stderr)} <= {"::error", "::warning"}
    json.loads(done.stdout)


def test_findings_as_text(application: Path) -> None:
    done = call_kalypso("validate", "--workload", application, variables=JOB)
    assert {line.split(" ")[0] for line in commands(done.stdout)} <= {"::error", "::warning"}
    assert commands(done.stderr) == []


def test_the_line_of_a_template(tmp_path: Path) -> None:
    file = tmp_path / "template.yaml"
    file.write_text('a: "##[add-mask]x" ::error::x {{ .Nope }}\n')
    done = call_kalypso("template", file, variables=JOB)
    assert "add-mask" in done.stderr
    assert commands(done.stderr) == []


def test_paths_that_a_render_deletes() -> None:
    output = StringIO()
    paths = ("x" * 199 + " ::error::x", "a/##[add-mask]x", "::error::x")
    document = RenderDocument(environment="dev", changes=ChangesEntry(deleted=paths))
    print_render(Console(file=output, width=200), document)
    assert "add-mask" in output.getvalue()
    assert commands(output.getvalue()) == []
