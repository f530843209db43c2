"""Start programs: without a shell, with a listed part of the environment, for a limited time.

Programs that read other people's files also get limits of memory, and no network.
"""

from __future__ import annotations

import ctypes
import errno
import logging
import math
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from kalypso_actions.errors import KalypsoError

log = logging.getLogger(__name__)

if sys.platform == "linux":
    import resource


def limit_resources(
    process_id: int, max_memory: int, timeout: float, cpu_seconds: int | None
) -> None:
    """Limit data and processor time of a running process; only Linux can do that from outside.

    The limit is RLIMIT_DATA, because Go programs reserve address space that they never use, and
    RLIMIT_AS counts it. The limit of time also ends a program if this process was killed; it counts
    the time of each processor.
    """
    if sys.platform == "linux":
        seconds = cpu_seconds or math.ceil(timeout * (os.cpu_count() or 1)) + 1
        with suppress(ProcessLookupError):  # it has ended
            for kind, limit in ((resource.RLIMIT_DATA, max_memory), (resource.RLIMIT_CPU, seconds)):
                # A limit must not exceed that of this process.
                _, hard = resource.prlimit(process_id, kind)
                least = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
                resource.prlimit(process_id, kind, (least, least))


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
"""Variables that every program gets, besides `LC_*`. Programs get no other variable of a job, since
some hold tokens."""

ORPHAN_TIMEOUT: Final = 5.0
"""Seconds that a program's leftover processes may keep its output open before they are killed."""

OUTPUT_CHECK_INTERVAL: Final = 0.1
"""Seconds between two checks of a limited output."""

SMALL_OUTPUT: Final = 1 << 23
SMALL_OUTPUT_CHECK_INTERVAL: Final = 0.01
"""Short, because a program can write a gigabyte in a second, far beyond a limit of megabytes."""

MAX_ERROR_LENGTH: Final = 4000
CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")

_running: Final[set[subprocess.Popen[bytes]]] = set()
"""The processes of all threads; adding to a set and discarding from it are atomic."""

_interrupted: Final = threading.Event()


class ProcessError(KalypsoError):
    """A program is absent, failed, or took too long.

    `status` is the exit code of a program that ended by itself.
    """

    def __init__(
        self,
        message: str,
        *,
        stderr: str = "",
        stdout: bytes = b"",
        status: int | None = None,
        advice: str = "",
    ) -> None:
        super().__init__(message, advice=advice)
        self.stderr = stderr
        self.stdout = stdout
        self.status = status


class OutputLimitError(ProcessError):
    """A program wrote more than it may, and was killed."""


class _OverflowError(Exception):
    """The output exceeds its limit."""


class Programs:
    """Start programs with the listed part of an environment, usually that of this process."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = dict(environment)
        self._paths: dict[str, Path] = {}

    def variable(self, name: str) -> str:
        """Return a variable of the environment; "" if it is not set."""
        return self._environment.get(name, "")

    def find(self, name: str) -> Path | None:
        """Find a program by the environment's PATH.

        Windows also looks in the current folder, which may hold other people's files; programs
        there do not count. This caches paths, since a run starts git a hundred times.
        """
        if name not in self._paths:
            path = shutil.which(name, path=self.variable("PATH"))
            if not path or not Path(path).is_absolute():
                return None
            self._paths[name] = Path(path)
        return self._paths[name]

    def run(
        self,
        arguments: Sequence[str],
        *,
        stdin: bytes | Iterable[bytes] = b"",
        folder: Path | None = None,
        extra: Mapping[str, str] | None = None,
        inherit: Iterable[str] = (),
        timeout: float = 600,
        max_output: int | None = None,
        max_memory: int | None = None,
        cpu_seconds: int | None = None,
        log_text: str = "",
    ) -> bytes:
        """Run a program and return its standard output.

        `arguments` begin with the program's name and must not hold a secret, because other users of
        the machine can read them. The program also gets `extra` and the variables that `inherit`
        names. Write parts of `stdin` as the program reads them. `log_text` replaces the arguments
        in the log. After `timeout` seconds, or more than `max_output` bytes of output, kill the
        program and all processes that it has started. On Linux, `max_memory` limits the bytes of a
        program's data, and such a program ends even if this process is killed; `cpu_seconds` limits
        the program's processor time. Raises ProcessError, or OutputLimitError.
        """
        name, *rest = arguments
        program = self._required(name)
        environment = self._inherited(inherit) | dict(extra or {})
        started = time.monotonic()
        process = _start([str(program), *rest], folder, environment)
        if max_memory is not None:
            limit_resources(process.pid, max_memory, timeout, cpu_seconds)
        _running.add(process)
        try:
            if _interrupted.is_set():
                raise ProcessError("the run was interrupted")
            with _feeding(process, stdin):
                stdout, stderr = _communicate(process, timeout, max_output)
        except subprocess.TimeoutExpired as expired:
            message = f"{name} did not finish within {timeout:g} seconds"
            errors = _printable(expired.stderr or b"")
            raise ProcessError(message, stderr=errors, advice="try again later") from None
        except _OverflowError:
            raise OutputLimitError(f"{name} wrote more than {max_output} bytes") from None
        finally:
            _end(process)
            _running.discard(process)
            _close_pipes(process)
            log.debug("%s  %.2f s", log_text or " ".join(arguments), time.monotonic() - started)
        if process.returncode != 0:
            raise _failure(name, process.returncode, stdout, _printable(stderr))
        return stdout

    def _required(self, name: str) -> Path:
        program = self.find(name)
        if program is None:
            raise ProcessError(
                f"the program {name} was not found", advice=f"install {name}, or correct PATH"
            )
        return program

    def _inherited(self, names: Iterable[str]) -> dict[str, str]:
        allowed = frozenset(names)
        return {
            name: value
            for name, value in self._environment.items()
            if name in allowed or name.upper() in allowed or is_inherited(name)
        }


def is_inherited(variable: str) -> bool:
    """Whether every program gets a variable."""
    # On Windows, case does not matter; proxies are also named in lower case.
    return variable.upper() in INHERITED or variable.startswith("LC_")


def end_programs() -> None:
    """Kill all running programs and let none start, because the run is interrupted.

    Threads that wait for one of them get a ProcessError.
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
            # A new session has no terminal for password prompts, and can be killed as a whole.
            start_new_session=True,
        )
    except OSError as error:
        raise ProcessError(f"{arguments[0]} cannot be started: {error.strerror}") from error


@contextmanager
def _feeding(process: subprocess.Popen[bytes], stdin: bytes | Iterable[bytes]) -> Iterator[None]:
    """Write the input, in a thread.

    `communicate` would lose the input that it cannot write before its timeout, and on a busy
    machine a short timeout ends before the first byte.
    """
    pipe, process.stdin = process.stdin, None
    if stdin == b"" and pipe is not None:
        pipe.close()
        yield
        return
    parts = [stdin] if isinstance(stdin, bytes) else stdin
    errors: list[BaseException] = []

    def write() -> None:
        try:
            if pipe is not None:
                with pipe:
                    pipe.writelines(parts)
        except BrokenPipeError:
            pass  # the program has ended, and its exit code says why
        except BaseException as error:  # noqa: BLE001 - the caller's thread raises it
            if os.name == "nt" and isinstance(error, OSError) and error.errno == errno.EINVAL:
                return  # the same on Windows
            errors.append(error)
            _kill(process)

    thread = threading.Thread(target=write, daemon=True)
    thread.start()
    try:
        yield
    finally:
        _end(process)
        # A leftover process may hold the input without reading it.
        thread.join(ORPHAN_TIMEOUT if isinstance(stdin, bytes) else None)
        if errors:
            raise errors[0]


def _failure(name: str, status: int, stdout: bytes, errors: str) -> ProcessError:
    message = f"{name}: {errors or f'exit code {status}'}"
    return ProcessError(message, stderr=errors, stdout=stdout, status=status)


def _communicate(
    process: subprocess.Popen[bytes], timeout: float, max_output: int | None
) -> tuple[bytes, bytes]:
    """Return standard output and standard error.

    Processes that the program leaves behind, as a shell does with `&`, may keep its output open.
    Raises subprocess.TimeoutExpired, _OverflowError.
    """
    left = timeout
    orphaned_for: float | None = None
    interval = ORPHAN_TIMEOUT if max_output is None else OUTPUT_CHECK_INTERVAL
    if max_output is not None and max_output <= SMALL_OUTPUT:
        interval = SMALL_OUTPUT_CHECK_INTERVAL
    while True:
        pause = min(left, interval)
        try:
            stdout, stderr = process.communicate(timeout=pause)
        except subprocess.TimeoutExpired as expired:
            _check_length(expired.output, max_output)
            if process.returncode is not None:
                # The group is dead, so a process in another session keeps the output open.
                return expired.output or b"", expired.stderr or b""
            left -= pause
            if left <= 0:
                raise
            if orphaned_for is not None:
                orphaned_for += pause
            elif _has_ended(process):
                orphaned_for = 0.0
            if orphaned_for is not None and orphaned_for >= ORPHAN_TIMEOUT:
                _end(process)
        else:
            _check_length(stdout, max_output)
            return stdout, stderr


def _check_length(output: bytes | None, max_output: int | None) -> None:
    if max_output is not None and len(output or b"") > max_output:
        raise _OverflowError


def _has_ended(process: subprocess.Popen[bytes]) -> bool:
    """Whether the program itself has ended.

    This does not reap the program. Until then, no other process group can get its id.
    """
    if not hasattr(os, "waitid"):
        return process.poll() is not None
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill the program and the processes that it has started, and reap it."""
    if process.returncode is None:
        _kill(process)
        process.wait()


def _kill(process: subprocess.Popen[bytes]) -> None:
    if process.returncode is not None:
        return  # another group may have the id by now
    if os.name == "posix":
        with suppress(ProcessLookupError, PermissionError):  # macOS: all processes have ended
            os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()


def _close_pipes(process: subprocess.Popen[bytes]) -> None:
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None and not pipe.closed:
            pipe.close()


def _printable(stderr: bytes) -> str:
    """Remove control characters from standard error; keep the end of a long text."""
    text = CONTROL.sub("", stderr.decode("utf-8", "replace").replace("\r", "\n")).strip()
    return text if len(text) <= MAX_ERROR_LENGTH else "…" + text[-MAX_ERROR_LENGTH:]


PR_SET_CHILD_SUBREAPER: Final = 36
"""https://man7.org/linux/man-pages/man2/PR_SET_CHILD_SUBREAPER.2const.html"""

LONGEST: Final = 10.0
"""The maximum number of seconds to spend on processes that keep starting new ones."""


@contextmanager
def ending_leftovers() -> Iterator[None]:
    """After the block, kill every process that the block's programs have left behind.

    An orphan becomes a child of this process, even if it has its own session. No other thread may
    start a program in the meantime. Only Linux can do this; elsewhere the block just runs.
    Processes of other users stay.
    """
    if sys.platform != "linux":
        yield
        return
    earlier_children = _children()
    _set_subreaper(1)
    try:
        yield
    finally:
        end = time.monotonic() + LONGEST
        while (leftovers := _children() - earlier_children) and time.monotonic() < end:
            for process in leftovers:
                try:
                    os.kill(process, signal.SIGKILL)
                    os.waitpid(process, 0)  # its children become ours
                except PermissionError:  # another user's, by sudo
                    earlier_children.add(process)
        _set_subreaper(0)


def _set_subreaper(value: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_CHILD_SUBREAPER, value, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_CHILD_SUBREAPER) failed")


def _children() -> set[int]:
    """Return the ids of this process's children."""
    own, children = str(os.getpid()), set()
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with suppress(OSError):
                # The name, in parentheses, may contain any character.
                fields = (folder / "stat").read_text("utf-8", "replace").rpartition(")")[2].split()
                if fields[1] == own:
                    children.add(int(folder.name))
    return children


NOTHING_LISTENS: Final = "http://127.0.0.1:9"
"""A proxy address where nothing listens (port 9, discard), so that every request fails at once."""

_PROXIES: Final = (
    *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"),
    *("http_proxy", "https_proxy", "all_proxy"),
)


def no_network() -> dict[str, str]:
    """Return variables that keep a Go program off the network."""
    return {
        **dict.fromkeys(_PROXIES, NOTHING_LISTENS),
        **dict.fromkeys(("NO_PROXY", "no_proxy"), ""),
    }


def write_file(root: Path, path: str, content: bytes) -> None:
    """Write a file. Raises ValueError if its path leaves the folder, a bug of the caller."""
    file = root / path
    if not file.resolve().is_relative_to(root.resolve()):
        raise ValueError(f"{path!r} leaves the folder")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)
