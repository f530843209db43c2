"""A release of helm, for jobs on runners without it."""

from __future__ import annotations

import hashlib
import io
import platform
import sys
import tarfile
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import requests
from requests.adapters import HTTPAdapter
from urllib3.util import Retry

from kalypso_actions.clients.network import TIMEOUT, Session
from kalypso_actions.errors import KalypsoError

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
