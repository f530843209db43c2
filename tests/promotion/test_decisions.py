from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from kalypso_actions.errors import KalypsoError, Location, UsageError
from kalypso_actions.model.github import CommitStatus, Relation
from kalypso_actions.model.history import Ancestry
from kalypso_actions.model.kinds import Environment, RepositoryPath
from kalypso_actions.promotion import statuses as status_table
from kalypso_actions.promotion.cd_decision import (
    Advance,
    advance,
    comes_back,
    commit_on_main,
    has_left,
    is_proposed,
    left_commits,
    left_since_cuts,
    takes_back,
)
from kalypso_actions.promotion.environments import (
    Faults,
    blocked,
    chain_gaps,
    environment_circles,
    first_environments,
    next_environments,
    unreached_environments,
)
from kalypso_actions.promotion.requests import Merge, meaning_of_push
from tests.breaks import breaks, returning, turned, value

OLD, NEW = "0" * 40, "1" * 40


def environments(**annotations: str) -> dict[str, Environment]:
    """Return environments from their annotations: `dev="first next=stage"`."""
    decided = {}
    for name, text in annotations.items():
        notes = {}
        for word in text.split():
            key, _, value = word.partition("=")
            notes[f"kalypso.io/{key}{'-environment'}"] = value or "true"
        place = RepositoryPath("https://github.com/acme/fleet", name, ".")
        where = Location("https://github.com/acme/fleet", f".environments/{name}.yaml")
        decided[name] = Environment(name, place, notes, where, replace(where, line=7))
    return decided


@breaks(
    "ci starts every environment that no annotation names",
    turned(first_environments, "len(unnamed) == 1", "unnamed"),
)
@pytest.mark.parametrize(
    ("given", "annotations", "first"),
    [
        (("prod",), {"dev": "", "prod": ""}, ("prod",)),
        (("dev", "dev"), {"dev": ""}, ("dev",)),
        ((), {"dev": "", "lab": "first", "qa": "first"}, ("lab", "qa")),
        ((), {"dev": "", "lab": "first=false", "qa": ""}, ("dev",)),
        ((), {"qa": "next=prod", "prod": ""}, ("qa",)),
        # The only one that no other names, although it is not called dev.
        ((), {"dev": "", "qa": "next=dev"}, ("qa",)),
        # A variable may name prod, or lab.
        ((), {"dev": "next=stage", "stage": "", "prod": ""}, ("dev",)),
        ((), {"dev": "", "qa": "next=stage", "stage": ""}, ("dev",)),
        ((), {"dev": "next=stagge", "stage": ""}, ("dev",)),
        # If nothing names a next one, dev is the first.
        ((), {"dev": "", "stage": "", "prod": ""}, ("dev",)),
        ((), {"production": ""}, ("production",)),
        # An environment that names itself counts as unnamed.
        ((), {"dev": "next=dev", "stage": ""}, ("dev",)),
        ((), {"dev": "next=dev,stage,stage", "stage": ""}, ("dev",)),
        ((), {"qa": "next=qa"}, ("qa",)),
        # A circle beside a chain.
        ((), {"a": "next=b", "b": "next=a", "qa": "next=prod", "prod": ""}, ("qa",)),
    ],
)
def test_first_environments(
    given: tuple[str, ...], annotations: dict[str, str], first: tuple[str, ...]
) -> None:
    assert first_environments(given, environments(**annotations)) == first


@pytest.mark.parametrize(
    ("annotations", "candidates"),
    [
        ({"a": "", "b": ""}, ["a", "b"]),
        ({"qa": "next=prod", "prod": "", "lab": ""}, ["qa", "lab"]),
        ({"qa": "next=stagge", "stage": ""}, ["qa", "stage"]),
        # Another names dev.
        ({"dev": "", "qa": "next=dev", "lab": ""}, ["qa", "lab"]),
        # All are named by others.
        ({"dev": "next=stage", "stage": "next=dev"}, ["dev", "stage"]),
    ],
)
def test_no_first_environment_is_an_error_with_advice(
    annotations: dict[str, str], candidates: list[str]
) -> None:
    with pytest.raises(KalypsoError) as unclear:
        first_environments((), environments(**annotations))
    problem = unclear.value.problem
    listed = ", ".join(f"{name!r} (.environments/{name}.yaml)" for name in candidates)
    assert problem.message.endswith(f"it may be any of {listed}")
    assert problem.where == environments(**annotations)[candidates[0]].where
    assert 'kalypso.io/first-environment: "true"' in problem.advice


def test_no_environments() -> None:
    with pytest.raises(KalypsoError, match="main has no Environment object"):
        first_environments((), {})
    with pytest.raises(UsageError, match="first-environments: there is no Environment 'x'"):
        first_environments(("x",), environments(dev=""))


@breaks(
    "a circle of environments is no error",
    returning("kalypso_actions.promotion.environments._shortest_path", ()),
)
@pytest.mark.parametrize(
    ("annotations", "circles"),
    [
        ({"dev": "next=stage,lab", "stage": "next=prod", "prod": "", "lab": "next=prod"}, []),
        ({"dev": "next=devv", "stage": "next=stagee"}, []),
        ({"dev": "next=dev"}, ["Environment 'dev' names itself as next"]),
        (
            {"dev": "next=stage", "stage": "next=dev,dev,prod", "prod": ""},
            [
                "Environments name each other as next in a circle: "
                "'dev' names 'stage' (.environments/dev.yaml:7), "
                "'stage' names 'dev' (.environments/stage.yaml:7)"
            ],
        ),
        (
            {"lab": "next=a", "a": "next=b", "b": "next=c", "c": "next=a,c"},
            [
                "Environments name each other as next in a circle: "
                "'a' names 'b' (.environments/a.yaml:7), "
                "'b' names 'c' (.environments/b.yaml:7), "
                "'c' names 'a' (.environments/c.yaml:7)",
                "Environment 'c' names itself as next",
            ],
        ),
        (
            {"a": "next=b,c", "b": "next=a", "c": "next=a"},
            [
                "Environments name each other as next in a circle: "
                "'a' names 'b' (.environments/a.yaml:7), 'b' names 'a' (.environments/b.yaml:7)",
                "Environments name each other as next in a circle: "
                "'a' names 'c' (.environments/a.yaml:7), 'c' names 'a' (.environments/c.yaml:7)",
            ],
        ),
        # The same three, in both orders.
        (
            {"a": "next=b", "b": "next=c", "c": "next=a,b"},
            [
                "Environments name each other as next in a circle: "
                "'a' names 'b' (.environments/a.yaml:7), "
                "'b' names 'c' (.environments/b.yaml:7), "
                "'c' names 'a' (.environments/c.yaml:7)",
                "Environments name each other as next in a circle: "
                "'b' names 'c' (.environments/b.yaml:7), 'c' names 'b' (.environments/c.yaml:7)",
            ],
        ),
    ],
)
def test_circles(annotations: dict[str, str], circles: list[str]) -> None:
    problems = environment_circles(environments(**annotations))
    assert [problem.message for problem in problems] == circles
    assert all(problem.where and problem.where.line == 7 for problem in problems)


@pytest.mark.parametrize(
    ("given", "annotations", "unreached"),
    [
        ((), {"dev": ""}, []),
        ((), {"dev": "next=stage", "stage": ""}, []),
        ((), {"dev": "next=stage", "stage": "", "prod": ""}, ["prod"]),
        ((), {"dev": "", "stage": "", "prod": ""}, ["stage", "prod"]),
        ((), {"dev": "first next=stage", "stage": "", "lab": "first"}, []),
        ((), {"dev": "", "lab": "next=lab"}, ["lab"]),
        # The input selects lab instead of dev.
        (("lab",), {"dev": "next=stage", "stage": "", "lab": ""}, ["dev"]),
        # If the first one is ambiguous, there is none.
        ((), {"qa": "next=prod", "prod": "", "lab": ""}, ["qa", "lab"]),
        (("labb",), {"dev": "next=stage", "stage": ""}, ["dev"]),
        ((), {}, []),
    ],
)
def test_unreached_environments(
    given: tuple[str, ...], annotations: dict[str, str], unreached: list[str]
) -> None:
    known = environments(**annotations)
    notes = unreached_environments(given, known)
    assert [note.where for note in notes] == [known[name].where for name in unreached]
    for note, name in zip(notes, unreached, strict=True):
        assert f"no other Environment names {name!r} as next" in note.message
        assert f"kalypso.io/next-environment: {name}" in note.advice


@breaks(
    "only one next environment is started",
    turned(
        next_environments,
        "dict.fromkeys(own.next_environments)",
        "own.next_environments[:1]",
    ),
)
@pytest.mark.parametrize(
    ("given", "after"),
    [((), ("qa", "perf")), (("prod",), ("prod",)), (("prod", "prod"), ("prod",))],
)
def test_next_environments(given: tuple[str, ...], after: tuple[str, ...]) -> None:
    known = environments(dev="next=qa,perf", qa="next=prod", perf="next=prod", prod="")
    assert next_environments(given, "dev", known) == after


def test_a_next_environment_that_does_not_exist() -> None:
    with pytest.raises(KalypsoError) as caught:
        next_environments((), "dev", environments(dev="next=stagge", stage=""))
    assert caught.value.problem.where == Location(
        "https://github.com/acme/fleet", ".environments/dev.yaml", 7
    )
    with pytest.raises(UsageError):
        next_environments(("x",), "dev", environments(dev=""))
    assert next_environments((), "prod", environments(dev="", prod="")) == ()
    assert next_environments((), "gone", environments(dev="")) == ()


@breaks(
    "a rollback is forced upon the next environments",
    turned(
        advance,
        "promoted_from",
        "promoted_from in {'', 'ci'}",
    ),
)
@breaks(
    "an older commit overwrites a newer one",
    turned(
        advance,
        "relation == 'ahead'",
        "relation in {'ahead', 'behind'}",
    ),
)
@pytest.mark.parametrize(
    ("current", "relation", "promoted_from", "rollback", "decision"),
    [
        (NEW, "identical", "", False, Advance("unchanged")),
        (NEW, None, "dev", True, Advance("unchanged")),
        (None, None, "", False, Advance("write")),
        (OLD, None, "", False, Advance("write")),
        (OLD, "ahead", "", False, Advance("write")),
        (OLD, "ahead", "ci", False, Advance("write")),
        (OLD, "behind", "dev", False, Advance("superseded")),
        (OLD, "diverged", "ci", False, Advance("superseded")),
        (OLD, "behind", "dev", True, Advance("superseded")),
        (OLD, "behind", "", True, Advance("write", rollback=True)),
        (OLD, "diverged", "", True, Advance("write", rollback=True)),
    ],
)
def test_decisions_of_cd(
    current: str | None, relation: Any, promoted_from: str, rollback: bool, decision: Advance
) -> None:
    assert (
        advance(
            current,
            NEW,
            relation=relation,
            promoted_from=promoted_from,
            allow_rollback=rollback,
        )
        == decision
    )


@breaks(
    "a commit that was pushed but not opened yet is overwritten",
    turned(
        is_proposed,
        "own_head not in ended_heads",
        "own_head in ended_heads",
    ),
)
@pytest.mark.parametrize(
    ("promoted_commit", "current", "ended_heads", "is_pending"),
    [
        pytest.param(NEW, OLD, set(), True, id="pushed, not opened yet"),
        pytest.param(NEW, None, {"other"}, True, id="after an earlier pull request"),
        pytest.param(NEW, OLD, {"head"}, False, id="closed or merged"),
        pytest.param(NEW, NEW, set(), False, id="the environment has it"),
        pytest.param(None, None, set(), False, id="names no commit"),
    ],
)
def test_a_branch_of_ours_without_a_pull_request(
    promoted_commit: str | None, current: str | None, ended_heads: set[str], is_pending: bool
) -> None:
    assert is_proposed("head", promoted_commit, current, ended_heads) == is_pending


@breaks(
    "a rollback needs nobody's word",
    turned(
        advance,
        "allow_rollback",
        "allow_rollback or relation",
    ),
)
@pytest.mark.parametrize("relation", ["behind", "diverged"])
def test_a_rollback_must_be_allowed(relation: Any) -> None:
    with pytest.raises(UsageError) as caught:
        advance(OLD, NEW, relation=relation, promoted_from="", allow_rollback=False)
    assert "allow-rollback" in caught.value.problem.advice


DEPLOYED = status_table.deployed("dev")
FAILED = status_table.failed("dev", "x")


@breaks(
    "a revert is a promotion",
    turned(
        meaning_of_push,
        "environment_commit != after",
        "environment_commit is None",
    ),
)
@breaks(
    "an old status is trusted: a deployed commit goes on with every merge",
    turned(
        status_table.is_open,
        "_state(status) not in {None, State.DEPLOYED}",
        "_state(status) is not None",
    ),
)
@breaks(
    "a failed commit is not carried on by its correction",
    returning("kalypso_actions.promotion.statuses.is_open", False),
)
@pytest.mark.parametrize(
    ("before", "after", "back", "base", "latest", "merge"),
    [
        (None, NEW, False, NEW, None, Merge("promotion", NEW)),
        (OLD, NEW, False, NEW, None, Merge("promotion", NEW)),
        # The environment has moved on since, but this was a promotion.
        (OLD, NEW, False, OLD, None, Merge("promotion", NEW)),
        (NEW, OLD, True, OLD, None, Merge("promotion", OLD)),
        (NEW, OLD, True, NEW, None, Merge("revert")),
        (NEW, OLD, True, None, FAILED, Merge("revert")),
        (NEW, None, False, NEW, FAILED, Merge("revert")),
        (None, None, False, None, None, Merge("configuration")),
        (NEW, NEW, False, NEW, None, Merge("configuration")),
        (NEW, NEW, False, NEW, DEPLOYED, Merge("configuration")),
        (NEW, NEW, False, NEW, FAILED, Merge("continuation", NEW)),
        (NEW, NEW, False, NEW, status_table.deploying("dev"), Merge("continuation", NEW)),
        (NEW, NEW, False, NEW, CommitStatus("dev environment", "success", "ok"), Merge("configuration")),
    ],
)  # fmt: skip
def test_the_meaning_of_a_push(
    before: str | None, after: str | None, back: bool, base: str | None, latest: Any, merge: Merge
) -> None:
    meaning = meaning_of_push(before, after, goes_back=back, environment_commit=base, latest=latest)
    assert meaning == merge


@breaks(
    "a diverged commit takes nothing back",
    turned(takes_back, "{'behind', 'diverged'}", "{'behind'}"),
)
@pytest.mark.parametrize(
    ("relation", "back"),
    [("ahead", False), ("identical", False), ("behind", True), ("diverged", True)],
)
def test_a_commit_that_lacks_the_replaced_one_takes_it_back(relation: Relation, back: bool) -> None:
    assert takes_back(relation) == back


@pytest.mark.parametrize(
    ("status", "state", "description", "is_open"),
    [
        (status_table.promoted("dev"), "pending", "Promoted", True),
        (status_table.waiting_for("dev", 7), "pending", "Waiting for #7", True),
        (status_table.deploying("dev"), "pending", "Deploying", True),
        (status_table.awaits_cd("dev"), "pending", "Waiting: cd", True),
        (status_table.deployed("dev"), "success", "Deployed", False),
        (status_table.failed("dev", "a\n b"), "failure", "Failed to deploy: a b", True),
        (status_table.superseded("dev", NEW), "pending", "Superseded by 1111111", True),
        (status_table.rolled_back("dev", OLD), "pending", "Rolled back to 0000000", True),
        (CommitStatus("dev environment", "failure", "Failed to deploy"), "failure", "Failed to deploy", True),
    ],
)  # fmt: skip
def test_the_table_of_statuses(
    status: CommitStatus, state: str, description: str, is_open: bool
) -> None:
    assert (status.context, status.state, status.description) == (
        "dev environment",
        state,
        description,
    )
    assert status_table.is_open(status) == is_open
    assert status_table.is_deployed(status) != is_open


@breaks(
    "a merged commit counts as one before its merge",
    turned(
        status_table.is_before_merge,
        "_state(status) in BEFORE_MERGE",
        "_state(status) is not None",
    ),
)
@pytest.mark.parametrize(
    ("status", "before"),
    [
        (status_table.promoted("dev"), True),
        (status_table.waiting_for("dev", 7), True),
        (status_table.deploying("dev"), False),
        (status_table.deployed("dev"), False),
        (status_table.superseded("dev", NEW), False),
        (None, False),
    ],
)
def test_statuses_before_a_merge(status: CommitStatus | None, before: bool) -> None:
    assert status_table.is_before_merge(status) == before


@breaks(
    "a description is longer than GitHub allows",
    value("kalypso_actions.promotion.statuses.MAX_DESCRIPTION", 200),
)
def test_a_description_is_as_long_as_github_allows() -> None:
    assert len(status_table.failed("dev", "long " * 100).description) == 140
    assert not status_table.is_open(None)
    assert not status_table.is_deployed(None)


# 0 - 1 - 2 ------ 4 - 5, and 2 - s - 4: a merge of the side branch; x is not on main.
MAIN = Ancestry(
    "5", {"0": (), "1": ("0",), "2": ("1",), "3": ("2",), "s": ("2",), "4": ("3", "s"), "5": ("4",)}
)


@breaks(
    "an old start brings back what was rolled back",
    turned(
        comes_back,
        "promoted_commit == commit or not main.contains(promoted_commit, commit)",
        "not main.contains(promoted_commit, commit)",
    ),
)
@pytest.mark.parametrize(
    ("current_commit", "past_commits", "left", "held"),
    [
        pytest.param("2", "210", "", "", id="never back"),
        pytest.param("0", "0210", "12", "012", id="back past two"),
        pytest.param("1", "1210", "2", "012", id="back by one"),
        pytest.param("3", "3120", "", "", id="passed since"),
        pytest.param("2", "2310", "3", "0123s", id="left again"),
        pytest.param("s", "s32", "3", "0123s", id="to a side branch"),
        pytest.param("4", "4s3", "", "", id="merged"),
        pytest.param("x", "x20", "", "", id="not on main"),
        pytest.param("x", "x02", "2", "012", id="not on main after a rollback"),
        pytest.param(None, "02", "2", "012", id="absent after a rollback"),
        pytest.param(None, "", "", "", id="never anything"),
        pytest.param("1", "", "", "", id="inherited"),
        pytest.param("1", "1x", "", "", id="left what main lost"),
    ],
)
def test_left_commits(current_commit: str | None, past_commits: str, left: str, held: str) -> None:
    left_by_main = left_commits(current_commit, list(past_commits), MAIN)
    assert left_by_main == set(left)
    assert {parent for parent in MAIN.parents if comes_back(parent, left_by_main, MAIN)} >= set(
        held
    )
    beyond = {parent for parent in MAIN.parents if all(MAIN.contains(parent, old) for old in left)}
    assert {
        parent for parent in MAIN.parents if not comes_back(parent, left_by_main, MAIN)
    } == beyond - set(left)


@breaks(
    "what another environment named counts as a rollback",
    turned(
        left_since_cuts,
        "left.intersection(frozenset().union(*within))",
        "left",
    ),
)
@pytest.mark.parametrize(
    ("current_commit", "segments", "left"),
    [
        pytest.param("1", ["121"], "2", id="no other branch"),
        pytest.param("1", ["", "121"], "2", id="another branch was cut just now"),
        pytest.param("1", ["1", "2"], "", id="begins with an older commit"),
        pytest.param("1", ["1", "3", "5"], "", id="cut from a branch that was cut"),
        pytest.param("3", ["3", "121"], "", id="passed since"),
        pytest.param("1", ["1", "121"], "2", id="before the cut"),
        pytest.param("0", ["010", "121"], "12", id="before and after"),
    ],
)
def test_commits_left_before_or_after_a_branch_was_cut(
    current_commit: str, segments: list[str], left: str
) -> None:
    assert left_since_cuts(current_commit, [list(segment) for segment in segments], MAIN) == set(
        left
    )


def test_the_newest_commit_on_main() -> None:
    assert commit_on_main("1", ["2"], MAIN) == "1"
    assert commit_on_main("x", ["x", None, "2", "1"], MAIN) == "2"
    assert commit_on_main(None, [], MAIN) is None


@breaks(
    "cd does not look again at the environment before",
    returning(has_left, False),
)
@pytest.mark.parametrize(
    ("current_commit", "relation", "left"),
    [
        ("a", None, False),
        ("a", "identical", False),
        ("b", "ahead", False),
        ("b", "behind", True),
        ("b", "diverged", True),
        ("b", None, True),
        (None, None, True),
    ],
)
def test_when_an_environment_has_left_a_commit(
    current_commit: str | None, relation: Relation | None, left: bool
) -> None:
    assert has_left("a", current_commit, relation) == left


def test_the_first_parent_line() -> None:
    assert list(MAIN.first_parents()) == list("543210")


NONE, ADDED, KNOWN = Faults(0, 0), Faults(1, 0), Faults(0, 1)


@pytest.mark.parametrize(
    ("dev", "stage", "of_main", "expected"),
    [
        pytest.param(NONE, NONE, NONE, set(), id="no problems"),
        pytest.param(NONE, KNOWN, NONE, {"stage"}, id="schedule refuses stage"),
        pytest.param(NONE, ADDED, NONE, {"dev", "stage"}, id="ci refuses the commit"),
        pytest.param(NONE, NONE, ADDED, {"dev", "stage"}, id="new problems on main"),
        pytest.param(NONE, NONE, KNOWN, {"dev", "stage"}, id="known problems on main"),
        pytest.param(ADDED, NONE, None, {"dev"}, id="a change of another branch"),
    ],
)
def test_blocked(dev: Faults, stage: Faults, of_main: Faults | None, expected: set[str]) -> None:
    assert blocked({"dev": dev, "stage": stage}, of_main) == expected


@breaks(
    "a next environment that does not exist is no gap",
    turned(chain_gaps, "unknown_next(environment, environments)", "()"),
    case="unknown",
)
@pytest.mark.parametrize(
    ("annotations", "codes"),
    [
        pytest.param({"dev": "next=stage", "stage": ""}, [], id="a chain"),
        pytest.param({"dev": ""}, [], id="one environment"),
        pytest.param(
            {"dev": "next=stage", "stage": "", "prod": ""},
            ["environment-unreached"],
            id="unreached",
        ),
        pytest.param({"dev": "next=stagge"}, ["next-environment-unknown"], id="unknown"),
        pytest.param(
            {"dev": "next=stage", "stage": "next=dev"}, ["environment-circle"], id="circle"
        ),
    ],
)
def test_gaps_of_the_chain(annotations: dict[str, str], codes: list[str]) -> None:
    assert [gap.code for gap in chain_gaps(environments(**annotations))] == codes
