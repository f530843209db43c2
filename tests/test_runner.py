from __future__ import annotations

import io
import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kalypso_actions.errors import KalypsoError, Location, Problem
from kalypso_actions.runner import (
    CUT_NOTE,
    SUMMARY_LIMIT,
    JobContext,
    Runner,
    annotation_command,
    append_output,
    append_summary,
    escape_workflow_commands,
    mask_commands,
    read_job_context,
)

FLEET = "https://github.com/acme/fleet"


@pytest.mark.parametrize(
    ("problem", "text"),
    [
        (
            Problem("wrong", Location(FLEET, "a/b.yaml", 3, 5), "do better"),
            "::error title=render,file=a/b.yaml,line=3,col=5::wrong%0Ado better",
        ),
        (
            Problem("wrong", Location(FLEET + ".git", "b.yaml")),
            "::error title=render,file=b.yaml::wrong",
        ),
        (
            Problem("wrong", Location("https://github.com/acme/app", "b.yaml", 3)),
            "::error title=render::https://github.com/acme/app: b.yaml:3: wrong",
        ),
        (
            Problem("wrong", Location("https://github.com/evil/acme-fleet", "b.yaml", 3)),
            "::error title=render::https://github.com/evil/acme-fleet: b.yaml:3: wrong",
        ),
        (Problem("a\n::error::b\r100%"), "::error title=render::a%0A::error::b%0D100%25"),
        (
            Problem("x", Location(FLEET, "a,line=9::b.yaml")),
            "::error title=render,file=a%2Cline=9%3A%3Ab.yaml::x",
        ),
    ],
)
def test_annotations(problem: Problem, text: str) -> None:
    assert annotation_command(problem, "render", "acme/fleet") == text


def test_a_secret_of_several_lines_is_masked_line_by_line() -> None:
    assert mask_commands("-----BEGIN\nsecret1\n\nab\nsecret2\n") == [
        "::add-mask::-----BEGIN",
        "::add-mask::secret1",
        "::add-mask::secret2",
    ]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a:: b", "a:: b"),
        ("  ::stop-commands::x\nb", "\u200b  ::stop-commands::x\nb"),
        # The old form counts in the middle of a line, too.
        ("problem: ##[error]x", "problem: ## [error]x"),
        ("###[[error]", "### [[error]"),
    ],
)
def test_text_that_would_be_a_command(text: str, shown: str) -> None:
    assert escape_workflow_commands(text) == shown


@given(st.text() | st.text(":#[]e \n\u200b"))
def test_harmless_text_holds_no_command(text: str) -> None:
    for line in escape_workflow_commands(text).splitlines():
        assert not line.lstrip().startswith("::")
        assert "##[" not in line


def parsed_outputs(text: str) -> dict[str, str]:
    """Read outputs like the runner: name, delimiter, lines up to the delimiter."""
    values, lines = {}, iter(text.split("\n"))
    for line in lines:
        if line:
            name, delimiter = line.split("<<", 1)
            value = []
            while (part := next(lines)) != delimiter:
                value.append(part)
            values[name] = "\n".join(value)
    return values


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])))
def test_an_output_comes_back_whatever_it_holds(value: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "output")
        append_output(file, "first", value)
        append_output(file, "second", "2")
        text = file.read_bytes().decode()
    assert parsed_outputs(text) == {"first": value, "second": "2"}


def test_nobody_can_know_what_ends_an_output(tmp_path: Path) -> None:
    file = tmp_path / "output"
    append_output(file, "first", "")
    known = file.read_text().split("<<")[1].split("\n")[0]
    forged = f"\n{known}\nsecond=forged"
    append_output(file, "first", forged)
    assert parsed_outputs(file.read_text()) == {"first": forged}


def test_an_output_that_is_too_long(tmp_path: Path) -> None:
    with pytest.raises(KalypsoError, match="the output rows is longer"):
        append_output(tmp_path / "output", "rows", "x" * (1024 * 1024 + 1))


def test_a_summary_stays_within_what_github_shows(tmp_path: Path) -> None:
    file = tmp_path / "summary"
    append_summary(file, "# Title")
    append_summary(file, "| ä |\n" * 300_000)
    append_summary(file, "more")
    text = file.read_text(encoding="utf-8")
    assert text.startswith("# Title\n\n| ä |\n")
    assert text.endswith("| ä |\n" + CUT_NOTE)
    assert file.stat().st_size <= SUMMARY_LIMIT


def runner_of(folder: Path, **more: str) -> tuple[Runner, io.StringIO]:
    stream = io.StringIO()
    environment = {
        "GITHUB_ACTIONS": "true",
        "GITHUB_REPOSITORY": "acme/fleet",
        "GITHUB_OUTPUT": str(folder / "output"),
        "GITHUB_STEP_SUMMARY": str(folder / "summary"),
    }
    return Runner(environment | more, stream), stream


def test_what_a_step_says(tmp_path: Path) -> None:
    runner, stream = runner_of(tmp_path)
    runner.mask("s3cret")
    old = Problem("old", Location(FLEET, "a.yaml", 2), level="warning")
    runner.annotate([old], "ci")
    runner.outputs({"changed": "true", "url": "u"})
    runner.summary("# Done")
    assert stream.getvalue().splitlines() == [
        "::add-mask::s3cret",
        "::warning title=ci,file=a.yaml,line=2::old",
    ]
    assert parsed_outputs((tmp_path / "output").read_text()) == {"changed": "true", "url": "u"}
    assert (tmp_path / "summary").read_text() == "# Done\n\n"


def test_no_more_annotations_than_are_shown(tmp_path: Path) -> None:
    runner, stream = runner_of(tmp_path)
    runner.annotate([Problem(str(number)) for number in range(12)], "ci")
    assert len(stream.getvalue().splitlines()) == 10


def test_many_problems_of_a_line_have_one_annotation(tmp_path: Path) -> None:
    runner, stream = runner_of(tmp_path)
    line = Location(FLEET, "config/common.yaml", 10)
    other = Problem("another", Location(FLEET, "a.yaml", 2))
    runner.annotate([*(Problem(str(n), line) for n in range(12)), other], "ci")
    assert stream.getvalue().splitlines() == [
        "::error title=ci,file=config/common.yaml,line=10::0 (and 11 more on this line)",
        "::error title=ci,file=a.yaml,line=2::another",
    ]


def test_outside_of_actions_nothing_is_reported(tmp_path: Path) -> None:
    stream = io.StringIO()
    runner = Runner({}, stream)
    runner.mask("s3cret")
    runner.annotate([Problem("wrong")], "ci")
    runner.outputs({"a": "b"})
    runner.summary("# Done")
    assert stream.getvalue() == ""
    assert list(tmp_path.iterdir()) == []


def test_the_context_of_a_job(tmp_path: Path) -> None:
    event = tmp_path / "event.json"
    event.write_text(json.dumps({"before": "0" * 40}))
    context = read_job_context(
        {
            "GITHUB_ACTIONS": "true",
            "GITHUB_SERVER_URL": "https://github.example",
            "GITHUB_REPOSITORY": "acme/fleet",
            "GITHUB_REF": "refs/heads/feature/a",
            "GITHUB_SHA": "a" * 40,
            "GITHUB_EVENT_NAME": "push",
            "GITHUB_EVENT_PATH": str(event),
            "GITHUB_ACTOR": "ada",
            "GITHUB_TRIGGERING_ACTOR": "grace",
            "GITHUB_RUN_ATTEMPT": "2",
            "GITHUB_RUN_ID": "77",
        }
    )
    assert context == JobContext(
        in_actions=True,
        repository="acme/fleet",
        ref="refs/heads/feature/a",
        commit="a" * 40,
        event_name="push",
        event={"before": "0" * 40},
        actor="ada",
        triggering_actor="grace",
        attempt=2,
        run_url="https://github.example/acme/fleet/actions/runs/77",
        server_url="https://github.example",
    )
    assert context.branch == "feature/a"
    assert read_job_context({"GITHUB_REPOSITORY": "acme/fleet"}) == JobContext()
    assert JobContext(ref="refs/pull/1/merge").branch == ""


def test_an_event_that_cannot_be_read(tmp_path: Path) -> None:
    missing = {"GITHUB_ACTIONS": "true", "GITHUB_EVENT_PATH": str(tmp_path / "none.json")}
    with pytest.raises(KalypsoError, match="GITHUB_EVENT_PATH"):
        read_job_context(missing)
