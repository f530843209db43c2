"""URLs as maps: `urlParse` and `urlJoin`."""

from __future__ import annotations

from dataclasses import replace

from kalypso_go.gotemplate.sprig.nesting import NIL_DEREFERENCE, kind_of
from kalypso_go.gotemplate.sprig.signature import function
from kalypso_go.gotemplate.urls import URL, URLError, parse_url
from kalypso_go.gotemplate.values import ANY_MAP, STRING, FunctionError


@function("urlParse", STRING, returns=ANY_MAP)
def url_parse(text: str) -> dict[str, object]:
    """Return the parts of a URL as a map; missing parts are empty."""
    try:
        url = parse_url(text)
    except URLError as error:
        raise FunctionError(f"unable to parse url: {error}") from None
    return {
        "scheme": url.scheme,
        "host": url.host,
        "hostname": url.hostname,
        "path": url.path,
        "query": url.query,
        "opaque": url.opaque,
        "fragment": url.fragment,
        "userinfo": url.user or "",
    }


@function("urlJoin", ANY_MAP, returns=STRING)
def url_join(parts: dict[str, object]) -> str:
    """Return the URL for a map of its parts."""
    url = URL(
        scheme=_part(parts, "scheme"),
        host=_part(parts, "host"),
        path=_part(parts, "path"),
        query=_part(parts, "query"),
        opaque=_part(parts, "opaque"),
        fragment=_part(parts, "fragment"),
    )
    info = _part(parts, "userinfo")
    if info:
        url = _with_user(url, info)
    return str(url)


def _with_user(url: URL, info: str) -> URL:
    try:
        user = parse_url(f"proto://{info}@host")
    except URLError as error:
        raise FunctionError(f"unable to parse userinfo in dict: {error}") from None
    return replace(url, user=user.user)


def _part(parts: dict[str, object], name: str) -> str:
    part = parts.get(name, "")
    if isinstance(part, str):
        return part
    if part is None:
        raise FunctionError(NIL_DEREFERENCE)
    raise FunctionError(
        f"unable to parse {name} key, must be of type string, but {kind_of(part)} found"
    )
