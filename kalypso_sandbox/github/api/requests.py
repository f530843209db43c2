"""What endpoints read of a request: typed fields, the named objects, and the page of a list.

https://docs.github.com/rest/using-the-rest-api/using-pagination-in-the-rest-api
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeVar
from urllib.parse import urlencode

from kalypso_sandbox.git.objects import GitCommit
from kalypso_sandbox.github.endpoints import Call, RefusedError, by_id, invalid, number
from kalypso_sandbox.json_http import Answer, Json
from kalypso_sandbox.store import Issue

T = TypeVar("T")

SHA: Final = re.compile(r"[0-9a-f]{40}")

DEFAULT_PAGE_SIZE: Final = 30
MAX_PAGE_SIZE: Final = 100
MAX_BODY_LENGTH: Final = 65_536
"""The maximum number of characters in the body of an issue, pull request or comment."""

ISSUE_NOT_FOUND: Final = {
    "resource": "Label",
    "code": "unprocessable",
    "field": "data",
    "message": "Issue not found",
}
HEAD_MODIFIED: Final = "Head branch was modified. Review and try the merge again."


def text(body: Mapping[str, Json], name: str) -> str | None:
    """Return a string; None if it is null or absent."""
    value = body.get(name)
    if value is None or isinstance(value, str):
        return value
    raise wrong_type(name, value, "a string")


def required_text(body: Mapping[str, Json], name: str) -> str:
    """Return a string. Raises RefusedError if it is null or absent."""
    value = text(body, name)
    if value is None:
        raise missing(name)
    return value


def flag(body: Mapping[str, Json], name: str) -> bool:
    """Return a boolean, by default false."""
    value = body.get(name, False)
    if isinstance(value, bool):
        return value
    raise wrong_type(name, value, "a boolean")


def mapping(body: Mapping[str, Json], name: str) -> Mapping[str, Json]:
    """Return an object; {} if it is null or absent."""
    value = body.get(name)
    if value is None:
        return {}
    if isinstance(value, dict):
        return value
    raise wrong_type(name, value, "an object")


def listing(body: Mapping[str, Json], name: str) -> Sequence[Json] | None:
    """Return an array; None if it is null or absent."""
    value = body.get(name)
    if value is None or isinstance(value, list):
        return value
    raise wrong_type(name, value, "an array")


def choice(call: Call, name: str, allowed: Sequence[str]) -> str | None:
    """Return one of the allowed strings; None if it is absent."""
    value = text(call.body, name)
    if value is None or value in allowed:
        return value
    place = f"For 'properties/{name}', {value} is not a member of [{', '.join(allowed)}]."
    raise RefusedError(422, f"Invalid request.\n\n{place}")


def missing(name: str) -> RefusedError:
    """Return a 422 for a missing field."""
    return RefusedError(422, f'Invalid request.\n\n"{name}" wasn\'t supplied.')


def wrong_type(name: str, value: Json, wanted: str) -> RefusedError:
    """Return a 422 for a field of another type."""
    return RefusedError(
        422, f"Invalid request.\n\nFor 'properties/{name}', {value!r} is not {wanted}."
    )


def custom(resource: str, message: str) -> RefusedError:
    """Return a 422 that names no field."""
    error = {"resource": resource, "code": "custom", "message": message}
    return RefusedError(422, "Validation Failed", (error,))


def check_length(resource: str, name: str, value: str | None, maximum: int) -> None:
    """Raise a 422 for a text with more than `maximum` characters."""
    if value and len(value) > maximum:
        message = f"{name} is too long (maximum is {maximum} characters)"
        raise invalid(resource, name, "custom", message)


def not_found() -> RefusedError:
    """Return the 404 for an object that is missing or hidden."""
    return RefusedError(404, "Not Found")


def commit(call: Call, revision: str) -> GitCommit:
    """Return a commit by id, branch or tag. Raises RefusedError."""
    try:
        return call.git.commit(revision)
    except LookupError:
        raise not_found() from None


def issue(call: Call, unknown: RefusedError | None = None) -> Issue:
    """Return the issue or pull request of the path. Raises RefusedError.

    `unknown` is the refusal of an issue that this endpoint does not know yet.
    """
    name = "pull_number" if "pull_number" in call.parameters else "issue_number"
    named = call.repository.issues.get(number(call.parameters[name]))
    if named is None:
        raise not_found()
    if call.store.lags(named.created_at, call.identity):
        raise unknown or not_found()
    return named


def pull_request(call: Call) -> Issue:
    """Return the pull request of the path. Raises RefusedError."""
    named = issue(call)
    if named.pull_request is None:
        raise not_found()
    return named


def page_request(
    query: Mapping[str, str], default: int = DEFAULT_PAGE_SIZE, maximum: int = MAX_PAGE_SIZE
) -> tuple[int, int]:
    """Return the requested page, counting from 1, and its size; ignore invalid values."""
    size = number(query.get("per_page", "")) or default
    return number(query.get("page", "")) or 1, min(size, maximum)


def paginate(
    call: Call, items: Sequence[T], default: int = DEFAULT_PAGE_SIZE, maximum: int = MAX_PAGE_SIZE
) -> tuple[Sequence[T], Mapping[str, str]]:
    """Return the items of the requested page, and the header Link if there are more pages."""
    page, size = page_request(call.query, default, maximum)
    begin = (page - 1) * size
    last = max(1, -(-len(items) // size))
    pages = {}
    if page > 1:
        pages["prev"] = min(page - 1, last)
    if page < last:
        pages |= {"next": page + 1, "last": last}
    if page > 1:
        pages["first"] = 1
    address = call.api_url + (by_id(call.target, call.path) if call.target else call.path)
    links = [
        f'<{address}?{urlencode({**call.query, "page": other})}>; rel="{relation}"'
        for relation, other in pages.items()
    ]
    return items[begin : begin + size], {"link": ", ".join(links)} if links else {}


def listed(call: Call, items: Sequence[T], payload: Callable[[Call, T], Json]) -> Answer:
    """Answer with the requested page of a list."""
    page, headers = paginate(call, items)
    return Answer(200, [payload(call, item) for item in page], headers)


def counted(
    call: Call, name: str, items: Sequence[T], payload: Callable[[Call, T], Json]
) -> Answer:
    """Answer with the requested page of a list, and with the length of the whole list."""
    page, headers = paginate(call, items)
    answer = {"total_count": len(items), name: [payload(call, item) for item in page]}
    return Answer(200, answer, headers)


def created(payload: Json) -> Answer:
    """Answer with a new object and its place."""
    return Answer(201, payload, {"location": payload["url"]})
