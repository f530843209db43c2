"""Repositories of the sandbox that the commands under test read without a program.

Pushes still go over HTTP, as do reads during a fault. Tests of the actions, of the demo and the e2e
read over HTTP as well. Requests to the API use no socket (`direct_requests`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest
import requests

from kalypso_actions.clients.git.program import Git
from kalypso_sandbox import Sandbox
from kalypso_sandbox.git.repositories import BareRepository
from tests.chain.direct_requests import direct_requests
from tests.chain.loose_objects import LooseObjects

READS: Final = ("fetch", "ls-remote")
WHOLE_ID: Final = re.compile(rb"[0-9a-f]{40}(\^\{tree\})?")


@contextmanager
def quick_reads(sandbox: Sandbox, *, authorized: bool = False) -> Iterator[None]:
    """Let the commands' git read the sandbox's repositories without its server.

    With `authorized`, each read begins with git's first request, so that the server checks the
    permission, and git itself reads what is refused.
    """
    over_http = Git.run_remote

    def run_remote(
        git: Git, git_dir: Path, url: str, arguments: Sequence[str], **options: Any
    ) -> bytes:
        name = url.removeprefix(f"{sandbox.url}/").removesuffix(".git")
        repository = None if name == url else sandbox.store.repository(name)
        reads = any(command in arguments for command in READS)
        if repository is None or not reads or list(sandbox.faults):
            return over_http(git, git_dir, url, arguments, **options)
        if authorized and not _may_read(git, url):
            return over_http(git, git_dir, url, arguments, **options)
        served = sandbox.store.git(repository)
        _share_objects(git_dir, served.git_dir)
        with sandbox.lock:
            answer = _answer(git_dir, served, arguments)
        if answer is not None:
            return answer
        by_path = Git(git._programs, protocols=frozenset({"file"}))
        return over_http(by_path, git_dir, str(served.git_dir), arguments, **options)

    reader = _Reader()
    by_git = Git.run

    def run(git: Git, git_dir: Path, arguments: Sequence[str], **options: Any) -> bytes:
        answer = reader.answer(git_dir, arguments, options.get("stdin", b""))
        if answer is None:
            answer = by_git(git, git_dir, arguments, **options)
            reader.keep(git_dir, arguments, options.get("stdin", b""), answer)
        return answer

    with direct_requests(sandbox), pytest.MonkeyPatch.context() as patch:
        patch.setattr(Git, "run_remote", run_remote)
        patch.setattr(Git, "run", run)
        yield


class _Reader:
    """Answers questions about the contents of objects, which never change."""

    def __init__(self) -> None:
        self._objects: dict[str, LooseObjects] = {}
        self._answers: dict[tuple[str | bytes, ...], bytes] = {}

    def answer(self, git_dir: Path, arguments: Sequence[str], stdin: bytes) -> bytes | None:
        """Return what git would print; None if git itself has to answer."""
        if not _is_unchanging(arguments, stdin):
            return None
        store = _store(git_dir)
        if known := self._answers.get((store, *arguments, stdin)):
            return known
        objects = self._objects.setdefault(store, LooseObjects(Path(store)))
        try:
            if arguments[0] == "ls-tree":
                return objects.listing(arguments[-1], sizes="-l" in arguments)
            return objects.batch(stdin.decode().split())
        except LookupError:
            return None

    def keep(self, git_dir: Path, arguments: Sequence[str], stdin: bytes, answer: bytes) -> None:
        """Keep git's answer, unless it lacks an object, which may arrive later."""
        if _is_unchanging(arguments, stdin) and b" missing\n" not in answer:
            self._answers[_store(git_dir), *arguments, stdin] = answer


def _may_read(git: Git, url: str) -> bool:
    """Send the first request of a fetch."""
    headers = {"git-protocol": "version=2", "user-agent": "git/2", "authorization": ""}
    headers["authorization"] = git._authorize(url)
    place = f"{url}/info/refs?service=git-upload-pack"
    with requests.Session() as session:
        session.trust_env = False  # reads neither .netrc nor proxies
        response = session.get(place, headers=headers, timeout=60, allow_redirects=False)
    return response.status_code == 200


def _is_unchanging(arguments: Sequence[str], stdin: bytes) -> bool:
    if arguments[0] == "ls-tree":
        return WHOLE_ID.fullmatch(arguments[-1].encode()) is not None
    is_batch = list(arguments) == ["cat-file", "--batch"]
    return is_batch and all(map(WHOLE_ID.fullmatch, stdin.split()))


def _share_objects(git_dir: Path, served: Path) -> None:
    """Let a copy use the objects of its original, so that it fetches only refs.

    https://git-scm.com/docs/gitrepository-layout#Documentation/gitrepository-layout.txt-objectsinfoalternates
    """
    alternates = git_dir / "objects" / "info" / "alternates"
    if not alternates.exists():
        alternates.parent.mkdir(exist_ok=True)
        alternates.write_text(f"{served / 'objects'}\n", encoding="utf-8")


def _store(git_dir: Path) -> str:
    """Return the folder with the objects of a repository, or of a copy's original."""
    alternates = git_dir / "objects" / "info" / "alternates"
    try:
        return alternates.read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        return str(git_dir / "objects")


def _lines(refs: Mapping[str, str], wanted: Iterable[str]) -> bytes:
    """Return those of the wanted refs that exist, as `git ls-remote` prints them."""
    return "".join(f"{refs[ref]}\t{ref}\n" for ref in wanted if ref in refs).encode()


def _answer(git_dir: Path, served: BareRepository, arguments: Sequence[str]) -> bytes | None:
    """Act as git would, and return its output; None if git itself must act, as for refusals."""
    if "--stdin" in arguments:  # the copy has these objects by now
        return b""
    refs = served.refs()
    if arguments[:3] == ["ls-remote", "--heads", "origin"]:
        wanted = arguments[3:] or [ref for ref in refs if ref.startswith("refs/heads/")]
        return _lines(refs, wanted)
    if arguments[:3] == ["ls-remote", "--symref", "origin"]:
        default = (
            (served.git_dir / "HEAD").read_text(encoding="utf-8").removeprefix("ref: ").strip()
        )
        head = f"ref: {default}\tHEAD\n{refs[default]}\tHEAD\n" if default in refs else ""
        return head.encode() + _lines(
            refs, [argument for argument in arguments[3:] if argument != "HEAD"]
        )
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
