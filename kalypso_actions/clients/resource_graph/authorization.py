"""Access tokens on requests to Azure, renewed after a refusal.

Azure's library takes long to import, so this module is imported only if it is used.
"""

from __future__ import annotations

import logging
from typing import Protocol

from azure.core.credentials import TokenCredential
from azure.core.pipeline import PipelineRequest, PipelineResponse
from azure.core.pipeline.policies import BearerTokenCredentialPolicy
from azure.core.rest import HttpRequest, HttpResponse

from kalypso_actions.clients.resource_graph.clouds import Cloud

log = logging.getLogger(__name__)

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
