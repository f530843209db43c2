"""What GitHub's refusals mean, and what to change then."""

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

    `status` is GitHub's answer (None: none came), `reason` GitHub's own words. `errors` are its
    complaints about single fields. `uncertain`: a write that may have happened all the same, since
    the answer was lost, cut short, or a server's failure.
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
    ) -> None:
        super().__init__(message, where, advice)
        self.status = status
        self.reason = reason
        self.errors = errors
        self.uncertain = uncertain


WORDS: Final = (
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
    (403, r"protected branch|rule violations", "let the token's identity pass the branch's rules"),
    (409, r"repository is empty", "push a first commit to the repository"),
    (410, r"issues (has|have) been disabled", "turn on Issues in the repository's settings"),
    (422, r"no commit found for sha", "check the commit's id, and that it was pushed"),
)
"""Status, words of GitHub, advice; the first that fits counts."""

ADVICE: Final = {
    301: "write the repository's new name",
    302: "write the repository's new name",
    401: "give a token that has not expired or been revoked; a job's own token ends with the job",
    404: "check that it exists, and that the token may see it (an App's: that the App is installed "
    "for it)",
    451: "GitHub has blocked the repository: its page says why",
}

SETTINGS: Final = {
    "by integration": ", in `permissions:` of the job; or in the App's settings, and accept it"
    " where the App is installed",
    "by personal access token": ", in the token's settings",
}
"""Where a token gets its permissions, by GitHub's words about whose it is."""

FAILED: Final = "try again later; https://www.githubstatus.com tells of failures of github.com"

LATER: Final = "try again in some minutes; other jobs of the same account use its limits up, too"


def refusal(error: ErrorResponseError, repository: str, failure: str, now: datetime) -> GitHubError:
    """GitHub's answer as an error about `failure` in a repository."""
    answer = error.answer
    reason = words(answer.body) or f"it answered {answer.status}"
    if is_limited(answer):
        until = limited_until(answer.headers, now)
        advice = f"try again after {until.astimezone(UTC):%H:%M} UTC" if until else LATER
    else:
        advice = advise(answer, reason)
    return GitHubError(
        f"{failure}: GitHub says: {reason}" if answer.body else f"{failure}: {reason}",
        Location(repository),
        advice,
        status=answer.status,
        reason=reason,
        errors=field_errors(answer.body),
        uncertain=error.uncertain,
    )


def no_response_error(error: NoResponseError, repository: str, failure: str) -> GitHubError:
    """No answer, or none that can be read, as an error about `failure` in a repository."""
    return GitHubError(
        f"{failure}: {error.reason}",
        Location(repository),
        error.advice,
        status=error.status,
        reason=error.reason,
        uncertain=error.uncertain,
    )


def words(body: Json) -> str:
    """GitHub's message and its complaints about fields, on one line; "" where it says nothing."""
    if not isinstance(body, dict):
        return ""
    message = str(body.get("message") or "").strip()
    details = "; ".join(filter(None, map(_detail, field_errors(body))))
    return " ".join(": ".join(filter(None, (message, details))).split())


def field_errors(body: Json) -> tuple[Json, ...]:
    """The complaints about single fields; GitHub may give one text instead of the list."""
    errors = body.get("errors") if isinstance(body, dict) else None
    if isinstance(errors, list):
        return tuple(errors)
    return (errors,) if errors else ()


def advise(answer: Response, reason: str) -> str:
    """What to change so that GitHub does not refuse."""
    for status, pattern, advice in WORDS:
        if answer.status == status and re.search(pattern, reason, re.IGNORECASE):
            return advice
    if answer.status in {403, 404}:
        return _permission(answer, reason) or ADVICE.get(
            answer.status, "check the token's permissions"
        )
    return FAILED if answer.status >= 500 else ADVICE.get(answer.status, "")


def _permission(answer: Response, reason: str) -> str:
    """What the token lacks, as far as GitHub tells by headers."""
    single_sign_on = answer.headers.get("x-github-sso", "")
    if single_sign_on.startswith("required"):
        return "authorize the token for the organization's single sign-on, in the token's settings"
    accepted = answer.headers.get("x-accepted-github-permissions", "")
    if accepted and answer.status == 403:
        where = next((place for words, place in SETTINGS.items() if words in reason), "")
        return f"give the token the permission {permissions(accepted)}{where}"
    scopes = answer.headers.get("x-accepted-oauth-scopes", "")
    held = answer.headers.get("x-oauth-scopes")
    wanted = [scope.strip() for scope in scopes.split(",") if scope.strip()]
    # GitHub tells of scopes only for the classic tokens that have them.
    if wanted and held is not None and not set(wanted) & {one.strip() for one in held.split(",")}:
        return f"give the token the scope {' or '.join(wanted)}"
    return ""


def permissions(accepted: str) -> str:
    """`contents=write,pull_requests=read; issues=write` in words: commas are and, semicolons or.

    Names are as in `permissions:` of a workflow.
    """
    accepted = accepted.replace("=", ": ").replace("_", "-")
    choices = (
        " and ".join(one.strip() for one in choice.split(",") if one.strip())
        for choice in accepted.split(";")
    )
    return ", or ".join(filter(None, choices))


def _detail(error: Json) -> str:
    if not isinstance(error, dict):
        return str(error)
    if error.get("message"):
        return str(error["message"])
    place = ".".join(str(error[key]) for key in ("resource", "field") if error.get(key))
    return f"{place} {str(error.get('code', '')).replace('_', ' ')}".strip()
