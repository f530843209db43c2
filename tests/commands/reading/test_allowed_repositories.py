"""The repositories that a job may read."""

from __future__ import annotations

import pytest

from kalypso_actions.commands.shared.reading.allowed_repositories import AllowedRepositories
from kalypso_actions.errors import KalypsoError, UsageError
from tests.breaks import breaks, turned

AZURE = "https://dev.azure.com/acme/My%20Project/_git/app"


@breaks(
    "the labels of a glob end anywhere in a host",
    turned(
        "kalypso_actions.commands.shared.reading.allowed_repositories._host_and_path",
        "f'.{host}' if wild else host",
        "host",
    ),
)
@pytest.mark.parametrize(
    ("globs", "url", "allowed"),
    [
        ([], "https://git.test:8443/acme/shop", True),
        ([], "https://git.test:8443/ACME/shop.git", True),
        ([], "https://git.test/acme/shop", False),
        ([], "https://git.test:8443/acme-evil/shop", False),
        ([], "https://other.test/acme/shop", False),
        (["friends/*"], "https://git.test:8443/friends/shop", True),
        (["friends/*"], "https://git.test:8443/acme/shop", False),
        (["friends/*"], "https://git.test:8443/acme/fleet", True),  # the control plane itself
        (["other.test/acme/*"], "https://other.test/acme/shop", True),
        (["other.test/acme/*"], "git@other.test:acme/shop", True),
        (["other.test:9000/acme/*"], "https://other.test:9000/acme/shop", True),
        (["localhost:9000/acme/*"], "http://localhost:9000/acme/shop", True),
        (["https://other.test/acme/*"], "https://other.test/acme/shop", True),
        (["git@other.test:acme/*"], "ssh://git@other.test/acme/shop", True),
        (["other.test:acme/*"], "ssh://git@other.test/acme/shop", True),
        (["**"], "https://git.test:8443/any/shop", True),
        (["**"], "https://other.test/any/shop", False),
        (["*/*"], "https://git.test:8443/any/shop", True),
        (["*/*"], "https://git.test:8443/any/deep/shop", False),
        (["dev.azure.com/acme/*"], "https://acme@dev.azure.com/acme/p/_git/shop", False),
        (["dev.azure.com/acme/**"], "https://acme@dev.azure.com/acme/p/_git/shop", True),
        (["dev.azure.com/acme/**/shop"], "https://dev.azure.com/acme/shop", True),
        (["dev.azure.com/acme/**/shop"], "https://dev.azure.com/acme/p/_git/shop", True),
        (["dev.azure.com/acme/**/shop"], "https://dev.azure.com/acme/workshop", False),
        (["acme/app-[0-9]"], "https://git.test:8443/acme/app-1", True),
        (["acme/app-[!0-9]"], "https://git.test:8443/acme/app-x", True),
        (["dev.azure.com/acme/My Project/_git/*"], AZURE, True),
        (["dev.azure.com/acme/My%20Project/_git/*"], AZURE, True),
        (["acme@dev.azure.com/acme/*/_git/*"], AZURE, True),
        (["git.test./acme/*"], "https://git.test/acme/shop", True),
        (["git.test/grüße/*"], "https://git.test/gr%C3%BC%C3%9Fe/shop", True),
        (["[1:2:3:4:5:6:7:8]/acme/*"], "git@[1:2:3:4:5:6:7:8]:acme/app", True),
        (["git@[1:2:3:4:5:6:7:8]:acme/*"], "https://[1:2:3:4:5:6:7:8]/acme/app", True),
        (["git@*:acme/*"], "ssh://git@git.test/acme/shop", True),
        (["git.test/a/**/b/*/**/c"], "https://git.test/a/x/b/b/y/c", True),
        (["git.test/a/**/b/*/**/c"], "https://git.test/a/x/b/c", False),
        (["*.corp.test/acme/*"], "https://git.eu.corp.test/acme/shop", True),
        (["*.corp.test/acme/*"], "https://corp.test/acme/shop", False),
        (["*.corp.test/acme/*"], "https://evilcorp.test/acme/shop", False),
        (["*.corp.test/acme/*"], "https://git.corp.test:8443/acme/shop", False),
        (["https://*/acme/*"], "https://other.test/acme/shop", True),
        (["HTTPS://Other.Test:443/Acme/*"], "https://other.test./acme/shop", True),
    ],
)
def test_what_globs_allow(globs: list[str], url: str, allowed: bool) -> None:
    repositories = AllowedRepositories(globs, "https://git.test:8443", "acme/fleet")
    if allowed:
        repositories.check(url)
        return
    with pytest.raises(KalypsoError, match="not among those that may be read"):
        repositories.check(url)


@pytest.mark.parametrize(
    ("url", "advice"),
    [
        (
            "https://git.test:8443/acme/shop",
            "allowed-repositories replaces its default acme/*: add",
        ),
        ("https://git.test:8443/others/shop", "add it to allowed-repositories, or correct the URL"),
    ],
)
def test_globs_replace_the_default(url: str, advice: str) -> None:
    repositories = AllowedRepositories(["friends/*"], "https://git.test:8443", "acme/fleet")
    with pytest.raises(KalypsoError) as refused:
        repositories.check(url)
    assert refused.value.problem.advice.startswith(advice)


@pytest.mark.parametrize(
    "glob",
    [
        *("*", "acme", "acme/", "", "git*.corp.test/acme/*", "*.*.test/acme/*", "a.*.test/acme/*"),
        *("*corp.test/acme/*", "acme/[z-a]", "acme/[a", "acme/{a,b}", "git.test:*/acme/*"),
        *("https://*:8443/**", "**[!0]app", "acme/a**b", "git.test/a//b", "git.test/a/../b"),
        *("acme/*?x", "acme/*#x", "acme\\*", "https://host", "https://*", "https://[x/acme/*"),
    ],
)
def test_invalid_globs(glob: str) -> None:
    with pytest.raises(UsageError, match="is not a glob of repositories") as caught:
        AllowedRepositories([glob], "https://git.test:8443", "acme/fleet")
    assert "** crosses segments" in caught.value.problem.advice


def test_the_refusal_says_when_a_glob_once_crossed_segments() -> None:
    repositories = AllowedRepositories(["host.test/acme/*"], "https://git.test", "acme/fleet")
    with pytest.raises(KalypsoError) as caught:
        repositories.check("https://host.test/acme/team/shop")
    assert caught.value.problem.advice == (
        "in allowed-repositories, * matches one segment of a path: write ** for several"
    )


def test_an_invalid_url_is_refused_as_such() -> None:
    with pytest.raises(KalypsoError, match="this is not the URL of a repo"):
        AllowedRepositories((), "https://github.com", "acme/fleet").check("https://[acme/x")
