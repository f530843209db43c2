"""The text of an error: GitHub's message, and the advice."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
import responses

from kalypso_actions.clients.github import GitHubError
from tests.clients.github.connections import REPOSITORY, connect, write

INTEGRATION = {"message": "Resource not accessible by integration"}


def refused(status: int, body: Any, headers: Mapping[str, str] | None = None) -> GitHubError:
    with responses.RequestsMock() as server:
        if isinstance(body, bytes):
            server.post(f"{REPOSITORY}/pulls", status=status, body=body)
        else:
            server.post(
                f"{REPOSITORY}/pulls", status=status, json=body, headers=dict(headers or {})
            )
        with pytest.raises(GitHubError) as caught:
            write(connect(), "acme/fleet", "POST", "/pulls", {})
    return caught.value


def says(message: str) -> dict[str, str]:
    return {"message": message}


@pytest.mark.parametrize(
    ("status", "body", "headers", "advice"),
    [
        (401, says("Bad credentials"), {}, "has not expired or been revoked"),
        (403, INTEGRATION, {}, "check the token's permissions"),
        (
            403,
            INTEGRATION,
            {"X-Accepted-GitHub-Permissions": "pull_requests=write"},
            "give the token the permission pull-requests: write, in `permissions:` of the job; or in",
        ),
        (
            403,
            INTEGRATION,
            {"X-Accepted-GitHub-Permissions": "contents=write,workflows=write; issues=write"},
            "the permission contents: write and workflows: write, or issues: write",
        ),
        (
            403,
            says("Resource not accessible by personal access token"),
            {"X-Accepted-GitHub-Permissions": "actions_variables=read"},
            "give the token the permission actions-variables: read, in the token's settings",
        ),
        (
            403,
            says("Resource protected by organization SAML enforcement."),
            {"X-GitHub-SSO": "required; url=https://github.com/orgs/acme/sso?x=1"},
            "authorize the token for the organization's single sign-on",
        ),
        (
            404,
            says("Not Found"),
            {"X-OAuth-Scopes": "read:org, gist", "X-Accepted-OAuth-Scopes": "repo"},
            "give the token the scope repo",
        ),
        (
            404,
            says("Not Found"),
            {"X-OAuth-Scopes": "repo, gist", "X-Accepted-OAuth-Scopes": "public_repo, repo"},
            "check that it exists, and that the token may see it",
        ),
        (404, says("Not Found"), {}, "check that it exists, and that the token may see it"),
        (
            403,
            says("GitHub Actions is not permitted to create or approve pull requests."),
            {},
            "Allow GitHub Actions to create and approve pull requests",
        ),
        (403, says("Repository was archived so is read-only."), {}, "unarchive the repository"),
        (
            403,
            says("the `acme` organization has an IP allow list enabled, and your IP address"),
            {},
            "on a runner whose address the organization allows",
        ),
        (
            403,
            says("`acme` forbids access via a personal access token (classic)."),
            {},
            "a kind of token that the organization allows",
        ),
        (403, says("This installation has been suspended"), {}, "lift the suspension"),
        (410, says("Issues has been disabled in this repository."), {}, "turn on Issues"),
        (409, says("Git Repository is empty."), {}, "push a first commit"),
        (422, says("No commit found for SHA: 1234"), {}, "check the commit's id"),
        (451, says("Repository access blocked"), {}, "GitHub has blocked the repository"),
        (502, says("Server Error"), {}, "try again later"),
    ],
)
def test_advice(status: int, body: object, headers: Mapping[str, str], advice: str) -> None:
    error = refused(status, body, headers)
    assert error.status == status
    assert advice in error.problem.advice


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (says("Reference  already\nexists"), "Reference already exists"),
        (
            {"message": "Validation Failed", "errors": [{"message": "No commits between a and b"}]},
            "Validation Failed: No commits between a and b",
        ),
        (
            {
                "message": "Validation Failed",
                "errors": [
                    {"resource": "Label", "field": "name", "code": "already_exists"},
                    {"resource": "Issue", "code": "missing_field", "field": "title"},
                ],
            },
            "Validation Failed: Label.name already exists; Issue.title missing field",
        ),
        ({"message": "Validation Failed", "errors": ["body is too long"]}, None),
        ({"message": "Validation Failed", "errors": "body is too long"}, None),
        ([], "it answered 422"),
        ({}, "it answered 422"),
        (b"<html>Unicorn!</html>", "it answered 422"),
    ],
)
def test_words(body: object, reason: str | None) -> None:
    error = refused(422, body)
    assert error.reason == (reason or "Validation Failed: body is too long")
    assert error.reason in str(error)


def test_the_whole_error() -> None:
    error = refused(403, INTEGRATION, {"x-accepted-github-permissions": "pull_requests=write"})
    assert str(error) == (
        "acme/fleet: it cannot be written: GitHub says: Resource not accessible by integration"
        " (give the token the permission pull-requests: write, in `permissions:` of the job; or in"
        " the App's settings, and accept it where the App is installed)"
    )


def test_field_errors_are_kept() -> None:
    fault = {"resource": "Label", "field": "name", "code": "already_exists"}
    assert refused(422, {"message": "Validation Failed", "errors": [fault]}).errors == (fault,)
