"""Equality of repository URLs, and their owners."""

from __future__ import annotations

import pytest

from kalypso_actions.model.urls import is_loopback, owner_of


@pytest.mark.parametrize(
    ("url", "here"),
    [
        ("http://127.0.0.1:8080/x", True),
        ("http://127.1.2.3", True),
        ("http://[::1]:8080", True),
        ("http://localhost", True),
        ("http://LOCALHOST/x", True),
        ("http://localhost.evil.test", False),
        ("http://127.0.0.1.evil.test", False),
        ("http://127.0.0.1@evil.test", False),
        ("http://10.0.0.1", False),
        ("/x", False),
    ],
)
def test_this_machine(url: str, *, here: bool) -> None:
    assert is_loopback(url) == here


@pytest.mark.parametrize(
    ("repository", "owner"),
    [
        ("acme/fleet", "acme"),
        ("octo_acme/.github", "octo_acme"),
        ("acme-1/a.b_c-d", "acme-1"),
        ("acme", None),
        ("acme/", None),
        ("/fleet", None),
        ("acme/fleet/x", None),
        ("acme/..", None),
        ("acme/.", None),
        ("../user", None),
        ("acme/fleet\n", None),
        ("acme/fléet", None),
        ("https://github.com/acme/fleet", None),
    ],
)
def test_the_owner_of_a_repository(repository: str, owner: str | None) -> None:
    assert owner_of(repository) == owner
