"""Federated credentials, by which jobs sign in to Azure."""

from __future__ import annotations

from typing import Final

MAX_CREDENTIALS: Final = 20
"""Credentials of one app registration or managed identity.

https://learn.microsoft.com/entra/workload-id/workload-identity-federation-considerations
"""
