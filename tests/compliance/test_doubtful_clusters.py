from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import pytest

from kalypso_actions.compliance import Cluster, EnvironmentTree
from kalypso_actions.compliance.cluster_states import ClusterState
from kalypso_actions.compliance.doubtful_clusters import (
    MOST,
    MOST_REPOSITORIES,
    check_lookups,
    deleted_clusters_warning,
    doubtful_clusters,
    followers_by_other_urls,
    is_of_deleted_cluster,
    other_urls_warning,
)
from kalypso_actions.errors import KalypsoError, Location
from kalypso_actions.model.cluster_reports import BranchFollower
from tests.breaks import breaks, returning, turned
from tests.compliance.cluster_reports import (
    NOW,
    cluster_id,
    healthy_report,
    minutes,
    reported_paths,
)

STARTED = minutes(10)
"""How long ago the waiting began."""


def doubtful(
    *clusters: tuple[str, ClusterState, float | None],
    started: timedelta = STARTED,
    known: Sequence[str] = (),
) -> list[str]:
    """Return the doubtful clusters; each is given as name, state, minutes since its last report."""
    reports = [
        healthy_report(name, reported_at=None if ago is None else NOW - minutes(ago))
        for name, _, ago in clusters
    ]
    states = [Cluster(cluster_id(name), "drone", state, "", "") for name, state, _ in clusters]
    ids = doubtful_clusters(states, reports, known, started=NOW - started, now=NOW)
    return [cluster.rpartition("/")[2] for cluster in ids]


@breaks(
    "a cluster that reports is looked up as deleted",
    turned(
        doubtful_clusters,
        "reported_at[cluster.id] >= since",
        "False",
    ),
)
@pytest.mark.parametrize(
    ("state", "ago", "is_doubtful"),
    [
        ("compliant", 99, False),
        ("ahead", 99, False),
        ("progressing", 99, True),
        ("unreachable", 99, True),
        ("stale", 99, True),
        ("suspended", 99, True),
        ("failed", 99, True),
        ("progressing", None, True),
        ("progressing", 11, True),
        ("progressing", 9, False),
        ("failed", 9, False),
    ],
)
def test_a_cluster_that_is_silent_and_holds_up_the_verdict(
    state: ClusterState, ago: float | None, *, is_doubtful: bool
) -> None:
    assert doubtful(("a", state, ago)) == ["a"] * is_doubtful


def test_in_a_long_run_the_silence_counts() -> None:
    given: tuple[str, ClusterState, float] = ("a", "progressing", 19)
    assert doubtful(given, started=minutes(300)) == []
    assert doubtful((*given[:2], 21), started=minutes(300)) == ["a"]


def test_failing_clusters_come_first_then_the_most_silent() -> None:
    failed = [(f"f{number:02}", "failed", 20.0) for number in range(30)]
    others = [(f"p{number:02}", "progressing", 20.0 + number) for number in range(30)]
    names = doubtful(*others, *failed)  # type: ignore[arg-type]  # states are literals
    assert names[:30] == [name for name, *_ in failed]
    assert names[30:] == [name for name, *_ in others[::-1]][:MOST]


def test_known_clusters_are_not_asked_for_again() -> None:
    assert doubtful(("a", "failed", 99), known=[cluster_id("a")]) == []


@breaks(
    "a cluster that is created again does not count",
    turned(
        is_of_deleted_cluster,
        "found_at is not None and (report.reported_at or NEVER) <= found_at",
        "found_at is not None",
    ),
)
@pytest.mark.parametrize(("ago", "lingers"), [(None, True), (5, True), (4, False)])
def test_a_report_from_after_the_answer_is_of_a_new_cluster(
    ago: float | None, *, lingers: bool
) -> None:
    report = healthy_report("a", reported_at=None if ago is None else NOW - minutes(ago))
    assert is_of_deleted_cluster(report, {cluster_id("a"): NOW - minutes(5)}) is lingers
    assert not is_of_deleted_cluster(report, {cluster_id("b"): NOW})


def test_the_warning_names_them() -> None:
    warning = deleted_clusters_warning([cluster_id("b"), cluster_id("a")], Location("x"))
    assert warning.message == "the reports of 2 deleted clusters do not count: a, b"


OURS = "https://github.com/acme/gitops"
OTHER = "https://ghe.acme.example/acme/gitops"
TREE = EnvironmentTree("", frozenset({"drone", "large"}), frozenset({"drone", "large"}))


@breaks(
    "clusters of a former name are overlooked",
    turned(
        followers_by_other_urls,
        "types.intersection(cluster_types)",
        "not cluster_types",
    ),
)
@pytest.mark.parametrize(
    ("url", "path", "counts"),
    [
        pytest.param(OTHER, "./drone", True, id="another host"),
        pytest.param("https://github.com/acme/old", "./drone/web", True, id="another repository"),
        pytest.param(f"{OURS}.git", "./drone", False, id="the repository itself"),
        pytest.param("ssh://git@ssh.github.com:443/acme/gitops", "./drone", False, id="by ssh"),
        pytest.param(OTHER, "./large", False, id="another type"),
        pytest.param(OTHER, "./", True, id="the whole tree"),
        pytest.param(OURS.replace("https", "http"), "./", False, id="by http"),
        pytest.param(OTHER, "./x", False, id="another path"),
        pytest.param("", "./drone", False, id="no URL"),
        pytest.param("https://[x/acme/gitops", "./drone", False, id="not a URL"),
    ],
)
def test_the_followers_of_a_cluster_type(url: str, path: str, *, counts: bool) -> None:
    follower = BranchFollower("clusters/a", url, reported_paths("./monitoring", path))
    assert followers_by_other_urls([follower], OURS, TREE, {"drone"}) == (follower,) * counts


def test_followers_of_the_whole_tree_come_last() -> None:
    paths = {"d": "./drone", "c": "./", "a": "", "b": "./drone/web"}
    followers = [
        BranchFollower(name, OTHER, reported_paths(path) if path else ())
        for name, path in paths.items()
    ]
    others = followers_by_other_urls(followers, OURS, TREE, {"drone"})
    assert "".join(follower.cluster for follower in others) == "bdac"
    assert followers_by_other_urls(followers, OURS, TREE, ()) == ()


@breaks(
    "any number of repositories is looked up",
    returning(check_lookups, None),
)
def test_too_many_repositories_are_not_looked_up() -> None:
    names = [f"acme/{number}" for number in range(MOST_REPOSITORIES + 1)]
    check_lookups(names[1:], "dev", Location(OURS))
    with pytest.raises(KalypsoError, match="'dev' follow 51 other repositories by paths"):
        check_lookups(names, "dev", Location(OURS))


def test_a_warning_names_ten_clusters_and_no_password() -> None:
    followers = [
        BranchFollower(f"clusters/{number:02}", OTHER.replace("//", "//u:secret@"), ())
        for number in range(12)
    ]
    message = other_urls_warning(followers, OURS, "dev", Location(OURS)).message
    assert message.startswith("12 clusters follow the branch 'dev'")
    assert message.endswith("09 (ghe.acme.example/acme/gitops) and 2 more")
    assert "secret" not in message
