"""Signing in to Azure: neither a secret nor an assertion follows a redirect to another server.

`tests/clients/resource_graph` holds the same for access tokens and for the token of a job.
"""

from __future__ import annotations

import pytest
import responses

from kalypso_actions.errors import KalypsoError
from tests.clients.resource_graph.azure_sign_ins import (
    CLIENT,
    JOB,
    LOGIN,
    OIDC,
    SCOPE,
    TENANT,
    answer_sign_in,
    azure_credentials,
    credential,
)

ELSEWHERE = "https://login.example.com"


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("by_secret", [True, False], ids=["secret", "assertion"])
def test_a_sign_in_follows_no_redirect(status: int, by_secret: bool) -> None:
    token = f"{LOGIN}/{TENANT}/oauth2/v2.0/token"
    with responses.RequestsMock(assert_all_requests_are_fired=False) as server:
        server.get(OIDC, json={"value": "assertion-of-the-job"})
        answer_sign_in(server, login=ELSEWHERE)
        answer_sign_in(server)
        location = {"Location": token.replace(LOGIN, ELSEWHERE)}
        server.replace("POST", token, status=status, headers=location)
        if by_secret:
            signed_in = credential(credentials=azure_credentials())
        else:
            signed_in = credential(client_id=CLIENT, tenant_id=TENANT, environment=JOB)
        with pytest.raises(KalypsoError):
            signed_in.get_token(SCOPE)
        asked = [call.request.url or "" for call in server.calls]
    assert token in asked
    assert not any(url.startswith(ELSEWHERE) for url in asked)
