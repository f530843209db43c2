"""Globs of allowed-repositories, against URLs that only seem to match."""

from __future__ import annotations

import time
from fnmatch import fnmatchcase

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from kalypso_actions.commands.shared.reading.allowed_repositories import AllowedRepositories
from kalypso_actions.errors import KalypsoError
from kalypso_actions.model.urls import normal_url
from tests.breaks import breaks, turned

LABEL = st.text("abc", min_size=1, max_size=3)
SEGMENT = st.text("abc.-", min_size=1, max_size=4).filter(
    lambda name: name.strip(".") and not name.endswith(".git")
)
HOST = st.lists(LABEL, min_size=2, max_size=4).map(".".join)
PATH = st.lists(SEGMENT, min_size=1, max_size=4).map("/".join)
PATTERN = st.text("abc.-*", min_size=1, max_size=4).filter(
    lambda part: "**" not in part and part.strip(".")
)


def allows(glob: str, url: str) -> bool:
    # No control plane has this name, which is allowed beside the globs.
    allowed = AllowedRepositories([glob], "https://server.test", "fleet-owner/fleet")
    try:
        allowed.check(url)
    except KalypsoError as error:
        assert "among those" in error.problem.message  # noqa: PT017 - it is refused as such
        return False
    return True


@breaks(
    "a glob's star crosses segments",
    turned(
        "kalypso_actions.commands.shared.reading.allowed_repositories._Glob.matches",
        "_match(self.groups, path.split('/'))",
        "_pattern(self.path).fullmatch(path) is not None",
    ),
)
@pytest.mark.parametrize(
    ("glob", "url"),
    [
        ("*.corp.example/acme/*", "https://evil.example/.corp.example/acme/a"),
        ("*.corp.example/acme/*", "https://evil.example/x.corp.example/acme/a"),
        ("*.corp.example/acme/*", "https://git.corp.example.evil.example/acme/a"),
        ("*.corp.example/acme/*", "https://git.corp.example/evil/acme/a"),
        ("git.example/acme/*", "https://git.example/acme/a/../../evil"),
        ("git.example/acme/*", "https://git.example/acme/a/b"),
        ("git.example/*/app", "https://git.example/acme/x/app"),
        ("git.example/*/app", "https://git.example/app"),
        ("git.example/acme/*", "https://git.example/acme/"),
        ("git.example/acme/**", "https://git.example/acmeevil/a"),
        ("git.example/**/app", "https://git.example.evil.example/x/app"),
        ("*/app", "https://git.example/x/app"),
        ("gitxexample/acme/*", "https://git.example/acme/a"),
    ],
)
def test_not_allowed(glob: str, url: str) -> None:
    allowed = AllowedRepositories([glob], "https://server.test", "fleet-owner/fleet")
    with pytest.raises(KalypsoError):
        allowed.check(url)


@pytest.mark.parametrize(
    ("glob", "path"),
    [
        ("acme/*-*-*-*-x", "acme/" + "-" * 1900),
        ("**/**/**/a", "b/" * 900 + "c"),
        ("**/a*b*c*d/**/e", "abcabc/" * 250 + "f"),
        ("**/team-*/**/*-team-*", "team/team-/" * 170 + "x"),
    ],
)
def test_a_long_url_is_matched_in_no_time(glob: str, path: str) -> None:
    start = time.process_time()
    assert not allows(f"host.test/{glob}", f"https://host.test/{path}")
    assert time.process_time() - start < 1


def test_no_url_is_longer_than_two_kilobytes() -> None:
    with pytest.raises(KalypsoError, match="more than 2048 characters") as caught:
        normal_url("https://host.test/" + "a" * 2048)
    assert len(str(caught.value)) < 300


@given(host=HOST, path=PATH)
def test_a_repository_allows_itself_and_its_owner_allows_it(host: str, path: str) -> None:
    assert allows(f"{host}/{path}", f"https://{host}/{path}")
    assert allows(f"{host}/**", f"https://{host}/{path}")
    first, _, rest = host.partition(".")
    assert allows(f"*.{rest}/**", f"https://{first}.{rest}/{path}")
    assert not allows(f"*.{host}/**", f"https://{host}/{path}")


@given(host=HOST, other=HOST, path=PATH)
def test_the_path_never_stands_for_the_host(host: str, other: str, path: str) -> None:
    assume(host != other and not other.endswith(f".{host}"))
    for glob in (f"{host}/**", f"*.{host}/**"):
        assert not allows(glob, f"https://{other}/{path}")
        assert not allows(glob, f"https://{other}/{host}/{path}")
        assert not allows(glob, f"https://{other}/x.{host}/{path}")


@given(patterns=st.lists(PATTERN, min_size=1, max_size=3), segments=st.lists(SEGMENT, min_size=1))
def test_segments_match_one_by_one(patterns: list[str], segments: list[str]) -> None:
    assume(not patterns[-1].endswith(".git"))
    expected = len(patterns) == len(segments) and all(
        fnmatchcase(segment, pattern) for segment, pattern in zip(segments, patterns, strict=True)
    )
    glob, url = "/".join(patterns), "/".join(segments)
    assert allows(f"host.test/{glob}", f"https://host.test/{url}") == expected
