"""Moving a branch elsewhere, if and only if it stands where it is expected to stand."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from kalypso_actions.clients.git.connection import DELAYS, Connection
from kalypso_actions.clients.git.errors import (
    clear_push_refusal,
    is_unsent,
    lacks_objects,
    may_push_later,
    push_failure,
)
from kalypso_actions.clients.process import ProcessError
from kalypso_actions.errors import KalypsoError, Location

PUSH: Final = (
    *("push", "--porcelain", "--no-verify", "--no-signed", "--no-follow-tags"),
    "--recurse-submodules=no",
)

THOROUGH: Final = (
    "push.negotiate=true",
    "remote.origin.promisor=true",
    "remote.origin.partialclonefilter=blob:none",
)
"""Ask the server which commits it has, and fetch what is still to be sent and not here."""


class PushConflictError(KalypsoError):
    """Somebody else has moved the branch: `head` is where it stands, None if there is none."""

    def __init__(self, branch: str, url: str, head: str | None) -> None:
        stands = f"stands at {head}" if head else "does not exist"
        super().__init__(
            f"the branch {branch!r} was changed by somebody else meanwhile: it {stands} now",
            Location(url),
            "run again",
        )
        self.head = head


def push(
    connection: Connection, git_dir: Path, branch: str, commit: str | None, expected: str | None
) -> bool:
    """Set a branch to a commit that is in `git_dir`, or delete it (None); whether this changed it.

    It must stand at `expected` (None: not exist), which the server checks at the moment of the
    change. After a failure that does not say what happened the server is asked where the branch
    stands, before anything is repeated: a push that was done is never done again.
    Raises PushConflictError, or KalypsoError saying what to change.
    """
    return _Push(connection, git_dir, branch, commit, expected).run()


class _Push:
    """One push, tried until it is clear what became of it."""

    def __init__(
        self,
        connection: Connection,
        git_dir: Path,
        branch: str,
        commit: str | None,
        expected: str | None,
    ) -> None:
        self._connection = connection
        self._git_dir = git_dir
        self._branch = branch
        self._ref = f"refs/heads/{branch}"
        self._commit = commit
        self._deed = "pushed" if commit else "deleted"
        self._expected = expected
        self._thorough = False
        self._may_be_done = False
        """By an attempt that failed.

        Even one that the server has rejected: libcurl repeats by itself what it has sent over a
        kept connection that ends without an answer, and the server refuses to do it twice.
        """

    def run(self) -> bool:
        delays = iter(DELAYS)
        while True:
            try:
                answer = self._attempt()
            except ProcessError as error:
                if self._settled(error):
                    return self._may_be_done
                if lacks_objects(error) and not self._thorough:
                    self._thorough = True
                    continue
                delay = next(delays, None)
                if delay is None or not may_push_later(error):
                    url = self._connection.url
                    raise push_failure(error, url, self._branch, self._deed) from error
                self._connection.sleep(delay)
            else:
                return self._may_be_done or _has_changed(answer)

    def _attempt(self) -> bytes:
        """Without THOROUGH nothing is fetched.

        It suffices where the parent is the head of a branch there, as it mostly is.
        """
        lease = f"--force-with-lease={self._ref}:{self._expected or ''}"
        return self._connection.call(
            self._git_dir,
            [*PUSH, lease, "origin", f"{self._commit or ''}:{self._ref}"],
            f"the branch {self._branch!r}",
            settings=THOROUGH if self._thorough else (),
            lazy_fetch=self._thorough,
        )

    def _settled(self, error: ProcessError) -> bool:
        """Whether the branch stands where it shall, whatever was said.

        Raises PushConflictError when it stands elsewhere, KalypsoError for a clear refusal.
        """
        refusal = clear_push_refusal(error, self._connection.url, self._branch, self._deed)
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
                f"whether the branch {self._branch!r} was {self._deed} is not known: "
                f"{error.problem.message}; then {unknown.problem.message}",
                Location(self._connection.url),
                "run again: what was done is not done twice",
            ) from error


def _has_changed(answer: bytes) -> bool:
    """`flag<TAB>from:to<TAB>summary` for the one ref; `=` says that it stood there already."""
    return not any(line.startswith(b"=\t") for line in answer.split(b"\n"))
