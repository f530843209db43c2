"""Azure's refusals, and what to change."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from kalypso_actions.clients.resource_graph.scopes import Cloud, Scopes
from kalypso_actions.errors import KalypsoError

UNTRUSTED_CERTIFICATE: Final = (
    "put its authority's certificate into the file that SSL_CERT_FILE names"
)
CHECK_NETWORK: Final = "check the network and the proxy (HTTPS_PROXY, NO_PROXY), and run this again"

READER: Final = "give the identity the role Reader on {scopes}; a new role works after minutes"
WRONG_SCOPE: Final = (
    "check azure-scopes: ids of subscriptions, or names (not display names) of management groups; "
    "the identity needs the role Reader there"
)
QUERY_REFUSALS: Final = (
    (
        r"InvalidAuthenticationTokenTenant",
        "the identity belongs to another tenant than the scope",
        "check azure-tenant-id; subscription and identity must be in one tenant",
    ),
    (
        r"DisabledSubscription",
        "a subscription of the scope is disabled",
        "enable the subscription, or remove it from azure-scopes",
    ),
    (
        r"NoValidSubscriptions|SubscriptionsContainInvalid|SubscriptionNotFound"
        r"|InvalidSubscription|ManagementGroupNotFound",
        "the identity sees nothing in the scope",
        WRONG_SCOPE,
    ),
    (
        r"AuthorizationFailed|AccessDenied",
        "the identity may not read the scope",
        READER,
    ),
    (
        r"(Invalid|Expired)AuthenticationToken|AuthenticationFailed",
        "the access token is not accepted",
        "check azure-cloud, and the clock of the machine",
    ),
)
STATUS_REFUSALS: Final = {
    401: ("the access token is not accepted", "check azure-cloud, and the clock of the machine"),
    403: ("the identity may not read the scope", READER),
    404: ("the scope does not exist", WRONG_SCOPE),
}

WRONG_CLOUD: Final = "check azure-cloud, and azure-tenant-id"
FEDERATED_CREDENTIAL: Final = (
    "add a federated credential to the application or managed identity: issuer "
    "https://token.actions.githubusercontent.com (of an Enterprise Server: "
    "https://HOST/_services/token), the job's subject to the letter (case counts; newer "
    "repositories have ids in it, repo:owner@ID/name@ID:…), audience {audience}"
)
LOGIN_REFUSALS: Final = {
    **dict.fromkeys(
        ("70021", "700211", "700212", "700213", "7002137", "7002138"),
        ("no federated credential fits the job{subject}", FEDERATED_CREDENTIAL),
    ),
    "700016": (
        "the tenant does not know the application",
        "check azure-client-id and azure-tenant-id: the client id of an app registration or "
        "managed identity of that tenant",
    ),
    "90002": ("the tenant does not exist", WRONG_CLOUD),
    "900023": ("the tenant does not exist", WRONG_CLOUD),
    "900382": ("the application belongs to another cloud", WRONG_CLOUD),
    "500011": ("the tenant does not know the cloud's Resource Manager", WRONG_CLOUD),
    "7000215": (
        "the client secret is wrong",
        "put the secret's value, not its id, into azure-credentials",
    ),
    "7000222": (
        "the client secret has expired",
        "put a new one into azure-credentials; or use azure-client-id, azure-tenant-id and a "
        "federated credential instead",
    ),
    "7000112": ("the application is disabled", "enable it in Microsoft Entra ID"),
    "700024": (
        "the assertion is not valid at this time",
        "check the machine's clock; the assertion of azure/login lasts minutes: give "
        "azure-client-id and azure-tenant-id, so that each access token gets a new one",
    ),
    "53003": ("a policy of conditional access blocks the identity", "ask the tenant's owner"),
}
"""The meaning and the advice, by the error number of Microsoft Entra ID (AADSTS…)."""

NO_CREDENTIAL: Final = (
    "give azure-client-id and azure-tenant-id, and the job `permissions: id-token: write`; or "
    "azure-credentials; or sign in before (azure/login). AZURE_TOKEN_CREDENTIALS chooses how"
)

MAX_WORDS: Final = 400
JSON_WEB_TOKEN: Final = re.compile(r"eyJ[\w-]+(?:\.[\w-]+)+")
NO_TENANT: Final = re.compile(r"Unable to get (?:OIDC )?authority configuration")
"""MSAL's words for AADSTS90002."""
LOGIN_CODE: Final = re.compile(r"AADSTS(\d+)")
LOGIN_SUBJECT: Final = re.compile(r"subject:? '([^']+)'", re.IGNORECASE)
SUPPORT_LINES: Final = re.compile(
    r"Please provide below info when asking for support:.*|\s*Trace ID:.*", re.DOTALL
)


def query_refusal(
    status: int, codes: Sequence[str], words: Sequence[str], scopes: Scopes
) -> KalypsoError:
    """Return the error for a refused query.

    `codes` and `words` are those of the answer, the outermost first.
    """
    code = " ".join(filter(None, (str(status), *codes[-1:])))
    texts = [text for text in map(_words, words) if text]
    reason = f" ({code}: {texts[-1]})" if texts else f" ({code})"
    message, advice = _explanation(status, " ".join(codes))
    return KalypsoError(
        f"Azure Resource Graph refused the query: {message}{reason}",
        advice=advice.format(scopes=scopes),
    )


def _explanation(status: int, codes: str) -> tuple[str, str]:
    """Return the meaning of a refusal, and the advice; codes are more precise than the status."""
    for pattern, message, advice in QUERY_REFUSALS:
        if re.search(pattern, codes):
            return message, advice
    unknown = ("the reason is unknown", "if you cannot explain it, please report it")
    return STATUS_REFUSALS.get(status, unknown)


def unseen(subscriptions: Sequence[str]) -> KalypsoError:
    """Return the error for named subscriptions that Resource Graph omits from its answers."""
    scopes = Scopes(subscriptions=tuple(subscriptions))
    return KalypsoError(
        f"Azure Resource Graph does not show the identity {scopes}: check-promote would overlook "
        "clusters there",
        advice=f"{READER.format(scopes=scopes)}, and must be on the whole subscription; or remove "
        "it from azure-scopes",
    )


def login_refusal(words: str, cloud: Cloud) -> KalypsoError:
    """Return the error for a refused sign-in, from the words of the refusal."""
    codes = LOGIN_CODE.findall(words) or (["90002"] if NO_TENANT.search(words) else [])
    subject = LOGIN_SUBJECT.search(words)
    for code in codes:
        if code in LOGIN_REFUSALS:
            message, advice = LOGIN_REFUSALS[code]
            of_subject = f"'s subject {subject[1]}" if subject else ""
            return KalypsoError(
                f"Azure refused the sign-in: {message.format(subject=of_subject)} (AADSTS{code})",
                advice=advice.format(audience=cloud.assertion_audience),
            )
    if codes:
        advice = "https://login.microsoftonline.com/error explains the number"
        return KalypsoError(f"Azure refused the sign-in: {_words(words)}", advice=advice)
    return KalypsoError(f"the sign-in to Azure failed: {_words(words)}", advice=NO_CREDENTIAL)


def _words(text: str) -> str:
    """Return Azure's words on one line, without tokens and support data."""
    line = " ".join(JSON_WEB_TOKEN.sub("***", SUPPORT_LINES.sub("", text)).split())
    return line if len(line) <= MAX_WORDS else line[:MAX_WORDS] + "…"
