"""Ask Azure Resource Manager whether a single cluster still exists.

Azure's library takes long to import, so this module is imported only if it is used.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Mapping
from typing import Final

from azure.core import PipelineClient
from azure.core.exceptions import AzureError
from azure.core.pipeline.policies import UserAgentPolicy
from azure.core.rest import HttpRequest, HttpResponse

from kalypso_actions import __version__
from kalypso_actions.clients.resource_graph.authorization import Authorization, RenewableCredential
from kalypso_actions.clients.resource_graph.clouds import Cloud
from kalypso_actions.clients.resource_graph.transport import transport_of
from kalypso_actions.model.urls import is_loopback

log = logging.getLogger(__name__)

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
