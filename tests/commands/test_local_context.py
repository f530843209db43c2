"""The credentials of local commands: a sandbox's token goes only to that sandbox."""

from __future__ import annotations

import pytest

from kalypso_actions.clients.git import basic
from kalypso_actions.commands.shared.local_context import sandbox_credentials

SANDBOX = "http://127.0.0.1:8000"


@pytest.mark.parametrize(
    ("server", "token", "url", "is_sent"),
    [
        (SANDBOX, "t", f"{SANDBOX}/acme/fleet", True),
        (SANDBOX, "", f"{SANDBOX}/acme/fleet", False),
        (SANDBOX, "t", "http://127.0.0.1:8001/acme/fleet", False),
        (SANDBOX, "t", "https://github.com/acme/fleet", False),
        ("https://github.com", "t", "https://github.com/acme/fleet", False),
        ("", "t", f"{SANDBOX}/acme/fleet", False),
    ],
)
def test_the_token_of_a_sandbox(server: str, token: str, url: str, *, is_sent: bool) -> None:
    header = basic("x-access-token", "t") if is_sent else ""
    assert sandbox_credentials(server, token)(url) == header
