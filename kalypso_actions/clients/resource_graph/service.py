"""One call of Resource Graph by Azure's client: an answer, or an error.

Azure's client takes long to import, so this module is imported only if it is used.
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Mapping
from typing import Any, Final

import requests
from azure.core.exceptions import AzureError, DeserializationError, HttpResponseError
from azure.core.pipeline.policies import RedirectPolicy, RetryPolicy, SansIOHTTPPolicy
from azure.mgmt.resourcegraph import ResourceGraphClient
from azure.mgmt.resourcegraph.models import QueryRequest, QueryRequestOptions, QueryResponse

from kalypso_actions import __version__
from kalypso_actions.clients.resource_graph.answers import (
    Answer,
    PayloadTooLargeError,
    UnansweredError,
)
from kalypso_actions.clients.resource_graph.authorization import Authorization, RenewableCredential
from kalypso_actions.clients.resource_graph.clouds import Cloud
from kalypso_actions.clients.resource_graph.errors import UNTRUSTED_CERTIFICATE, query_refusal
from kalypso_actions.clients.resource_graph.scopes import Scopes
from kalypso_actions.clients.resource_graph.transport import transport_of
from kalypso_actions.errors import KalypsoError
from kalypso_actions.model.urls import is_loopback

log = logging.getLogger(__name__)

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
