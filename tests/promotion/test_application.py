"""The records of an application's chain, and its decisions as tables."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from kalypso_actions.errors import KalypsoError, Location, UsageError
from kalypso_actions.model.github import CommitStatus
from kalypso_actions.model.history import Ancestry
from kalypso_actions.model.own_account import JOBS, Identity
from kalypso_actions.promotion.application import (
    ApplicationState,
    DeployFacts,
    HeadFacts,
    deploy_digest,
    deployed,
    desired_commit,
    failed,
    is_current,
    meaning_of_head,
    promoted,
    read_order,
    refused,
    state_of,
    status_of,
)
from kalypso_actions.promotion.environments import arrows, first_environments
from kalypso_actions.promotion.start_records import StartRecord
from kalypso_actions.promotion.version_records import (
    Release,
    makes_releases,
    read_release,
    release_of,
)
from tests.breaks import breaks, turned

WHERE = Location("https://github.com/acme/shop")
APP = Identity("release[bot]", frozenset({"release-old[bot]"}))

MAIN = Ancestry(
    "f",
    {after: (before,) for before, after in itertools.pairwise("abcdef")} | {"a": ()},
)


def status(text: str) -> CommitStatus:
    return CommitStatus("dev", "pending", text)


@pytest.mark.parametrize(
    ("posted", "state"),
    [
        (promoted("dev", "0.0.1-36", "https://pull"), ApplicationState.PROMOTED),
        (promoted("dev"), ApplicationState.PROMOTED),
        (status("Deploying"), ApplicationState.DEPLOYING),
        (deployed("dev", "0.0.1-36", "f" * 40), ApplicationState.DEPLOYED),
        (status(f"Deployed: {'f' * 40}"), ApplicationState.DEPLOYED),
        (status(f"Configured: {'f' * 40}"), ApplicationState.CONFIGURED),
        (failed("dev", "2 clusters"), ApplicationState.FAILED),
        (status("Failed to deploy"), ApplicationState.FAILED),
        (status_of("dev", ApplicationState.EDITED), ApplicationState.EDITED),
        (status_of("dev", ApplicationState.SUPERSEDED, "1234567"), ApplicationState.SUPERSEDED),
        (status_of("dev", ApplicationState.ROLLED_BACK, "1234567"), ApplicationState.ROLLED_BACK),
        (status("Deploying more"), None),
        (status("Ready"), None),
        (None, None),
    ],
)
def test_states(posted: CommitStatus | None, state: ApplicationState | None) -> None:
    assert state_of(posted) is state
    assert is_current(posted) is (state in {ApplicationState.DEPLOYING, ApplicationState.DEPLOYED})


def test_texts_of_the_statuses() -> None:
    assert promoted("dev", "1.2", "https://pull") == CommitStatus(
        "dev", "pending", "Promoted 1.2", "https://pull"
    )
    assert promoted("dev").description == "Promoted"
    assert deployed("dev", "1.2", "f" * 40) == CommitStatus(
        "dev", "success", f"Deployed 1.2: {'f' * 40}"
    )
    assert len(failed("dev", "x" * 200).description) == 140


@pytest.mark.parametrize(
    "release", [Release("1.2", "1.2@sha256:abc"), Release("1", "2", "ghcr.io/acme/shop/api")]
)
def test_a_release_is_read_as_it_was_written(release: Release) -> None:
    posted = release.status()
    assert (posted.context, posted.state) == ("kalypso / version", "success")
    assert read_release(posted.description) == release


@pytest.mark.parametrize("text", ["", "1.2", "1.2  tag", "1 2 3 4", " 1 2"])
def test_other_texts_are_no_release(text: str) -> None:
    assert read_release(text) is None


def test_a_release_that_does_not_fit_is_refused() -> None:
    Release("1", "t" * 138).status()
    with pytest.raises(UsageError, match="have 141 characters together"):
        Release("1", "t" * 139).status()


@pytest.mark.parametrize(
    ("given", "differences"),
    [
        ({"version": "1", "image-tag": "", "image-name": ""}, []),
        ({"version": "1.0", "image-tag": "t", "image-name": ""}, ["version"]),
        ({"version": "", "image-tag": "u", "image-name": "n"}, ["image-tag", "image-name"]),
    ],
)
def test_inputs_that_contradict_the_release(given: dict[str, str], differences: list[str]) -> None:
    assert Release("1", "t").differences(given) == differences


@breaks(
    "anybody's version counts",
    turned(release_of, "status.context.lower() == VERSION_CONTEXT and counts(status.author)", "1"),
)
@breaks("the newest of two versions wins", turned(release_of, "len(texts) > 1", "False"))
@breaks(
    "a job's version counts beside the App's",
    turned(makes_releases, "release_by == 'app'", "False"),
    case="a job beside the App",
)
@pytest.mark.parametrize("turned_around", [False, True])
@pytest.mark.parametrize(
    ("by", "posts", "version"),
    [
        pytest.param("app", [("release[bot]", "1 t")], "1", id="ours"),
        pytest.param("app", [("release-old[bot]", "1 t")], "1", id="a former identity"),
        pytest.param("app", [("release[bot]", "1 t"), ("eve", "2 t")], "1", id="a person's"),
        pytest.param(
            "app", [("release[bot]", "1 t"), (JOBS, "2 t")], "1", id="a job beside the App"
        ),
        pytest.param("app", [(JOBS, "2 t")], None, id="a job alone"),
        pytest.param("job", [(JOBS, "2 t")], "2", id="of a job"),
        pytest.param("job", [(JOBS, "2 t"), ("other[bot]", "3 t")], "2", id="another App's"),
        pytest.param("app", [("release[bot]", "1 t"), ("release[bot]", "1 t")], "1", id="twice"),
        pytest.param(
            "app", [("release[bot]", "1 t"), ("release[bot]", "1 u")], "two", id="contradicting"
        ),
        pytest.param("app", [], None, id="none"),
    ],
)
def test_whose_version_counts(
    by: Any, posts: list[tuple[str, str]], version: str | None, turned_around: bool
) -> None:
    posted = [
        CommitStatus("Kalypso / Version", "success", text, author=author) for author, text in posts
    ]
    posted.append(CommitStatus("kalypso / ci", "success", "9 t", author="release[bot]"))
    release, problem = release_of(
        posted[::-1] if turned_around else posted, makes_releases(APP, by), "c" * 40, WHERE
    )
    if version == "two":
        assert release is None
        assert problem is not None
        assert "contradicting records 'kalypso / version': '1 t' and '1 u'" in problem.message
    else:
        assert problem is None
        assert (release.version if release else None) == version


@breaks(
    "what people closed is proposed again",
    turned(desired_commit, "commit in facts.out", "False"),
    case="closed",
)
@breaks(
    "a rollback does not hold",
    turned(desired_commit, "comes_back(commit, facts.left, main)", "False"),
    case="rolled back",
)
@breaks(
    "a start for the tracked commit takes a newer proposal back",
    turned(
        desired_commit,
        "facts.allow_rollback or not newest or not main.contains(newest, asked)",
        "True",
    ),
    case="by the tracked commit",
)
@breaks(
    "the next look withdraws a person's rollback",
    turned(
        desired_commit,
        "facts.goes_back and newest == facts.tracked and facts.proposed in main",
        "False",
    ),
    case="a proposed rollback",
)
@pytest.mark.parametrize(
    ("facts", "commit"),
    [
        pytest.param({}, "", id="nothing"),
        pytest.param({"tracked": "b"}, "b", id="configuration"),
        pytest.param({"tracked": "b", "started": "c"}, "c", id="a start"),
        pytest.param({"tracked": "b", "started": "edc"}, "e", id="the newest start"),
        pytest.param({"tracked": "b", "proposed": "d", "started": "c"}, "d", id="proposed"),
        pytest.param({"tracked": "d", "started": "c"}, "d", id="a late start"),
        pytest.param({"tracked": "b", "started": "x"}, "b", id="not on main"),
        pytest.param({"tracked": "x"}, "", id="tracks another branch"),
        pytest.param({"tracked": "b", "started": "dc", "out": "d"}, "c", id="closed"),
        pytest.param({"tracked": "b", "out": "b"}, "b", id="closed what it has"),
        pytest.param({"tracked": "b", "started": "dc", "left": "d"}, "b", id="rolled back"),
        pytest.param({"tracked": "b", "started": "ed", "left": "d"}, "e", id="after a rollback"),
        pytest.param(
            {"tracked": "b", "started": "d", "out": "d", "asked": "d"}, "d", id="a person"
        ),
        pytest.param({"tracked": "b", "left": "d", "asked": "d"}, "d", id="a person comes back"),
        pytest.param(
            {"tracked": "b", "proposed": "d", "asked": "b"}, "d", id="by the tracked commit"
        ),
        pytest.param(
            {"tracked": "d", "asked": "b", "allow_rollback": True}, "b", id="an allowed rollback"
        ),
        pytest.param(
            {"tracked": "b", "proposed": "d", "asked": "c", "allow_rollback": True},
            "c",
            id="an older one than is proposed",
        ),
        pytest.param(
            {"tracked": "d", "proposed": "b", "goes_back": True}, "b", id="a proposed rollback"
        ),
        pytest.param({"tracked": "d", "proposed": "b"}, "d", id="an overtaken proposal"),
        pytest.param(
            {"tracked": "d", "proposed": "b", "goes_back": True, "started": "ce"},
            "e",
            id="newer than the rollback",
        ),
        pytest.param({"asked": "c"}, "c", id="the first one"),
        pytest.param(
            {"tracked": "b", "proposed": "d", "left": "d", "out": "d"}, "d", id="is open again"
        ),
    ],
)
def test_the_desired_commit(facts: dict[str, Any], commit: str) -> None:
    assert desired_commit(DeployFacts(MAIN, **facts)) == commit


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"tracked": "d", "asked": "b"}, "is older than d"),
        ({"tracked": "d", "asked": "x"}, "is not on the source's main branch"),
    ],
)
def test_a_person_must_allow_an_older_commit(facts: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        desired_commit(DeployFacts(MAIN, **facts))


def test_unrelated_commits_have_an_order() -> None:
    """Main merged `y` beside `x`: neither contains the other one."""
    main = Ancestry("m", {"m": ("x", "y"), "x": ("a",), "y": ("a",), "a": ()})
    for started in ("xy", "yx"):
        assert desired_commit(DeployFacts(main, tracked="a", started=started)) == "x"


def test_a_repaired_configuration_ends_a_refusal() -> None:
    digest = deploy_digest("c", Release("1", "t"), "configs")
    assert len(digest) == 16
    assert refused(StartRecord("blocked", digest), digest)
    assert not refused(StartRecord("blocked", digest), deploy_digest("c", Release("1", "t"), "x"))
    assert not refused(StartRecord("scheduled", digest), digest)
    assert not refused(None, digest)


@breaks(
    "a tree that others changed goes on",
    turned(meaning_of_head, "facts.tree in facts.proposed_trees", "True"),
    case="edit",
)
@breaks(
    "a rollback goes on",
    turned(meaning_of_head, "state is not None and facts.is_older", "False"),
    case="rollback",
)
@breaks(
    "a tracking file written by hand goes on",
    turned(meaning_of_head, "facts.is_on_main and facts.proposed_trees", "True"),
    case="hand",
)
@pytest.mark.parametrize(
    ("text", "facts", "meaning"),
    [
        pytest.param("Promoted 1", {}, "promotion", id="promotion"),
        pytest.param("Deploying", {}, "continuation", id="a killed run"),
        pytest.param("Failed to deploy: x", {}, "continuation", id="after a failure"),
        pytest.param("Superseded by x", {}, "continuation", id="comes back by a person"),
        pytest.param(
            "Merged with changes by others: run deploy", {}, "continuation", id="repaired edit"
        ),
        pytest.param("", {}, "configuration", id="a new ring"),
        pytest.param(
            "Deployed 1: x", {"is_new_configuration": True}, "configuration", id="configuration"
        ),
        pytest.param("Deployed 1: x", {}, "manual", id="nothing new"),
        pytest.param("Deployed 1: x", {"is_older": True}, "rollback", id="a rollback"),
        pytest.param(
            "Deployed 1: x", {"is_older": True, "tree": "y"}, "rollback", id="an older rollback"
        ),
        pytest.param("", {"is_older": True}, "configuration", id="an older ring"),
        pytest.param("Promoted 1", {"tree": "y"}, "edited", id="edit"),
        pytest.param("Deployed 1: x", {"tree": "y"}, "manual", id="edit of a deployed one"),
        pytest.param(
            "Deployed 1: x",
            {"tree": "y", "is_new_configuration": True},
            "edited",
            id="edit of a configuration",
        ),
        pytest.param("Promoted 1", {"is_on_main": False}, "by hand", id="hand: not on main"),
        pytest.param("Promoted 1", {"proposed_trees": ()}, "by hand", id="hand: never proposed"),
        pytest.param("", {"proposed_trees": ()}, "by hand", id="hand: unknown"),
    ],
)
def test_the_meaning_of_a_head(text: str, facts: dict[str, Any], meaning: str) -> None:
    latest = CommitStatus("dev", "pending", text) if text else None
    given = {"is_on_main": True, "tree": "t", "proposed_trees": ("s", "t"), **facts}
    assert meaning_of_head(HeadFacts(latest=latest, **given)) == meaning


def test_the_order_of_environments() -> None:
    order = read_order(
        b"""\
- name: dev
  next: [dev-green, dev-red]
- name: dev-green
  next: stage
- name: dev-red
  next: [stage]
- name: stage
""",
        "https://github.com/acme/shop",
    )
    assert first_environments((), order) == ("dev",)
    assert arrows(order) == (
        ("", "dev"),
        ("dev", "dev-green"),
        ("dev", "dev-red"),
        ("dev-green", "stage"),
        ("dev-red", "stage"),
    )
    assert read_order(None, "https://github.com/acme/shop") == {}


@breaks(
    "a circle of an application's environments is no error",
    turned(read_order, "environment_circles(environments)", "()"),
    case="circle",
)
@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        pytest.param("a: [", 0, "not valid YAML", id="no YAML"),
        pytest.param("name: dev", 0, "no list of environments", id="no list"),
        pytest.param("- name: dev\n- dev", 2, "no environment with a name", id="a word"),
        pytest.param("- name: dev\n  next: {a: b}", 1, "no environment with", id="a mapping"),
        pytest.param("- name: dev\n- name: dev", 2, "'dev' is listed twice", id="twice"),
        pytest.param("- name: dev\n  next: [prd]", 2, "names 'prd' as next", id="unknown"),
        pytest.param(
            "- name: dev\n  next: [qa]\n- name: qa\n  next: [dev]", 2, "in a circle", id="circle"
        ),
        pytest.param("- name: dev\n  next: dev", 2, "names itself as next", id="circle of one"),
    ],
)
def test_faults_of_the_order(text: str, line: int, message: str) -> None:
    with pytest.raises(KalypsoError, match=message) as fault:
        read_order(text.encode(), "https://github.com/acme/shop")
    where = fault.value.problem.where
    assert where is not None
    assert (where.path, where.line) == (".github/kalypso/environments.yaml", line)
