"""A copy of a repository elsewhere: one commit deep, without blobs until they are wanted."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Collection, Mapping
from datetime import datetime
from pathlib import Path
from typing import Final

from kalypso_actions.clients.git.bare_repository import (
    ObjectFormat,
    create_bare_repository,
    object_format_of,
)
from kalypso_actions.clients.git.commits import Signature, fast_import
from kalypso_actions.clients.git.connection import Connection
from kalypso_actions.clients.git.errors import MISMATCHED_FORMAT
from kalypso_actions.clients.git.files import GitFiles
from kalypso_actions.clients.git.program import Git
from kalypso_actions.clients.git.pushing import push
from kalypso_actions.clients.process import ProcessError
from kalypso_actions.errors import KalypsoError, Location
from kalypso_actions.model.object_ids import blob_id

PARTIAL: Final = ("remote.origin.promisor=true", "remote.origin.partialclonefilter=blob:none")
FETCH: Final = ("fetch", "--quiet", "--no-tags", "--filter=blob:none")


class ShallowClone:
    """A bare repository that holds what has been fetched of one remote, and what is to go there.

    Safe to use from several threads, one of which works at a time.
    """

    def __init__(self, git: Git, git_dir: Path, url: str, sleep: Callable[[float], None]) -> None:
        self._git = git
        self._git_dir = git_dir
        self._connection = Connection(git, url, sleep)
        self._lock = threading.Lock()
        self._format: ObjectFormat | None = None
        self._default_branches: dict[str, str] = {}
        self._heads: dict[str, str] = {}
        self._commits: set[str] = set()
        self._blobs: set[str] = set()

    def default_branch(self, preferred: str) -> str:
        """`preferred` where it exists, else the branch that the remote's HEAD stands on.

        It is asked for once.
        """
        with self._lock:
            if preferred not in self._default_branches:
                self._default_branches[preferred] = self._ask_for_default_branch(preferred)
            return self._default_branches[preferred]

    def heads(self, branches: Collection[str]) -> dict[str, str]:
        """The commits of those of the branches that exist, asked anew."""
        with self._lock:
            self._initialise()
            refs = {f"refs/heads/{branch}": branch for branch in branches}
            found = self._connection.refs(self._git_dir, refs)
            return {refs[ref]: commit for ref, commit in found.items()}

    def fetch_branch(self, branch: str, *, fresh: bool) -> str:
        """Fetch a branch's head, the first time or `fresh`, and return its commit."""
        with self._lock:
            if fresh or branch not in self._heads:
                refspec = f"+refs/heads/{branch}:{_kept_as(branch)}"
                self._fetch(refspec, f"the branch {branch!r}")
                fetched = (self._git_dir / "FETCH_HEAD").read_text("utf-8", "surrogateescape")
                self._heads[branch] = fetched.split("\t")[0]
                self._commits.add(self._heads[branch])
            return self._heads[branch]

    def forget_heads(self) -> None:
        """Ask for each branch again the next time."""
        with self._lock:
            self._heads.clear()
            self._default_branches.clear()

    def fetch_commit(self, commit: str) -> None:
        """Fetch a commit, unless it is here already."""
        with self._lock:
            self._need(commit)

    def files(self, url: str, commit: str) -> GitFiles:
        """The files of a commit that is here, for who calls the repository `url`."""
        return GitFiles(self._git, self._git_dir, url, commit, self._fetch_blobs)

    def commit(
        self,
        parent: str | None,
        changes: Mapping[str, bytes | None],
        message: str,
        author: Signature,
        date: datetime,
    ) -> str:
        """Make a commit here and return its id; see `commits.fast_import`."""
        stream = fast_import(parent, changes, message, author, date)
        with self._lock:
            if parent:
                self._need(parent)
            else:
                self._initialise(self._remote_format())
            try:
                output = self._git.run(
                    self._git_dir, ["fast-import", "--quiet", "--force"], stdin=stream
                )
            except ProcessError as error:
                fault = f"the commit cannot be made: {error.problem.message}"
                raise KalypsoError(fault, Location(self._connection.url)) from error
            commit = output.decode().strip()
            self._commits.add(commit)
            written = (content for content in changes.values() if content is not None)
            self._blobs.update(blob_id(content, self._format or "sha1") for content in written)
            return commit

    def push(self, branch: str, commit: str | None, expected: str | None) -> bool:
        """Set a branch there, or delete it (None); see `pushing.push`."""
        with self._lock:
            if commit:
                self._need(commit)
            elif not self._commits:
                self._initialise(object_format_of(expected or ""))
            return push(self._connection, self._git_dir, branch, commit, expected)

    def _need(self, commit: str) -> None:
        if commit not in self._commits:
            self._fetch(commit, f"the commit {commit}")
            self._commits.add(commit)

    def _initialise(self, object_format: ObjectFormat | None = None) -> None:
        """Lay out an empty repository, as `git init` would, unless there is one.

        Without a format, one of any format will do.
        """
        object_format = object_format or self._format or "sha1"
        if self._format == object_format:
            return
        self._git_dir = self._git_dir.with_name(f"{self._git_dir.stem}-{object_format}.git")
        create_bare_repository(self._git_dir, object_format)
        self._format = object_format

    def _remote_format(self) -> ObjectFormat | None:
        """By what is here of it, else the id of any branch; an empty repository does not say."""
        if self._commits:
            return self._format
        self._initialise()
        subject = "the repository's object format"
        answer = self._connection.ask(self._git_dir, ["ls-remote", "--heads", "origin"], subject)
        return object_format_of(answer.split(b"\t")[0].decode())

    def _fetch(self, refspec: str, subject: str) -> None:
        """Fetch one commit without its history and blobs."""
        self._initialise(self._format or object_format_of(refspec))
        try:
            self._ask_for(["--depth=1", "origin", refspec], subject)
        except KalypsoError as error:
            cause = error.__cause__
            if not isinstance(cause, ProcessError) or MISMATCHED_FORMAT not in cause.stderr:
                raise
            self._initialise("sha256" if self._format == "sha1" else "sha1")
            self._ask_for(["--depth=1", "origin", refspec], subject)

    def _fetch_blobs(self, ids: Collection[str]) -> None:
        """Fetch all these blobs by one request, or by none where the server has sent them all."""
        with self._lock:
            wanted = sorted(set(ids) - self._blobs)
            if wanted:
                request = "".join(f"{one}\n" for one in wanted).encode()
                self._ask_for(["--stdin", "origin"], "files", request)
                self._blobs.update(wanted)

    def _ask_for_default_branch(self, preferred: str) -> str:
        self._initialise()
        wanted = ["HEAD", *([f"refs/heads/{preferred}"] if preferred else [])]
        arguments = ["ls-remote", "--symref", "origin", *wanted]
        subject = "the default branch"
        answer = self._connection.ask(self._git_dir, arguments, subject).decode("utf-8", "replace")
        lines = [line.split("\t") for line in answer.splitlines()]
        if preferred and any(line[-1] == f"refs/heads/{preferred}" for line in lines):
            return preferred
        for reference, *_ in lines:
            if reference.startswith("ref: refs/heads/"):
                return reference.removeprefix("ref: refs/heads/")
        where = Location(self._connection.url)
        raise KalypsoError(
            "the repository is empty, or its default branch does not exist",
            where,
            "push a first commit (kalypso init fills a control plane), or name the branch",
        )

    def _ask_for(self, arguments: list[str], subject: str, stdin: bytes = b"") -> None:
        # Negotiation would offer commits that say nothing about which blobs are here.
        settings = [*PARTIAL, *(["fetch.negotiationAlgorithm=noop"] if stdin else [])]
        self._connection.ask(
            self._git_dir, [*FETCH, *arguments], subject, settings=settings, stdin=stdin
        )


def _kept_as(branch: str) -> str:
    """The ref of a fetched branch here.

    Its own name may be no file's name on this machine, or that of another one's folder.
    """
    name = hashlib.sha256(branch.encode("utf-8", "surrogateescape")).hexdigest()
    return f"refs/kalypso/heads/{name}"
