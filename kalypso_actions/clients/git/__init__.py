"""Git repositories by the `git` program: files of commits and new commits, without a checkout.

urls         which URLs are allowed, and which lie below which
credentials  which credential a URL gets
program      one call of git, with an environment that nothing else gets into
files        the files of one commit: `ls-tree` and `cat-file`
commits      new commits: `fast-import`
local        clones and bare repositories on this machine, read
clones       a person's clone, written
remote       repositories elsewhere; each has
  copies       a shallow, blobless copy here
  history      a copy with commits and what they change
  layout       what an empty one consists of
  connection   calls that are repeated, and follow a rename
  pushing      branches moved by compare-and-swap
refusals     what git says when it fails, and what to change
"""

from kalypso_actions.clients.git.commits import Signature
from kalypso_actions.clients.git.credentials import Authorize, CredentialTable, basic
from kalypso_actions.clients.git.errors import ProtectedBranchError
from kalypso_actions.clients.git.files import GitFiles
from kalypso_actions.clients.git.local import GitRepository, is_repository
from kalypso_actions.clients.git.pushing import PushConflictError
from kalypso_actions.clients.git.remote import RemoteRepositories
from kalypso_actions.clients.git.urls import is_path

__all__ = [
    "Authorize",
    "CredentialTable",
    "GitFiles",
    "GitRepository",
    "ProtectedBranchError",
    "PushConflictError",
    "RemoteRepositories",
    "Signature",
    "basic",
    "is_path",
    "is_repository",
]
