"""Proxies and certificates are those of the given environment."""

from __future__ import annotations

from pathlib import Path

import pytest
import responses

from kalypso_actions.clients.network import (
    Session,
    proxies_for,
    trusted_certificates,
)
from kalypso_actions.errors import UsageError

PROXY = "http://proxy.acme.example:3128"
URL = "https://management.azure.com/providers"


@pytest.mark.parametrize(
    ("environment", "url", "proxy"),
    [
        ({}, URL, ""),
        ({"HTTPS_PROXY": PROXY}, URL, PROXY),
        ({"https_proxy": PROXY, "HTTPS_PROXY": "http://other"}, URL, PROXY),
        ({"HTTP_PROXY": PROXY}, URL, ""),
        ({"ALL_PROXY": PROXY}, URL, PROXY),
        ({"HTTPS_PROXY": PROXY, "NO_PROXY": "github.com,.azure.com"}, URL, ""),
        ({"HTTPS_PROXY": PROXY, "NO_PROXY": "*.azure.com"}, URL, ""),
        ({"HTTPS_PROXY": PROXY, "NO_PROXY": "Management.Azure.com"}, URL, ""),
        ({"HTTPS_PROXY": PROXY, "no_proxy": "*"}, URL, ""),
        ({"HTTPS_PROXY": PROXY, "NO_PROXY": "management.azure.com:8443"}, URL, PROXY),
        ({"HTTPS_PROXY": PROXY, "NO_PROXY": "ghe.test:8443"}, "https://ghe.test:8443/api", ""),
        ({"HTTPS_PROXY": PROXY, "NO_PROXY": "nt.azure.com, ,."}, URL, PROXY),
        ({"HTTP_PROXY": PROXY, "NO_PROXY": "10.0.0.0/8"}, "http://10.0.0.1/", ""),
        ({"HTTP_PROXY": PROXY, "NO_PROXY": "10.0.0.0/8"}, "http://11.0.0.1/", PROXY),
        ({"HTTPS_PROXY": PROXY, "NO_PROXY": "10.0.0.0/8,a/b"}, URL, PROXY),
        ({"HTTPS_PROXY": PROXY, "NO_PROXY": "azure.example"}, URL, PROXY),
        ({"HTTPS_PROXY": PROXY}, "https://127.0.0.1:8443/msi", ""),
        ({"HTTP_PROXY": PROXY}, "http://localhost:8080/msi", ""),
        ({"HTTP_PROXY": PROXY}, "http://169.254.169.254/metadata", ""),
        ({"HTTP_PROXY": PROXY}, "http://10.0.0.1/", PROXY),
    ],
)
def test_proxies(environment: dict[str, str], url: str, proxy: str) -> None:
    assert list(proxies_for(url, environment).values()) == ([proxy] if proxy else [])


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ([], None),
        (["SSL_CERT_FILE"], "SSL_CERT_FILE"),
        (["SSL_CERT_FILE", "CURL_CA_BUNDLE"], "CURL_CA_BUNDLE"),
        (["SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE"], "REQUESTS_CA_BUNDLE"),
    ],
)
def test_trusted_certificates(tmp_path: Path, variables: list[str], expected: str | None) -> None:
    environment = {"SSL_CERT_FILE": ""}
    for variable in variables:
        (tmp_path / variable).touch()
        environment[variable] = str(tmp_path / variable)
    assert trusted_certificates(environment) == (str(tmp_path / expected) if expected else True)


def test_missing_certificates_are_reported() -> None:
    with pytest.raises(UsageError, match=r"SSL_CERT_FILE names /nowhere/ca\.pem"):
        trusted_certificates({"SSL_CERT_FILE": "/nowhere/ca.pem"})


def test_the_given_environment_counts_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "netrc").write_text("machine management.azure.com login a password netrc\n")
    (tmp_path / "own.pem").touch()
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    monkeypatch.setenv("HTTPS_PROXY", "http://process.example")
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(tmp_path / "own.pem"))
    (tmp_path / "given.pem").touch()
    environment = {"HTTPS_PROXY": PROXY, "SSL_CERT_FILE": str(tmp_path / "given.pem")}
    with responses.RequestsMock() as server, Session(environment) as session:
        server.get(URL)
        sent = session.get(URL, headers={"Authorization": "Bearer ours"}).request
        # `responses` adds it to the request, but its types lack it.
        settings = server.calls[0].request.req_kwargs  # type: ignore[attr-defined]
    assert sent.headers["Authorization"] == "Bearer ours"
    assert settings["proxies"] == {"https": PROXY}
    assert settings["verify"] == str(tmp_path / "given.pem")
