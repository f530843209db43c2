"""Access tokens to Azure, and the reasons to refuse them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta

from kalypso_sandbox.azure.identity import jwt


@dataclass(frozen=True, slots=True)
class Refusal:
    """The reason why Azure Resource Manager refuses a token. The next token must have `claims`."""

    code: str
    message: str
    claims: str = ""


def issue(
    principal: str,
    tenant: str,
    audience: str,
    now: datetime,
    lifetime: timedelta,
    key: bytes,
    *,
    token_id: str,
) -> str:
    """Return an access token for the client id `principal`.

    `token_id` distinguishes tokens of the same second.
    """
    claims = {
        "aud": audience,
        "iss": f"https://sts.windows.net/{tenant}/",
        "tid": tenant,
        "appid": principal,
        "iat": int(now.timestamp()),
        "nbf": int(now.timestamp()),
        "exp": int((now + lifetime).timestamp()),
        "uti": token_id,
    }
    return jwt.sign(claims, key)


def principal(
    authorization: str, audiences: Collection[str], now: datetime, key: bytes
) -> str | Refusal:
    """Return the principal of an Authorization header, or the refusal."""
    kind, _, token = authorization.partition(" ")
    if kind.lower() != "bearer":
        missing = "Authentication failed. The 'Authorization' header is missing."
        return Refusal("AuthenticationFailed", missing)
    claims = jwt.read(token, key)
    if claims is None or "appid" not in claims:  # a job's assertion is not an access token
        return Refusal("InvalidAuthenticationToken", "The access token is invalid.")
    if claims["exp"] <= now.timestamp():
        return expired(datetime.fromtimestamp(claims["exp"], now.tzinfo), now)
    if claims["aud"].rstrip("/") not in audiences:
        wrong = (
            "The access token has been obtained for wrong audience or resource "
            f"'{claims['aud']}'. It should exactly match with one of the allowed audiences "
            f"'{','.join(audiences)}'."
        )
        return Refusal("InvalidAuthenticationTokenAudience", wrong)
    return str(claims["appid"])


def expired(expiry: datetime, now: datetime) -> Refusal:
    """Return the refusal of an expired token."""
    return Refusal(
        "ExpiredAuthenticationToken",
        f"The access token expiry UTC time '{_us_format(expiry)}' is earlier than current UTC "
        f"time '{_us_format(now)}'.",
    )


def revoked(claims: str = "") -> Refusal:
    """Return the refusal of a revoked token."""
    return Refusal("InvalidAuthenticationToken", "The access token has been revoked.", claims)


def _us_format(moment: datetime) -> str:
    hour = moment.hour % 12 or 12
    return f"{moment.month}/{moment.day}/{moment.year} {hour}:{moment:%M:%S %p}"
