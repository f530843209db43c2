"""Repositories elsewhere: their commits are fetched, made and pushed."""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

from kalypso_actions.clients.git.commits import Signature
from kalypso_actions.clients.git.credentials import Authorize, no_credential
from kalypso_actions.clients.git.files import GitFiles
from kalypso_actions.clients.git.history import HistoryClone
from kalypso_actions.clients.git.local import check_branch, check_commit
from kalypso_actions.clients.git.program import Git
from kalypso_actions.clients.git.shallow_clone import ShallowClone
from kalypso_actions.clients.git.urls import check_url, copy_key
from kalypso_actions.clients.process import Programs
from kalypso_actions.model.history import Ancestry, HistoryCommit


class RemoteRepositories:
    """Reads and writes remote repositories; a context manager that owns the copies.

    Each repository is copied once, and within one context a branch is the same commit however
    often it is asked for. Safe to use from several threads.
    """

    def __init__(
        self,
        programs: Programs,
        *,
        protocols: frozenset[str] = frozenset({"https"}),
        credentials: Authorize = no_credential,
        trust_user_config: bool = False,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """`credentials` is asked for a URL's header before every call that goes there."""
        self._protocols = protocols
        self._git = Git(
            programs,
            protocols=protocols,
            credentials=credentials,
            trust_user_config=trust_user_config,
        )
        self._sleep = sleep
        self._lock = threading.Lock()
        self._copies: dict[str, ShallowClone] = {}
        self._histories: dict[str, HistoryClone] = {}
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    def __enter__(self) -> Self:
        self._folder = tempfile.TemporaryDirectory(prefix="kalypso-", ignore_cleanup_errors=True)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None
        self._copies.clear()
        self._histories.clear()

    def fetch(
        self, url: str, *, branch: str = "", commit: str = "", fresh: bool = False
    ) -> GitFiles:
        """The files of a commit, or of a branch's head (without either: the default branch's).

        `fresh` asks the server where the branch stands now. Raises KalypsoError saying what to
        change.
        """
        copy = self._copy(url)
        if commit:
            check_commit(commit, url)
            copy.fetch_commit(commit)
        else:
            branch = branch or copy.default_branch("")
            check_branch(branch, url)
            commit = copy.fetch_branch(branch, fresh=fresh)
        return copy.files(url, commit)

    def history(self, url: str, commit: str) -> Iterator[HistoryCommit]:
        """The first-parent line from a commit back to its root, newest first.

        More of it is fetched as the iteration goes on. For one thread at a time. Raises
        KalypsoError.
        """
        check_commit(commit, url)
        return self._history(url).line(commit)

    def ancestry(self, url: str, commit: str) -> Ancestry:
        """All commits that a commit contains, without files. Raises KalypsoError."""
        check_commit(commit, url)
        return self._history(url).ancestry(commit)

    def blobs(self, url: str, ids: Collection[str]) -> Mapping[str, bytes]:
        """The contents of files that commits of a `history` name, by their blob ids.

        Raises KalypsoError, also where the repository lacks one.
        """
        return self._history(url).blobs(ids)

    def look_again(self) -> None:
        """From now on every branch is where the server says anew; commits that are here stay."""
        with self._lock:
            copies = list(self._copies.values())
        for copy in copies:
            copy.forget_heads()

    def default_branch(self, url: str, *, preferred: str = "") -> str:
        """`preferred` where it exists, else the branch of HEAD. Raises KalypsoError."""
        return self._copy(url).default_branch(preferred)

    def heads(self, url: str, branches: Collection[str]) -> Mapping[str, str]:
        """The commits of those of the branches that exist, always asked anew.

        Raises KalypsoError.
        """
        for branch in branches:
            check_branch(branch, url)
        return self._copy(url).heads(branches)

    def commit(
        self,
        url: str,
        *,
        parent: str | None,
        changes: Mapping[str, bytes | None],
        message: str,
        author: Signature,
        date: datetime,
    ) -> str:
        """Make a commit in the copy, on top of `parent` (None: of nothing), and return its id.

        In `changes`, None deletes what stands at a path, a file or a whole folder (nothing there
        is no error), and bytes become a regular file, in the place of whatever stands there or is
        in the way. Equal inputs are the same commit; changes that say what the parent has make a
        commit with its tree. Raises KalypsoError for a parent that the server does not have, and
        for paths that no checkout would write.
        """
        if parent is not None:
            check_commit(parent, url)
        return self._copy(url).commit(parent, changes, message, author, date)

    def push(
        self, url: str, commit: str, *, branch: str, expected: str | None
    ) -> Literal["pushed", "unchanged"]:
        """Set a branch to a commit, if it stands at `expected` (None: if it does not exist).

        "unchanged": it stood at the commit already. What was pushed before is replaced, whether
        the commit descends from it or not. Raises PushConflictError when the branch stands
        elsewhere, KalypsoError saying what to change.
        """
        _check_move(url, branch, commit, expected)
        changed = self._copy(url).push(branch, commit, expected)
        return "pushed" if changed else "unchanged"

    def delete_branch(
        self, url: str, branch: str, expected: str
    ) -> Literal["deleted", "unchanged"]:
        """Delete a branch, if it stands at `expected`; "unchanged": there was none.

        Raises PushConflictError when it stands elsewhere, KalypsoError saying what to change.
        """
        _check_move(url, branch, expected)
        changed = self._copy(url).push(branch, None, expected)
        return "deleted" if changed else "unchanged"

    def _copy(self, url: str) -> ShallowClone:
        check_url(url, self._protocols)
        key = copy_key(url)
        with self._lock:
            if key not in self._copies:
                path = self._path(f"{len(self._copies)}.git")
                self._copies[key] = ShallowClone(self._git, path, url, self._sleep)
            return self._copies[key]

    def _history(self, url: str) -> HistoryClone:
        check_url(url, self._protocols)
        key = copy_key(url)
        with self._lock:
            if key not in self._histories:
                path = self._path(f"history-{len(self._histories)}.git")
                self._histories[key] = HistoryClone(self._git, path, url, self._sleep)
            return self._histories[key]

    def _path(self, name: str) -> Path:
        if self._folder is None:
            raise RuntimeError("remote repositories are used outside of the context")
        return Path(self._folder.name) / name


def _check_move(url: str, branch: str, *commits: str | None) -> None:
    check_branch(branch, url)
    for commit in commits:
        if commit is not None:
            check_commit(commit, url)
