"""Remote repositories: fetch, make and push commits."""

from __future__ import annotations

import itertools
import re
import tempfile
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Final, Literal, Self

from kalypso_actions.clients.git.commits import Signature
from kalypso_actions.clients.git.connection import DELAYS, Connection
from kalypso_actions.clients.git.files import GitFiles
from kalypso_actions.clients.git.history import HistoryClone, TreePlace
from kalypso_actions.clients.git.line_log import LineLog
from kalypso_actions.clients.git.local import ABBREVIATED, check_branch, check_commit
from kalypso_actions.clients.git.program import Git
from kalypso_actions.clients.git.shallow_clone import ShallowClone
from kalypso_actions.clients.git.urls import Authorize, accepted_url, clone_key, no_credential
from kalypso_actions.clients.process import Programs
from kalypso_actions.errors import KalypsoError, Location, UsageError
from kalypso_actions.model.history import Ancestry, HistoryCommit
from kalypso_actions.model.object_ids import FileContent, is_commit_id
from kalypso_actions.model.processes import WriteBlobs

FIRST_PARENTS: Final = re.compile(r"([^~^]+)(~[0-9]{1,6}|~{1,40}|\^{1,40})")
"""`main~2` or `HEAD^`: git's names of commits on the first-parent line."""


class RemoteRepositories:
    """Reads and writes remote repositories; a context manager that owns their clones.

    It clones each repository once, and reads the head of each branch once. Thread-safe.
    """

    def __init__(
        self,
        programs: Programs,
        *,
        protocols: frozenset[str] = frozenset({"https"}),
        credentials: Authorize = no_credential,
        trust_user_config: bool = False,
        sleep: Callable[[float], None] = time.sleep,
        delays: Sequence[float] = DELAYS,
        check: Callable[[str], None] = lambda _: None,
        with_files: Collection[str] = (),
    ) -> None:
        """`credentials` returns the header for a URL before every call to it.

        `delays` are the seconds before each retry of a read after a transient failure.
        `check` raises KalypsoError for URLs that git may not read, including those of redirects.
        `with_files` are URLs of repositories whose files are mostly read; each fetch of a commit
        includes their small files.
        """
        self._check = check
        self._protocols = protocols
        self._git = Git(
            programs,
            protocols=protocols,
            credentials=credentials,
            trust_user_config=trust_user_config,
        )
        self._sleep = sleep
        self._delays = delays
        self._with_files = frozenset(map(clone_key, with_files))
        self._lock = threading.Lock()
        self._clones: dict[str, ShallowClone] = {}
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
        self._clones.clear()
        self._histories.clear()

    def fetch(self, url: str, *, branch: str = "", commit: str = "") -> GitFiles:
        """Return the files of a commit or a branch, by default the default branch.

        Raises KalypsoError with advice.
        """
        clone = self._clone(url)
        if commit:
            check_commit(commit, url)
            clone.fetch_commit(commit)
        else:
            branch = branch or clone.default_branch("")
            check_branch(branch, url)
            commit = clone.fetch_branch(branch)
        return clone.files(url, commit)

    def history(self, url: str, commit: str) -> Iterator[HistoryCommit]:
        """Yield the first-parent line from a commit to its root, newest first.

        This fetches commits lazily. Not thread-safe. Raises KalypsoError.
        """
        check_commit(commit, url)
        return self._history(url).line(commit)

    def trees(self, url: str, places: Sequence[TreePlace]) -> Mapping[TreePlace, str]:
        """Return the tree ids of folders at commits of a `history` that was read.

        A folder that does not exist is left out. Raises KalypsoError.
        """
        return self._history(url).trees(places)

    def line_log(self, url: str, commit: str, after: str = "") -> LineLog:
        """Return the changed lines of a first-parent line after `after`, or of the whole line.

        Raises KalypsoError.
        """
        check_commit(commit, url)
        return self._history(url).line_log(commit, after)

    def ancestry(self, url: str, commit: str) -> Ancestry:
        """Return all ancestors of a commit, without files. Raises KalypsoError."""
        check_commit(commit, url)
        return self._history(url).ancestry(commit)

    def blobs(self, url: str, ids: Collection[str]) -> Mapping[str, bytes]:
        """Return the contents of blobs of a `history` by id. Raises KalypsoError."""
        return self._history(url).blobs(ids)

    def forget_heads(self) -> None:
        """Read the head of each branch again at its next use; keep fetched commits."""
        with self._lock:
            clones = list(self._clones.values())
        for clone in clones:
            clone.forget_heads()

    def default_branch(self, url: str, *, preferred: str = "") -> str:
        """Return `preferred` if it exists, else the branch of HEAD. Raises KalypsoError."""
        return self._clone(url).default_branch(preferred)

    def heads(self, url: str, branches: Collection[str]) -> Mapping[str, str]:
        """Return the current heads of the branches that exist. Raises KalypsoError."""
        for branch in branches:
            check_branch(branch, url)
        return self._clone(url).heads(branches)

    def fetch_head(self, url: str, branch: str) -> str | None:
        """Fetch the head of a branch now and return its commit; None if there is no such branch.

        A caller that reads the commit next saves one of two requests. Raises KalypsoError.
        """
        check_branch(branch, url)
        return self._clone(url).fetch_head(branch)

    def resolve(self, url: str, revision: str, *, branch: str = "") -> str:
        """Return the commit of a branch, a tag, or a full commit id.

        With `branch`, HEAD is the head of that branch, and an abbreviated id names one of its
        commits. `main~2` follows first parents. Raises KalypsoError, with `branch` UsageError for
        a revision that it does not have.
        """
        if is_commit_id(revision):
            return revision
        first_parents = FIRST_PARENTS.fullmatch(revision)
        name, steps = first_parents.groups() if first_parents else (revision, "")
        commit = self._named(url, branch if branch and name == "HEAD" else name, branch)
        number = int(steps[1:]) if steps[1:].isdigit() else len(steps)
        if commit and number:
            line = self.ancestry(url, commit).first_parents()
            commit = next(itertools.islice(line, number, None), "")
        if not commit:
            message = f"there is no branch or tag {revision!r}"
            if branch:
                message = f"there is no branch, tag or commit {revision!r} on {branch}"
            advice = "check its name; name a commit of another branch by its full id"
            # A person names a commit of a branch; a document names a branch.
            raise (UsageError if branch else KalypsoError)(message, Location(url), advice)
        return commit

    def _named(self, url: str, name: str, branch: str) -> str:
        """Return the commit of a branch, a tag, or an abbreviated id of the branch; "" for none."""
        check_branch(name, url)
        clone = self._clone(url)
        commit = clone.heads([name]).get(name) or clone.tag(name)
        if not commit and branch and ABBREVIATED.fullmatch(name):
            head = clone.heads([branch]).get(branch)
            ids = self.ancestry(url, head).parents if head else ()
            matches = [object_id for object_id in ids if object_id.startswith(name)]
            commit = matches[0] if len(matches) == 1 else ""
        return commit or ""

    def commit(
        self,
        url: str,
        *,
        parent: str | None,
        changes: Mapping[str, FileContent | None],
        message: str,
        author: Signature,
        date: datetime,
        earlier: Sequence[Mapping[str, FileContent | None]] = (),
    ) -> str:
        """Make a commit on `parent` (None: a root commit) in the clone, and return its id.

        Commits with `earlier` changes come before it.
        In `changes`, None deletes a file or a whole folder, if it exists; bytes, or the id of a
        written blob, become a regular file and replace whatever is in the way. Equal inputs give
        the same commit. Raises KalypsoError for an unknown parent and for paths that no checkout
        would write.
        """
        if parent is not None:
            check_commit(parent, url)
        return self._clone(url).commit(parent, changes, message, author, date, earlier)

    def blob_writer(self, url: str) -> WriteBlobs | None:
        """Return a function that writes blobs for `commit`; see `ShallowClone.blob_writer`."""
        return self._clone(url).blob_writer()

    def push(
        self, url: str, commit: str, *, branch: str, expected: str | None
    ) -> Literal["pushed", "unchanged"]:
        """Move a branch from `expected` to a commit; create it if `expected` is None.

        The commit need not be a descendant. Return "unchanged" if the branch is at the commit
        already. Raises PushConflictError if the branch is elsewhere, KalypsoError with advice.
        """
        _check_arguments(url, branch, commit, expected)
        changed = self._clone(url).push(branch, commit, expected)
        return "pushed" if changed else "unchanged"

    def _clone(self, url: str) -> ShallowClone:
        url = self._accept(url)
        key = clone_key(url)
        with self._lock:
            if key not in self._clones:
                path = self._path(f"{len(self._clones)}.git")
                self._clones[key] = ShallowClone(
                    self._git, path, self._connection(url), with_files=key in self._with_files
                )
            return self._clones[key]

    def _history(self, url: str) -> HistoryClone:
        url = self._accept(url)
        key = clone_key(url)
        with self._lock:
            if key not in self._histories:
                path = self._path(f"history-{len(self._histories)}.git")
                self._histories[key] = HistoryClone(self._git, path, self._connection(url))
            return self._histories[key]

    def _connection(self, url: str) -> Connection:
        return Connection(self._git, url, self._sleep, self._accept, self._delays)

    def _accept(self, url: str) -> str:
        """Return a URL in the form for git. Raises KalypsoError if git may not read it."""
        url = accepted_url(url, self._protocols)
        self._check(url)
        return url

    def _path(self, name: str) -> Path:
        if self._folder is None:
            raise RuntimeError("remote repositories are used outside of the context")
        return Path(self._folder.name) / name


def _check_arguments(url: str, branch: str, *commits: str | None) -> None:
    check_branch(branch, url)
    for commit in commits:
        if commit is not None:
            check_commit(commit, url)
