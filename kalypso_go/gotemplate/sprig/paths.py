"""Paths with slashes, as in Go's `path` package, and URLs as maps."""

from __future__ import annotations

from dataclasses import replace

from kalypso_go.gotemplate.sprig.coercion import NIL_DEREFERENCE, kind_of
from kalypso_go.gotemplate.sprig.signature import function
from kalypso_go.gotemplate.urls import URL, URLError, parse_url
from kalypso_go.gotemplate.values import ANY_MAP, BOOL, STRING, FunctionError


@function("base", STRING, returns=STRING)
def base(path: str) -> str:
    """Return the last element; `/` for slashes only, `.` for an empty path."""
    if not path:
        return "."
    return path.rstrip("/").rpartition("/")[2] or "/"


@function("dir", STRING, returns=STRING)
def dir_(path: str) -> str:
    """Return all but the last element, cleaned."""
    before, slash, _ = path.rpartition("/")
    return clean(before + slash)


@function("ext", STRING, returns=STRING)
def ext(path: str) -> str:
    """Return the last element from its last dot on."""
    name = path.rpartition("/")[2]
    return name[name.rfind(".") :] if "." in name else ""


@function("isAbs", STRING, returns=BOOL)
def is_abs(path: str) -> bool:
    """Return whether the path begins with a slash."""
    return path.startswith("/")


@function("clean", STRING, returns=STRING)
def clean(path: str) -> str:
    """Return the shortest equivalent path, judging by the text only."""
    rooted = path.startswith("/")
    kept: list[str] = []
    for element in path.split("/"):
        if element == ".." and kept and kept[-1] != "..":
            kept.pop()
        elif element not in ("", ".") and not (element == ".." and rooted):
            kept.append(element)
    return ("/" if rooted else "") + "/".join(kept) or "."


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
