"""Azure's clients of Resource Graph and Resource Manager, without their retries and redirects."""

from __future__ import annotations

import json
import logging
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

import requests
from azure.core import PipelineClient
from azure.core.credentials import TokenCredential
from azure.core.exceptions import AzureError, DeserializationError, HttpResponseError
from azure.core.pipeline import PipelineRequest, PipelineResponse
from azure.core.pipeline.policies import (
    BearerTokenCredentialPolicy,
    RedirectPolicy,
    RetryPolicy,
    SansIOHTTPPolicy,
    UserAgentPolicy,
)
from azure.core.pipeline.transport import RequestsTransport
from azure.core.rest import HttpRequest, HttpResponse
from azure.mgmt.resourcegraph import ResourceGraphClient
from azure.mgmt.resourcegraph.models import QueryRequest, QueryRequestOptions, QueryResponse

from kalypso_actions import __version__
from kalypso_actions.clients.network import TIMEOUT, Session
from kalypso_actions.clients.resource_graph.errors import UNTRUSTED_CERTIFICATE, query_refusal
from kalypso_actions.clients.resource_graph.scopes import Cloud, Scopes
from kalypso_actions.errors import KalypsoError
from kalypso_actions.model.urls import is_loopback

log = logging.getLogger(__name__)

# Without a handler Python prints the libraries' warnings, which our errors repeat.
logging.getLogger("azure").addHandler(logging.NullHandler())


def transport_of(environment: Mapping[str, str]) -> RequestsTransport:
    """Return a transport for one client. Raise UsageError if certificates are missing."""
    session = Session(environment)
    connect, read = TIMEOUT
    return RequestsTransport(
        session=session,
        connection_timeout=connect,
        read_timeout=read,
        connection_verify=session.verify,
    )


Request = PipelineRequest[HttpRequest]
Response = PipelineResponse[HttpRequest, HttpResponse]


class RenewableCredential(TokenCredential, Protocol):
    """A credential that gives new access tokens on demand."""

    def forget_tokens(self) -> None:
        """Drop cached access tokens, so that the next one is new."""


class Authorization(BearerTokenCredentialPolicy[HttpRequest, HttpResponse]):
    """Authorize each request, and send it once more with a new token after a 401.

    Azure may refuse a token before it expires: after a revocation, because of a wrong clock, or
    with claims that the next token must have (continuous access evaluation). Only in the last case
    does Azure's own policy fetch a new token. A second 401 is final.
    """

    def __init__(self, credential: RenewableCredential, cloud: Cloud) -> None:
        super().__init__(credential, cloud.scope)
        self._renewable = credential

    def send(self, request: Request) -> Response:
        """Send a request. Raise KalypsoError if there is no access token."""
        self.on_request(request)
        response = self.next.send(request)
        if response.http_response.status_code != 401:
            return response
        log.debug("Azure refused the access token (401); fetching a new one")
        if not self._has_met_challenge(request, response):
            self._renewable.forget_tokens()
            self.authorize_request(request, *self._scopes)
        return self.next.send(request)

    def _has_met_challenge(self, request: Request, response: Response) -> bool:
        """Authorize the request with the claims that the response asks for, if any.

        Claims bypass every cache, including that of a managed identity's endpoint.
        """
        try:
            return self.on_challenge(request, response)
        except ValueError:  # the claims are not valid base64, or not text
            return False


@dataclass(frozen=True, slots=True)
class Answer:
    """A page of rows.

    total       rows of the whole answer
    truncated   Resource Graph left rows out, and no further page has them
    limit_hit   the scope holds more subscriptions than Resource Graph asked
    skip_token  the token for the next page; "" for the last page
    pause       seconds until the next query is allowed
    """

    rows: list[object] = field(repr=False)
    total: int
    truncated: bool = False
    limit_hit: bool = False
    skip_token: str = ""
    pause: float = 0.0


class PayloadTooLargeError(Exception):
    """The page is too large for an answer of Resource Graph: ask for fewer rows."""


class UnansweredError(Exception):
    """There is no answer to a query, but it may succeed later.

    `wait` is the number of seconds that Azure asks to wait; None if it does not ask.
    """

    def __init__(self, why: str, wait: float | None = None, *, throttled: bool = False) -> None:
        super().__init__(why)
        self.wait = wait
        self.throttled = throttled


DURATION: Final = re.compile(r"(?:(\d+)\.)?(\d+):(\d+):(\d+(?:\.\d+)?)")
"""`hh:mm:ss`; .NET writes days before it, and fractions of a second after it."""


class Service:
    """Resource Graph of a cloud, queried as one identity."""

    def __init__(
        self,
        credential: RenewableCredential,
        cloud: Cloud,
        scopes: Scopes,
        environment: Mapping[str, str],
    ) -> None:
        self._scopes = scopes
        self._address = cloud.resource_manager
        self._client = ResourceGraphClient(
            credential,
            cloud.resource_manager,
            authentication_policy=Authorization(credential, cloud),
            transport=transport_of(environment),
            user_agent=f"kalypso-actions/{__version__}",
            # WaitBudget handles retries and quotas. A redirect could leak the token.
            retry_policy=RetryPolicy.no_retries(),
            redirect_policy=RedirectPolicy.no_redirects(),
            http_logging_policy=SansIOHTTPPolicy(),
        )

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def ask(self, query: str, skip_token: str, size: int) -> Answer:
        """Return a page of `size` rows of the answer; `skip_token` is "" for the first page.

        Raise UnansweredError if the query may succeed later, PayloadTooLargeError if it may succeed
        with fewer rows, else KalypsoError.
        """
        request = QueryRequest(
            query=query,
            subscriptions=list(self._scopes.subscriptions) or None,
            management_groups=list(self._scopes.management_groups) or None,
            options=QueryRequestOptions(
                top=size, skip_token=skip_token or None, result_format="objectArray"
            ),
        )
        started = time.monotonic()
        outcome = "failed"
        try:
            answer = self._send(request)
            outcome = f"200, {len(answer.rows)} of {answer.total} rows"
        except HttpResponseError as error:
            outcome = str(error.status_code or outcome)
            raise self._refusal(error) from error
        except DeserializationError as error:
            raise UnansweredError("its answer is cut short or in no known form") from error
        except AzureError as error:
            raise _unreachable(error) from error
        finally:
            seconds = time.monotonic() - started
            log.debug("POST %s, Resource Graph  %s  %.2f s", self._address, outcome, seconds)
        return answer

    def _send(self, request: QueryRequest) -> Answer:
        # Only the sandbox, on this machine, gets bearer tokens over plain http.
        enforce_https = not is_loopback(self._address)
        # With `cls`, the result has another type than the declared one.
        result: Any = self._client.resources(request, cls=_answer, enforce_https=enforce_https)
        answer: Answer = result
        return answer

    def _refusal(
        self, error: HttpResponseError
    ) -> UnansweredError | PayloadTooLargeError | KalypsoError:
        status = error.status_code
        headers: Mapping[str, str] = getattr(error.response, "headers", {})
        if status is None:
            return UnansweredError("its answer is cut short")
        if status == 429:
            return UnansweredError("it throttles", wait=_wait(headers), throttled=True)
        if status == 408 or status >= 500:
            return UnansweredError(f"it answers with status {status}", wait=_wait(headers))
        body = error.error
        details = [body, *body.details] if body else []
        codes = [detail.code for detail in details if detail.code]
        if "ResponsePayloadTooLarge" in codes:
            return PayloadTooLargeError("the page is too large")
        words = [detail.message for detail in details if detail.message]
        return query_refusal(status, codes, words, self._scopes)


def _answer(response: Any, body: QueryResponse | None, _: Any) -> Answer:
    """Parse an answer with status 200. Raise UnansweredError for an empty one."""
    if body is None or not isinstance(body.data, list) or body.total_records is None:
        raise UnansweredError("its answer is cut short or in no known form")
    headers = response.http_response.headers
    remaining = headers.get("x-ms-user-quota-remaining", "")
    return Answer(
        rows=body.data,
        total=body.total_records,
        truncated=str(body.result_truncated).lower() == "true",
        limit_hit=headers.get("x-ms-tenant-subscription-limit-hit", "").lower() == "true",
        skip_token=body.skip_token or "",
        pause=(_wait(headers) or 0.0) if remaining.strip() == "0" else 0.0,
    )


def _wait(headers: Mapping[str, str]) -> float | None:
    """Return the seconds to wait: `Retry-After`, else until the quota resets."""
    seconds = headers.get("Retry-After", "").strip()
    if seconds.isdecimal():
        return float(seconds)
    duration = DURATION.fullmatch(headers.get("x-ms-user-quota-resets-after", "").strip())
    if not duration:
        return None
    days, hours, minutes, rest = duration.groups()
    return ((int(days or 0) * 24 + int(hours)) * 60 + int(minutes)) * 60 + float(rest)


def _unreachable(error: AzureError) -> UnansweredError | KalypsoError:
    cause = error.inner_exception
    if isinstance(cause, requests.exceptions.SSLError):
        message = "the certificate of Azure Resource Manager is not trusted"
        return KalypsoError(message, advice=UNTRUSTED_CERTIFICATE)
    return UnansweredError(f"it cannot be reached ({type(cause or error).__name__})")


CLUSTER: Final = re.compile(
    r"/subscriptions/[\w-]+/resourceGroups/[\w().-]+/providers/([\w.]+/\w+)/[\w.-]+",
    re.IGNORECASE | re.ASCII,
)
API_VERSIONS: Final = {
    "microsoft.containerservice/managedclusters": "2024-02-01",
    "microsoft.kubernetes/connectedclusters": "2024-01-01",
}
"""The API versions, by the type of the cluster in lower case."""

NOT_FOUND: Final = frozenset({"ResourceNotFound", "ResourceGroupNotFound", "NotFound"})
"""The codes of a 404 for a resource that does not exist; other codes concern the request."""


class ResourceManager:
    """Resource Manager of a cloud, as one identity."""

    def __init__(
        self, credential: RenewableCredential, cloud: Cloud, environment: Mapping[str, str]
    ) -> None:
        self._address = cloud.resource_manager
        self._client: PipelineClient[HttpRequest, HttpResponse] = PipelineClient(
            cloud.resource_manager,
            policies=[
                UserAgentPolicy(f"kalypso-actions/{__version__}"),
                Authorization(credential, cloud),
            ],
            transport=transport_of(environment),
        )

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def is_gone(self, cluster: str) -> bool:
        """Return whether Azure answers that a cluster does not exist.

        Any other answer, or none, proves nothing. Raise KalypsoError if there is no access token.
        """
        form = CLUSTER.fullmatch(cluster)
        version = API_VERSIONS.get(form[1].lower()) if form else None
        if version is None:
            return False
        request = HttpRequest("GET", f"{self._address}{cluster}", params={"api-version": version})
        outcome = "failed"
        try:
            # Only the sandbox, on this machine, gets bearer tokens over plain http.
            response = self._client.send_request(
                request, enforce_https=not is_loopback(self._address)
            )
            outcome = str(response.status_code)
            return response.status_code == 404 and _code(response) in NOT_FOUND
        except AzureError as error:
            outcome = type(error).__name__
            return False
        finally:
            log.debug("GET %s%s  %s", self._address, cluster, outcome)


def _code(response: HttpResponse) -> str:
    """Return the code of an error; "" if the answer has another form."""
    try:
        match json.loads(response.text()):
            case {"error": {"code": str(code)}}:
                return code
    except ValueError:
        pass
    return ""
