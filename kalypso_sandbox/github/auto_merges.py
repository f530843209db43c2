"""GitHub's auto-merge: merges that wait for the rules of the base branch.

https://docs.github.com/pull-requests/collaborating-with-pull-requests/incorporating-changes-from-a-pull-request/automatically-merging-a-pull-request
"""

from __future__ import annotations

import logging
from typing import Final

from kalypso_sandbox.github.endpoints import RefusedError
from kalypso_sandbox.github.mergeability import check_mergeability
from kalypso_sandbox.github.merging import perform_merge
from kalypso_sandbox.github.pushes import open_pull_requests
from kalypso_sandbox.store import Store

log = logging.getLogger(__name__)

READY: Final = frozenset({"clean", "unstable"})


def merge_ready(store: Store) -> None:
    """Merge each pull request that has auto-merge enabled and meets its requirements.

    Later pushes leave auto-merge enabled, so it applies to every later head, too.
    """
    for repository in store.repositories.values():
        for issue, pull_request in open_pull_requests(repository):
            auto_merge = pull_request.auto_merge
            if auto_merge is None:
                continue
            if check_mergeability(store, repository, issue, pull_request).state not in READY:
                continue
            method, identity = auto_merge.method, auto_merge.identity
            try:
                perform_merge(store, repository, issue, pull_request, method, "", "", identity)
            except RefusedError as error:
                log.info("%s#%d: %s", repository.full_name, issue.number, error.message)
