"""Access tokens on requests to Azure, and new ones for those that Azure refuses.

Like the rest of Azure's library, this module is imported where it is used.
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
        """Fetch the next access token anew, whatever is cached."""


class Authorization(BearerTokenCredentialPolicy[HttpRequest, HttpResponse]):
    """Authorize each request, and send it once more with a new token after a 401.

    Azure refuses tokens that have not expired: after a revocation, for a clock that is wrong, or
    with claims that the next token must have (continuous access evaluation). Only the last kind
    makes Azure's own policy fetch a token. A second 401 is the answer.
    """

    def __init__(self, credential: RenewableCredential, cloud: Cloud) -> None:
        super().__init__(credential, cloud.scope)
        self._renewable = credential

    def send(self, request: Request) -> Response:
        """Send a request; raises KalypsoError where there is no access token."""
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
        """Authorize the request with the claims that the response asks for, if there are any.

        Claims bypass every cache, also the one behind the endpoint of a managed identity.
        """
        try:
            return self.on_challenge(request, response)
        except ValueError:  # claims that are no base64, or no text
            return False
