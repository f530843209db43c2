"""The heads and rules of branches."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest
import responses

from kalypso_actions.clients.github import GitHub, GitHubError, branches
from kalypso_actions.model.github import BranchRules
from tests.clients.github.connections import REPOSITORY_URL, connect
from tests.clients.github.scripted_github import (
    LOST,
    REPOSITORY,
    VISIBLE,
    Step,
    conversation,
    refusal,
)

OLD, NEW, FOREIGN = "a" * 40, "b" * 40, "c" * 40
GET = "GET /git/ref/heads/env/dev"
PATH = "/git/refs/heads/env/dev"


def at(commit: str) -> Step:
    return (GET, 200, {"ref": "refs/heads/env/dev", "object": {"sha": commit, "type": "commit"}})


NOWHERE: Step = (GET, 404, refusal("Not Found"))
ABSENT = [NOWHERE, VISIBLE]
WROTE = {"ref": "refs/heads/env/dev", "object": {"sha": NEW}}
CREATED: Step = ("POST /git/refs", 201, WROTE)
EXISTS: Step = ("POST /git/refs", 422, refusal("Reference already exists"))
MOVED: Step = (f"PATCH {PATH}", 200, WROTE)
DELETED: Step = (f"DELETE {PATH}", 204, None)


@pytest.mark.parametrize(
    ("steps", "outcome"),
    [
        ([at(NEW)], "unchanged"),
        ([*ABSENT, CREATED], "created"),
        ([*ABSENT, EXISTS, at(NEW)], "created"),
        ([*ABSENT, ("POST /git/refs", LOST, None), at(NEW)], "created"),
        ([*ABSENT, ("POST /git/refs", 500, None), NOWHERE, CREATED], "created"),
    ],
)
def test_a_branch_is_created_once(steps: list[Step], outcome: str) -> None:
    with conversation(*steps) as recorded:
        assert branches.create(recorded.github, REPOSITORY, "env/dev", NEW) == outcome
        assert all(
            body == {"ref": "refs/heads/env/dev", "sha": NEW} for body in recorded.bodies("POST")
        )


@pytest.mark.parametrize(
    ("steps", "outcome"),
    [
        ([at(NEW)], "unchanged"),
        ([at(OLD), MOVED], "updated"),
        ([at(OLD), (f"PATCH {PATH}", LOST, None), at(NEW)], "updated"),
        ([at(OLD), (f"PATCH {PATH}", 502, None), at(OLD), MOVED], "updated"),
        # A proxy delivered the request twice, and GitHub refused the second delivery.
        (
            [at(OLD), (f"PATCH {PATH}", 422, refusal("Update is not a fast forward")), at(NEW)],
            "updated",
        ),
    ],
)
def test_a_branch_is_moved_once(steps: list[Step], outcome: str) -> None:
    with conversation(*steps) as recorded:
        assert branches.update(recorded.github, REPOSITORY, "env/dev", NEW, expected=OLD) == outcome
        assert all(body == {"sha": NEW, "force": False} for body in recorded.bodies("PATCH"))


@pytest.mark.parametrize(
    ("steps", "outcome"),
    [
        (ABSENT, "unchanged"),
        ([at(OLD), DELETED], "deleted"),
        ([at(OLD), (f"DELETE {PATH}", LOST, None), NOWHERE], "deleted"),
        ([at(OLD), (f"DELETE {PATH}", 502, None), at(OLD), DELETED], "deleted"),
        (
            [at(OLD), (f"DELETE {PATH}", 422, refusal("Reference does not exist")), NOWHERE],
            "deleted",
        ),
    ],
)
def test_a_branch_is_deleted_once(steps: list[Step], outcome: str) -> None:
    with conversation(*steps) as recorded:
        assert branches.delete(recorded.github, REPOSITORY, "env/dev", expected=OLD) == outcome


WRITES: Mapping[str, Callable[[GitHub], str]] = {
    "create": lambda github: branches.create(github, REPOSITORY, "env/dev", NEW),
    "update": lambda github: branches.update(github, REPOSITORY, "env/dev", NEW, expected=OLD),
    "delete": lambda github: branches.delete(github, REPOSITORY, "env/dev", expected=OLD),
}
NOT_FORWARD: Step = (f"PATCH {PATH}", 422, refusal("Update is not a fast forward"))
GONE: Step = (f"PATCH {PATH}", 422, refusal("Reference does not exist"))


@pytest.mark.parametrize(
    ("write", "steps", "head"),
    [
        ("create", [at(FOREIGN)], FOREIGN),
        ("create", [*ABSENT, EXISTS, at(FOREIGN)], FOREIGN),
        ("update", [at(FOREIGN)], FOREIGN),
        ("update", ABSENT, None),
        ("update", [at(OLD), NOT_FORWARD, at(FOREIGN)], FOREIGN),
        ("update", [at(OLD), GONE, NOWHERE], None),
        ("update", [at(OLD), (f"PATCH {PATH}", LOST, None), at(FOREIGN)], FOREIGN),
        ("delete", [at(FOREIGN)], FOREIGN),
    ],
)
def test_the_commit_of_somebody_else_stays(write: str, steps: list[Step], head: str | None) -> None:
    with conversation(*steps) as recorded, pytest.raises(branches.RefConflictError) as caught:
        WRITES[write](recorded.github)
    assert caught.value.head == head
    assert "run again" in caught.value.problem.advice


@pytest.mark.parametrize(
    ("message", "advice"),
    [
        ("Update is not a fast forward", "does not descend"),
        ("Object does not exist", "push the commit"),
        ("Cannot update this protected ref.", "bypass the branch's rules"),
    ],
)
def test_a_refusal_says_what_to_change(message: str, advice: str) -> None:
    refused: Step = (f"PATCH {PATH}", 422, refusal(message))
    with conversation(at(OLD), refused, at(OLD)) as recorded, pytest.raises(GitHubError) as caught:
        branches.update(recorded.github, REPOSITORY, "env/dev", NEW, expected=OLD)
    assert advice in caught.value.problem.advice


NOT_FOUND = {"message": "Not Found"}


@pytest.mark.parametrize(
    ("branch", "path"),
    [
        ("main", "heads/main"),
        ("feat/a", "heads/feat/a"),
        ("a#b%c", "heads/a%23b%25c"),
        ("ümläut", "heads/%C3%BCml%C3%A4ut"),
    ],
)
def test_a_head_is_requested_by_its_exact_name(branch: str, path: str) -> None:
    with responses.RequestsMock() as server:
        server.get(f"{REPOSITORY_URL}/git/ref/{path}", json={"object": {"sha": "abc"}})
        assert branches.head(connect(), "acme/fleet", branch) == "abc"
        assert server.calls[0].request.path_url == f"/repos/acme/fleet/git/ref/{path}"


def test_an_absent_branch() -> None:
    with responses.RequestsMock() as server:
        server.get(f"{REPOSITORY_URL}/git/ref/heads/main", status=404, json=NOT_FOUND)
        server.get(REPOSITORY_URL, json={"id": 1})
        assert branches.head(connect(), "acme/fleet", "main") is None


def test_a_repository_without_commits_has_no_branch() -> None:
    empty = {"message": "Git Repository is empty."}
    with responses.RequestsMock() as server:
        server.get(f"{REPOSITORY_URL}/git/ref/heads/main", status=409, json=empty)
        assert branches.head(connect(), "acme/fleet", "main") is None


@pytest.mark.parametrize(("status", "message"), [(409, "Conflict"), (403, "No")])
def test_other_refusals_are_errors(status: int, message: str) -> None:
    with responses.RequestsMock() as server:
        server.get(f"{REPOSITORY_URL}/git/ref/heads/main", status=status, json={"message": message})
        with pytest.raises(GitHubError, match="the branch main cannot be read"):
            branches.head(connect(), "acme/fleet", "main")


def test_a_rule_without_parameters() -> None:
    """GitHub's description does not promise them."""
    with responses.RequestsMock() as server:
        server.get(f"{REPOSITORY_URL}/rules/branches/main", json=[{"type": "pull_request"}])
        assert branches.rules(connect(), "acme/fleet", "main") == BranchRules(("pull_request",))
