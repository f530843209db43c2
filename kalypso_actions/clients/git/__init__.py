"""Git repositories by the `git` program: read and make commits without a checkout.

with RemoteRepositories(Programs(os.environ), credentials=github.authorize) as repositories:
    files = repositories.fetch("https://github.com/acme/fleet", branch="main")
    commit = repositories.commit(url, parent, changes, "Promote", author)
"""

from kalypso_actions.clients.git.commits import Signature
from kalypso_actions.clients.git.connection import PushConflictError
from kalypso_actions.clients.git.errors import ProtectedBranchError, UnsignedCommitError
from kalypso_actions.clients.git.files import GitFiles
from kalypso_actions.clients.git.local import (
    GitRepository,
    WritableRepository,
    enclosing_clone,
    is_repository,
)
from kalypso_actions.clients.git.remote import RemoteRepositories
from kalypso_actions.clients.git.urls import Authorize, CredentialTable, basic, is_path

__all__ = [
    "Authorize",
    "CredentialTable",
    "GitFiles",
    "GitRepository",
    "ProtectedBranchError",
    "PushConflictError",
    "RemoteRepositories",
    "Signature",
    "UnsignedCommitError",
    "WritableRepository",
    "basic",
    "enclosing_clone",
    "is_path",
    "is_repository",
]
