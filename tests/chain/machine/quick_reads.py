"""Repositories of the sandbox that git reads by their path: random stories are many.

Every other test reads over HTTP. Pushes go over HTTP here, too, and so do reads while a fault is
on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest

from kalypso_actions.clients.git.program import Git
from kalypso_actions.sandbox import Sandbox

READS: Final = ("fetch", "ls-remote")


@contextmanager
def quick_reads(sandbox: Sandbox) -> Iterator[None]:
    """Let the commands' git read the sandbox's repositories without its server."""
    over_http = Git.run_remote

    def run_remote(
        git: Git, git_dir: Path, url: str, arguments: Sequence[str], **options: Any
    ) -> bytes:
        name = url.removeprefix(f"{sandbox.url}/").removesuffix(".git")
        repository = None if name == url else sandbox.world.repository(name)
        reads = any(one in arguments for one in READS)
        if repository is None or not reads or list(sandbox.faults):
            return over_http(git, git_dir, url, arguments, **options)
        served = sandbox.world.git(repository).git_dir
        _share_objects(git_dir, served)
        if "--stdin" in arguments:  # these are objects that the copy has by now
            return b""
        by_path = Git(git._programs, protocols=frozenset({"file"}))
        return over_http(by_path, git_dir, str(served), arguments, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Git, "run_remote", run_remote)
        yield


def _share_objects(git_dir: Path, served: Path) -> None:
    """Let a copy have the objects of what it copies: then it fetches refs alone.

    https://git-scm.com/docs/gitrepository-layout#Documentation/gitrepository-layout.txt-objectsinfoalternates
    """
    alternates = git_dir / "objects" / "info" / "alternates"
    if not alternates.exists():
        alternates.parent.mkdir(exist_ok=True)
        alternates.write_text(f"{served / 'objects'}\n", encoding="utf-8")
