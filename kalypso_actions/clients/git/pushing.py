"""Move a remote branch by compare-and-swap."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from kalypso_actions.clients.git.connection import DELAYS, Connection
from kalypso_actions.clients.git.errors import (
    is_unsent,
    lacks_objects,
    may_push_later,
    push_failure,
    push_refusal,
)
from kalypso_actions.clients.process import ProcessError
from kalypso_actions.errors import KalypsoError, Location

PUSH: Final = (
    *("push", "--porcelain", "--no-verify", "--no-signed", "--no-follow-tags"),
    "--recurse-submodules=no",
)

NEGOTIATED: Final = (
    "push.negotiate=true",
    "remote.origin.promisor=true",
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
    return _Push(connection, git_dir, branch, commit, expected).run()


class _Push:
    """One push, with retries until its result is known."""

    def __init__(
        self,
        connection: Connection,
        git_dir: Path,
        branch: str,
        commit: str,
        expected: str | None,
    ) -> None:
        self._connection = connection
        self._git_dir = git_dir
        self._branch = branch
        self._ref = f"refs/heads/{branch}"
        self._commit = commit
        self._expected = expected
        self._negotiated = False
        self._may_be_done = False
        """Whether a failed attempt may have succeeded.

        This is possible even if the server rejected it: libcurl resends a request if a kept-alive
        connection ends without a response, and the server rejects the second one.
        """

    def run(self) -> bool:
        delays = iter(DELAYS)
        while True:
            try:
                output = self._attempt()
            except ProcessError as error:
                if self._is_done(error):
                    return self._may_be_done
                if lacks_objects(error) and not self._negotiated:
                    self._negotiated = True
                    continue
                delay = next(delays, None)
                if delay is None or not may_push_later(error):
                    raise push_failure(error, self._connection.url, self._branch) from error
                self._connection.sleep(delay)
            else:
                return self._may_be_done or _has_changed(output)

    def _attempt(self) -> bytes:
        """Push without NEGOTIATED first: the parent is usually the head of a remote branch."""
        lease = f"--force-with-lease={self._ref}:{self._expected or ''}"
        return self._connection.call(
            self._git_dir,
            [*PUSH, lease, "origin", f"{self._commit}:{self._ref}"],
            f"the branch {self._branch!r}",
            settings=NEGOTIATED if self._negotiated else (),
            lazy_fetch=self._negotiated,
        )

    def _is_done(self, error: ProcessError) -> bool:
        """Return whether the branch is at the commit despite the error.

        Raises PushConflictError if it is elsewhere, KalypsoError for a certain refusal.
        """
        refusal = push_refusal(error, self._connection.url, self._branch)
        if refusal:
            raise refusal from error
        self._may_be_done = self._may_be_done or not is_unsent(error)
        head = self._head(error)
        if head == self._commit:
            return True
        if head != self._expected:
            raise PushConflictError(self._branch, self._connection.url, head) from error
        return False

    def _head(self, error: ProcessError) -> str | None:
        try:
            return self._connection.refs(self._git_dir, [self._ref]).get(self._ref)
        except KalypsoError as unknown:
            raise KalypsoError(
                f"it is not known whether the branch {self._branch!r} was pushed: "
                f"{error.problem.message}; then {unknown.problem.message}",
                Location(self._connection.url),
                "run again: a successful push is not repeated",
            ) from error


def _has_changed(output: bytes) -> bool:
    """Parse `flag<TAB>from:to<TAB>summary` of the ref; the flag `=` means unchanged."""
    return not any(line.startswith(b"=\t") for line in output.split(b"\n"))
