"""URLs that a server, a proxy and the allow-list could interpret differently."""

from __future__ import annotations

import pytest

from kalypso_actions.commands.shared.reading.allowed_repositories import AllowedRepositories
from kalypso_actions.errors import KalypsoError
from kalypso_actions.model.urls import normal_url, without_secret
from tests.breaks import breaks, turned

REFUSED = {
    "encoded slash": "https://github.com/acme/..%2fevil/app",
    "encoded slash, upper case": "https://github.com/acme/x%2F..%2Fevil",
    "encoded backslash": "https://github.com/acme/..%5cevil/app",
    "encoded twice": "https://github.com/acme/%252e%252e/evil",
    "encoded dots": "https://github.com/acme/%2e%2e/evil/app",
    "encoded dot": "https://github.com/acme/.%2e/evil/app",
    "encoded newline": "https://github.com/acme/app%0aHost:%20evil",
    "encoded NUL": "https://github.com/acme/app%00",
    "encoded C1": "https://github.com/acme/app%c2%85",
    "encoded bidirectional": "https://github.com/acme/%e2%80%aeppa",
    "not UTF-8": "https://github.com/acme/%ff",
    "half a percent": "https://github.com/acme/%2",
    "encoded question mark": "https://github.com/acme/app%3fx",
    "encoded hash": "https://github.com/acme/app%23x",
    "backslash": "https://github.com/acme\\..\\evil/app",
    "backslash before @": "https://evil.example\\@github.com/acme/app",
    "dots": "https://github.com/acme/../evil/app",
    "dot": "https://github.com/acme/./app",
    "dots with a parameter": "https://github.com/acme/..;x=1/evil/app",
    "wide dots": "https://github.com/acme/．．/evil",
    "encoded wide dots": "https://github.com/acme/%ef%bc%8e%ef%bc%8e/evil",
    "one letter of two dots": "https://github.com/acme/‥/evil",
    "dots and a space": "https://github.com/acme/..%20/evil",
    "wide slash": "https://github.com/acme／..／evil/app",
    "empty segment": "https://github.com//acme/app",
    "empty segment inside": "https://github.com/acme//app",
    "empty segment at the end": "https://github.com/acme/app//",
    "query": "https://github.com/acme/app?/evil",
    "empty query": "https://github.com/acme/app?",
    "fragment": "https://github.com/acme/app#@evil.example/",
    "password": "https://me:s3cret@github.com/acme/app",
    "password in what is no URL": "https://me:s3cret@github.com:x/acme/app",
    "token as user": "https://ghp_0123@github.com/acme/app",
    "Cyrillic host": "https://gіthub.com/acme/app",
    "wide host": "https://ｇithub.com/acme/app",
    "ideographic full stop": "https://github。com/acme/app",
    "encoded host": "https://github%2ecom/acme/app",
    "host with a pattern of git": "https://*.github.com/acme/app",
    "empty label": "https://github..com/acme/app",
    "newline": "https://github.com/acme/app\nx",
    "tab in the scheme": "ht\ttps://github.com/acme/app",
    "tab in the host": "https://git\thub.com/acme/app",
    "C1": "https://github.com/acme/app\x85",
    "bidirectional": "https://github.com/acme/\u202eppa",
    "line separator": "https://github.com/acme/app\u2028",
    "zero width": "https://github.com/ac\u200bme/app",
    "space": "https://github.com/acme/a b",
    "option as host": "ssh://-oProxyCommand=touch@host/acme/app",
    "encoded option as user": "ssh://%2doProxyCommand=x@github.com/acme/app",
    "option as host, scp": "-oProxyCommand=x:acme/app",
    "program of git": "ext::sh -c id",
    "dots, scp": "git@github.com:acme/../evil",
    "no host": "https:///acme/app",
    "option": "--upload-pack=id",
    "path": "/etc",
    "file": "file:///etc",
    "empty": "",
}

ACCEPTED = {
    "https://github.com/acme/app": "https://github.com/acme/app",
    "https://github.com/acme/app.git": "https://github.com/acme/app.git",
    "https://github.com/acme/app/": "https://github.com/acme/app",
    "HTTPS://GitHub.COM:443/acme/App": "https://github.com/acme/App",
    "https://github.com./acme/app": "https://github.com/acme/app",
    "https://github.com:/acme/app": "https://github.com/acme/app",
    "https://git.example:8443/a/b": "https://git.example:8443/a/b",
    "https://xn--gthub-n4a.com/acme/app": "https://xn--gthub-n4a.com/acme/app",
    "https://[::1]:8443/a/b": "https://[::1]:8443/a/b",
    "https://acme@dev.azure.com/acme/My%20Project/_git/app": (
        "https://dev.azure.com/acme/My%20Project/_git/app"
    ),
    "https://github.com@evil.example/acme/app": "https://evil.example/acme/app",
    "https://gitlab.com/group/sub/app": "https://gitlab.com/group/sub/app",
    "https://host/%7euser/%61pp": "https://host/~user/app",
    "https://host/grüße/app": "https://host/gr%C3%BC%C3%9Fe/app",
    "https://host/gr%c3%bc%c3%9fe/app": "https://host/gr%C3%BC%C3%9Fe/app",
    "https://host/acme/.github": "https://host/acme/.github",
    "https://host/acme/a..b": "https://host/acme/a..b",
    "ssh://git@github.com:22/acme/app": "ssh://git@github.com/acme/app",
    "ssh://git@host:7999/acme/app.git": "ssh://git@host:7999/acme/app.git",
    "git@GitHub.com:acme/app.git": "git@github.com:acme/app.git",
    "git@ssh.dev.azure.com:v3/acme/project/app": "git@ssh.dev.azure.com:v3/acme/project/app",
    "git@[1:2:3:4:5:6:7:8]:acme/app": "git@[1:2:3:4:5:6:7:8]:acme/app",
    "host:/srv/app": "host:/srv/app",
}


@breaks(
    "an encoded slash is part of a segment",
    turned(
        "kalypso_actions.model.urls._segment_fault",
        "character in _NEVER_ENCODED",
        "character == '%'",
    ),
)
@pytest.mark.parametrize("url", REFUSED.values(), ids=REFUSED)
def test_refused(url: str) -> None:
    allowed = AllowedRepositories(["https://*/**"], "https://github.com", "acme/fleet")
    with pytest.raises(KalypsoError) as caught:
        allowed.check(url)
    assert "among those" not in caught.value.problem.message
    assert "s3cret" not in str(caught.value)


@pytest.mark.parametrize(("url", "expected"), ACCEPTED.items(), ids=ACCEPTED)
def test_accepted(url: str, expected: str) -> None:
    assert normal_url(url) == expected
    assert normal_url(expected) == expected


@pytest.mark.parametrize(
    ("url", "advice"),
    [
        ("https://dev.azure.com/acme/My Project/_git/app", "write %20 for a space"),
        ("github.com/acme/app", "begin it with https://"),
        ("https://github.com:x/acme/app", "which is a number"),
        ("https://github.com:99999/acme/app", "which is a number"),
        ("ssh://me%40corp@host/acme/app", "the user of ssh"),
        ("https://github.com/acme\\app", "write / for a backslash"),
    ],
)
def test_the_error_says_what_to_write(url: str, advice: str) -> None:
    with pytest.raises(KalypsoError, match="this is not the URL") as caught:
        normal_url(url)
    assert advice in caught.value.problem.advice


def test_each_user_of_https_is_masked() -> None:
    assert without_secret("https://0123abcd@host.test/a/b") == "https://***@host.test/a/b"
    assert without_secret("ssh://git@host.test/a/b") == "ssh://git@host.test/a/b"


def test_look_alikes_are_other_repositories() -> None:
    allowed = AllowedRepositories((), "https://github.com", "acme/fleet")
    allowed.check("https://github.com/acme/app")
    for url in (
        "https://github.com/аcme/app",  # Cyrillic
        "https://xn--gthub-n4a.com/acme/app",
        "https://github.com@evil.example/acme/app",
        "https://github.com.evil.example/acme/app",
        "https://evil.example/github.com/acme/app",
        "https://github.com:8443/acme/app",
    ):
        with pytest.raises(KalypsoError, match="among those"):
            allowed.check(url)
