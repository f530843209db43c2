"""One call of git: nothing of the machine's or the user's configuration unless it is trusted."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from kalypso_actions.clients.git.urls import credential_for, without_secret
from kalypso_actions.clients.process import Programs

SETTINGS: Final = (
    "core.hooksPath=" + os.devnull,
    "core.fsmonitor=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "fetch.recurseSubmodules=false",
    "fetch.writeCommitGraph=false",
    "protocol.version=2",
    # A redirect could carry a credential to another host; `remote` follows those that do not.
    "http.followRedirects=false",
    "http.lowSpeedLimit=1000",
    "http.lowSpeedTime=60",
)

ENVIRONMENT: Final = {
    "LC_ALL": "C",  # its words are compared with what we know
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "",
    "GCM_INTERACTIVE": "never",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
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
"""What credential helpers and ssh of a person's own machine need besides."""


class Git:
    """Runs git on bare repositories and on the `.git` of clones.

    `trust_user_config` lets the configuration of the user and the machine work, for somebody who
    runs this on a computer of their own and has credentials there; jobs do without.
    """

    def __init__(
        self,
        programs: Programs,
        *,
        protocols: frozenset[str] = frozenset(),
        credentials: Mapping[str, str] | None = None,
        trust_user_config: bool = False,
    ) -> None:
        self._programs = programs
        self._protocols = protocols
        self._credentials = dict(credentials or {})
        self._trust_user_config = trust_user_config

    def run(
        self, git_dir: Path, arguments: Sequence[str], *, stdin: bytes = b"", timeout: float = 600
    ) -> bytes:
        """A call that stays on this machine. Raises ProcessError."""
        # Naming the repository also spares the question whether its owner is trusted: what is run
        # here reads objects and neither hooks nor programs of the repository's configuration.
        command = ["git", f"--git-dir={git_dir}", *self._settings(), *arguments]
        environment = self._environment({"GIT_ALLOW_PROTOCOL": "none"})
        return self._programs.run(
            command,
            stdin=stdin,
            extra=environment,
            timeout=timeout,
            logged=_logged(str(git_dir), arguments),
        )

    def run_remote(
        self,
        git_dir: Path,
        url: str,
        arguments: Sequence[str],
        *,
        stdin: bytes = b"",
        timeout: float = 600,
        trace: bool = False,
    ) -> bytes:
        """A call that talks to the repository at `url`, which is its remote `origin`.

        It gets the credential of that URL and no other. With `trace`, git tells what goes over
        HTTP, credentials left out. Raises ProcessError.
        """
        remote = (
            f"remote.origin.url={url}",
            "remote.origin.promisor=true",
            "remote.origin.partialclonefilter=blob:none",
        )
        settings = [part for setting in remote for part in ("-c", setting)]
        command = ["git", f"--git-dir={git_dir}", *self._settings(), *settings, *arguments]
        environment = self._environment(
            {
                "GIT_ALLOW_PROTOCOL": ":".join(sorted(self._protocols)),
                **self._credential(url),
                **(TRACE if trace else {}),
            }
        )
        inherit = ["SSH_AUTH_SOCK"] if "ssh" in self._protocols else []
        return self._programs.run(
            command,
            stdin=stdin,
            extra=environment,
            inherit=[*inherit, *(USER_CONFIG if self._trust_user_config else ())],
            timeout=timeout,
            logged=_logged(without_secret(url), arguments),
        )

    def _settings(self) -> list[str]:
        settings = SETTINGS if self._trust_user_config else (*SETTINGS, "credential.helper=")
        return [part for setting in settings for part in ("-c", setting)]

    def _environment(self, more: Mapping[str, str]) -> dict[str, str]:
        environment = {**ENVIRONMENT, **more}
        if not self._trust_user_config:
            environment |= NO_USER_CONFIG
        for variable, setting in (
            ("SSL_CERT_FILE", "GIT_SSL_CAINFO"),
            ("SSL_CERT_DIR", "GIT_SSL_CAPATH"),
        ):
            value = self._programs.variable(variable)
            if value:
                environment[setting] = value
        return environment

    def _credential(self, url: str) -> dict[str, str]:
        """The header for this URL, by the environment: arguments can be read by other users."""
        credential = credential_for(url, self._credentials)
        if not credential:
            return {}
        key = f"http.{url}.extraHeader"
        # The empty value takes back what other configuration may have set.
        values = ["", f"Authorization: {credential}"]
        environment = {"GIT_CONFIG_COUNT": str(len(values))}
        for index, value in enumerate(values):
            environment[f"GIT_CONFIG_KEY_{index}"] = key
            environment[f"GIT_CONFIG_VALUE_{index}"] = value
        return environment


def _logged(place: str, arguments: Sequence[str]) -> str:
    """A call without the settings that all calls have, and where it reads."""
    return f"{place}: git {' '.join(arguments)}"
