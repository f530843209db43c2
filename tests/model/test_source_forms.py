"""The repositories, revisions and folders that Flux and Argo CD accept."""

from __future__ import annotations

import pytest

from kalypso_actions.model.source_forms import (
    branch_fault,
    folder_fault,
    repository_fault,
    revision_fault,
)

COMMIT = "5" * 40

REPOSITORIES = [
    "",
    "https://github.com/acme/app",
    "https://github.com/acme/app.git",
    "https://git.example:8443/a/b/c/",
    "http://git.example/a",
    "https://org@dev.azure.com/org/My%20Project/_git/app",
    "ssh://git@github.com/acme/app",
    "ssh://git@git.example:22/~user/app.git",
    "git@github.com:acme/app.git",
    "git@ssh.dev.azure.com:v3/org/project/app",
    "https://git-codecommit.eu-west-1.amazonaws.com/v1/repos/app",
    "https://charts.example/stable",
    "https://charts.example/stable?x=1&y=2",
    "oci://ghcr.io/acme/charts",
    "oci://registry.example:5000/acme/charts/",
    "registry-1.docker.io/bitnamicharts",
    "registry-1.docker.io",
    "https://[2001:db8::1]/acme/app",
    "https://bücher.example/acme/app",
    "/srv/git/app.git",
]

REVISIONS = [
    "",
    "main",
    "feature/boards-2",
    "release/1.0",
    "größe",
    "a'b",
    "HEAD",
    "v1.2.3",
    "charts/helm-guestbook/0.1.0",
    "refs/heads/main",
    "refs/pull/1/head",
    COMMIT,
    COMMIT[:7],
    "1.2.0",
    "1.2.*",
    "1.*",
    "*",
    "*-0",
    ">=1.0.0 <2.0.0",
    ">=0.0.0-0",
    ">= 1.2, != 1.4",
    "~1.2.3",
    "^1.2 || ^3.0.0",
    "1.x",
    "1.2 - 1.4.5",
    "v1.x",
    f"sha256:{'a' * 64}",
    f"1.16.1@sha256:{'a' * 64}",
]

FOLDERS = [
    "",
    ".",
    "./",
    "./boards",
    "boards/",
    "/boards",
    "boards/canary",
    "../boards",
    "My boards (new)",
    "a+b@c=d,e~f#g",
    "größe",
    "apps/*",
    "*/boards",
    "clusters/${cluster}",
]


@pytest.mark.parametrize("text", REPOSITORIES)
def test_repositories_that_flux_and_argo_cd_accept(text: str) -> None:
    assert repository_fault(text) == ""


@pytest.mark.parametrize("text", REVISIONS)
def test_revisions_that_flux_and_argo_cd_accept(text: str) -> None:
    assert revision_fault(text) == ""


@pytest.mark.parametrize("text", FOLDERS)
def test_folders_that_flux_and_argo_cd_accept(text: str) -> None:
    assert folder_fault(text) == ""


@pytest.mark.parametrize(
    "text",
    [
        "https://git.example/a b",
        "https://git.example/a\n",
        'https://git.example/"',
        "https://git.example/'",
        "https://git.example/{a}",
        "C:\\repositories",
        "-oProxyCommand=x",
        "*repository",
        "&repository",
        " https://git.example/a",
    ],
)
def test_no_repositories(text: str) -> None:
    assert repository_fault(text)


@pytest.mark.parametrize(
    "text",
    [
        "two words",
        "a: b",
        "main #",
        "main ",
        "main\n",
        ">=1.0.0\n",
        "a..b",
        "a@{1}",
        "@",
        "a~1",
        "a^",
        "a?",
        "[a]",
        "a//b",
        "a/",
        ".a",
        "a/.b",
        "a.",
        "a.lock",
        "a.lock/b",
        "-a",
        "a\\b",
        "1.0 evil",
        f"sha256:{'a' * 64} x",
    ],
)
def test_no_revisions(text: str) -> None:
    assert revision_fault(text)


@pytest.mark.parametrize("text", [" a", "a ", "a: b", 'a"', "a\\b", "a|b", "<a>", "`a`"])
def test_no_folders(text: str) -> None:
    assert folder_fault(text)


@pytest.mark.parametrize("part", [" ", "1 ", "1.", "1||", "1 - ", "1-a", "a", "1, ", ">"])
def test_long_texts_take_no_time(part: str) -> None:
    """A pattern that tries everything would need hours."""
    revision_fault(part * 100_000 + ":")


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("refs/heads/dev", "dev"),
        ("/refs/heads/dev", "dev"),
        ("refs/remotes/upstream/dev", "dev"),
        ("remotes/origin/team/dev", "team/dev"),
        ("heads/dev", "dev"),
        ("origin/dev", "dev"),
        ("dev ", "dev"),
        ("\u00a0dev", "dev"),
        ("/dev/", "dev"),
        ("dev branch", ""),
        ("dev.lock", ""),
        ("a..b", ""),
        ("@", ""),
        ("HEAD", ""),
        ("", ""),
        ("refs/heads/", ""),
    ],
)
def test_the_branch_that_was_meant(name: str, meant: str) -> None:
    fault, found = branch_fault(name)
    assert (bool(fault), found) == (True, meant)


@pytest.mark.parametrize(
    "name", ["dev", "team/dev", "feature/origin/dev", "release-1.2", "refs-dev", "D\u00e9v"]
)
def test_names_of_branches(name: str) -> None:
    assert branch_fault(name) == ("", "")
