"""The one place that starts programs: no shell, a listed part of the environment, a time limit."""

from __future__ import annotations

import logging
import os
import re
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from kalypso_actions.errors import KalypsoError

log = logging.getLogger(__name__)

INHERITED: Final = frozenset(
    {
        *("PATH", "HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "TZ", "TMPDIR", "TMP", "TEMP"),
        *("SSL_CERT_FILE", "SSL_CERT_DIR"),
        *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"),
        *("http_proxy", "https_proxy", "all_proxy", "no_proxy"),
        # Windows does not start a program without these.
        *("SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "USERPROFILE"),
        *("APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "PROGRAMFILES", "PROGRAMFILES(X86)"),
    }
)
"""Variables that every program gets; `LC_*` besides. Whatever else a job's environment holds,
tokens above all, stays here."""

LINGERING: Final = 5.0
"""Seconds that what a program leaves behind may hold its output open; then it is ended, too."""

GLANCE: Final = 0.1
"""Seconds between two looks at how much a program has written that may not write for ever."""

MAX_WORDS: Final = 4000
CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


_running: Final[set[subprocess.Popen[bytes]]] = set()
"""What all threads have started; a set takes in and gives away in one step."""

_interrupted: Final = threading.Event()


class ProcessError(KalypsoError):
    """A program is absent, failed, or took too long.

    `words` is what it wrote to standard error, `output` what it wrote to standard output, `status`
    its exit code if it ended by itself.
    """

    def __init__(
        self,
        message: str,
        *,
        words: str = "",
        output: bytes = b"",
        status: int | None = None,
        advice: str = "",
    ) -> None:
        super().__init__(message, advice=advice)
        self.words = words
        self.output = output
        self.status = status


class TooMuchError(ProcessError):
    """A program wrote more than it may, and was ended."""


class _OverflowError(Exception):
    """There is more output than there may be."""


class Programs:
    """Starts programs with the listed part of an environment (usually the process's own)."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = dict(environment)
        self._found: dict[str, Path] = {}

    def variable(self, name: str) -> str:
        """A variable of the environment; "" when it is not set."""
        return self._environment.get(name, "")

    def find(self, name: str) -> Path | None:
        """Where a program is, by the environment's PATH.

        The current folder does not count, where Windows looks first: it may hold what others wrote.
        What was found once stays there: a run starts git a hundred times.
        """
        if name not in self._found:
            found = shutil.which(name, path=self.variable("PATH"))
            if not found or not Path(found).is_absolute():
                return None
            self._found[name] = Path(found)
        return self._found[name]

    def run(
        self,
        arguments: Sequence[str],
        *,
        stdin: bytes = b"",
        folder: Path | None = None,
        extra: Mapping[str, str] | None = None,
        inherit: Iterable[str] = (),
        timeout: float = 600,
        most: int | None = None,
        logged: str = "",
    ) -> bytes:
        """Run a program and return its standard output.

        `arguments` begin with the program's name, found by PATH, and never hold a secret: other
        users of a machine can read them. `extra` is added to its environment, and so are the
        variables named by `inherit`. `logged` says to people what is run (default: the arguments).
        After `timeout` seconds it is ended with all that it has started, and so it is where it
        writes more than `most` bytes. Raises ProcessError, in that case TooMuchError.
        """
        name = arguments[0]
        program = self.find(name)
        if program is None:
            raise ProcessError(
                f"the program {name} was not found", advice=f"install {name}, or correct PATH"
            )
        environment = self._inherited(inherit) | dict(extra or {})
        started = time.monotonic()
        process = _start([str(program), *arguments[1:]], folder, environment)
        _running.add(process)
        try:
            if _interrupted.is_set():
                raise ProcessError("the run was interrupted")
            output, errors = _communicate(process, stdin, timeout, most)
        except subprocess.TimeoutExpired:
            message = f"{name} did not finish within {timeout:g} seconds"
            raise ProcessError(message, advice="try again later") from None
        except _OverflowError:
            raise TooMuchError(f"{name} wrote more than {most} bytes") from None
        finally:
            _end(process)
            _running.discard(process)
            _let_go(process)
            log.debug("%s  %.2f s", logged or " ".join(arguments), time.monotonic() - started)
        if process.returncode != 0:
            words = _words(errors)
            message = words or f"exit code {process.returncode}"
            raise ProcessError(
                f"{name}: {message}", words=words, output=output, status=process.returncode
            )
        return output

    def _inherited(self, names: Iterable[str]) -> dict[str, str]:
        allowed = INHERITED | frozenset(names)
        return {
            name: value
            for name, value in self._environment.items()
            # Windows does not tell names by their case, and neither do the proxies' names.
            if name in allowed or name.upper() in allowed or name.startswith("LC_")
        }


def end_programs() -> None:
    """End all programs that run, and let none begin: for a run that is interrupted.

    Whoever waits for one of them gets a ProcessError.
    """
    _interrupted.set()
    for process in list(_running):
        _kill(process)


def _start(
    arguments: Sequence[str], folder: Path | None, environment: Mapping[str, str]
) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            arguments,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
            env=environment,
            # A session of its own has no terminal to ask for passwords on, and ends as a whole.
            start_new_session=True,
        )
    except OSError as error:
        raise ProcessError(f"{arguments[0]} cannot be started: {error.strerror}") from error


def _communicate(
    process: subprocess.Popen[bytes], stdin: bytes, timeout: float, most: int | None
) -> tuple[bytes, bytes]:
    """All that the program writes. Raises subprocess.TimeoutExpired, _OverflowError.

    What it has started and left behind, as a shell does with `&`, may hold its output open.
    """
    given: bytes | None = stdin
    left = timeout
    lingering: float | None = None
    while True:
        pause = min(left, LINGERING if most is None else GLANCE)
        try:
            output, errors = process.communicate(given, timeout=pause)
        except subprocess.TimeoutExpired as waited:
            _check_length(waited.output, most)
            if process.returncode is not None:
                # Its group is ended, and somebody in a session of his own holds the output.
                return waited.output or b"", waited.stderr or b""
            given = None
            left -= pause
            if left <= 0:
                raise
            if lingering is not None:
                lingering += pause
            elif _is_over(process):
                lingering = 0.0
            if lingering is not None and lingering >= LINGERING:
                _end(process)
        else:
            _check_length(output, most)
            return output, errors


def _check_length(output: bytes | None, most: int | None) -> None:
    if most is not None and len(output or b"") > most:
        raise _OverflowError


def _is_over(process: subprocess.Popen[bytes]) -> bool:
    """Whether the program itself has ended.

    It is not waited for yet: until then its number, which is that of its group, is nobody else's.
    """
    if not hasattr(os, "waitid"):
        return process.poll() is not None
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the program and what it has started, if anything of that still runs."""
    if process.returncode is None:
        _kill(process)
        process.wait()


def _kill(process: subprocess.Popen[bytes]) -> None:
    if process.returncode is not None:
        return  # its number may be another group's by now
    if os.name == "posix":
        with suppress(ProcessLookupError, PermissionError):  # macOS forbids it once all are over
            os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()


def _let_go(process: subprocess.Popen[bytes]) -> None:
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None and not pipe.closed:
            pipe.close()


def _words(errors: bytes) -> str:
    """What a program said, fit for a terminal: no control characters, its end if it is long."""
    text = CONTROL.sub("", errors.decode("utf-8", "replace").replace("\r", "\n")).strip()
    return text if len(text) <= MAX_WORDS else "…" + text[-MAX_WORDS:]
