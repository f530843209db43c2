"""Pages of lists, and the links between them.

https://docs.github.com/rest/using-the-rest-api/using-pagination-in-the-rest-api
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar
from urllib.parse import urlencode

from kalypso_sandbox.github.endpoints import Call
from kalypso_sandbox.github.routing import by_id, number

T = TypeVar("T")

DEFAULT_PAGE_SIZE = 30
MAX_PAGE_SIZE = 100


@dataclass(frozen=True, slots=True)
class PageRequest:
    """The requested page, counting from 1, and its size."""

    number: int
    size: int

    @classmethod
    def of(
        cls,
        query: Mapping[str, str],
        default: int = DEFAULT_PAGE_SIZE,
        maximum: int = MAX_PAGE_SIZE,
    ) -> PageRequest:
        """Read `page` and `per_page`; ignore invalid values."""
        size = number(query.get("per_page", "")) or default
        return cls(number(query.get("page", "")) or 1, min(size, maximum))


def paginate(
    call: Call, items: Sequence[T], page_request: PageRequest | None = None
) -> tuple[Sequence[T], Mapping[str, str]]:
    """Return the items of the requested page, and the header Link if there are more pages."""
    page_request = page_request or PageRequest.of(call.query)
    begin = (page_request.number - 1) * page_request.size
    return items[begin : begin + page_request.size], _link(call, page_request, len(items))


def _link(call: Call, page_request: PageRequest, total: int) -> Mapping[str, str]:
    last = max(1, -(-total // page_request.size))
    pages = {}
    if page_request.number > 1:
        pages["prev"] = min(page_request.number - 1, last)
    if page_request.number < last:
        pages |= {"next": page_request.number + 1, "last": last}
    if page_request.number > 1:
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
