"""Commits, comparisons of all their pages, and the pull requests of a commit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
import responses
from responses import matchers

from kalypso_actions.clients.github import GitHubError, commits
from kalypso_actions.model.github import Commit, Comparison
from tests.clients.github.connections import REPOSITORY, connect


def test_get() -> None:
    answer = {
        "sha": "c1",
        "tree": {"sha": "t1"},
        "parents": [{"sha": "c0"}, {"sha": "b0"}],
        "message": "Promote\n\nto qa",
    }
    with responses.RequestsMock() as server:
        server.get(f"{REPOSITORY}/git/commits/c1", json=answer)
        result = commits.get(connect(), "acme/fleet", "c1")
    assert result == Commit("c1", "t1", ("c0", "b0"), "Promote\n\nto qa")


def test_get_of_an_unknown_commit() -> None:
    with responses.RequestsMock() as server:
        server.get(f"{REPOSITORY}/git/commits/c1", status=404, json={"message": "Not Found"})
        with pytest.raises(GitHubError, match="the commit c1 cannot be read"):
            commits.get(connect(), "acme/fleet", "c1")


def page(
    server: responses.RequestsMock, number: int, ids: Sequence[str], total: int, **more: Any
) -> None:
    answer = {
        "status": "ahead",
        "total_commits": total,
        "merge_base_commit": {"sha": "base"},
        "commits": [{"sha": commit} for commit in ids],
        **more,
    }
    parameters = {"per_page": "100", "page": str(number)}
    server.get(
        f"{REPOSITORY}/compare/old...new",
        json=answer,
        match=[matchers.query_param_matcher(parameters)],
    )


def compare() -> Comparison:
    return commits.compare(connect(), "acme/fleet", "old", "new")


@pytest.mark.parametrize("relation", ["identical", "ahead", "behind", "diverged"])
def test_relations(relation: str) -> None:
    ids = ["c1"] if relation in {"ahead", "diverged"} else []
    with responses.RequestsMock() as server:
        page(server, 1, ids, len(ids), status=relation)
        result = compare()
    assert (result.relation, result.merge_base, result.commits) == (relation, "base", tuple(ids))


def test_a_relation_alone_takes_one_request_however_many_commits_lie_between() -> None:
    with responses.RequestsMock() as server:
        server.get(
            f"{REPOSITORY}/compare/old...env%2Fqa",
            json={"status": "ahead", "total_commits": 5000, "commits": [{"sha": "c1"}]},
            match=[matchers.query_param_matcher({"per_page": "1", "page": "1"})],
        )
        assert commits.relation(connect(), "acme/fleet", "old", "env/qa") == "ahead"


def test_what_is_not_there_has_no_relation() -> None:
    with responses.RequestsMock() as server:
        server.get(f"{REPOSITORY}/compare/old...new", status=404, json={"message": "Not Found"})
        server.get(REPOSITORY, json={"full_name": "acme/fleet"})
        assert commits.relation(connect(), "acme/fleet", "old", "new") is None


@pytest.mark.parametrize("size", [100, 30, 250])
def test_all_pages_whatever_their_size(size: int) -> None:
    ids = [f"c{n}" for n in range(260)]
    pages = [ids[start : start + size] for start in range(0, len(ids), size)]
    with responses.RequestsMock() as server:
        for number, some in enumerate(pages, start=1):
            page(server, number, some, len(ids))
        assert compare().commits == tuple(ids)


@pytest.mark.parametrize(
    "pages",
    [
        [["c1"], []],  # the listing ends early
        [["c1"], ["c1"], []],  # the same page twice
        [["c1", "c2", "c3"], []],  # a branch has moved
    ],
)
def test_an_incomplete_comparison_is_an_error(pages: Sequence[Sequence[str]]) -> None:
    with responses.RequestsMock() as server:
        for number, some in enumerate(pages, start=1):
            page(server, number, some, 2)
        with pytest.raises(GitHubError, match=r"cannot be compared: GitHub lists \d of 2 commits"):
            compare()


def test_branches_with_slashes_are_one_segment_each() -> None:
    with responses.RequestsMock() as server:
        server.get(
            f"{REPOSITORY}/compare/env%2Fdev...env%2Fqa",
            json={
                "status": "identical",
                "total_commits": 0,
                "merge_base_commit": {"sha": "base"},
                "commits": [],
            },
        )
        commits.compare(connect(), "acme/fleet", "env/dev", "env/qa")
        assert "/compare/env%2Fdev...env%2Fqa?" in str(server.calls[0].request.url)
