"""A GitHub App's tokens: installations, restrictions, expiry."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import jwt
import pytest
import requests
import responses
from cryptography.hazmat.primitives import serialization

from kalypso_actions.clients.github import AppAuth, GitHub, GitHubError, overviews
from kalypso_actions.clients.github.apps import NoInstallationError
from kalypso_actions.errors import UsageError
from kalypso_actions.model.github import PathHead, RegisteredPath
from tests.clients.github.app_keys import key, pem
from tests.clients.github.connections import API, NOON, Clock, connect, read

NOT_FOUND = {"message": "Not Found"}
ACCESS_TOKENS = "/app/installations/7/access_tokens"


def app(**more: Any) -> AppAuth:
    return AppAuth("1234", pem(), **more)


class Tokens:
    """Answer requests for tokens, and record them."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.bodies: list[Any] = []

    def __call__(self, request: requests.PreparedRequest) -> tuple[int, dict[str, str], str]:
        self.bodies.append(json.loads(request.body or "null"))
        expires = self.clock.now + timedelta(hours=1)
        body = {
            "token": f"ghs_{len(self.bodies)}",
            "expires_at": expires.strftime("%Y-%m-%dT%H:%M:%SZ"),
        }
        return 201, {}, json.dumps(body)


def installed(server: responses.RequestsMock, clock: Clock, owner: str = "acme") -> Tokens:
    """Answer that the App is installed for the organization `owner`."""
    server.get(f"{API}/orgs/{owner}/installation", json={"id": 7, "suspended_at": None})
    tokens = Tokens(clock)
    server.add_callback("POST", API + ACCESS_TOKENS, tokens)
    return tokens


def authorization(github: GitHub, server: responses.RequestsMock, repository: str) -> str:
    """Return the credential of a request about a repository."""
    server.get(f"{API}/repos/{repository}/labels", json=[])
    read(github, repository, "/labels")
    return str(server.calls[-1].request.headers["Authorization"])


def test_the_app_shows_its_signature_and_then_the_installations_token() -> None:
    clock = Clock()
    with responses.RequestsMock() as server:
        tokens = installed(server, clock)
        github = connect(clock, auth=app())
        assert authorization(github, server, "acme/fleet") == "Bearer ghs_1"
        for call in server.calls[:2]:
            signed = str(call.request.headers["Authorization"]).removeprefix("Bearer ")
            claims = jwt.decode(
                signed,
                key().public_key(),
                ["RS256"],
                options={"verify_exp": False, "verify_iat": False},  # checked below, by our clock
            )
            now = int(clock.now.timestamp())
            assert claims == {"iss": "1234", "iat": now - 60, "exp": now + 300}
    assert tokens.bodies == [{}]


def test_one_token_for_each_owner_whatever_the_case() -> None:
    clock = Clock()
    with responses.RequestsMock() as server:
        tokens = installed(server, clock)
        github = connect(clock, auth=app())
        assert authorization(github, server, "acme/fleet") == "Bearer ghs_1"
        assert authorization(github, server, "Acme/other") == "Bearer ghs_1"
        assert github.authorize("https://github.com/ACME/fleet") == "Basic " + (
            base64.b64encode(b"x-access-token:ghs_1").decode()
        )
    assert len(tokens.bodies) == 1


def test_an_installation_on_a_person() -> None:
    clock = Clock()
    with responses.RequestsMock() as server:
        server.get(f"{API}/orgs/octocat/installation", status=404, json=NOT_FOUND)
        server.get(f"{API}/users/octocat/installation", json={"id": 7, "suspended_at": None})
        server.add_callback("POST", API + ACCESS_TOKENS, Tokens(clock))
        github = connect(clock, auth=app())
        assert authorization(github, server, "octocat/app") == "Bearer ghs_1"


@pytest.mark.parametrize(("minutes", "renewed"), [(54, False), (55, True), (61, True)])
def test_a_token_is_renewed_before_it_ends(minutes: int, renewed: bool) -> None:
    clock = Clock()
    with responses.RequestsMock() as server:
        installed(server, clock)
        github = connect(clock, auth=app())
        authorization(github, server, "acme/fleet")
        clock.now += timedelta(minutes=minutes)
        result = authorization(github, server, "acme/fleet")
        assert result == ("Bearer ghs_2" if renewed else "Bearer ghs_1")
        assert sum("installation" in str(call.request.url) for call in server.calls) == 2 + renewed


def test_a_token_that_ends_during_a_wait_is_renewed_for_the_next_attempt() -> None:
    clock = Clock()
    with responses.RequestsMock() as server:
        installed(server, clock)
        url = f"{API}/repos/acme/fleet/labels"
        server.get(url, status=429, headers={"Retry-After": "3600"})
        server.get(url, json=[])
        github = connect(clock, auth=app(), max_wait=3600)
        read(github, "acme/fleet", "/labels")
        assert server.calls[-1].request.headers["Authorization"] == "Bearer ghs_2"


def test_threads_share_one_token() -> None:
    clock = Clock()
    with responses.RequestsMock() as server:
        tokens = installed(server, clock)
        github = connect(clock, auth=app())
        threads = [
            threading.Thread(target=github.authorize, args=("https://github.com/acme/fleet",))
            for _ in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(tokens.bodies) == 1


@pytest.mark.parametrize(
    ("restriction", "body"),
    [
        ({}, {}),
        ({"repositories": ("acme/fleet", "Acme/gitops")}, {"repositories": ["fleet", "gitops"]}),
        ({"repositories": ("acme/fleet", "other/app")}, {"repositories": ["fleet"]}),
        ({"permissions": {"contents": "read"}}, {"permissions": {"contents": "read"}}),
    ],
)
def test_tokens_can_be_restricted(restriction: Mapping[str, Any], body: object) -> None:
    clock = Clock()
    with responses.RequestsMock() as server:
        tokens = installed(server, clock)
        connect(clock, auth=app(**restriction)).authorize("https://github.com/acme/fleet")
    assert tokens.bodies == [body]


def test_a_restricted_token_is_not_used_for_another_owner() -> None:
    github = connect(auth=app(repositories=("acme/fleet",)))
    assert github.authorize("https://github.com/other/app") == ""
    with pytest.raises(NoInstallationError, match="restricted to acme/fleet"):
        read(github, "other/app", "/labels")


@pytest.mark.parametrize(
    ("paths", "message"),
    [
        (
            {"/orgs/acme/installation": (404, NOT_FOUND), "/users/acme/installation": (404, {})},
            "acme: the GitHub App 1234 is not installed for acme (install it for acme",
        ),
        (
            {"/orgs/acme/installation": (404, {"message": "Integration not found"})},
            "GitHub does not know the App by this id and key: Integration not found",
        ),
        (
            {
                "/orgs/acme/installation": (
                    401,
                    {"message": "A JSON web token could not be decoded"},
                )
            },
            "check the App's id, its private key, and this machine's clock",
        ),
        (
            {"/orgs/acme/installation": (200, {"id": 7, "suspended_at": "2026-03-01T12:00:00Z"})},
            "the GitHub App 1234 is suspended for acme",
        ),
        (
            {
                "/orgs/acme/installation": (200, {"id": 7, "suspended_at": None}),
                ACCESS_TOKENS: (403, {"message": "This installation has been suspended"}),
            },
            "the GitHub App 1234 is suspended for acme",
        ),
        (
            {
                "/orgs/acme/installation": (200, {"id": 7, "suspended_at": None}),
                ACCESS_TOKENS: (422, {"message": "The permissions requested are not granted."}),
            },
            "The permissions requested are not granted. (grant the App these permissions",
        ),
        (
            {
                "/orgs/acme/installation": (200, {"id": 7, "suspended_at": None}),
                ACCESS_TOKENS: (502, {}),
            },
            "the GitHub App 1234 gets no token for acme: it answered 502",
        ),
    ],
)
def test_refusals(paths: Mapping[str, tuple[int, Any]], message: str) -> None:
    with responses.RequestsMock() as server:
        for path, (status, body) in paths.items():
            method = "POST" if path == ACCESS_TOKENS else "GET"
            server.add(method, API + path, status=status, json=body)
        with pytest.raises(GitHubError) as caught:
            read(connect(auth=app()), "acme/fleet", "/labels")
    assert message in str(caught.value)


def test_a_suspended_app_is_asked_once() -> None:
    with responses.RequestsMock() as server:
        url = f"{API}/orgs/acme/installation"
        server.get(url, json={"id": 7, "suspended_at": "2026-03-01T12:00:00Z"})
        github = connect(auth=app())
        for _ in range(2):
            assert github.authorize("https://github.com/acme/fleet") == ""
            with pytest.raises(GitHubError, match="is suspended for acme"):
                read(github, "acme/fleet", "/labels")
        assert len(server.calls) == 1


def test_git_reads_what_is_public_where_the_app_is_not_installed() -> None:
    with responses.RequestsMock() as server:
        server.get(f"{API}/orgs/other/installation", status=404, json=NOT_FOUND)
        server.get(f"{API}/users/other/installation", status=404, json=NOT_FOUND)
        github = connect(auth=app())
        assert github.authorize("https://github.com/other/app") == ""
        assert github.authorize("https://github.com/Other/lib") == ""
        assert len(server.calls) == 2


def test_heads_are_asked_for_with_each_owners_token_and_what_is_public_with_any() -> None:
    clock = Clock()
    answer = {"ref": {"target": {"oid": "c1"}}, "object": None}
    paths = [RegisteredPath(name, "main", "") for name in ("other/app", "acme/app", "acme/b")]
    with responses.RequestsMock() as server:
        installed(server, clock)
        server.get(f"{API}/orgs/other/installation", status=404, json=NOT_FOUND)
        server.get(f"{API}/users/other/installation", status=404, json=NOT_FOUND)
        server.post(f"{API}/graphql", json={"data": {f"r{n}": answer for n in range(3)}})
        result = overviews.read_registered_heads(connect(clock, auth=app()), paths)
        assert server.calls[-1].request.headers["Authorization"] == "Bearer ghs_1"
    assert result == dict.fromkeys(paths, PathHead("c1", None))


def test_heads_where_the_app_is_installed_nowhere() -> None:
    with responses.RequestsMock() as server:
        server.get(f"{API}/orgs/other/installation", status=404, json=NOT_FOUND)
        server.get(f"{API}/users/other/installation", status=404, json=NOT_FOUND)
        with pytest.raises(NoInstallationError):
            overviews.read_registered_heads(
                connect(auth=app()), [RegisteredPath("other/app", "main", "")]
            )


def test_each_new_token_is_masked_before_it_is_used() -> None:
    clock = Clock()
    masked: list[str] = []
    with responses.RequestsMock() as server:
        installed(server, clock)
        connect(clock, auth=app(), mask=masked.append).authorize("https://github.com/acme/fleet")
    assert masked == ["ghs_1"]


@pytest.mark.parametrize(
    "text",
    [
        pem(),
        pem("PKCS8"),
        pem().replace("\n", "\\n"),
        f"\n{pem()}  \n",
        pem().replace("\n", "\r\n"),
    ],
    ids=["traditional", "PKCS #8", "on one line", "with spaces around", "from Windows"],
)
def test_keys_in_the_forms_that_secrets_have(text: str) -> None:
    assert AppAuth("1234", text).sign(NOON).count(".") == 2


def encrypted() -> str:
    return (
        key()
        .private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.BestAvailableEncryption(b"password"),
        )
        .decode()
    )


def public() -> str:
    encoding, form = serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    return key().public_key().public_bytes(encoding, form).decode()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "hush",
        "-----BEGIN RSA PRIVATE KEY-----\nhush\n-----END RSA PRIVATE KEY-----",
        encrypted(),
        public(),
    ],
    ids=["empty", "no key", "broken", "with a password", "public"],
)
def test_invalid_keys(text: str) -> None:
    with pytest.raises(UsageError, match="the GitHub App's private key cannot be used") as caught:
        AppAuth("1234", text)
    assert "hush" not in str(caught.value)


def test_an_id_is_needed() -> None:
    with pytest.raises(UsageError, match="the GitHub App's id is empty"):
        AppAuth(" ", pem())


def test_no_text_holds_the_key() -> None:
    assert pem().splitlines()[1] not in repr(AppAuth("1234", pem()))
