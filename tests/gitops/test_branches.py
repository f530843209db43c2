from __future__ import annotations

import pytest

from kalypso_actions.errors import KalypsoError
from kalypso_actions.gitops.own_files import own_branches
from kalypso_actions.model.kinds import GitOpsRepo, RepositoryPath
from tests.breaks import breaks, turned
from tests.builders import HERE


def repo(name: str, url: str, branch: str = "dev", path: str = ".") -> GitOpsRepo:
    return GitOpsRepo(name, RepositoryPath(url, branch, path), HERE)


A = "https://git.test/acme/a"


@breaks(
    "two GitOpsRepos of a repository share a branch",
    turned("kalypso_actions.gitops.own_files.own_branches", "len(group) == 1", "True"),
)
@pytest.mark.parametrize(
    ("repos", "branches"),
    [
        ([], {}),
        ([repo("main", A)], {"main": "kalypso/dev"}),
        (
            [repo("x", A), repo("y", "https://git.test/acme/b")],
            {"x": "kalypso/dev", "y": "kalypso/dev"},
        ),
        (
            [repo("x", A), repo("y", "git@git.test:Acme/A.git", "edge")],
            {"x": "kalypso/dev.x", "y": "kalypso/dev.y"},
        ),
        (
            [repo("x", A), repo("y", A, path="fleet"), repo("z", "https://git.test/acme/b")],
            {"x": "kalypso/dev.x", "y": "kalypso/dev.y", "z": "kalypso/dev"},
        ),
    ],
)
def test_our_branches(repos: list[GitOpsRepo], branches: dict[str, str]) -> None:
    assert own_branches("kalypso/", "dev", repos) == branches


@pytest.mark.parametrize("path", [".", "", "./", "/"])
def test_one_tree_has_one_object(path: str) -> None:
    with pytest.raises(KalypsoError, match="'y' names the same tree as 'x'"):
        own_branches("kalypso/", "dev", [repo("x", A), repo("y", A + ".git", path=path)])
