"""Call git without the configuration of the machine and the user, unless it is trusted."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from kalypso_actions.clients.git.urls import (
    Authorize,
    no_credential,
    without_credential,
)
from kalypso_actions.clients.process import ProcessError, Programs
from kalypso_actions.errors import KalypsoError
from kalypso_actions.model.urls import is_loopback, without_secret

SETTINGS: Final = (
    "core.hooksPath=" + os.devnull,
    "core.fsmonitor=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "fetch.recurseSubmodules=false",
    "fetch.writeCommitGraph=false",
    # Git streams larger blobs instead of holding them in memory.
    "core.bigFileThreshold=1m",
    "protocol.version=2",
    # A redirect could send a credential to another host; `connection` follows redirects itself.
    "http.followRedirects=false",
    "http.lowSpeedLimit=1000",
    "http.lowSpeedTime=60",
)

ENVIRONMENT: Final = {
    "LC_ALL": "C",  # `errors` matches English messages
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "",
    "GCM_INTERACTIVE": "never",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    # fast-import frees the memory of a compressor for each blob. By default, glibc spends three
    # quarters of the time on returning this memory to the system and getting it again.
    "MALLOC_TRIM_THRESHOLD_": str(1 << 27),
}

NO_USER_CONFIG: Final = {
    "HOME": os.devnull,  # no .netrc
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_SSH_COMMAND": "ssh -oBatchMode=yes -oConnectTimeout=30",
}

TRACE: Final = {"GIT_TRACE_CURL": "1", "GIT_TRACE_CURL_NO_DATA": "1", "GIT_TRACE_REDACT": "1"}

USER_CONFIG: Final = (
    *("GIT_CONFIG_GLOBAL", "GIT_SSH", "GIT_SSH_COMMAND", "SSH_AGENT_PID"),
    *("XDG_CONFIG_HOME", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS", "GH_CONFIG_DIR"),
)
"""Variables that credential helpers and ssh on a user's machine need."""

OLDEST: Final = (2, 31)
"""Older versions ignore GIT_CONFIG_COUNT, which passes the credentials.

https://github.com/git/git/blob/master/Documentation/RelNotes/2.31.0.txt
"""

VERSION: Final = re.compile(rb"git version (\d+)\.(\d+)")

CHECKED: Final[set[str]] = set()
"""The PATHs whose git is new enough; one process may run many commands."""

NO_PROXY: Final = "http.proxy="
"""Git connects to this machine without a proxy, whatever NO_PROXY says."""

CERTIFICATES: Final = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE")
"""Variables that name CA certificates, a file or a folder; the first one that is set counts.

git reads none of them, unlike the other clients of this package.
"""


class Git:
    """Runs git on bare repositories and on the `.git` of clones.

    With `trust_user_config`, the configuration of the user and the machine applies. This is for
    users who run kalypso on their own machine, with their credentials; jobs do not use it.
    """

    def __init__(
        self,
        programs: Programs,
        *,
        protocols: frozenset[str] = frozenset(),
        credentials: Authorize = no_credential,
        trust_user_config: bool = False,
    ) -> None:
        self._programs = programs
        self._protocols = protocols
        self._authorize = credentials
        self._trust_user_config = trust_user_config

    def run(
        self,
        git_dir: Path,
        arguments: Sequence[str],
        *,
        stdin: bytes | Iterable[bytes] = b"",
        timeout: float = 600,
        max_output: int | None = None,
    ) -> bytes:
        """Call git without a network. Raises ProcessError; see `Programs.run`."""
        # With --git-dir, git does not check the repository's owner. That is safe: these calls run
        # neither hooks nor programs of the repository's configuration.
        command = [*self._command(git_dir), *arguments]
        environment = self._environment({"GIT_ALLOW_PROTOCOL": "none"})
        return self._programs.run(
            command,
            stdin=stdin,
            extra=environment,
            inherit=USER_CONFIG if self._trust_user_config else (),
            timeout=timeout,
            max_output=max_output,
            log_text=_log_text(str(git_dir), arguments),
        )

    def run_remote(
        self,
        git_dir: Path,
        url: str,
        arguments: Sequence[str],
        *,
        settings: Sequence[str] = (),
        stdin: bytes = b"",
        timeout: float = 600,
        lazy_fetch: bool = False,
        trace: bool = False,
    ) -> bytes:
        """Call git with the repository at `url` as its remote `origin`.

        Git gets only the credential of that URL. `settings` are added to its configuration. With
        `lazy_fetch`, git may fetch missing objects; with `trace`, it logs HTTP without
        credentials. Raises ProcessError, and KalypsoError if git is too old.
        """
        self._check_version()
        proxy = [NO_PROXY] if is_loopback(url) else []
        settings = [f"remote.origin.url={url}", *proxy, *settings]
        header = self._authorize(url)
        environment = self._environment(
            {
                "GIT_ALLOW_PROTOCOL": ":".join(sorted(self._protocols)),
                "GIT_NO_LAZY_FETCH": "0" if lazy_fetch else "1",
                **_credential(url, header),
                **(TRACE if trace else {}),
            }
        )
        inherit = ["SSH_AUTH_SOCK"] if "ssh" in self._protocols else []
        try:
            return self._programs.run(
                [*self._command(git_dir), *_options(settings), *arguments],
                stdin=stdin,
                extra=environment,
                inherit=[*inherit, *(USER_CONFIG if self._trust_user_config else ())],
                timeout=timeout,
                log_text=_log_text(without_secret(url), arguments),
            )
        except ProcessError as error:
            raise _without_credential(error, header) from None

    def _check_version(self) -> None:
        if self._programs.variable("PATH") in CHECKED:
            return
        version = self._programs.run(["git", "version"])
        numbers = VERSION.match(version)
        if numbers and (int(numbers[1]), int(numbers[2])) < OLDEST:
            name = version.decode("utf-8", "replace").strip()
            raise KalypsoError(
                f"{name} is too old: it ignores credentials",
                advice="install git 2.31 or later, and put it first on PATH",
            )
        CHECKED.add(self._programs.variable("PATH"))

    def _command(self, git_dir: Path) -> list[str]:
        settings = SETTINGS if self._trust_user_config else (*SETTINGS, "credential.helper=")
        return ["git", f"--git-dir={git_dir}", *_options(settings)]

    def _environment(self, more: Mapping[str, str]) -> dict[str, str]:
        environment = {**ENVIRONMENT, **more}
        if not self._trust_user_config:
            environment |= NO_USER_CONFIG
        authorities = next(filter(None, map(self._programs.variable, CERTIFICATES)), "")
        if authorities:
            is_folder = Path(authorities).is_dir()
            environment["GIT_SSL_CAPATH" if is_folder else "GIT_SSL_CAINFO"] = authorities
        folder = self._programs.variable("SSL_CERT_DIR")
        if folder:
            environment.setdefault("GIT_SSL_CAPATH", folder)
        return environment


def _options(settings: Sequence[str]) -> list[str]:
    return [part for setting in settings for part in ("-c", setting)]


def _credential(url: str, header: str) -> dict[str, str]:
    """Pass the header for a URL in the environment, because other users can read arguments."""
    if not header:
        return {}
    # The empty value resets headers of other configuration.
    environment = {"GIT_CONFIG_COUNT": "2"}
    for index, value in enumerate(("", f"Authorization: {header}")):
        environment[f"GIT_CONFIG_KEY_{index}"] = f"http.{url}.extraHeader"
        environment[f"GIT_CONFIG_VALUE_{index}"] = value
    return environment


def _without_credential(error: ProcessError, header: str) -> ProcessError:
    """Mask the credential in an error; a server may have quoted it."""
    return ProcessError(
        without_credential(error.problem.message, header),
        stderr=without_credential(error.stderr, header),
        stdout=without_credential(error.stdout.decode("utf-8", "replace"), header).encode(),
        status=error.status,
        advice=error.problem.advice,
    )


def _log_text(place: str, arguments: Sequence[str]) -> str:
    """Return the place and the arguments, without the common settings."""
    return f"{place}: git {' '.join(arguments)}"
