"""Environments, variables, repositories, and rate limits."""

from __future__ import annotations

from tests.sandbox.api_client import ApiClient


def test_environments_do_not_differ_by_case(github: ApiClient) -> None:
    made = github.made("PUT", "environments/Dev", {})
    assert github.made("PUT", "environments/dev", {}) == made
    assert made["name"] == "Dev"
    assert github.made("GET", "environments") == {"total_count": 1, "environments": [made]}
    assert github.made("PUT", "environments/a%2Fb", {})["name"] == "a/b"
    assert github.refused("GET", "environments/qa/variables") == "404 Not Found"


def test_variables_are_kept_in_capitals(github: ApiClient) -> None:
    place = "environments/dev/variables"
    github.made("PUT", "environments/dev", {})
    variable = {"name": "next_environment", "value": "qa"}
    github.made("POST", place, variable)
    response = github.made("GET", f"{place}/Next_Environment")
    assert (response["name"], response["value"]) == ("NEXT_ENVIRONMENT", "qa")
    assert github.refused("POST", place, variable).startswith("409 Already exists")
    for name in ("GITHUB_X", "1a", "a-b"):
        refused = github.refused("POST", place, {"name": name, "value": ""})
        assert refused.startswith("422 Variable names")
    assert github.refused("GET", f"{place}/OTHER") == "404 Not Found"


def test_variables_come_ten_at_a_time(github: ApiClient) -> None:
    github.repository.variables |= {f"V{number}": "" for number in range(11)}
    response = github.made("GET", "actions/variables")
    assert (response["total_count"], len(response["variables"])) == (11, 10)


def test_what_a_token_may_do_with_a_repository(github: ApiClient) -> None:
    assert github.made("GET", "/repos/acme/fleet")["permissions"]["push"] is True
    reader = github.sandbox.create_token("user", {"contents": "read"})
    response = github.made("GET", "/repos/acme/fleet", token=reader)
    assert (response["permissions"]["push"], response["permissions"]["pull"]) == (False, True)


def test_the_used_rate_limit(github: ApiClient) -> None:
    before = github.made("GET", "/rate_limit")["resources"]["core"]
    github.made("GET", "/repos/acme/fleet")
    after = github.made("GET", "/rate_limit")["resources"]["core"]
    assert after["used"] == before["used"] + 1
    assert after["remaining"] == after["limit"] - after["used"]
