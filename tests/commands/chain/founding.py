"""Start the sandbox with Acme: a new one, or a copy of one that was stopped.

The clock moves only when somebody sleeps.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from kalypso_sandbox import Sandbox
from kalypso_sandbox.workflow_runner.clock import Clock as StillClock
from tests.commands.chain import documents
from tests.commands.chain.organisation import (
    CLUSTER_TYPES,
    CONTROL_PLANE,
    ENVIRONMENTS,
    GITOPS,
    NOON,
    SHOP,
    Organisation,
)
from tests.git_repositories import programs
from tests.sandbox_copies import FOLDER, copy_sandbox, wait_until_free


class Clock(StillClock):
    """A clock that stays at noon until somebody sleeps."""

    def __init__(self) -> None:
        super().__init__(NOON)


@contextmanager
def organisation(
    folder: Path, *, clock: StillClock | None = None, **options: Any
) -> Iterator[Organisation]:
    """Start a sandbox with Acme; `options` are the sandbox's."""
    clock = clock or Clock()
    with Sandbox(folder / FOLDER, programs(), now=clock, **options) as sandbox:
        acme = Organisation(sandbox, clock, folder)
        _found(acme)
        yield acme


@contextmanager
def copied_organisation(original: Path, folder: Path) -> Iterator[Organisation]:
    """Start a copy of a sandbox with Acme that was stopped."""
    copy_sandbox(original, folder)
    clock = Clock()
    sandbox = Sandbox(folder / FOLDER, programs(), now=clock)
    wait_until_free(urlsplit(sandbox.store.server_url).port or 0)
    with sandbox:
        yield Organisation(sandbox, clock, folder)


def _found(acme: Organisation) -> None:
    sandbox, url = acme.sandbox, acme.url
    workload = documents.workload("shop", url("acme/shop-manifests"), ENVIRONMENTS)
    sandbox.create_repository(SHOP, {"workload/shop.yaml": workload})
    sandbox.create_repository(CONTROL_PLANE, documents.main_files(url(), url(SHOP)))
    sandbox.create_repository(GITOPS, {"README.md": "What clusters follow.\n"})
    commit = acme.head("main")
    assert commit
    for name in ENVIRONMENTS:
        files = documents.environment_files(
            url(), url(GITOPS), name, cluster_types=CLUSTER_TYPES, commit=commit
        )
        acme.commit(files, name)
        notify = {".github/workflows/check-promote.yaml": documents.workflow()}
        acme.commit(notify, name, GITOPS)
        for cluster_type in CLUSTER_TYPES:
            acme.cluster(name, cluster_type)
