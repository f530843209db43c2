"""Environments, variables, repositories, files, and rate limits."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from tests.sandbox.api_client import ApiClient, hub


def test_environments_do_not_differ_by_case(github: ApiClient) -> None:
    made = github.made("PUT", "environments/Dev", {})
    assert github.made("PUT", "environments/dev", {}) == made
    assert github.made("GET", "environments/DEV")["name"] == "Dev"
    assert github.made("GET", "environments") == {"total_count": 1, "environments": [made]}
    github.made("PUT", "environments/a%2Fb", {})
    assert github.made("GET", "environments/a%2Fb")["name"] == "a/b"
    assert github.refused("GET", "environments/qa") == "404 Not Found"


@pytest.mark.parametrize("place", ["environments/dev/variables", "actions/variables"])
def test_variables_are_kept_in_capitals(github: ApiClient, place: str) -> None:
    github.made("PUT", "environments/dev", {})
    variable = {"name": "next_environment", "value": "qa"}
    github.made("POST", place, variable)
    response = github.made("GET", f"{place}/Next_Environment")
    assert (response["name"], response["value"]) == ("NEXT_ENVIRONMENT", "qa")
    assert github.refused("POST", place, variable).startswith("409 Already exists")
    github.made("PATCH", f"{place}/NEXT_ENVIRONMENT", {"value": ""})
    (listed,) = github.made("GET", place)["variables"]
    assert (listed["name"], listed["value"]) == ("NEXT_ENVIRONMENT", "")
    for name in ("GITHUB_X", "1a", "a-b"):
        refused = github.refused("POST", place, {"name": name, "value": ""})
        assert refused.startswith("422 Variable names")
    assert github.refused("GET", f"{place}/OTHER") == "404 Not Found"


def test_variables_come_ten_at_a_time(github: ApiClient) -> None:
    for number in range(11):
        github.made("POST", "actions/variables", {"name": f"V{number}", "value": ""})
    response = github.made("GET", "actions/variables")
    assert (response["total_count"], len(response["variables"])) == (11, 10)


def test_a_repository_is_made(github: ApiClient) -> None:
    made = github.made("POST", "/orgs/acme/repos", {"name": "my app", "auto_init": True})
    assert (made["full_name"], made["private"]) == ("acme/my-app", False)
    assert github.sandbox.git("acme/my-app").files("main") == {"README.md": b"# my-app\n"}
    refused = github.refused("POST", "/orgs/acme/repos", {"name": "My-App"})
    assert refused == "422 Validation Failed: name already exists on this account"
    mine = github.made("POST", "/user/repos", {"name": "mine", "private": True})
    assert (mine["full_name"], mine["owner"]["type"]) == ("somebody/mine", "User")
    assert github.refused("POST", "/orgs/somebody/repos", {"name": "a"}) == "404 Not Found"
    assert github.refused("GET", "/repos/acme/my-app/../nowhere").startswith("404")


def test_what_a_token_may_do_with_a_repository(github: ApiClient) -> None:
    assert github.made("GET", "/repos/acme/fleet")["permissions"]["push"] is True
    reader = github.sandbox.create_token("user", {"contents": "read"})
    response = github.made("GET", "/repos/acme/fleet", token=reader)
    assert (response["permissions"]["push"], response["permissions"]["pull"]) == (False, True)


def test_the_user_of_a_token(github: ApiClient) -> None:
    assert github.made("GET", "/user")["login"] == "somebody"
    refused = github.refused("GET", "/user", token=github.job)
    assert refused == "403 Resource not accessible by integration"


def test_files_and_folders(github: ApiClient) -> None:
    github.commit("main", {"a/b/c.yaml": "ä: 1\n", "a/d.bin": "\0\1"})
    file = github.made("GET", "contents/a/b/c.yaml")
    assert base64.b64decode(file["content"]).decode() == "ä: 1\n"
    assert (file["type"], file["size"], file["encoding"]) == ("file", 6, "base64")
    listed = github.made("GET", "contents/a")
    shown = [(entry["path"], entry["type"]) for entry in listed]
    assert shown == [("a/b", "dir"), ("a/d.bin", "file")]
    assert listed[0]["sha"] == github.git.tree_id("main", "a/b")
    assert [entry["name"] for entry in github.made("GET", "contents/")] == ["README.md", "a"]
    assert github.refused("GET", f"contents/a?ref={github.root}") == "404 Not Found"


def test_the_used_rate_limit(github: ApiClient) -> None:
    before = github.made("GET", "/rate_limit")["resources"]["core"]
    github.made("GET", "/user")
    after = github.made("GET", "/rate_limit")["resources"]["core"]
    assert after["used"] == before["used"] + 1
    assert after["remaining"] == after["limit"] - after["used"]


def test_an_enterprise_server_counts_nothing(tmp_path: Path) -> None:
    with hub(tmp_path, flavour="ghes") as github:
        assert github.refused("GET", "/rate_limit") == "404 Not Found"
