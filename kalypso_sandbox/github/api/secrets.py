"""The names of secrets; nobody can read their values.

https://docs.github.com/rest/actions/secrets
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from kalypso_sandbox.github.api import environments
from kalypso_sandbox.github.endpoints import Answer, Call, endpoint
from kalypso_sandbox.github.pagination import paginate
from kalypso_sandbox.github.payloads.view import timestamp

REPOSITORY: Final = "/repos/{owner}/{repo}/actions/secrets"
SHARED: Final = "/repos/{owner}/{repo}/actions/organization-secrets"
ENVIRONMENT: Final = "/repos/{owner}/{repo}/environments/{environment_name}/secrets"


@endpoint("GET", REPOSITORY, "secrets: read", statuses=(200,))
def read_all(call: Call) -> Answer:
    """List the secrets of the repository."""
    return _all(call, call.named_repository.secrets, call.named_repository.created_at)


@endpoint("GET", SHARED, "secrets: read", statuses=(200,))
def read_all_shared(call: Call) -> Answer:
    """List the organization's secrets that the repository may use."""
    return _all(call, call.named_repository.shared_secrets, call.named_repository.created_at)


@endpoint("GET", ENVIRONMENT, "environments: read", statuses=(200, 404))
def read_all_of_environment(call: Call) -> Answer:
    """List the secrets of an environment."""
    environment = environments.named(call)
    return _all(call, environment.secrets, environment.created_at)


def _all(call: Call, names: Sequence[str], created_at: datetime) -> Answer:
    page, headers = paginate(call, sorted(names))
    times = {"created_at": timestamp(created_at), "updated_at": timestamp(created_at)}
    answer = [{"name": name, **times} for name in page]
    return Answer(200, {"total_count": len(names), "secrets": answer}, headers)
