"""Git gets certificates and proxies of the environment, and nothing else."""

from __future__ import annotations

import ipaddress
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from kalypso_actions.clients.git.program import Git
from kalypso_actions.errors import KalypsoError
from tests.clients.git.remotes import Counting, bare, remotes
from tests.clients.git.servers import serving
from tests.git_repositories import programs

HTTPS = frozenset({"https"})


def certificate(folder: Path) -> Path:
    """Make a file with a self-signed certificate for 127.0.0.1 and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "test")])
    now = datetime.now(UTC)
    built = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(hours=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]),
            critical=False,
        )
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    file = folder / "certificate.pem"
    file.write_bytes(
        built.public_bytes(serialization.Encoding.PEM)
        + key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return file


@pytest.mark.parametrize("variable", ["SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"])
def test_certificates_of_a_private_authority(tmp_path: Path, variable: str) -> None:
    _, head = bare(tmp_path)
    file = certificate(tmp_path)
    with serving(tmp_path / "srv", certificate=file) as server:
        url = f"{server.url}/org/repo"
        with remotes(programs(**{variable: str(file)}), protocols=HTTPS) as opened:
            assert opened.heads(url, ["main"]) == {"main": head}
        with (
            remotes(programs(), protocols=HTTPS) as opened,
            pytest.raises(KalypsoError, match="certificate is not trusted"),
        ):
            opened.heads(url, ["main"])


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"SSL_CERT_DIR": "{folder}"}, {"GIT_SSL_CAPATH": "{folder}"}),
        ({"REQUESTS_CA_BUNDLE": "{folder}"}, {"GIT_SSL_CAPATH": "{folder}"}),
        (
            {"SSL_CERT_FILE": "/third", "CURL_CA_BUNDLE": "/second", "REQUESTS_CA_BUNDLE": "/1st"},
            {"GIT_SSL_CAINFO": "/1st"},
        ),
        (
            {"SSL_CERT_FILE": "/file", "SSL_CERT_DIR": "/folder"},
            {"GIT_SSL_CAINFO": "/file", "GIT_SSL_CAPATH": "/folder"},
        ),
        ({"REQUESTS_CA_BUNDLE": ""}, {}),
    ],
)
def test_which_certificates_git_is_given(
    tmp_path: Path, variables: dict[str, str], expected: dict[str, str]
) -> None:
    path, _ = bare(tmp_path)
    started = Counting(**{name: text.format(folder=tmp_path) for name, text in variables.items()})
    with remotes(started) as opened:
        opened.heads(str(path), ["main"])
    given = {name: text for name, text in started.extras[-1].items() if name.startswith("GIT_SSL_")}
    assert given == {name: text.format(folder=tmp_path) for name, text in expected.items()}


def test_proxies(tmp_path: Path) -> None:
    _, head = bare(tmp_path)
    with serving(tmp_path / "srv") as proxy:
        started = programs(http_proxy=proxy.url)
        with remotes(started) as opened:
            assert opened.heads("http://nowhere.invalid/org/repo", ["main"]) == {"main": head}
        started = programs(http_proxy=proxy.url, no_proxy="nowhere.invalid")
        with remotes(started) as opened, pytest.raises(KalypsoError, match="name is not known"):
            opened.heads("http://nowhere.invalid/org/repo", ["main"])


def test_this_machine_is_not_asked_through_a_proxy(tmp_path: Path) -> None:
    _, head = bare(tmp_path)
    with serving(tmp_path / "srv") as server, serving(tmp_path) as proxy:
        with remotes(programs(http_proxy=proxy.url)) as opened:
            assert opened.heads(f"{server.url}/org/repo", ["main"]) == {"main": head}
        assert proxy.requests == []


def test_proxies_see_no_credential_of_a_repository(tmp_path: Path) -> None:
    with serving(tmp_path) as proxy:
        address = proxy.url.replace("http://", "http://me:s3cret@")
        with (
            remotes(
                programs(HTTPS_PROXY=address),
                protocols=HTTPS,
                credentials=lambda _: "Bearer t0ken",
            ) as opened,
            pytest.raises(KalypsoError, match="the proxy does not let git through") as caught,
        ):
            opened.heads("https://nowhere.invalid/org/repo", ["main"])
        assert proxy.requests == [("CONNECT", "nowhere.invalid:443", None)]
    assert "s3cret" not in str(caught.value)


@pytest.mark.parametrize(
    ("version", "is_refused"),
    [
        ("git version 2.30.9", True),
        ("git version 1.8.3.1", True),
        ("git version 2.31.0", False),
        ("git version 2.39.5 (Apple Git-154)", False),
        ("git version 3.0.0.windows.1", False),
        ("a git without a number", False),
    ],
)
def test_a_git_that_ignores_credentials_is_refused(
    tmp_path: Path, version: str, *, is_refused: bool
) -> None:
    git = tmp_path / "git"
    git.write_text(f'#!/bin/sh\ncase "$*" in version) echo "{version}";; esac\n')
    git.chmod(0o755)
    calls = Git(programs(PATH=f"{tmp_path}:{os.environ['PATH']}"), protocols=HTTPS)
    if is_refused:
        with pytest.raises(KalypsoError, match=r"is too old.*\(install git 2\.31 or later"):
            calls.run_remote(tmp_path, "https://github.com/acme/fleet", ["fetch"])
    else:
        assert calls.run_remote(tmp_path, "https://github.com/acme/fleet", ["fetch"]) == b""
