from __future__ import annotations

import pytest

from kalypso_actions.compliance import Requirements, missing_cluster_types
from kalypso_actions.compliance.other_urls import followers_by_other_urls, other_urls_warning
from kalypso_actions.compliance.paths import EnvironmentTree
from kalypso_actions.errors import Location
from kalypso_actions.model.cluster_reports import BranchFollower
from tests.compliance.cluster_reports import healthy_report, reported_paths

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
        pytest.param(OTHER, "./large", False, id="a type that is not missing"),
        pytest.param(OTHER, "./", False, id="the whole tree"),
        pytest.param(OTHER, "./x", False, id="another path"),
        pytest.param("", "./drone", False, id="no URL"),
        pytest.param("https://[x/acme/gitops", "./drone", False, id="not a URL"),
    ],
)
def test_who_follows_a_missing_cluster_type(url: str, path: str, *, counts: bool) -> None:
    follower = BranchFollower("clusters/a", url, reported_paths("./monitoring", path))
    assert followers_by_other_urls([follower], OURS, TREE, {"drone"}) == (follower,) * counts


def test_which_cluster_types_are_missing() -> None:
    reports = [healthy_report("a", "./large"), healthy_report("b", "./drone")]
    assert missing_cluster_types(reports, TREE, Requirements()) == set()
    assert missing_cluster_types(reports[:1], TREE, Requirements()) == {"drone"}
    ignoring = Requirements(ignore_clusters=("*/b",))
    assert missing_cluster_types(reports, TREE, ignoring) == {"drone"}
    assert missing_cluster_types([healthy_report(path="./")], TREE, Requirements()) == TREE.assigned


def test_a_warning_names_ten_clusters_and_no_password() -> None:
    followers = [
        BranchFollower(f"clusters/{number:02}", OTHER.replace("//", "//u:secret@"), ())
        for number in range(12)
    ]
    message = other_urls_warning(followers, OURS, "dev", Location(OURS)).message
    assert message.startswith("12 clusters follow the branch 'dev'")
    assert message.endswith("09 (ghe.acme.example/acme/gitops) and 2 more")
    assert "secret" not in message
