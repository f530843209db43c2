"""The visibility of repositories, and the permissions of tokens."""

from __future__ import annotations

from typing import Any

import pytest

from kalypso_sandbox.github.access import ANONYMOUS, allowed, covers, visible
from kalypso_sandbox.store import Identity, Permissions, Repository
from tests.sandbox.served_sandbox import NOON


def repository(*, private: bool = True) -> Repository:
    return Repository(
        id=1,
        owner="Acme",
        name="fleet",
        private=private,
        former_names=["Acme/boats"],
        created_at=NOON,
        pushed_at=NOON,
    )


def identity(permissions: Permissions | None = None, **more: Any) -> Identity:
    return Identity(kind="user", login="anna", permissions=permissions or {}, **more)


@pytest.mark.parametrize(
    ("who", "seen"),
    [
        (identity(), True),
        (identity(owner="acme"), True),
        (identity(owner="other"), False),
        (identity(repositories=["acme/FLEET"]), True),
        (identity(repositories=["acme/boats"]), True),
        (identity(repositories=["acme/other"]), False),
        (identity(owner="other", repositories=["acme/fleet"]), False),
        (identity(repositories=[]), False),
        (ANONYMOUS, False),
    ],
)
def test_a_private_repository_is_there_for_whose_token_names_it(who: Identity, seen: bool) -> None:
    assert covers(who, repository()) is seen
    assert visible(who, repository()) is seen
    assert visible(who, repository(private=False))


@pytest.mark.parametrize(
    ("given", "needed", "may"),
    [
        ({}, (), True),
        ({}, ("metadata: read",), True),
        ({}, ("contents: read",), False),
        ({"contents": "read"}, ("contents: read",), True),
        ({"contents": "read"}, ("contents: write",), False),
        ({"contents": "write"}, ("contents: read",), True),
        ({"contents": "admin"}, ("contents: write",), True),
        ({"issues": "write"}, ("contents: write",), False),
        ({"issues": "write"}, ("pull_requests: write", "issues: write"), True),
    ],
)
def test_any_one_of_the_permissions_is_enough(
    given: Permissions, needed: tuple[str, ...], may: bool
) -> None:
    assert allowed(identity(given), needed, repository()) is may


@pytest.mark.parametrize(
    ("needed", "may"),
    [
        ("contents: read", True),
        ("issues: read", True),
        ("contents: write", False),
        ("actions_variables: read", False),
        ("administration: read", False),
    ],
)
def test_what_everybody_may_do_in_a_public_repository(needed: str, may: bool) -> None:
    assert allowed(ANONYMOUS, (needed,), repository(private=False)) is may
    elsewhere = identity({"contents": "write"}, owner="other")
    assert allowed(elsewhere, (needed,), repository(private=False)) is may


def test_without_a_repository_the_token_alone_counts() -> None:
    assert allowed(identity({"administration": "write"}), ("administration: write",), None)
    assert not allowed(identity(), ("administration: write",), None)
    assert not allowed(identity(), ("contents: read",), None)
