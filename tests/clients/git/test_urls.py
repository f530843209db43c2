"""URLs of repositories."""

from __future__ import annotations

import pytest

from kalypso_actions.clients.git.urls import accepted_url, clone_key
from kalypso_actions.errors import KalypsoError
from kalypso_actions.model.urls import without_secret
from tests.breaks import breaks, turned

ALL = frozenset({"https", "http", "ssh", "file"})


@pytest.mark.parametrize(
    ("url", "protocol"),
    [
        ("https://github.com/org/repo", "https"),
        ("https://github.com/org/repo.git", "https"),
        ("https://org@dev.azure.com/org/project/_git/repo", "https"),
        ("https://host:8443/x", "https"),
        ("https://[::1]:8443/x", "https"),
        ("HTTPS://github.com/org/repo", "https"),
        ("http://127.0.0.1:8080/org/repo", "http"),
        ("ssh://git@github.com/org/repo", "ssh"),
        ("ssh://git@github.com:22/org/repo", "ssh"),
        ("git@github.com:org/repo.git", "ssh"),
        ("github.com:org/repo", "ssh"),
        ("file:///srv/git/repo", "file"),
        ("/srv/git/my repo", "file"),
        ("./repo", "file"),
        ("C:\\git\\repo", "file"),
        ("C:/git/repo", "file"),
    ],
)
def test_protocol_has_to_be_allowed(url: str, protocol: str) -> None:
    accepted_url(url, frozenset({protocol}))
    with pytest.raises(KalypsoError, match=f"not by {protocol}"):
        accepted_url(url, ALL - {protocol})


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("-oProxyCommand=touch /tmp/x", "must not begin with '-'"),
        ("--upload-pack=touch", "must not begin with '-'"),
        ("ssh://-oProxyCommand=x/repo", "must not begin with '-'"),
        ("ssh://git@-oProxyCommand=x/repo", "must not begin with '-'"),
        ("-oProxyCommand=x@host:repo", "must not begin with '-'"),
        ("ext::sh -c touch% /tmp/x", "not the URL of a repository"),
        ("fd::17", "not the URL of a repository"),
        ("https::https://github.com/x/y", "not the URL of a repository"),
        ("", "not the URL of a repository"),
        ("https://", "not the URL of a repository"),
        ("https:///path", "not the URL of a repository"),
        ("https://host/a b", "not the URL of a repository"),
        ("https://host/a\nb", "not the URL of a repository"),
        ("https://host/a\x00", "not the URL of a repository"),
        ("/a\x1bb", "not the URL of a repository"),
        ("/a\ud800", "not the URL of a repository"),
        ("https://host/\udfff", "not the URL of a repository"),
        ("https://host:port/x", "not the URL of a repository"),
        ("https://[host/x", "not the URL of a repository"),
        ("://x", "not the URL of a repository"),
        ("https://host/a/../b", "must not have . or .. in its path"),
        ("https://host/a/%2E./b", "must not have . or .. in its path"),
        ("ssh://host/./b", "must not have . or .. in its path"),
        ("git://github.com/x/y", "not by git"),
        ("ftp://host/x", "not by ftp"),
        ("javascript://host/x", "not by javascript"),
        ("https://user:pass@host/x", "contains a password or token"),
        ("https://:pass@host/x", "contains a password or token"),
        ("https://ghp_abc123@github.com/x/y", "contains a password or token"),
    ],
)
def test_what_is_refused_before_git_starts(url: str, message: str) -> None:
    with pytest.raises(KalypsoError, match=message):
        accepted_url(url, ALL)


@pytest.mark.parametrize("url", ["https://me:s3cret@host:1/x", "https://ghp_s3cret@host:1/x"])
def test_secrets_in_urls_are_not_repeated(url: str) -> None:
    assert without_secret(url) == "https://***@host:1/x"
    with pytest.raises(KalypsoError) as caught:
        accepted_url(url, ALL)
    assert "s3cret" not in str(caught.value)


def test_harmless_urls_are_shown_as_they_are() -> None:
    for url in ("https://dev.azure.com/x", "git@host:x", "/a b", "https://host/x?a#b"):
        assert without_secret(url) == url


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("https://GitHub.com/o/r", "https://github.com/o/r.git", True),
        ("https://github.com/o/r/", "https://github.com/o/r", True),
        ("git@github.com:o/r", "ssh://git@github.com/o/r.git", True),
        ("https://github.com/o/r", "ssh://git@github.com/o/r", False),
        ("https://a@host/o/r", "https://b@host/o/r", False),
        ("https://host/o/r", "https://host/o/R", False),
        ("https://host/o/r", "https://host:8443/o/r", False),
    ],
)
def test_which_urls_share_a_copy(first: str, second: str, *, same: bool) -> None:
    assert (clone_key(first) == clone_key(second)) is same


@pytest.mark.parametrize("host", ["127.0.0.1:8080", "localhost", "[::1]:8080"])
def test_http_beside_https_is_for_this_machine(host: str) -> None:
    accepted_url(f"http://{host}/org/repo", ALL)


def test_http_of_other_machines_is_refused_with_advice() -> None:
    with pytest.raises(KalypsoError) as caught:
        accepted_url("http://git.test/org/repo", ALL)
    assert "from this machine only" in caught.value.problem.message
    assert caught.value.problem.advice == "write the URL with https"


@breaks("git gets the URL as it is written", turned(accepted_url, "normal_url(url)", "url"))
def test_git_gets_the_normal_form() -> None:
    written = "HTTPS://acme@Dev.Azure.com:443/acme/My%20Project/_git/shop/"
    assert accepted_url(written, ALL) == "https://dev.azure.com/acme/My%20Project/_git/shop"
    assert accepted_url("/srv/git/../my repo", ALL) == "/srv/git/../my repo"
