"""Git repositories by the `git` program: files of commits without a checkout.

urls        which URLs are allowed, and which credential belongs to which
program     one call of git, with an environment that nothing else gets into
files       the files of one commit: `ls-tree` and `cat-file`
local       clones and bare repositories on this machine
remote      shallow, blobless copies of repositories elsewhere
refusals    what git says when it fails, and what to change
"""

from kalypso_actions.clients.git.files import GitFiles
from kalypso_actions.clients.git.local import GitRepository, is_repository
from kalypso_actions.clients.git.remote import RemoteRepositories
from kalypso_actions.clients.git.urls import is_path

__all__ = ["GitFiles", "GitRepository", "RemoteRepositories", "is_path", "is_repository"]
