"""GitHub's error responses and missing responses as GitHubError, with advice; rate limits.

https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api: wait for
`retry-after`; otherwise, if nothing remains, until `x-ratelimit-reset`; otherwise at least a
minute, and longer each time.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any, Final

import requests
from requests import exceptions
from urllib3.exceptions import NameResolutionError, NewConnectionError

from kalypso_actions.errors import KalypsoError, Location, Problem
from kalypso_actions.model.counts import counted

Json = Any
"""A value that `json` reads and writes."""


class GitHubError(KalypsoError):
    """A call to GitHub failed.

    `status` is that of the response (None: there was none), `reason` is GitHub's message, and
    `errors` are its messages about single fields. `uncertain`: a write may have happened, because
    the response was lost or cut short, or because the server failed. `limited`: GitHub did not
    handle the request because of a rate limit. `temporary`: the same request may succeed later, or
    at the time `until`. `request` is the method, path and JSON of a refused request.
    """

    def __init__(
        self,
        message: str,
        where: Location | None = None,
        advice: str = "",
        *,
        status: int | None = None,
        reason: str = "",
        errors: tuple[Json, ...] = (),
        uncertain: bool = False,
        limited: bool = False,
        temporary: bool = False,
        until: datetime | None = None,
        request: tuple[str, str, Json] = ("", "", None),
    ) -> None:
        super().__init__(message, where, advice)
        self.status = status
        self.reason = reason
        self.errors = errors
        self.uncertain = uncertain
        self.limited = limited
        self.temporary = temporary
        self.until = until
        self.request = request

    def about(self, repository: str, failure: str, advice: Mapping[str, str] | None = None) -> None:
        """Say what failed in which repository, unless the error says it.

        `advice` has what to change by a phrase of GitHub's message, in lower case; the first
        phrase that the message contains counts.
        """
        if self.problem.where is not None:
            return
        reason = self.reason.lower()
        changes = (change for phrase, change in (advice or {}).items() if phrase in reason)
        message = f"{failure}: {self.problem.message}"
        change = next(changes, self.problem.advice)
        self.problems = (Problem(message, Location(repository), change),)

    def advise(self, advice: str) -> None:
        """Replace the advice."""
        self.problems = (replace(self.problem, advice=advice),)


ADVICE_BY_MESSAGE: Final = (
    (
        403,
        r"not permitted to create or approve pull requests",
        "turn on “Allow GitHub Actions to create and approve pull requests” in the settings of the"
        " repository and its organization (Actions, General), or use a GitHub App",
    ),
    (403, r"archived", "unarchive the repository, or take it out of the configuration"),
    (403, r"ip allow list", "run the job on a runner whose address the organization allows"),
    (403, r"suspended", "let the account's owner lift the suspension of the App or the account"),
    (403, r"forbids access via", "use a kind of token that the organization allows"),
    (
        403,
        r"protected branch|rule violations",
        "let the token's identity bypass the branch's rules",
    ),
    (409, r"repository is empty", "push a first commit to the repository"),
    (410, r"issues (has|have) been disabled", "turn on Issues in the repository's settings"),
    (422, r"no commit found for sha", "check the commit's id, and that it was pushed"),
    (
        422,
        r"not accessible by",
        "give the token the permission contents: write, and pull-requests: write",
    ),
    (501, r"'Mutation'", "update GitHub Enterprise Server"),
)
"""Status, pattern of GitHub's message, advice; the first match counts."""

ADVICE_BY_STATUS: Final = {
    301: "write the repository's new name",
    302: "write the repository's new name",
    401: "give a token that has not expired or been revoked; a job's own token ends with the job",
    404: "check that it exists, and that the token may see it (an App's: that the App is installed "
    "for it)",
    451: "GitHub has blocked the repository: its page says why",
}

PERMISSION_SETTINGS: Final = {
    "by integration": ", in `permissions:` of the job; or in the App's settings, and accept it"
    " where the App is installed",
    "by personal access token": ", in the token's settings",
}
"""The place where a token gets its permissions, by a phrase in GitHub's message."""

SERVER_FAILED: Final = "try again later; https://www.githubstatus.com reports outages of github.com"

RATE_LIMITED: Final = "try again in a few minutes; all jobs of an account share its rate limit"


CHECK_NETWORK: Final = "check the network, the proxy and GITHUB_API_URL"
TRUST_CERTIFICATE: Final = "add the server's CA certificate to the file named by SSL_CERT_FILE"

CONNECTION_LOST: Final = (
    requests.ConnectionError,
    exceptions.ChunkedEncodingError,
    exceptions.ContentDecodingError,
)


def refusal(
    status: int,
    body: Json,
    headers: Mapping[str, str],
    request: tuple[str, str, Json],
    now: datetime,
    *,
    uncertain: bool = False,
) -> GitHubError:
    """Describe an error response; `headers` have names in lower case."""
    reason = message_of(body) or f"it answered {status}"
    limited = is_limited(status, headers, body)
    if limited:
        until = limited_until(headers, now)
        advice = f"try again after {until.astimezone(UTC):%H:%M} UTC" if until else RATE_LIMITED
    else:
        until = retry_after(headers, now)
        advice = advice_for(status, headers, reason)
    return GitHubError(
        f"GitHub says: {reason}" if body else reason,
        advice=advice,
        status=status,
        reason=reason,
        errors=field_errors(body),
        uncertain=uncertain,
        limited=limited,
        temporary=status >= 500,
        until=until,
        request=request,
    )


def check_mutation(body: Json, variables: Json, now: datetime) -> None:
    """Raise GraphQL's refusal of a mutation as that of a REST request.

    The status is 422, or 501 if the server's schema lacks the mutation.
    """
    if errors := field_errors(body):
        reason = "; ".join(" ".join(str(error.get("message")).split()) for error in errors)
        status = 501 if "data" not in body and "'Mutation'" in reason else 422
        request = "POST", "/graphql", variables
        raise refusal(status, {"message": reason}, {}, request, now)


def no_response(error: Exception, *, is_write: bool) -> GitHubError:
    """Describe a failure of `requests` without quoting it: its text may contain a header."""
    sent, temporary, advice = False, True, CHECK_NETWORK
    if isinstance(error, exceptions.SSLError) and "CERTIFICATE_VERIFY_FAILED" in str(error):
        reason, advice = "the server's certificate is not trusted", TRUST_CERTIFICATE
        temporary = False
    elif reason := _no_connection(error):
        pass
    elif isinstance(error, (requests.Timeout, *CONNECTION_LOST)):
        timeout = isinstance(error, requests.Timeout)
        reason = "the server did not answer in time" if timeout else "the connection was lost"
        sent, advice = True, "try again"
    else:
        reason = f"the request cannot be sent ({type(error).__name__})"
        temporary = False
    uncertain = sent and is_write
    return GitHubError(
        reason, advice=advice, reason=reason, uncertain=uncertain, temporary=temporary
    )


def _no_connection(error: Exception) -> str:
    """Say why there was no connection; "" if there was one, which may have carried the request."""
    cause = getattr(error.args[0], "reason", None) if error.args else None
    if isinstance(error, exceptions.ProxyError) or "Tunnel connection failed" in str(error):
        return "the proxy cannot be reached, or refuses the connection"
    if isinstance(cause, NameResolutionError):
        return "the server's name cannot be resolved"
    if isinstance(error, requests.ConnectTimeout) or isinstance(cause, NewConnectionError):
        return "the server cannot be reached"
    return ""


def message_of(body: Json) -> str:
    """Return GitHub's message and its messages about fields on one line; "" if there are none."""
    if not isinstance(body, dict):
        return ""
    message = str(body.get("message") or "").strip()
    details = "; ".join(filter(None, map(_detail, field_errors(body))))
    return " ".join(": ".join(filter(None, (message, details))).split())


def field_errors(body: Json) -> tuple[Json, ...]:
    """Return the messages about single fields; GitHub may send one text instead of a list."""
    errors = body.get("errors") if isinstance(body, dict) else None
    if isinstance(errors, list):
        return tuple(errors)
    return (errors,) if errors else ()


def advice_for(status: int, headers: Mapping[str, str], reason: str) -> str:
    """Say what to change so that GitHub accepts the request."""
    for refused, pattern, advice in ADVICE_BY_MESSAGE:
        if status == refused and re.search(pattern, reason, re.IGNORECASE):
            return advice
    if status in {403, 404}:
        return _missing_permission(status, headers, reason) or ADVICE_BY_STATUS.get(
            status, "check the token's permissions"
        )
    if status >= 500:
        return SERVER_FAILED
    return ADVICE_BY_STATUS.get(status, "")


def _missing_permission(status: int, headers: Mapping[str, str], reason: str) -> str:
    """Say which permission the token lacks, if the headers name it."""
    single_sign_on = headers.get("x-github-sso", "")
    if single_sign_on.startswith("required"):
        return "authorize the token for the organization's single sign-on, in the token's settings"
    accepted = headers.get("x-accepted-github-permissions", "")
    if accepted and status == 403:
        settings = (place for phrase, place in PERMISSION_SETTINGS.items() if phrase in reason)
        return f"give the token the permission {describe_permissions(accepted)}{next(settings, '')}"
    needed = _split(headers.get("x-accepted-oauth-scopes", ""), ",")
    # GitHub sends this header only for classic tokens, which have scopes.
    granted = headers.get("x-oauth-scopes")
    if needed and granted is not None and not set(needed) & set(_split(granted, ",")):
        return f"give the token the scope {' or '.join(needed)}"
    return ""


def describe_permissions(accepted: str) -> str:
    """Write `contents=write,pull_requests=read; issues=write` in words.

    A comma means "and", a semicolon "or". Names are those of `permissions:` in a workflow.
    """
    accepted = accepted.replace("=", ": ").replace("_", "-")
    choices = (" and ".join(_split(choice, ",")) for choice in _split(accepted, ";"))
    return ", or ".join(filter(None, choices))


def _split(text: str, separator: str) -> list[str]:
    return [part.strip() for part in text.split(separator) if part.strip()]


def _detail(error: Json) -> str:
    if not isinstance(error, dict):
        return str(error)
    if error.get("message"):
        return str(error["message"])
    place = ".".join(str(error[key]) for key in ("resource", "field") if error.get(key))
    return f"{place} {str(error.get('code', '')).replace('_', ' ')}".strip()


SECONDARY_WAIT: Final = 60.0
"""Seconds to wait if GitHub does not name a time."""

GRAPHQL_TYPES: Final = frozenset({"RATE_LIMITED", "RATE_LIMIT"})

TOO_QUICKLY: Final = "submitted too quickly"

SECONDS: Final = re.compile(r"[0-9]{1,10}")
"""Seconds from now or since 1970, few enough for a `datetime`."""

LIMIT_MESSAGE: Final = re.compile(r"rate limit|abuse detection|too many requests", re.IGNORECASE)


def is_limited(status: int, headers: Mapping[str, str], body: Any) -> bool:
    """Whether GitHub refused a request because of a rate limit; headers have lower-case names.

    GitHub answers 403 or 429; for new content also 422 (cloudflare/pint#699, cli/cli#4801); GraphQL
    also answers 200 with an error of its own type.
    """
    if status == 429:
        return True
    message = str(body.get("message") or "") if isinstance(body, dict) else ""
    if status == 403:
        nothing_left = not message and headers.get("x-ratelimit-remaining") == "0"
        return "retry-after" in headers or nothing_left or LIMIT_MESSAGE.search(message) is not None
    if status not in {200, 422} or not isinstance(body, dict):
        return False
    errors = body.get("errors")
    return isinstance(errors, list) and any(map(_is_limit, errors))


def _is_limit(error: Any) -> bool:
    if not isinstance(error, dict):
        return False
    is_limit = error.get("type") in GRAPHQL_TYPES or error.get("code") == "abuse"
    return is_limit or TOO_QUICKLY in str(error.get("message") or "")


def limited_until(headers: Mapping[str, str], now: datetime) -> datetime | None:
    """Return the time when GitHub accepts requests again; None if GitHub does not name it."""
    until = retry_after(headers, now)
    if until is not None:
        return until
    reset = headers.get("x-ratelimit-reset", "")
    if headers.get("x-ratelimit-remaining") == "0" and SECONDS.fullmatch(reset):
        # The limit still holds during the second of the reset.
        return datetime.fromtimestamp(int(reset) + 1, UTC)
    return None


def retry_after(headers: Mapping[str, str], now: datetime) -> datetime | None:
    """Return the time in the header `Retry-After`, which holds seconds or a date."""
    text = headers.get("retry-after", "").strip()
    if SECONDS.fullmatch(text):
        return now + timedelta(seconds=int(text))
    try:
        date = parsedate_to_datetime(text)
    except ValueError:
        return None
    return date if date.tzinfo else date.replace(tzinfo=UTC)


@dataclass(slots=True)
class _Use:
    requests: int = 0
    limit: int | None = None
    remaining: int | None = None
    reset: int | None = None


class Quota:
    """Counts requests by account and resource (`core`, `graphql`). Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._uses: dict[tuple[str, str], _Use] = {}

    def count(self, account: str, path: str, headers: Mapping[str, str]) -> None:
        """Count a request by the headers of its response, which a server without limits omits."""
        default = "graphql" if path.endswith("/graphql") else "core"
        key = (account, headers.get("x-ratelimit-resource", default))
        with self._lock:
            use = self._uses.setdefault(key, _Use())
            use.requests += 1
            use.limit = _number(headers, "x-ratelimit-limit", use.limit)
            use.remaining = _number(headers, "x-ratelimit-remaining", use.remaining)
            use.reset = _number(headers, "x-ratelimit-reset", use.reset)

    @property
    def requests(self) -> int:
        """The number of all requests."""
        with self._lock:
            return sum(use.requests for use in self._uses.values())

    def lines(self) -> tuple[str, ...]:
        """Return the summary for the log, one line for each account and resource."""
        with self._lock:
            return tuple(_line(*key, use) for key, use in sorted(self._uses.items()))


def _line(account: str, resource: str, use: _Use) -> str:
    of = f" of {account}" if account else ""
    line = f"GitHub API ({resource}{of}): {counted(use.requests, 'request')}"
    if use.remaining is None or use.limit is None:
        return line
    line += f", {use.remaining} of {use.limit} left"
    return f"{line} until {datetime.fromtimestamp(use.reset, UTC):%H:%M} UTC" if use.reset else line


def _number(headers: Mapping[str, str], name: str, before: int | None) -> int | None:
    text = headers.get(name, "")
    return int(text) if SECONDS.fullmatch(text) else before
