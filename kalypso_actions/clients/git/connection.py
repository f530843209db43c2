"""Call git for a remote repository: retry transient failures, follow a rename, push."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Final
from urllib.parse import urljoin

from kalypso_actions.clients.git.errors import (
    is_redirect,
    is_transient,
    is_unsent,
    lacks_objects,
    may_push_later,
    push_failure,
    push_refusal,
    read_error,
    redirect_target,
)
from kalypso_actions.clients.git.program import Git
from kalypso_actions.clients.git.urls import same_server
from kalypso_actions.clients.process import ProcessError
from kalypso_actions.errors import KalypsoError, Location
from kalypso_actions.model.urls import without_secret

FETCH: Final = ("fetch", "--quiet", "--no-tags")
PARTIAL_CLONE: Final = ("remote.origin.promisor=true",)

DELAYS: Final = (1.0, 2.0, 4.0)
"""Seconds before each retry of a transient failure."""

INTERACTIVE_DELAYS: Final = (1.0,)
"""The delays on a user's own machine: the user sees the failure, and may be offline."""


class Connection:
    """The connection to a remote repository. Not thread-safe."""

    def __init__(
        self,
        git: Git,
        url: str,
        sleep: Callable[[float], None],
        accept: Callable[[str], str],
        delays: Sequence[float] = DELAYS,
    ) -> None:
        """`delays` are the seconds before each retry of a read.

        `accept` returns a redirect's URL in the form for git, or raises KalypsoError.
        """
        self._git = git
        self._accept = accept
        self._url = url
        self._moved = False
        self._delays = delays
        self.sleep = sleep

    @property
    def url(self) -> str:
        """The repository's URL; after a rename, the new one."""
        return self._url

    def call(
        self,
        git_dir: Path,
        arguments: Sequence[str],
        subject: str,
        *,
        settings: Sequence[str] = (),
        stdin: bytes = b"",
        lazy_fetch: bool = False,
    ) -> bytes:
        """Call git once. Follow a renamed repository to its new URL, once, on the same server.

        `accept` must accept the new URL, which gets its own credential. Raises ProcessError, or
        KalypsoError if the server redirects `subject` elsewhere.
        """

        def attempt() -> bytes:
            return self._git.run_remote(
                git_dir, self._url, arguments, settings=settings, stdin=stdin, lazy_fetch=lazy_fetch
            )

        while True:
            try:
                return attempt()
            except ProcessError as error:
                if not is_redirect(error):
                    raise
            self._url = self._new_url(git_dir, subject)
            self._moved = True

    def read(
        self,
        git_dir: Path,
        arguments: Sequence[str],
        subject: str,
        *,
        settings: Sequence[str] = (),
        stdin: bytes = b"",
    ) -> bytes:
        """Call git for a read, and retry transient failures.

        Raises KalypsoError with the reason why `subject` cannot be read.
        """
        delays = iter(self._delays)
        while True:
            try:
                return self.call(git_dir, arguments, subject, settings=settings, stdin=stdin)
            except ProcessError as error:
                delay = next(delays, None)
                if delay is None or not is_transient(error):
                    raise read_error(error, self._url, subject) from error
                self.sleep(delay)

    def fetch(
        self,
        git_dir: Path,
        arguments: Sequence[str],
        subject: str,
        object_filter: str,
        *,
        negotiate: bool = True,
        stdin: bytes = b"",
    ) -> None:
        """Fetch into a partial clone; see `read`.

        Negotiation offers commits, which tell the server nothing about the blobs here.
        """
        settings = [*PARTIAL_CLONE, f"remote.origin.partialclonefilter={object_filter}"]
        settings += [] if negotiate else ["fetch.negotiationAlgorithm=noop"]
        command = [*FETCH, f"--filter={object_filter}", *arguments]
        self.read(git_dir, command, subject, settings=settings, stdin=stdin)

    def refs(
        self, git_dir: Path, refs: Collection[str], kind: str = "--heads"
    ) -> Mapping[str, str]:
        """Return the object ids of the refs that exist, by full name; `kind` is git's option."""
        if not refs:
            return {}
        arguments = ["ls-remote", kind, "origin", *sorted(refs)]
        output = self.read(git_dir, arguments, "the heads of its branches")
        lines = (line.split("\t") for line in output.decode("utf-8", "surrogateescape").split("\n"))
        # ls-remote also matches refs that end in the pattern.
        return {ref: object_id for object_id, *rest in lines for ref in rest if ref in refs}

    def _new_url(self, git_dir: Path, subject: str) -> str:
        """Return the target of the first redirect, if it is accepted and on the same server."""
        target = ""
        try:
            self._git.run_remote(git_dir, self._url, ["ls-remote", "origin"], trace=True)
        except ProcessError as error:
            # A redirect may consist of a path alone.
            location = redirect_target(error)
            target = urljoin(self._url, location) if location else ""
        if target and not self._moved and same_server(target, self._url):
            try:
                return self._accept(target)
            except KalypsoError as error:
                raise KalypsoError(
                    f"{subject} cannot be read: the server redirects git to "
                    f"{without_secret(target)}: {error.problem.message}",
                    Location(self._url),
                    error.problem.advice,
                ) from error
        where = f" to {without_secret(target)}" if target else ""
        again = "again" if self._moved else "elsewhere"
        raise KalypsoError(
            f"{subject} cannot be reached: the server redirects git {again}{where}",
            Location(self._url),
            "write the repository's new URL",
        )


PUSH: Final = (
    *("push", "--porcelain", "--no-verify", "--no-signed", "--no-follow-tags"),
    "--recurse-submodules=no",
)

NEGOTIATED: Final = (
    "push.negotiate=true",
    *PARTIAL_CLONE,
    "remote.origin.partialclonefilter=blob:none",
)
"""Settings that ask the server for its commits, and fetch missing objects that must be sent."""


class PushConflictError(KalypsoError):
    """Another push has moved the branch to `head` (None: it does not exist)."""

    def __init__(self, branch: str, url: str, head: str | None) -> None:
        state = f"is at {head}" if head else "does not exist"
        super().__init__(
            f"another push has changed the branch {branch!r}: it {state} now",
            Location(url),
            "run again",
        )
        self.head = head


def push(
    connection: Connection, git_dir: Path, branch: str, commit: str, expected: str | None
) -> bool:
    """Set a branch to a commit in `git_dir`; return whether it changed.

    The branch must be at `expected` (None: must not exist); the server compares at the moment of
    the change. After an uncertain failure, this reads the head of the branch before it retries, so
    it never repeats a successful push. Raises PushConflictError, or KalypsoError with advice.
    """
    ref, subject = f"refs/heads/{branch}", f"the branch {branch!r}"
    command = [*PUSH, f"--force-with-lease={ref}:{expected or ''}", "origin", f"{commit}:{ref}"]
    # A failed attempt may have succeeded, even if the server rejected it: libcurl resends a request
    # if a kept-alive connection ends without a response, and the server rejects the second one.
    may_be_done = False
    # The parent is usually the head of a remote branch, so the first attempt does not negotiate.
    settings: Sequence[str] = ()
    delays = iter(DELAYS)
    while True:
        try:
            output = connection.call(
                git_dir, command, subject, settings=settings, lazy_fetch=bool(settings)
            )
            return may_be_done or _has_changed(output)
        except ProcessError as error:
            refusal = push_refusal(error, connection.url, branch)
            if refusal:
                raise refusal from error
            may_be_done = may_be_done or not is_unsent(error)
            head = _head_after(error, connection, git_dir, branch)
            if head == commit:
                return may_be_done
            if head != expected:
                raise PushConflictError(branch, connection.url, head) from error
            if lacks_objects(error) and not settings:
                settings = NEGOTIATED
                continue
            delay = next(delays, None)
            if delay is None or not may_push_later(error):
                raise push_failure(error, connection.url, branch) from error
            connection.sleep(delay)


def _head_after(
    error: ProcessError, connection: Connection, git_dir: Path, branch: str
) -> str | None:
    """Return the head of a branch after a failed push. Raises KalypsoError if it is not known."""
    ref = f"refs/heads/{branch}"
    try:
        return connection.refs(git_dir, [ref]).get(ref)
    except KalypsoError as unknown:
        raise KalypsoError(
            f"it is not known whether the branch {branch!r} was pushed: "
            f"{error.problem.message}; then {unknown.problem.message}",
            Location(connection.url),
            "run again: a successful push is not repeated",
        ) from error


def _has_changed(output: bytes) -> bool:
    """Parse `flag<TAB>from:to<TAB>summary` of the ref; the flag `=` means unchanged."""
    return not any(line.startswith(b"=\t") for line in output.split(b"\n"))
