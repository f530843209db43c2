"""The consequences of a push: events, and changes of pull requests."""

from __future__ import annotations

from pathlib import Path

import pytest

from kalypso_sandbox.store import Event
from tests.sandbox.api_client import ApiClient, hub


def moved(github: ApiClient, branch: str, commit: str, token: str = "") -> None:
    body = {"sha": commit, "force": True}
    github.made("PATCH", f"git/refs/heads/{branch}", body, token=token)


def last(github: ApiClient, name: str) -> Event:
    return github.events(name)[-1]


def test_the_event_of_a_push(github: ApiClient) -> None:
    commits = [github.commit("main", {"a": text}, f"Commit {text}\n\nbody") for text in "12"]
    github.made("POST", "git/refs", {"ref": "refs/heads/side", "sha": github.root})
    moved(github, "side", commits[-1])
    event = last(github, "push")
    payload = event.payload
    assert (event.ref, event.commit, event.actor) == ("refs/heads/side", commits[1], "somebody")
    assert event.starts_workflows
    assert not event.held
    assert (payload["before"], payload["after"]) == (github.root, commits[1])
    assert (payload["created"], payload["deleted"], payload["forced"]) == (False, False, False)
    assert [commit["id"] for commit in payload["commits"]] == commits
    assert payload["head_commit"]["message"] == "Commit 2\n\nbody"
    assert not {"added", "modified", "removed"} & set(payload["head_commit"])
    assert payload["repository"]["full_name"] == "acme/fleet"
    assert payload["organization"]["login"] == "acme"
    assert payload["repository"]["url"].startswith(github.sandbox.api_url)


def test_a_new_branch_and_a_deleted_one(github: ApiClient) -> None:
    commit = github.branch("side")
    made = last(github, "push").payload
    assert (made["before"], made["created"]) == (github.root, False)
    github.made("POST", "git/refs", {"ref": "refs/heads/other", "sha": commit})
    made = last(github, "push").payload
    assert (made["before"], made["created"]) == ("0" * 40, True)
    assert [pushed["id"] for pushed in made["commits"]] == [commit]
    github.made("DELETE", "git/refs/heads/other")
    event = last(github, "push")
    assert (event.payload["after"], event.payload["deleted"]) == ("0" * 40, True)
    assert (event.payload["head_commit"], event.payload["commits"]) == (None, [])
    assert not event.starts_workflows


def test_an_open_pull_request_follows_its_branch(github: ApiClient) -> None:
    before = github.branch("side")
    number = github.propose("side")
    base = github.commit("main", {"m": "1"})
    after = github.commit("side", {"a": "2"})
    event = last(github, "pull_request")
    assert event.payload["action"] == "synchronize"
    assert (event.payload["before"], event.payload["after"]) == (before, after)
    assert event.ref == "refs/pull/1/merge"
    assert github.git.commit(event.commit).parents == (base, after)
    assert github.made("GET", f"pulls/{number}")["head"]["sha"] == after
    assert github.git.refs()["refs/pull/1/head"] == after


def happened(github: ApiClient, number: int) -> list[tuple[str, str, str]]:
    """Return the events of a pull request, each with its actor's login and type."""
    return [
        (event["event"], event["actor"]["login"], event["actor"]["type"])
        for event in github.made("GET", f"issues/{number}/events")
    ]


@pytest.mark.parametrize("deleter", ["somebody", "kalypso[bot]"])
def test_who_deletes_the_branch_closes_the_pull_request(github: ApiClient, deleter: str) -> None:
    head = github.branch("side")
    number = github.propose("side")
    token, kind = github.token, "User"
    if deleter == "kalypso[bot]":
        app, _ = github.sandbox.create_app("acme")
        token = github.sandbox.create_token("installation", owner="acme", app_id=app)
        kind = "Bot"
    github.made("DELETE", "git/refs/heads/side", token=token)
    assert github.made("GET", f"pulls/{number}")["merged"] is False
    assert github.actions() == ["opened", "closed"]
    assert github.made("GET", f"issues/{number}")["closed_by"]["type"] == kind
    of_deleter = [("closed", deleter, kind), ("head_ref_deleted", deleter, kind)]
    assert happened(github, number) == of_deleter
    github.made("POST", "git/refs", {"ref": "refs/heads/side", "sha": head})
    github.made("PATCH", f"pulls/{number}", {"state": "open"})
    of_author = [(name, "somebody", "User") for name in ("head_ref_restored", "reopened")]
    assert happened(github, number) == of_deleter + of_author


def test_a_branch_of_another_commit_restores_nothing(github: ApiClient) -> None:
    head = github.branch("side")
    number = github.propose("side")
    github.made("DELETE", "git/refs/heads/side")
    assert github.branch("side", {"b": "2"}) != head
    github.made("DELETE", "git/refs/heads/side")
    assert [name for name, _, _ in happened(github, number)] == ["closed", "head_ref_deleted"]


def test_a_merged_pull_request_loses_its_branch_later(github: ApiClient) -> None:
    github.branch("side")
    number = github.propose("side")
    merge = github.made("PUT", f"pulls/{number}/merge", {})["sha"]
    github.made("DELETE", "git/refs/heads/side")
    response = github.made("GET", f"issues/{number}/events")
    shown = [(event["event"], event["commit_id"]) for event in response]
    assert shown == [("merged", merge), ("closed", None), ("head_ref_deleted", None)]


def test_a_pull_request_is_closed_with_its_base(github: ApiClient) -> None:
    github.made("POST", "git/refs", {"ref": "refs/heads/release", "sha": github.root})
    github.branch("side")
    number = github.propose("side", "release")
    github.made("DELETE", "git/refs/heads/release")
    assert github.issue(number).state == "closed"


def test_a_pull_request_is_merged_by_a_push_of_its_commits(github: ApiClient) -> None:
    head = github.branch("side")
    number = github.propose("side")
    moved(github, "main", head)
    response = github.made("GET", f"pulls/{number}")
    assert (response["merged"], response["merge_commit_sha"]) == (True, head)
    assert last(github, "pull_request").payload["pull_request"]["merged"] is True


def test_a_pull_request_without_commits_of_its_own_is_closed(github: ApiClient) -> None:
    github.branch("side")
    number = github.propose("side")
    moved(github, "side", github.root)
    response = github.made("GET", f"pulls/{number}")
    assert (response["state"], response["merged"]) == ("closed", False)
    assert github.actions() == ["opened", "synchronize", "closed"]


def test_a_closed_pull_request_keeps_its_commits(github: ApiClient) -> None:
    head = github.branch("side")
    number = github.propose("side")
    github.made("PATCH", f"pulls/{number}", {"state": "closed"})
    github.commit("side", {"a": "2"})
    assert github.made("GET", f"pulls/{number}")["head"]["sha"] == head
    assert github.actions() == ["opened", "closed"]


def test_writes_of_a_job_start_only_held_runs(github: ApiClient) -> None:
    commit = github.branch("side")
    github.made("POST", "git/refs", {"ref": "refs/heads/a", "sha": commit}, token=github.job)
    body = {"title": "t", "head": "a", "base": "main"}
    number = github.made("POST", "pulls", body, token=github.job)["number"]
    moved(github, "a", github.commit("side", {"b": "1"}), github.job)
    github.made("PATCH", f"pulls/{number}", {"title": "u"}, token=github.job)
    github.made("POST", f"issues/{number}/labels", ["x"], token=github.job)
    github.made("PATCH", f"pulls/{number}", {"state": "closed"}, token=github.job)
    github.made("PATCH", f"pulls/{number}", {"state": "open"}, token=github.job)
    response = [
        (event.payload.get("action", event.name), event.starts_workflows, event.held)
        for event in github.events()
        if event.actor == "github-actions[bot]"
    ]
    assert response == [
        ("push", False, False),
        ("opened", True, True),
        ("push", False, False),
        ("synchronize", True, True),
        ("edited", False, False),
        ("labeled", False, False),
        ("closed", False, False),
        ("reopened", True, True),
    ]


def test_an_enterprise_server_holds_nothing(tmp_path: Path) -> None:
    with hub(tmp_path, flavour="ghes") as github:
        github.branch("side")
        body = {"title": "t", "head": "side", "base": "main"}
        github.made("POST", "pulls", body, token=github.job)
        event = last(github, "pull_request")
        assert (event.starts_workflows, event.held) == (False, False)
        assert event.payload["repository"]["url"] == f"{github.sandbox.url}/api/v3/repos/acme/fleet"


@pytest.mark.parametrize("words", ["[skip ci]", "[ci skip]", "[no ci]", "[skip actions]"])
def test_a_commit_can_ask_for_no_workflows(github: ApiClient, words: str) -> None:
    github.commit("main", {"a": "1"}, f"Change {words}")
    assert not last(github, "push").starts_workflows


def test_there_is_no_run_for_a_conflict(github: ApiClient) -> None:
    github.branch("side", {"README.md": "side\n"})
    github.commit("main", {"README.md": "main\n"})
    github.propose("side")
    assert not last(github, "pull_request").starts_workflows
