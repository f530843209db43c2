"""Pages of lists, and the links from one to the next.

https://docs.github.com/rest/using-the-rest-api/using-pagination-in-the-rest-api
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar
from urllib.parse import urlencode

from kalypso_actions.sandbox.endpoints import Call
from kalypso_actions.sandbox.routing import by_id, number

T = TypeVar("T")

USUAL = 30
MOST = 100


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which page is asked for, counting from 1."""

    number: int
    size: int

    @classmethod
    def of(cls, query: Mapping[str, str], usual: int = USUAL, most: int = MOST) -> Wanted:
        """From `page` and `per_page`; what makes no sense counts as not given."""
        size = number(query.get("per_page", "")) or usual
        return cls(number(query.get("page", "")) or 1, min(size, most))


def page(
    call: Call, items: Sequence[T], wanted: Wanted | None = None
) -> tuple[Sequence[T], Mapping[str, str]]:
    """The items of the page that is asked for, and the header Link if there are more."""
    wanted = wanted or Wanted.of(call.query)
    begin = (wanted.number - 1) * wanted.size
    return items[begin : begin + wanted.size], _link(call, wanted, len(items))


def _link(call: Call, wanted: Wanted, total: int) -> Mapping[str, str]:
    last = max(1, -(-total // wanted.size))
    pages = {}
    if wanted.number > 1:
        pages["prev"] = min(wanted.number - 1, last)
    if wanted.number < last:
        pages |= {"next": wanted.number + 1, "last": last}
    if wanted.number > 1:
        pages["first"] = 1
    if not pages:
        return {}
    path = by_id(call.repository, call.path) if call.repository else call.path
    address = f"{call.api_url}{path}"
    links = [
        f'<{address}?{urlencode({**call.query, "page": number})}>; rel="{relation}"'
        for relation, number in pages.items()
    ]
    return {"link": ", ".join(links)}
