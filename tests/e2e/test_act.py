"""Results read from act's log: shortened lines of act 0.2.89."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.e2e.act import Annotation, read_run

ACTION = {"job": "CI/ci", "stage": "Main", "level": "info", "stepID": ["0"]}
INNER = {**ACTION, "stepID": ["0", "run"]}
END = {"job": "CI/ci", "jobResult": "success", "msg": "🏁  Job succeeded"}


def lines(*entries: dict[str, Any]) -> list[str]:
    return [json.dumps({"msg": "", **entry}) for entry in entries]


def test_outputs_are_those_of_the_action() -> None:
    inner = {**INNER, "command": "set-output", "name": "verdict", "arg": "of the step within"}
    own = {**ACTION, "command": "set-output", "name": "verdict", "arg": "compliant\nall"}
    assert read_run(lines(inner, own, END), "ci").outputs == {"verdict": "compliant\nall"}
    assert read_run(lines(inner, END), "ci").outputs == {}


def test_a_summary_that_the_action_repeats_is_one() -> None:
    page = {"command": "summary", "content": "## done\n"}
    run = read_run(lines({**INNER, **page}, {**ACTION, **page}, END), "ci")
    assert run.summary == "## done\n"


def test_summaries_of_several_steps_follow_one_another() -> None:
    first = {**ACTION, "command": "summary", "content": "one\n"}
    second = {**ACTION, "stepID": ["1"], "command": "summary", "content": "two\n"}
    assert read_run(lines(first, second, END), "ci").summary == "one\n\ntwo\n"


def test_annotations_have_their_places() -> None:
    properties = {"file": "a.yaml", "line": "3", "title": "kalypso ci"}
    error = {**INNER, "command": "error", "arg": "wrong\nchange it", "kvPairs": properties}
    assert read_run(lines(error, END), "ci").annotations == [
        Annotation("error", "wrong\nchange it", properties)
    ]


def test_the_log_is_what_people_see() -> None:
    mask = {**INNER, "command": "add-mask", "arg": "secret", "msg": "  ⚙  ***", "raw": "secret"}
    line = {**INNER, "raw_output": True, "msg": "it is ***\n"}
    of_act = {"level": "warning", "msg": "no docker"}
    assert read_run(lines(of_act, mask, line, END), "ci").log == "it is ***\n🏁  Job succeeded\n"


@pytest.mark.parametrize("result", ["success", "failure"])
def test_the_result_is_the_job_s(result: str) -> None:
    assert read_run(lines({**END, "jobResult": result}), "ci").result == result


def test_a_job_that_has_not_run_is_no_success() -> None:
    warning = {"level": "warning", "msg": "Skipping unsupported platform"}
    with pytest.raises(ValueError, match=r"did not run the job ci\nError: no such job"):
        read_run([*lines(warning), "Error: no such job"], "ci")
