"""The sandbox's certificate authority, and its constraints."""

from __future__ import annotations

import http.client
import os
import ssl
import stat
from datetime import UTC, datetime
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.x509.oid import ExtensionOID

from kalypso_sandbox.certificates import server_context
from tests.git_repositories import git
from tests.sandbox.served_sandbox import FLEET, over_http, serving

NOW = datetime.now(UTC)


def test_the_authority_stays_and_its_certificates_are_new(tmp_path: Path) -> None:
    _, authority = server_context(tmp_path / "tls", NOW)
    first = authority.read_bytes(), (tmp_path / "tls" / "server.pem").read_bytes()
    _, again = server_context(tmp_path / "tls", NOW)
    second = again.read_bytes(), (tmp_path / "tls" / "server.pem").read_bytes()
    assert first[0] == second[0]
    assert first[1] != second[1]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
def test_keys_are_for_their_owner_alone(tmp_path: Path) -> None:
    server_context(tmp_path / "tls", NOW)
    for name in ("ca-key.pem", "server.pem"):
        assert stat.S_IMODE((tmp_path / "tls" / name).stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "tls").stat().st_mode) == 0o700


def test_the_authority_can_vouch_for_this_machine_only(tmp_path: Path) -> None:
    _, file = server_context(tmp_path / "tls", NOW)
    authority = x509.load_pem_x509_certificate(file.read_bytes())
    constraints = authority.extensions.get_extension_for_oid(ExtensionOID.NAME_CONSTRAINTS)
    assert constraints.critical
    assert isinstance(constraints.value, x509.NameConstraints)
    permitted = [str(name.value) for name in constraints.value.permitted_subtrees or ()]
    assert permitted == ["localhost", "127.0.0.1/32", "::1/128"]


def test_a_client_that_is_strict_trusts_it_and_no_other_does(tmp_path: Path) -> None:
    with serving(tmp_path, tls=True) as sandbox:
        port = int(sandbox.url.rpartition(":")[2])
        trusting = ssl.create_default_context(cafile=sandbox.environment()["SSL_CERT_FILE"])
        trusting.verify_flags |= ssl.VERIFY_X509_STRICT
        for context, trusted in ((trusting, True), (ssl.create_default_context(), False)):
            for host in ("127.0.0.1", "localhost"):
                connection = http.client.HTTPSConnection(host, port, context=context, timeout=60)
                try:
                    connection.request("GET", "/nothing", headers={"User-Agent": "x"})
                    assert connection.getresponse().status == 404
                    assert trusted
                except ssl.SSLCertVerificationError:
                    assert not trusted
                finally:
                    connection.close()


def test_git_trusts_it(tmp_path: Path) -> None:
    with serving(tmp_path, tls=True) as sandbox:
        token = sandbox.create_token()
        arguments = ["ls-remote", f"{sandbox.url}/{FLEET}.git", "refs/heads/main"]
        trust = {"GIT_SSL_CAINFO": sandbox.environment()["SSL_CERT_FILE"]}
        refs = git(tmp_path, *arguments, extra=over_http(token) | trust)
        assert refs.split()[0] == sandbox.git(FLEET).head("main")
