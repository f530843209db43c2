"""URLs of repositories."""

from __future__ import annotations

from pathlib import Path

import pytest

from kalypso_actions.clients.git import CredentialTable, basic
from kalypso_actions.clients.git.urls import accepted_url, clone_key, without_credential
from kalypso_actions.errors import KalypsoError, UsageError
from kalypso_actions.model.urls import without_secret
from tests.breaks import breaks, turned
from tests.clients.git.remotes import Counting, bare, origin, remotes
from tests.clients.git.servers import serving
from tests.git_repositories import programs

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


HEADERS = {
    "https://github.com": "host",
    "https://github.com/org/": "org",
    "https://github.com/org/repo.git": "repo",
    "example.com/team": "team",
    "https://example.com:8443": "port",
    "http://plain.example.com": "plain",
    "https://user@named.example.com/x": "named",
}


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://github.com/other/repo", "host"),
        ("https://github.com/org/other", "org"),
        ("https://github.com/Org/Repo", "repo"),
        ("https://github.com/org/repo/", "repo"),
        ("https://github.com/organisation/x", "host"),
        ("https://GITHUB.com:443/org/x", "org"),
        ("https://me@github.com/org/x", "org"),
        ("https://github.com.evil.example/org/x", ""),
        ("https://evil.example/github.com/org", ""),
        ("https://github.com@evil.example/org/x", ""),
        ("https://example.com/team/x", "team"),
        ("https://example.com/x", ""),
        ("https://example.com:8443/x", "port"),
        ("https://github.com:8443/org/x", ""),
        ("http://github.com/org/x", ""),
        ("http://plain.example.com/x", "plain"),
        ("ssh://github.com/org/x", ""),
        ("git@github.com:org/x", ""),
        ("/github.com/org/x", ""),
        ("https://named.example.com/x/y", "named"),
    ],
)
def test_credential_belongs_to_the_longest_prefix(url: str, expected: str) -> None:
    assert CredentialTable(HEADERS).authorize(url) == expected


def test_table_as_a_user_writes_it() -> None:
    text = """
        # the host of other teams
        gitlab.example.com/team = deploy:pa:ss=word==

        https://dev.azure.com/org/=:pat\r
        http://127.0.0.1:8080=x-access-token:t
    """
    table = CredentialTable.parse(text)
    assert table.authorize("https://gitlab.example.com/team/x") == basic("deploy", "pa:ss=word==")
    assert table.authorize("https://gitlab.example.com/other/x") == ""
    assert table.authorize("https://dev.azure.com/org/p/_git/r") == basic("", "pat")
    assert table.authorize("http://127.0.0.1:8080/o/r") == basic("x-access-token", "t")
    assert "pass" not in repr(table)
    assert CredentialTable.parse("").authorize("https://github.com/o/r") == ""


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("s3cret", "there is no = followed by a credential"),
        ("github.com", "there is no = followed by a credential"),
        ("github.com=", "there is no = followed by a credential"),
        ("github.com=s3cret", "no user:token after"),
        ("github.com=s3cret:", "no user:token after"),
        ("=me:s3cret", "before the = is not a host"),
        ("https://me:s3cret@github.com=me:s3cret", "before the = is not a host"),
        ("https://ghp_s3cret@github.com=me:s3cret", "before the = is not a host"),
        ("ssh://github.com=me:s3cret", "before the = is not a host"),
        ("git@github.com:o/r=me:s3cret", "before the = is not a host"),
        ("-u=me:s3cret", "before the = is not a host"),
        ("two words=me:s3cret", "before the = is not a host"),
        ("github.com/a/../b=me:s3cret", "before the = is not a host"),
        ("github.com/a?b=me:s3cret", "before the = is not a host"),
        ("https://FIRST.example.com/x.git=me:s3cret", "an earlier line has the same"),
    ],
)
def test_faults_of_the_table_are_reported_without_the_token(line: str, message: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        CredentialTable.parse(f"first.example.com/x=me:t\n{line}")
    assert "line 2 of git-credentials" in str(caught.value)
    assert "s3cret" not in f"{caught.value!r} {caught.value} {caught.value.__cause__}"


def test_every_fault_of_the_table_is_reported() -> None:
    with pytest.raises(UsageError) as caught:
        CredentialTable.parse("a\nb.example.com=u:t\nc.example.com=u")
    assert [problem.message.split(":")[0] for problem in caught.value.problems] == [
        "line 1 of git-credentials",
        "line 3 of git-credentials",
    ]


def test_a_credential_that_comes_back_is_not_repeated() -> None:
    header = basic("me", "long-s3cret")
    assert without_credential(f"a long-s3cret, {header[6:]} b", header) == "a ***, *** b"
    assert without_credential("a long-t0ken", "Bearer long-t0ken") == "a ***"
    assert without_credential("as it was", "") == "as it was"
    assert without_credential("as it was", basic("it", "was")) == "as it was"


def test_over_http_with_the_credential_of_its_prefix(tmp_path: Path) -> None:
    _, head = bare(tmp_path)
    bare(tmp_path, "other/repo")
    with serving(tmp_path / "srv") as server:
        credentials = {f"{server.url}/org": "Basic c2VjcmV0", "http://127.0.0.2": "Basic b3RoZXI="}
        with remotes(credentials=CredentialTable(credentials).authorize) as opened:
            files = opened.fetch(f"{server.url}/org/repo", branch="main")
            assert files.commit == head
            assert files.read(["x.yaml", "y.yaml"]) == {"x.yaml": b"x", "y.yaml": b"y"}
            opened.fetch(f"{server.url}/other/repo", branch="main")
    sent = {(path.split("/")[1], credential) for _, path, credential in server.requests}
    assert sent == {("org", "Basic c2VjcmV0"), ("other", None)}


def test_credentials_are_neither_in_arguments_nor_in_other_calls(tmp_path: Path) -> None:
    bare(tmp_path)
    started = Counting()
    with serving(tmp_path / "srv") as server:
        credentials = {server.url: "Basic c2VjcmV0"}
        with remotes(started, credentials=CredentialTable(credentials).authorize) as opened:
            opened.fetch(f"{server.url}/org/repo", branch="main").read(["x.yaml"])
    assert "c2VjcmV0" not in str(started.calls)
    with_secret = [
        call
        for call, extra in zip(started.calls, started.extras, strict=True)
        if "c2VjcmV0" in str(extra)
    ]
    assert with_secret == started.network()


def test_configuration_of_the_user_counts_only_when_trusted(tmp_path: Path) -> None:
    path, _, second = origin(tmp_path)
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text(
        f'[url "file://{path}"]\n\tinsteadOf = http://nowhere.invalid/x\n'
    )
    started = programs(HOME=str(home))
    with remotes(started, trust_user_config=True) as opened:
        assert opened.fetch("http://nowhere.invalid/x", branch="main").commit == second
    with remotes(started) as opened, pytest.raises(KalypsoError, match="cannot be read"):
        opened.fetch("http://nowhere.invalid/x", branch="main")


@pytest.mark.parametrize("trusted", [True, False])
def test_credentials_of_the_user_are_sent_only_when_trusted(
    tmp_path: Path, *, trusted: bool
) -> None:
    _, head = bare(tmp_path)
    home = tmp_path / "home"
    home.mkdir()
    (home / ".netrc").write_text("machine 127.0.0.1 login me password mine\n")
    with serving(tmp_path / "srv") as server:
        with remotes(programs(HOME=str(home)), trust_user_config=trusted) as opened:
            assert opened.fetch(f"{server.url}/org/repo", branch="main").commit == head
        server.answers["/"] = [(401, {"WWW-Authenticate": "Basic"})]
        with remotes(programs(HOME=str(home)), trust_user_config=trusted) as opened:
            if trusted:
                assert opened.fetch(f"{server.url}/org/repo", branch="main").commit == head
            else:
                with pytest.raises(KalypsoError, match="or is private"):
                    opened.fetch(f"{server.url}/org/repo", branch="main")
    assert any(credential for _, _, credential in server.requests) is trusted


def test_credential_helper_of_the_user_is_asked_only_when_trusted(tmp_path: Path) -> None:
    _, head = bare(tmp_path)
    home = tmp_path / "home"
    home.mkdir()
    helper = "!f() { echo username=me; echo password=mine; }; f"
    (home / ".gitconfig").write_text(f'[credential]\n\thelper = "{helper}"\n')
    started = programs(HOME=str(home))
    with serving(tmp_path / "srv") as server:
        url = f"{server.url}/org/repo"
        server.answers["/"] = [(401, {"WWW-Authenticate": "Basic"})]
        with remotes(started, trust_user_config=True) as opened:
            assert opened.fetch(url, branch="main").commit == head
        assert server.requests[1][2] == "Basic bWU6bWluZQ=="
        server.answers["/"] = [(401, {"WWW-Authenticate": "Basic"})]
        with remotes(started) as opened, pytest.raises(KalypsoError, match="or is private"):
            opened.fetch(url, branch="main")
