"""The results of one query about a proposal; values that GitHub leaves out are unknown."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
import responses

from kalypso_actions.clients.github import overviews
from kalypso_actions.model.github import Commit, PullRequest
from kalypso_actions.model.overviews import ProposalOverview
from tests.clients.github.connections import API, connect
from tests.github_api.graphql_schema import check_query

COMMIT = "1" * 40
PULL: dict[str, Any] = {
    "id": "PR_5",
    "number": 5,
    "url": "https://github.com/acme/gitops/pull/5",
    "title": "Update manifests",
    "body": "Text",
    "isCrossRepository": False,
    "headRefName": "kalypso/dev",
    "headRefOid": COMMIT,
    "baseRefName": "dev",
    "mergeable": "MERGEABLE",
    "author": {"__typename": "Bot", "login": "kalypso"},
    "labels": {"totalCount": 1, "nodes": [{"name": "kalypso"}]},
    "autoMergeRequest": None,
}
FOUND: dict[str, Any] = {
    "nameWithOwner": "acme/gitops",
    "visibility": "INTERNAL",
    "from": {
        "totalCount": 2,
        "nodes": [{**PULL, "number": 7, "isCrossRepository": True}, PULL],
    },
    "into": {"totalCount": 2, "nodes": [{"number": 5}, {"number": 6}]},
    "closed": {"totalCount": 0},
    "labels": {"totalCount": 1, "nodes": [{"name": "kalypso"}]},
    "ref": {"refUpdateRule": None, "rules": {"totalCount": 1, "nodes": [{"type": "UPDATE"}]}},
    "own": {
        "oid": COMMIT,
        "message": "Change",
        "committedDate": "2026-03-01T12:00:00Z",
        "tree": {"oid": "2" * 40},
        "parents": {"totalCount": 1, "nodes": [{"oid": "3" * 40}]},
    },
}
OWN = PullRequest(
    number=5,
    url="https://github.com/acme/gitops/pull/5",
    title="Update manifests",
    body="Text",
    state="open",
    merged=False,
    merge_commit="",
    head_repository="acme/gitops",
    head_branch="kalypso/dev",
    head_commit=COMMIT,
    base_branch="dev",
    labels=("kalypso",),
    author="kalypso[bot]",
    mergeable=True,
    merge_state="unknown",
    node_id="PR_5",
)
NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
SIGNED = {"totalCount": 1, "nodes": [{"type": "REQUIRED_SIGNATURES"}]}


def read(found: Any, errors: list[Any] | None = None) -> ProposalOverview:
    answer = {"data": {"repository": found}} | ({"errors": errors} if errors else {})
    with responses.RequestsMock() as server:
        server.add("POST", f"{API}/graphql", json=answer)
        return overviews.read_proposal(
            connect(), "acme/gitops", head="kalypso/dev", base="dev", commit=COMMIT
        )


def test_everything() -> None:
    assert read(FOUND) == ProposalOverview(
        from_branch=(OWN,),
        into_branch=(5, 6),
        has_closed=False,
        labels=("kalypso",),
        requires_signatures=False,
        own_commit=Commit(COMMIT, "2" * 40, ("3" * 40,), "Change", NOON),
        visibility="internal",
    )


@pytest.mark.parametrize("commit", [COMMIT, None])
def test_github_accepts_the_query(commit: str | None) -> None:
    variables = overviews.proposal_variables("acme", "gitops", "kalypso/dev", "dev", commit)
    check_query(overviews.proposal_query(with_commit=bool(commit)), variables)


USER = {"__typename": "User", "login": "ann"}


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"mergeable": "CONFLICTING"}, {"mergeable": False, "merge_state": "dirty"}),
        ({"mergeable": "UNKNOWN"}, {"mergeable": None}),
        ({"author": None}, {"author": ""}),
        ({"labels": {"totalCount": 0, "nodes": []}}, {"labels": ()}),
        ({"autoMergeRequest": {"enabledBy": USER}}, {"auto_merge_by": "ann"}),
        ({"autoMergeRequest": {"enabledBy": None}}, {"auto_merge_by": "ghost"}),
    ],
)
def test_an_open_pull_request(fields: dict[str, Any], expected: dict[str, Any]) -> None:
    found = {**FOUND, "from": {"totalCount": 1, "nodes": [{**PULL, **fields}]}}
    assert read(found).from_branch == (OWN._replace(**expected),)


@pytest.mark.parametrize(
    ("name", "connection"),
    [("from", "from_branch"), ("into", "into_branch"), ("labels", "labels")],
)
def test_an_incomplete_list_is_unknown(name: str, connection: str) -> None:
    longer = {**FOUND[name], "totalCount": 101}
    assert getattr(read({**FOUND, name: longer}), connection) is None
    hidden = {**FOUND[name], "nodes": [None]}
    assert getattr(read({**FOUND, name: hidden}), connection) is None


@pytest.mark.parametrize(
    ("ref", "requires"),
    [
        (None, None),
        ({"refUpdateRule": None, "rules": None}, None),
        ({"refUpdateRule": {"requiresSignatures": False}, "rules": None}, None),
        ({"refUpdateRule": {"requiresSignatures": True}, "rules": None}, True),
        ({"refUpdateRule": None, "rules": SIGNED}, True),
        ({"refUpdateRule": None, "rules": {"totalCount": 0, "nodes": []}}, False),
    ],
)
def test_signatures(ref: Any, requires: bool | None) -> None:
    assert read({**FOUND, "ref": ref}).requires_signatures is requires


@pytest.mark.parametrize("own", [None, {}])
def test_a_missing_commit(own: Any) -> None:
    assert read({**FOUND, "own": own}).own_commit is None


@pytest.mark.parametrize("found", [None, {**FOUND, "labels": None}])
def test_nothing_is_known_beside_an_error(found: Any) -> None:
    error = {"type": "FORBIDDEN", "path": ["repository"], "message": "Resource not accessible"}
    assert read(found, [error]) == ProposalOverview()
