from __future__ import annotations

import pytest

from kalypso_actions.compliance import EnvironmentTree
from kalypso_actions.compliance.doubtful_clusters import (
    MOST_REPOSITORIES,
    check_lookups,
    followers_by_other_urls,
    other_urls_warning,
)
from kalypso_actions.errors import KalypsoError, Location
from kalypso_actions.model.cluster_reports import BranchFollower
from tests.compliance.cluster_reports import reported_paths

OURS = "https://github.com/acme/gitops"
OTHER = "https://ghe.acme.example/acme/gitops"
TREE = EnvironmentTree("", frozenset({"drone", "large"}), frozenset({"drone", "large"}))


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
