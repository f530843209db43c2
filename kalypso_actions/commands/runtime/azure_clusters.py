"""The clusters that follow GitOps branches, as Azure knows them."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from kalypso_actions.clients.resource_graph import ResourceGraph, azure_credential, cloud_of
from kalypso_actions.commands.runtime.context import Runtime
from kalypso_actions.inputs.chain import CheckPromoteInputs
from kalypso_actions.inputs.doctor import DoctorInputs
from kalypso_actions.model.flux import FluxConfiguration


class AzureClusters:
    """Asks Azure Resource Graph, once it must be asked; a context manager."""

    def __init__(self, inputs: CheckPromoteInputs | DoctorInputs, runtime: Runtime) -> None:
        self._inputs = inputs
        self._around = runtime
        self._client: ResourceGraph | None = None
        self._checked = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._client is not None:
            self._client.close()

    def connect(self) -> ResourceGraph:
        """Make the client, without a request. Raises UsageError for inputs that do not suffice."""
        if self._client is None:
            inputs, runtime = self._inputs, self._around
            cloud = cloud_of(inputs.azure_cloud, runtime.environment)
            credential = azure_credential(
                client_id=inputs.azure_client_id,
                tenant_id=inputs.azure_tenant_id,
                credentials=inputs.azure_credentials.get_secret_value(),
                cloud=cloud,
                environment=runtime.environment,
                sleep=runtime.sleep,
            )
            self._client = ResourceGraph(
                credential,
                cloud=cloud,
                scopes=inputs.azure_scopes,
                environment=runtime.environment,
                sleep=runtime.sleep,
                now=lambda: runtime.now().timestamp(),
            )
        return self._client

    def following(self, url: str, branch: str) -> tuple[FluxConfiguration, ...]:
        """The Flux configurations that follow a branch.

        Before the first question it is made sure that every named subscription can be seen.
        Raises KalypsoError where not all of them can be read.
        """
        client = self.connect()
        if not self._checked:
            client.check_subscriptions()
            self._checked = True
        return client.flux_configurations(url, branch)
