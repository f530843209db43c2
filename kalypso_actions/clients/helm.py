"""The helm program: `helm template` without a cluster or the network; a release for jobs."""

from __future__ import annotations

import base64
import hashlib
import io
import os
import platform
import re
import sys
import tarfile
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import requests
from requests.adapters import HTTPAdapter
from urllib3.util import Retry

from kalypso_actions.clients.network import TIMEOUT, Session
from kalypso_actions.clients.process import (
    OutputLimitError,
    ProcessError,
    Programs,
    no_network,
    write_file,
)
from kalypso_actions.errors import KalypsoError
from kalypso_actions.model.urls import is_loopback

PROGRAM: Final = "helm"

MAX_OUTPUT: Final = 1 << 26
MAX_MEMORY: Final = 1 << 30
"""The memory limit of one helm process, in bytes. Several processes run at once; a usual chart
takes less than a tenth of it."""

REFUSED: Final = 1
"""helm's exit code for all its errors; a crash of Go has another exit code."""

VERSION: Final = re.compile(rb"v?(\d+\.\d+(?:\.\d+)?\S*)")


class HelmError(KalypsoError):
    """helm refused a chart; `output` is its output before the error, if `--debug` was on."""

    def __init__(self, message: str, output: bytes = b"") -> None:
        super().__init__(message)
        self.output = output


@dataclass(frozen=True, slots=True)
class ChartFolder:
    """A chart in a temporary folder."""

    programs: Programs
    program: str
    top: Path
    timeout: float

    def template(self, name: str, options: Sequence[str], values: Mapping[str, bytes]) -> bytes:
        """Return the output of `helm template`; a later file of `values` overrides an earlier one.

        `name` is that of the release; "" for helm's default. Thread-safe. Raises HelmError with
        helm's message, and KalypsoError if helm is absent or exceeds its bounds.
        """
        with tempfile.TemporaryDirectory(dir=self.top, prefix="values-") as temporary:
            folder = Path(temporary)
            files: list[str] = []
            for number, (path, content) in enumerate(values.items()):
                write_file(folder / str(number), path, content)
                files += ["--values", str(folder / str(number) / path)]
            names = [name] if name else []
            command = [self.program, "template", *options, *files, "--", *names, "chart"]
            try:
                return self.run(command)
            except HelmError as error:
                if "YAML parse error" not in error.problem.message:
                    raise
                message = self._shown(error.problem.message, folder)
                raise HelmError(message, self._debug(command)) from error

    def _debug(self, command: Sequence[str]) -> bytes:
        """Return the output that is not YAML, which helm prints only with `--debug`."""
        try:
            return self.run([*command[:2], "--debug", *command[2:]])
        except HelmError as error:
            return error.output

    def run(self, command: Sequence[str], *, online: bool = False, stdin: bytes = b"") -> bytes:
        """Run helm with its bounds. Raises HelmError, or KalypsoError if it exceeds them."""
        try:
            return self.programs.run(
                command,
                stdin=stdin,
                folder=self.top,
                extra=_environment(self.top, online=online),
                timeout=self.timeout,
                max_output=MAX_OUTPUT,
                max_memory=MAX_MEMORY,
            )
        except OutputLimitError as error:
            raise KalypsoError(error.problem.message, advice="look for a loop") from error
        except ProcessError as error:
            if error.status is None:  # helm is absent, or took too long
                said = self._shown(error.stderr, self.top)
                message = error.problem.message + (f"; it said: {said}" if said else "")
                raise KalypsoError(message, advice="look for a loop, or set timeout") from error
            if error.status != REFUSED:
                limit = MAX_MEMORY >> 20
                message = f"helm crashed: it probably needs more than {limit} MB of memory"
                raise KalypsoError(message, advice="look for a loop in the templates") from error
            message = self._shown(error.stderr or error.problem.message, self.top)
            raise HelmError(message, error.stdout) from error

    def _shown(self, text: str, folder: Path) -> str:
        return text.replace(f"{folder}{os.sep}", "").replace(f"{self.top}{os.sep}", "")


class Helm:
    """Opens charts for the helm program."""

    def __init__(self, programs: Programs, *, program: str = PROGRAM, timeout: float = 60) -> None:
        """`program` is a name on PATH, or an absolute path."""
        self._programs = programs
        self._program = program
        self._timeout = timeout

    @property
    def is_installed(self) -> bool:
        """Whether PATH has the program."""
        return self._programs.find(self._program) is not None

    def version(self) -> str:
        """Return the version, as `v3.22.0`. Raises KalypsoError."""
        with tempfile.TemporaryDirectory(prefix="kalypso-helm-") as temporary:
            top = Path(temporary).resolve()
            output = self._programs.run(
                [self._program, "version", "--short"],
                folder=top,
                extra=_environment(top),
                timeout=60,
            )
        match = VERSION.search(output)
        return f"v{match[1].decode().partition('+')[0]}" if match else "unknown"

    def dependencies(
        self, files: Mapping[str, bytes], repositories: Iterable[str]
    ) -> dict[str, bytes]:
        """Fetch the dependencies of a chart by its Chart.lock; return the files of `charts`.

        helm refuses a Chart.lock of other dependencies. Only this call uses the network. Raises
        HelmError.
        """
        with self.chart(files) as folder:
            urls = sorted({url for url in repositories if url.startswith("https://")})
            for number, url in enumerate(urls):
                folder.run([self._program, "repo", "add", f"repository-{number}", url], online=True)
            folder.run([self._program, "dependency", "build", "chart"], online=True)
            charts = folder.top / "chart" / "charts"
            return {
                f"charts/{file.name}": file.read_bytes()
                for file in sorted(charts.glob("*.tgz"))
                if f"charts/{file.name}" not in files
            }

    def pull(self, repository: str, chart: str, version: str, authorization: str = "") -> bytes:
        """Fetch one chart; return its archive.

        `repository` is an https or oci URL; at a loopback address, http is used for oci.
        `authorization` is a header for basic authentication, or "". Raises HelmError.
        """
        user, password = _login(authorization)
        with self.chart({}) as folder:
            if repository.startswith("oci://"):
                host = urlsplit(repository).netloc
                plain = ["--plain-http"] if is_loopback(f"http://{host}") else []
                if user:
                    login = ["registry", "login", host, "--username", user, "--password-stdin"]
                    folder.run([self._program, *login, *plain], online=True, stdin=password)
                name = f"{repository.rstrip('/')}/{chart}"
            else:
                login = ["--username", user, "--password-stdin"] if user else []
                add = [self._program, "repo", "add", *login, "charts", repository]
                folder.run(add, online=True, stdin=password)
                plain, name = [], f"charts/{chart}"
            folder.run([self._program, "pull", name, "--version", version, *plain], online=True)
            archives = sorted(folder.top.glob("*.tgz"))
            if len(archives) != 1 or archives[0].stat().st_size > MAX_OUTPUT:
                limit = MAX_OUTPUT >> 20
                raise HelmError(f"helm pull gave no archive, or one of more than {limit} MB")
            return archives[0].read_bytes()

    @contextmanager
    def chart(self, files: Mapping[str, bytes]) -> Iterator[ChartFolder]:
        """Write a chart to a temporary folder, which exists until the end of the block."""
        with tempfile.TemporaryDirectory(
            prefix="kalypso-helm-", ignore_cleanup_errors=True
        ) as temporary:
            top = Path(temporary).resolve()
            for path, content in files.items():
                write_file(top / "chart", path, content)
            yield ChartFolder(self._programs, self._program, top, self._timeout)


def _login(authorization: str) -> tuple[str, bytes]:
    """Return user and password of a header for basic authentication; both empty without one."""
    if not authorization:
        return "", b""
    user, _, password = base64.b64decode(authorization.rpartition(" ")[2]).partition(b":")
    return user.decode(), password


def _environment(top: Path, *, online: bool = False) -> dict[str, str]:
    home = top / "home"
    home.mkdir(exist_ok=True)
    return {
        **({} if online else no_network()),
        "PATH": "",  # post-renderers, getters and credential helpers are programs
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home),
        "XDG_CACHE_HOME": str(home),
        "XDG_DATA_HOME": str(home),
        "HELM_PLUGINS": str(home / "plugins"),
        "HELM_NO_PLUGINS": "1",
        "KUBECONFIG": str(home / "kubeconfig"),
        "HELM_NAMESPACE": "default",
    }


RELEASE: Final = "v3.22.0"

DIGESTS: Final = {
    "linux-amd64": "1e4ab49e429626cf6c6958d914248b78c9730803c2751b87627e171dc800e7bb",
    "linux-arm64": "f14e804dfee240f55525b667488fe9adca349e63e00c9af634c0beb1421ac310",
}
"""The sha256 of each archive. https://github.com/helm/helm/releases/tag/v3.22.0"""

ADDRESS: Final = "https://get.helm.sh"
MACHINES: Final = {"x86_64": "amd64", "aarch64": "arm64"}
MAX_ARCHIVE: Final = 1 << 27
RETRY: Final = Retry(total=3, backoff_factor=1, status_forcelist=(500, 502, 503, 504))


def install_release(
    folder: Path,
    environment: Mapping[str, str],
    *,
    address: str = ADDRESS,
    digests: Mapping[str, str] = DIGESTS,
) -> Path:
    """Fetch the release for this machine into a new folder in `folder`; return the program's path.

    `environment` may name proxies and certificates. Raises KalypsoError, also if the archive has
    another digest.
    """
    name = f"{sys.platform}-{MACHINES.get(platform.machine(), platform.machine())}"
    if name not in digests:
        raise KalypsoError(f"no release of helm is known for {name}", advice=ADVICE)
    url = f"{address}/helm-{RELEASE}-{name}.tar.gz"
    archive = _fetch(url, environment)
    digest = hashlib.sha256(archive).hexdigest()
    if digest != digests[name]:
        message = f"{url} has the sha256 {digest}, which is not that of the release"
        raise KalypsoError(message, advice=ADVICE)
    with tarfile.open(fileobj=io.BytesIO(archive)) as members:
        program = members.extractfile(f"{name}/helm")
        content = program.read() if program else b""
    file = Path(tempfile.mkdtemp(prefix="kalypso-helm-", dir=folder)) / "helm"
    file.write_bytes(content)
    file.chmod(0o755)
    return file


ADVICE: Final = "install helm in an earlier step of the job"


def _fetch(url: str, environment: Mapping[str, str]) -> bytes:
    try:
        with Session(environment) as session:
            session.mount(url, HTTPAdapter(max_retries=RETRY))
            with session.get(url, stream=True, timeout=TIMEOUT) as response:
                response.raise_for_status()
                content = bytearray()
                for part in response.iter_content(1 << 20):
                    content += part
                    if len(content) > MAX_ARCHIVE:
                        raise KalypsoError(f"{url} has more than {MAX_ARCHIVE >> 20} MB")
                return bytes(content)
    except requests.RequestException as error:
        message = f"the release of helm at {url} cannot be fetched: {error}"
        raise KalypsoError(message, advice=ADVICE) from error
