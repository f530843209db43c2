"""GitHub's error responses as GitHubError, with advice on what to change."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Final

from kalypso_actions.clients.github.messages import (
    ErrorResponseError,
    Json,
    NoResponseError,
    Response,
)
from kalypso_actions.clients.github.rate_limits import is_limited, limited_until
from kalypso_actions.errors import KalypsoError, Location


class GitHubError(KalypsoError):
    """A call to GitHub failed.

    `status` is that of the response (None: there was none), `reason` is GitHub's message, and
    `errors` are its messages about single fields. `uncertain`: a write may have happened, because
    the response was lost or cut short, or because the server failed. `limited`: GitHub did not
    handle the request because of a rate limit.
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
    ) -> None:
        super().__init__(message, where, advice)
        self.status = status
        self.reason = reason
        self.errors = errors
        self.uncertain = uncertain
        self.limited = limited


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


def error_response(
    error: ErrorResponseError, repository: str, failure: str, now: datetime
) -> GitHubError:
    """Convert an error response; `failure` says what failed in the repository."""
    response = error.response
    reason = message_of(response.body) or f"it answered {response.status}"
    limited = is_limited(response)
    if limited:
        until = limited_until(response.headers, now)
        advice = f"try again after {until.astimezone(UTC):%H:%M} UTC" if until else RATE_LIMITED
    else:
        advice = advice_for(response, reason)
    return GitHubError(
        f"{failure}: GitHub says: {reason}" if response.body else f"{failure}: {reason}",
        Location(repository),
        advice,
        status=response.status,
        reason=reason,
        errors=field_errors(response.body),
        uncertain=error.uncertain,
        limited=limited,
    )


def mutation_refusal(body: Json) -> Response | None:
    """Return GraphQL's refusal of a mutation as a REST response; None if GraphQL accepted it.

    The status is 422, or 501 if the server's schema lacks the mutation.
    """
    errors = field_errors(body)
    if not errors:
        return None
    reason = "; ".join(" ".join(str(error.get("message")).split()) for error in errors)
    is_missing = "data" not in body and "'Mutation'" in reason
    return Response(501 if is_missing else 422, {}, {"message": reason})


def no_response_error(error: NoResponseError, repository: str, failure: str) -> GitHubError:
    """Convert a missing or unreadable response; `failure` says what failed in the repository."""
    return GitHubError(
        f"{failure}: {error.reason}",
        Location(repository),
        error.advice,
        status=error.status,
        reason=error.reason,
        uncertain=error.uncertain,
    )


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


def advice_for(response: Response, reason: str) -> str:
    """Say what to change so that GitHub accepts the request."""
    for status, pattern, advice in ADVICE_BY_MESSAGE:
        if response.status == status and re.search(pattern, reason, re.IGNORECASE):
            return advice
    if response.status in {403, 404}:
        return _missing_permission(response, reason) or ADVICE_BY_STATUS.get(
            response.status, "check the token's permissions"
        )
    if response.status >= 500:
        return SERVER_FAILED
    return ADVICE_BY_STATUS.get(response.status, "")


def _missing_permission(response: Response, reason: str) -> str:
    """Say which permission the token lacks, if the headers name it."""
    single_sign_on = response.headers.get("x-github-sso", "")
    if single_sign_on.startswith("required"):
        return "authorize the token for the organization's single sign-on, in the token's settings"
    accepted = response.headers.get("x-accepted-github-permissions", "")
    if accepted and response.status == 403:
        settings = (place for phrase, place in PERMISSION_SETTINGS.items() if phrase in reason)
        return f"give the token the permission {describe_permissions(accepted)}{next(settings, '')}"
    needed = _split(response.headers.get("x-accepted-oauth-scopes", ""), ",")
    # GitHub sends this header only for classic tokens, which have scopes.
    granted = response.headers.get("x-oauth-scopes")
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
