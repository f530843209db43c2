"""Pages of lists: their sizes and links."""

from __future__ import annotations

import pytest
from requests.utils import parse_header_links

from kalypso_sandbox.github.api.requests import page_request, paginate
from kalypso_sandbox.github.endpoints import Call
from kalypso_sandbox.github.rate_limits import RateLimits
from kalypso_sandbox.store import Identity, Store


def call(**query: str) -> Call:
    return Call(
        store=Store(),
        identity=Identity(kind="user", login="a", permissions={}),
        target=None,
        path="/repos/acme/fleet/labels/a%2Fb",
        parameters={},
        query=query,
        body={},
        api_url="https://api",
        server_url="https://server",
        rate_limits=RateLimits(),
    )


@pytest.mark.parametrize(
    ("query", "items", "links"),
    [
        ({}, range(30), {"next": "2", "last": "4"}),
        ({"page": "2"}, range(30, 60), {"prev": "1", "next": "3", "last": "4", "first": "1"}),
        ({"page": "4"}, range(90, 101), {"prev": "3", "first": "1"}),
        ({"page": "9"}, range(0), {"prev": "4", "first": "1"}),
        ({"per_page": "100"}, range(100), {"next": "2", "last": "2"}),
        ({"per_page": "1000"}, range(100), {"next": "2", "last": "2"}),
        ({"per_page": "x", "page": "-1"}, range(30), {"next": "2", "last": "4"}),
        ({"per_page": "0", "page": "0"}, range(30), {"next": "2", "last": "4"}),
    ],
)
def test_a_page_and_its_links(query: dict[str, str], items: range, links: dict[str, str]) -> None:
    some, headers = paginate(call(**query), range(101))
    assert list(some) == list(items)
    parsed = parse_header_links(headers["link"])
    assert {link["rel"]: link["url"].rpartition("page=")[2] for link in parsed} == links


def test_links_keep_what_was_asked_for() -> None:
    _, headers = paginate(call(per_page="1", state="all open"), range(2))
    address = "https://api/repos/acme/fleet/labels/a%2Fb?per_page=1&state=all+open&page=2"
    assert headers["link"] == f'<{address}>; rel="next", <{address}>; rel="last"'


def test_one_page_has_no_links() -> None:
    assert paginate(call(), range(30)) == (range(30), {})
    assert paginate(call(), ()) == ((), {})


def test_other_sizes() -> None:
    assert page_request({"per_page": "40"}, default=10, maximum=30) == (1, 30)
    assert page_request({}, default=250, maximum=250) == (1, 250)
