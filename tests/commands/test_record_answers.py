"""Twelve questions of people and pipelines about one record, with the answers derived by hand."""

from __future__ import annotations

import json
import re
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from kalypso_actions.inputs.local import SANDBOX_CLOCK
from tests.command_line import call_kalypso
from tests.commands.chain.documents import main_files
from tests.commands.hub.records import Recorder, application, folder
from tests.git_repositories import commit_branch
from tests.observations.test_record import AT

URL = "https://github.com/acme"


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """0.0.2 fails on p-2; the second commit of main fails on p-1, the third mends it; p-3 goes."""
    recorder = Recorder(tmp_path_factory.mktemp("record") / "record")

    def look(
        hour: float, place: str, content: str, runs: str, took: int = 0, **fields: Any
    ) -> None:
        recorder.now = AT + timedelta(hours=hour)
        environment, name = place.split()
        line = (folder if name == "small" else application)(name, environment)
        commit = content[0] * 40
        recorder.merge(line, content, source_commit=commit)
        for cluster in runs.split():
            recorder.run(cluster.rstrip("!"), line, content)
            if cluster.endswith("!"):
                recorder.run(cluster[:-1], line, content, "failure", reason="out of memory")
        if took:
            recorder.promote(environment, commit, took, **fields)
        recorder.look(("dev", "prod"))

    look(0, "dev small", "1111111", "d-1", 10)
    look(0, "prod small", "1111111", "p-1 p-2 p-3", 20)
    look(0, "dev shop", "0.0.1", "d-1")
    look(0, "prod shop", "0.0.1", "p-1 p-2 p-3")
    look(1, "dev shop", "0.0.2", "d-1")
    look(2, "prod shop", "0.0.2", "p-1 p-2!")
    look(3, "dev small", "2222222", "d-1", 5)
    failed = {"deployed_at": None, "failed_at": AT + timedelta(hours=4), "state": "failed"}
    look(4, "prod small", "2222222", "p-1! p-2 p-3", 60, **failed)
    look(4.5, "prod small", "3333333", "p-1 p-2 p-3", 20, merged_by="heidi")
    recorder.now = AT + timedelta(hours=5)
    recorder.lose("p-3")
    recorder.look(("dev", "prod"))
    return recorder.folder


FAILING = "failing|prod|p-2|shop|0.0.2|0.0.2|14:00:00 UTC|out of memory"
P_1 = "prod|small|p-1|shop|0.0.2|0.0.2|success|14:00:00 UTC"
P_1_FAILS = "prod|small|p-1|small|2222222|2222222|failure: out of memory|16:00:00 UTC"
P_2 = "prod|small|p-2|shop|0.0.2|0.0.2|failure: out of memory|14:00:00 UTC"
FIGURES = (
    *("deployments|promotion 3|3", "ended well|2 in 5.5 h|2", "recovery|30 min|1"),
    *("lead time|20 min, 20 min, 90 min|3", "failed commits|33% (1 of 3)|3"),
)


@pytest.mark.parametrize(
    ("question", "answers"),
    [
        # A platform engineer: what is wrong, what ran there, where is that cluster?
        ("drift", [FAILING, "1 difference; last look 17:00:00 UTC"]),
        ("where p-1 --at 16:10", [P_1, P_1_FAILS]),
        ("history p-3", ["12:00:00 UTC|17:00:00 UTC|prod|shop|0.0.1|success"]),
        # An application's team: where is it, has everybody left the old version, how did it go?
        ("where shop", [P_1, P_2, "3 clusters; last look 17:00:00 UTC"]),
        ("where 0.0.1", ["0 clusters; last look 17:00:00 UTC"]),
        (
            "history prod --target shop",
            ["14:00:00 UTC|prod|shop|0.0.2|0000000|1 success, 1 failure"],
        ),
        # A manager: how well does it go, and where is that commit?
        ("delivery", [f"prod|prod|{figure}" for figure in FIGURES]),
        ("delivery --commit 2222222", ["prod|2222222|failed|–|15:00 UTC|15:59 UTC|–"]),
        # An auditor: who let it in, who had it then, since when do we know?
        ("history prod", ["16:30:00 UTC|prod|small|3333333|0000000|3 success|Greet|heidi"]),
        ("where 2222222 --at 16:10", ["4 clusters; last look 16:00:00 UTC"]),
        ("drift --at 11:00", ["0 differences; nothing had been observed by then"]),
        # A pipeline: may the next environment have it?
        ("drift --fail-on failing,off", [FAILING]),
        # Before the first look, nothing is known: no gate may open.
        (
            "drift --fail-on failing,off --at 11:00",
            ["0 differences; nothing had been observed by then"],
        ),
    ],
)
def test_a_question_has_the_answer(record: Path, question: str, answers: list[str]) -> None:
    command, _, at = question.partition(" --at ")
    given = (*command.split(), "--at", f"2026-03-01 {at or '17:30'}", "--record", record)
    done = call_kalypso(*given)
    told = [
        re.sub(" {2,}", "|", line) for line in done.stdout.replace("2026-03-01 ", "").split("\n")
    ]
    assert done.returncode == ("--fail-on" in question)
    assert set(answers) <= set(told), done.stdout


@pytest.mark.parametrize(("contents", "promotions"), [("12", [True, True]), ("121", [False, True])])
def test_a_rollback_has_not_the_promotion_of_the_first_time(
    tmp_path: Path, contents: str, promotions: list[bool]
) -> None:
    recorder = Recorder(tmp_path / "record")
    for nth, content in enumerate(contents):
        recorder.now = AT + timedelta(hours=nth)
        recorder.merge(folder("small", "prod"), content * 7, source_commit=content * 40)
        if nth < 2:
            recorder.promote("prod", content * 40, -5)
        recorder.look(("prod",))
    done = call_kalypso(
        *("history", "prod", "--json", "--at", "2026-03-01 17:30"), "--record", recorder.folder
    )
    periods = json.loads(done.stdout)["targetPeriods"][:2]
    assert [bool(each["pullRequest"]) for each in periods] == promotions
    assert [each["deployedAt"] is not None for each in periods] == promotions
    assert [each["leadTime"] is not None for each in periods] == promotions


def test_a_name_that_the_record_lacks(record: Path) -> None:
    done = call_kalypso("history", "nonsense", "--at", "2026-03-01 17:30", "--record", record)
    assert done.returncode == 2
    assert "kalypso where dev lists the targets and clusters of dev" in done.stderr


def test_the_page_has_the_answers_of_who_has_only_the_page(record: Path, tmp_path: Path) -> None:
    """What is wrong, what was deployed with which end, and how well does it go?"""
    commit_branch(tmp_path / "plane", main_files(f"{URL}/control-plane", f"{URL}/shop"))
    then = (AT + timedelta(hours=5.5)).timestamp()
    done = call_kalypso(
        *("report", "--control-plane", tmp_path / "plane", "--out", tmp_path / "page"),
        *("--record", record),
        variables={SANDBOX_CLOCK: f"{time.time()} {then} 1"},
    )
    assert "written to" in done.stdout, done.stderr
    page = json.loads((tmp_path / "page/report.json").read_text())["observed"]
    (wrong,) = page["drift"]
    assert [wrong[name] for name in ("kind", "clusterName", "target", "wanted", "reason")] == (
        FAILING.replace("|prod|", "|").replace("|0.0.2|14:00:00 UTC", "").split("|")
    )
    prod = [each for each in page["deployments"] if each["environment"] == "prod"]
    assert [(each["state"], each["well"], each["clusters"]) for each in prod] == [
        ("well", 3, 3),
        ("failed", 2, 3),
        ("well", 3, 3),
    ]
    (figures,) = (each for each in page["delivery"] if each["name"] == "prod")
    assert (figures["endedWell"], figures["leadTime"]["values"]) == (2, [1200, 1200, 5400])
    assert figures["changeFailures"] == {"part": 1, "n": 3, "share": 0.3333}
