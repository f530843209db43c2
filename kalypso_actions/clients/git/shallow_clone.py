"""A bare clone of a remote repository, one commit deep.

It fetches blobs with their commit, or when something reads them.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Final, Literal

from kalypso_actions.clients.git.commits import (
    FAST_IMPORT,
    WRITING,
    Signature,
    fast_import,
    import_blobs,
)
from kalypso_actions.clients.git.connection import Connection, push
from kalypso_actions.clients.git.errors import MISMATCHED_FORMAT, MISSING_REF
from kalypso_actions.clients.git.files import GitFiles
from kalypso_actions.clients.git.program import Git
from kalypso_actions.clients.process import ProcessError
from kalypso_actions.errors import KalypsoError, Location
from kalypso_actions.model.object_ids import FileContent
from kalypso_actions.model.processes import WriteBlobs

ObjectFormat = Literal["sha1", "sha256"]

CONFIGURATION: Final[dict[ObjectFormat, str]] = {
    "sha1": "[core]\n\trepositoryformatversion = 0\n\tbare = true\n\tfsync = none\n",
    "sha256": (
        "[core]\n\trepositoryformatversion = 1\n\tbare = true\n\tfsync = none\n"
        "[extensions]\n\tobjectformat = sha256\n"
    ),
}
"""https://git-scm.com/docs/repository-version. No fsync: git would fetch lost objects again."""


def create_bare_repository(git_dir: Path, object_format: ObjectFormat) -> None:
    """Create an empty repository, unless it exists."""
    if (git_dir / "config").exists():
        return
    for folder in ("objects", "refs"):
        (git_dir / folder).mkdir(parents=True, exist_ok=True)
    (git_dir / "HEAD").write_text("ref: refs/heads/main\n", newline="\n")
    (git_dir / "config").write_text(CONFIGURATION[object_format], newline="\n")


def object_format_of(object_id: str) -> ObjectFormat:
    """Return the object format by the length of an id; sha1 for other texts."""
    return "sha256" if len(object_id) == 64 else "sha1"


NO_BLOBS: Final = "blob:none"
SMALL_BLOBS: Final = "blob:limit=64k"
"""Documents of a control plane are smaller; git fetches larger blobs when something reads them.

https://git-scm.com/docs/git-rev-list#Documentation/git-rev-list.txt---filterltfilter-specgt
"""


class ShallowClone:
    """A bare repository with the fetched commits of a remote, and new commits for it.

    Thread-safe; one thread works at a time.
    """

    def __init__(
        self, git: Git, git_dir: Path, connection: Connection, *, with_files: bool = False
    ) -> None:
        """With `with_files`, fetch small files with their commit; otherwise, on reading."""
        self._git = git
        self._git_dir = git_dir
        self._filter = SMALL_BLOBS if with_files else NO_BLOBS
        self._connection = connection
        self._lock = threading.Lock()
        self._format: ObjectFormat | None = None
        self._default_branches: dict[str, str] = {}
        self._heads: dict[str, str] = {}
        self._commits: set[str] = set()
        self._files: dict[tuple[str, str], GitFiles] = {}

    def default_branch(self, preferred: str) -> str:
        """Return `preferred` if it exists, else the branch of the remote's HEAD; ask once.

        This fetches the head of the preferred branch, because most callers read it next.
        """
        with self._lock:
            if preferred not in self._default_branches:
                exists = preferred in self._heads or (
                    preferred and self._try_fetch_branch(preferred, "the default branch")
                )
                self._default_branches[preferred] = (
                    preferred if exists else self._read_default_branch()
                )
            return self._default_branches[preferred]

    def heads(self, branches: Collection[str]) -> dict[str, str]:
        """Return the current heads of the branches that exist."""
        with self._lock:
            self._initialise()
            refs = {f"refs/heads/{branch}": branch for branch in branches}
            commits = self._connection.refs(self._git_dir, refs)
            return {refs[ref]: commit for ref, commit in commits.items()}

    def tag(self, name: str) -> str:
        """Return the commit of a tag; "" if it does not exist."""
        with self._lock:
            self._initialise()
            ref = f"refs/tags/{name}"
            commits = self._connection.refs(self._git_dir, (ref, f"{ref}^{{}}"), kind="--tags")
            return commits.get(f"{ref}^{{}}") or commits.get(ref, "")

    def fetch_branch(self, branch: str) -> str:
        """Return the commit of a branch's head; fetch it the first time."""
        with self._lock:
            if branch not in self._heads:
                self._fetch_branch(branch, f"the branch {branch!r}")
            return self._heads[branch]

    def fetch_head(self, branch: str) -> str | None:
        """Fetch the current head of a branch and return its commit; None for a missing branch."""
        with self._lock:
            exists = self._try_fetch_branch(branch, f"the branch {branch!r}")
            return self._heads[branch] if exists else None

    def forget_heads(self) -> None:
        """Fetch each branch again the next time."""
        with self._lock:
            self._heads.clear()
            self._default_branches.clear()

    def fetch_commit(self, commit: str) -> None:
        """Fetch a commit unless it is here."""
        with self._lock:
            self._need(commit)

    def files(self, url: str, commit: str) -> GitFiles:
        """Return the files of a fetched commit, listed once; `url` is the name for messages."""
        with self._lock:
            if (url, commit) not in self._files:
                self._files[url, commit] = GitFiles(
                    self._git, self._git_dir, url, commit, self._fetch_blobs
                )
            return self._files[url, commit]

    def commit(
        self,
        parent: str | None,
        changes: Mapping[str, FileContent | None],
        message: str,
        author: Signature,
        date: datetime,
        earlier: Sequence[Mapping[str, FileContent | None]] = (),
    ) -> str:
        """Make a commit here and return its id; see `commits.fast_import`."""
        stream = fast_import(parent, changes, message, author, date, self._list_folders, earlier)
        with self._lock:
            if parent:
                self._need(parent)
            else:
                self._initialise(self._remote_format())
            commit = self._import(stream).decode().strip()
            self._commits.add(commit)
            return commit

    def _list_folders(self, commit: str, path: str) -> Collection[str]:
        files = GitFiles(self._git, self._git_dir, self._connection.url, commit)
        return files.folder_ids(path)

    def blob_writer(self) -> WriteBlobs | None:
        """Return a function that writes blobs for a commit; None unless their ids are SHA-1.

        Only a fetched commit makes the format certain.
        """
        return self._write_blobs if self._commits and self._format == "sha1" else None

    def _write_blobs(self, contents: Iterable[bytes]) -> None:
        self._import(import_blobs(contents), timeout=WRITING)

    def _import(self, stream: Iterable[bytes], timeout: float = 600) -> bytes:
        try:
            return self._git.run(self._git_dir, FAST_IMPORT, stdin=stream, timeout=timeout)
        except ProcessError as error:
            fault = f"the commit cannot be made: {error.problem.message}"
            raise KalypsoError(fault, Location(self._connection.url)) from error

    def push(self, branch: str, commit: str, expected: str | None) -> bool:
        """Set a remote branch; see `pushing.push`."""
        with self._lock:
            self._need(commit)
            return push(self._connection, self._git_dir, branch, commit, expected)

    def _fetch_branch(self, branch: str, subject: str) -> None:
        self._fetch(f"+refs/heads/{branch}:{_local_ref(branch)}", subject)
        fetch_head = (self._git_dir / "FETCH_HEAD").read_text("utf-8", "surrogateescape")
        self._heads[branch] = fetch_head.split("\t")[0]
        self._commits.add(self._heads[branch])

    def _try_fetch_branch(self, branch: str, subject: str) -> bool:
        """Fetch a branch; return whether it exists."""
        try:
            self._fetch_branch(branch, subject)
        except KalypsoError as error:
            cause = error.__cause__
            if not isinstance(cause, ProcessError) or MISSING_REF not in cause.stderr:
                raise
            return False
        return True

    def _need(self, commit: str) -> None:
        if commit not in self._commits:
            self._fetch(commit, f"the commit {commit}")
            self._commits.add(commit)

    def _initialise(self, object_format: ObjectFormat | None = None) -> None:
        """Create an empty repository unless it exists; by default, with any object format."""
        object_format = object_format or self._format or "sha1"
        if self._format == object_format:
            return
        self._git_dir = self._git_dir.with_name(f"{self._git_dir.stem}-{object_format}.git")
        create_bare_repository(self._git_dir, object_format)
        self._format = object_format

    def _remote_format(self) -> ObjectFormat | None:
        """Return the format of fetched commits, else of any remote branch; sha1 without any."""
        if self._commits:
            return self._format
        self._initialise()
        subject = "the repository's object format"
        output = self._connection.read(self._git_dir, ["ls-remote", "--heads", "origin"], subject)
        return object_format_of(output.split(b"\t")[0].decode())

    def _fetch(self, refspec: str, subject: str) -> None:
        """Fetch one commit without its history."""
        self._initialise(self._format or object_format_of(refspec))
        arguments = ["--depth=1", "origin", refspec]
        try:
            self._run_fetch(arguments, subject, self._filter)
        except KalypsoError as error:
            cause = error.__cause__
            if not isinstance(cause, ProcessError) or MISMATCHED_FORMAT not in cause.stderr:
                raise
            self._initialise("sha256" if self._format == "sha1" else "sha1")
            self._run_fetch(arguments, subject, self._filter)

    def _fetch_blobs(self, ids: Collection[str]) -> None:
        """Fetch blobs in one request."""
        request = "".join(f"{blob}\n" for blob in sorted(ids)).encode()
        with self._lock:
            self._run_fetch(["--stdin", "origin"], "files", NO_BLOBS, request)

    def _read_default_branch(self) -> str:
        self._initialise()
        arguments = ["ls-remote", "--symref", "origin", "HEAD"]
        subject = "the default branch"
        output = self._connection.read(self._git_dir, arguments, subject)
        lines = [line.split("\t") for line in output.decode("utf-8", "replace").splitlines()]
        for reference, *_ in lines:
            if reference.startswith("ref: refs/heads/"):
                return reference.removeprefix("ref: refs/heads/")
        where = Location(self._connection.url)
        raise KalypsoError(
            "the repository is empty, or its default branch does not exist",
            where,
            "push a first commit (kalypso init fills a control plane), or name the branch",
        )

    def _run_fetch(
        self, arguments: list[str], subject: str, blobs: str, stdin: bytes = b""
    ) -> None:
        # Between branches of a control plane, negotiation saves little, and takes another request.
        negotiate = not stdin and blobs != SMALL_BLOBS
        self._connection.fetch(
            self._git_dir, arguments, subject, blobs, negotiate=negotiate, stdin=stdin
        )


def _local_ref(branch: str) -> str:
    """Return the local ref of a fetched branch.

    The branch's own name may be invalid for a file here, or equal to another branch's folder.
    """
    name = hashlib.sha256(branch.encode("utf-8", "surrogateescape")).hexdigest()
    return f"refs/kalypso/heads/{name}"
