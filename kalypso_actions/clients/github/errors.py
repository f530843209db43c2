"""GitHub's error responses and missing responses as GitHubError, with advice on what to change."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final

import requests
from requests import exceptions
from urllib3.exceptions import NameResolutionError, NewConnectionError

from kalypso_actions.clients.github import rate_limits
from kalypso_actions.errors import KalypsoError, Location, Problem

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
    (422, r"not accessible by", "give the token the permission contents: write"),
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
    limited = rate_limits.is_limited(status, headers, body)
    if limited:
        until = rate_limits.limited_until(headers, now)
        advice = f"try again after {until.astimezone(UTC):%H:%M} UTC" if until else RATE_LIMITED
    else:
        until = rate_limits.retry_after(headers, now)
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
