"""Sign-in to Azure uses https, whatever the other endpoints use."""

from __future__ import annotations

from pathlib import Path

import requests

from tests.sandbox.served_sandbox import serving


def test_only_the_sign_in_to_azure_uses_https(tmp_path: Path) -> None:
    with serving(tmp_path, sign_in=True) as sandbox:
        environment = sandbox.environment()
        authority = environment["AZURE_AUTHORITY_HOST"]
        assert environment["GITHUB_API_URL"].startswith("http://127.0.0.1:")
        assert authority.startswith("https://127.0.0.1:")
        path = f"/{sandbox.azure.tenant}/v2.0/.well-known/openid-configuration"
        with requests.Session() as session:
            session.trust_env = False
            file = environment["SSL_CERT_FILE"]
            answer = session.get(authority + path, verify=file, timeout=60)
        assert answer.json()["issuer"] == f"{authority}/{sandbox.azure.tenant}/v2.0"
    with serving(tmp_path) as sandbox:
        assert "AZURE_AUTHORITY_HOST" not in sandbox.environment()
