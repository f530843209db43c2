"""Repositories of the sandbox that stories read without a program: stories are many.

Tests of single commands, the demo and the e2e read over HTTP. Pushes go over HTTP here, too, and so
do reads while a fault is on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest

from kalypso_actions.clients.git.program import Git
from kalypso_actions.sandbox import Sandbox
from kalypso_actions.sandbox.repositories import BareRepository

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
        served = sandbox.world.git(repository)
        _share_objects(git_dir, served.git_dir)
        with sandbox.lock:
            answer = _answer(git_dir, served, arguments)
        if answer is not None:
            return answer
        by_path = Git(git._programs, protocols=frozenset({"file"}))
        return over_http(by_path, git_dir, str(served.git_dir), arguments, **options)

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


def _answer(git_dir: Path, served: BareRepository, arguments: Sequence[str]) -> bytes | None:
    """What git would say and do; None for what is left to git, refusals above all."""
    if "--stdin" in arguments:  # these are objects that the copy has by now
        return b""
    refs = served.refs()
    if arguments[:3] == ["ls-remote", "--heads", "origin"]:
        wanted = arguments[3:] or [ref for ref in refs if ref.startswith("refs/heads/")]
        return "".join(f"{refs[ref]}\t{ref}\n" for ref in wanted if ref in refs).encode()
    if arguments[0] != "fetch":
        return None
    source, _, kept_as = arguments[-1].removeprefix("+").partition(":")
    commit = refs.get(source) or (source if served.object_type(source) == "commit" else None)
    if commit is None:
        return None
    if kept_as:
        (git_dir / kept_as).parent.mkdir(parents=True, exist_ok=True)
        (git_dir / kept_as).write_text(f"{commit}\n", encoding="utf-8")
    (git_dir / "FETCH_HEAD").write_text(f"{commit}\t\t\n", encoding="utf-8")
    return b""
