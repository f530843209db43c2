"""Git repositories by the `git` program: read and make commits without a checkout.

urls             allowed URLs, equal URLs, and URLs below a prefix
credentials      the credential for a URL
program          one call of git, isolated from the machine's configuration
files            the files of a commit: `ls-tree` and `cat-file`
objects          the output of `cat-file --batch`
commits          new commits: `fast-import`
local            read clones and bare repositories on this machine
writable_repository  write commits to clones and bare repositories on this machine
working_clone    write to a user's clone, and to its work tree
remote           remote repositories; for each of them
  connection     calls with retries, which follow a rename
  shallow_clone  a bare clone, one commit deep, without blobs
  history        a bare clone with the history of a commit
  bare_repository  create an empty one
  pushing        move branches by compare-and-swap
errors           git's error messages, with advice
"""

from kalypso_actions.clients.git.commits import Signature
from kalypso_actions.clients.git.credentials import Authorize, CredentialTable, basic
from kalypso_actions.clients.git.errors import ProtectedBranchError, UnsignedCommitError
from kalypso_actions.clients.git.files import GitFiles
from kalypso_actions.clients.git.local import GitRepository, enclosing_clone, is_repository
from kalypso_actions.clients.git.pushing import PushConflictError
from kalypso_actions.clients.git.remote import RemoteRepositories
from kalypso_actions.clients.git.urls import is_path
from kalypso_actions.clients.git.writable_repository import WritableRepository

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
