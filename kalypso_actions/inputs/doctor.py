"""What `kalypso doctor` is given."""

from __future__ import annotations

from kalypso_actions.inputs.chain import (
    EMPTY,
    AzureClientId,
    AzureCloud,
    AzureCredentials,
    AzureScopes,
    AzureTenantId,
    PlanInputs,
)


class DoctorInputs(PlanInputs):
    """Inputs of `kalypso doctor`.

    The token is a person's, who may see the settings of both repositories; the App, where it is
    given, is looked at besides, and Azure is asked where it is said which clusters are meant.
    """

    azure_client_id: AzureClientId = ""
    azure_tenant_id: AzureTenantId = ""
    azure_scopes: AzureScopes = ()
    azure_cloud: AzureCloud = "public"
    azure_credentials: AzureCredentials = EMPTY
