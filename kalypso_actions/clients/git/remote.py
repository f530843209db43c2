"""Copies of repositories elsewhere: one commit deep, without blobs until they are wanted."""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from kalypso_actions.clients.git.files import GitFiles
from kalypso_actions.clients.git.local import check_branch, check_commit
from kalypso_actions.clients.git.program import Git
from kalypso_actions.clients.git.refusals import (
    MISMATCHED_FORMAT,
    is_redirect,
    is_transient,
    redirect_target,
    refusal,
)
from kalypso_actions.clients.git.urls import check_url, copy_key, same_server, without_secret
from kalypso_actions.clients.process import ProcessError, Programs
from kalypso_actions.errors import KalypsoError, Location

DELAYS: Final = (1.0, 2.0, 4.0)
"""Seconds before each new attempt after a transient failure."""

FETCH: Final = ("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--filter=blob:none")


class RemoteRepositories:
    """Fetches commits of remote repositories; a context manager that owns the copies.

    Each repository is copied once, and within one context a branch is the same commit however
    often it is asked for. Safe to use from several threads.
    """

    def __init__(
        self,
        programs: Programs,
        *,
        protocols: frozenset[str] = frozenset({"https"}),
        credentials: Mapping[str, str] | None = None,
        trust_user_config: bool = False,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """`credentials`: URL prefix -> value of the header Authorization (`Basic …`)."""
        self._protocols = protocols
        self._git = Git(
            programs,
            protocols=protocols,
            credentials=credentials,
            trust_user_config=trust_user_config,
        )
        self._sleep = sleep
        self._lock = threading.Lock()
        self._copies: dict[str, _Copy] = {}
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

    def fetch(self, url: str, *, branch: str = "", commit: str = "") -> GitFiles:
        """The files of a commit, or of a branch's head (without either: the default branch's).

        Raises KalypsoError saying what to change.
        """
        copy = self._copy(url)
        if commit:
            check_commit(commit, url)
            copy.fetch_commit(commit)
        else:
            branch = branch or copy.default_branch("")
            check_branch(branch, url)
            commit = copy.fetch_branch(branch)
        return copy.files(url, commit)

    def default_branch(self, url: str, *, preferred: str = "") -> str:
        """`preferred` where it exists, else the branch of HEAD. Raises KalypsoError."""
        return self._copy(url).default_branch(preferred)

    def _copy(self, url: str) -> _Copy:
        check_url(url, self._protocols)
        key = copy_key(url)
        with self._lock:
            if self._folder is None:
                raise RuntimeError("fetch is used outside of the context")
            if key not in self._copies:
                path = Path(self._folder.name) / f"{len(self._copies)}.git"
                self._copies[key] = _Copy(self._git, path, url, self._sleep)
            return self._copies[key]


class _Copy:
    """A bare repository that holds what has been fetched of one remote."""

    def __init__(self, git: Git, git_dir: Path, url: str, sleep: Callable[[float], None]) -> None:
        self._git = git
        self._git_dir = git_dir
        self._url = url
        self._sleep = sleep
        self._lock = threading.Lock()
        self._format = ""
        self._heads: dict[str, str] = {}
        self._missing: dict[str, frozenset[str]] = {}
        self._fetched: set[str] = set()

    def default_branch(self, preferred: str) -> str:
        """`preferred` where it exists, else the branch that the remote's HEAD stands on."""
        with self._lock:
            self._initialise("sha1")
            wanted = ["HEAD", *([f"refs/heads/{preferred}"] if preferred else [])]
            arguments = ["ls-remote", "--symref", "origin", *wanted]
            answer = self._talk(arguments, "the default branch").decode("utf-8", "replace")
            lines = [line.split("\t") for line in answer.splitlines()]
            if preferred and any(line[-1] == f"refs/heads/{preferred}" for line in lines):
                return preferred
            for reference, *_ in lines:
                if reference.startswith("ref: refs/heads/"):
                    return reference.removeprefix("ref: refs/heads/")
            message = "the repository has no default branch"
            raise KalypsoError(message, Location(self._url), "name the branch")

    def fetch_branch(self, branch: str) -> str:
        """Fetch a branch's head, the first time, and return its commit."""
        with self._lock:
            if branch not in self._heads:
                ref = f"refs/heads/{branch}"
                self._fetch(f"+{ref}:{ref}", f"the branch {branch!r}")
                commit = self._git.run(self._git_dir, ["rev-parse", "--verify", ref + "^{commit}"])
                self._heads[branch] = commit.decode().strip()
                self._note_missing(self._heads[branch])
            return self._heads[branch]

    def fetch_commit(self, commit: str) -> None:
        """Fetch a commit, unless it is here already."""
        with self._lock:
            if commit not in self._missing:
                self._fetch(commit, f"the commit {commit}")
                self._note_missing(commit)

    def files(self, url: str, commit: str) -> GitFiles:
        """The files of a fetched commit, for who calls the repository `url`."""
        missing = self._missing[commit]
        fetch = (lambda ids: self._fetch_blobs(missing.intersection(ids))) if missing else None
        return GitFiles(self._git, self._git_dir, url, commit, fetch)

    def _initialise(self, object_format: str) -> None:
        if self._format != object_format:
            self._git_dir = self._git_dir.with_name(f"{self._git_dir.stem}-{object_format}.git")
            arguments = ["init", "--quiet", "--bare", "--template="]
            self._git.run(self._git_dir, [*arguments, f"--object-format={object_format}"])
            self._format = object_format

    def _fetch(self, refspec: str, what: str) -> None:
        """Fetch one commit without its history and blobs."""
        self._initialise(self._format or ("sha256" if len(refspec) == 64 else "sha1"))
        arguments = [*FETCH, "--depth=1", "origin", refspec]
        try:
            self._talk(arguments, what)
        except KalypsoError as error:
            cause = error.__cause__
            if not isinstance(cause, ProcessError) or MISMATCHED_FORMAT not in cause.words:
                raise
            self._initialise("sha256" if self._format == "sha1" else "sha1")
            self._talk(arguments, what)

    def _note_missing(self, commit: str) -> None:
        """Remember which blobs are not here: all of them, or none if the server cannot filter."""
        arguments = ["rev-list", "--objects", "--no-object-names", "--missing=print", commit]
        output = self._git.run(self._git_dir, arguments).decode()
        missing = (line[1:] for line in output.split("\n") if line.startswith("?"))
        self._missing[commit] = frozenset(missing)

    def _fetch_blobs(self, ids: Collection[str]) -> None:
        """Fetch all these blobs by one request."""
        with self._lock:
            wanted = sorted(set(ids) - self._fetched)
            if wanted:
                request = "".join(f"{one}\n" for one in wanted).encode()
                settings = ["-c", "fetch.negotiationAlgorithm=noop"]
                self._talk([*settings, *FETCH, "--stdin", "origin"], "files", stdin=request)
                self._fetched.update(wanted)

    def _talk(self, arguments: Sequence[str], what: str, *, stdin: bytes = b"") -> bytes:
        """Ask the remote, again after a transient failure. Raises KalypsoError."""
        moved = False
        delays = iter(DELAYS)
        while True:
            try:
                return self._git.run_remote(self._git_dir, self._url, arguments, stdin=stdin)
            except ProcessError as error:
                if is_redirect(error) and not moved:
                    self._url = self._new_url(what)
                    moved = True
                    continue
                delay = next(delays, None)
                if delay is None or not is_transient(error):
                    raise refusal(error, self._url, what) from error
                self._sleep(delay)

    def _new_url(self, what: str) -> str:
        """Where the server says that the repository is now, if that is on the same server."""
        target = ""
        try:
            self._git.run_remote(self._git_dir, self._url, ["ls-remote", "origin"], trace=True)
        except ProcessError as error:
            target = redirect_target(error)
        if target and same_server(target, self._url):
            return target
        where = f" to {without_secret(target)}" if target else ""
        raise KalypsoError(
            f"{what} cannot be read: the server sends git elsewhere{where}",
            Location(self._url),
            "write the repository's new URL",
        )
