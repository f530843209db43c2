"""The pinned release of helm: fetched, checked, unpacked."""

from __future__ import annotations

import hashlib
import io
import platform
import sys
import tarfile
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from kalypso_actions.clients.helm import (
    DIGESTS,
    MACHINES,
    RELEASE,
    Helm,
    install_release,
)
from kalypso_actions.errors import KalypsoError
from tests.git_repositories import programs

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="releases are for Linux")

NAME = f"linux-{MACHINES.get(platform.machine(), platform.machine())}"
SCRIPT = b"#!/bin/sh\necho v3.22.0+g1234567\n"


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Log nothing."""


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """A server of releases, whose helm is a script."""
    served = tmp_path / "served"
    served.mkdir()
    with tarfile.open(served / f"helm-{RELEASE}-{NAME}.tar.gz", "w:gz") as archive:
        member = tarfile.TarInfo(f"{NAME}/helm")
        member.size = len(SCRIPT)
        archive.addfile(member, io.BytesIO(SCRIPT))
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(served))) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def digest(tmp_path: Path) -> str:
    archive = tmp_path / "served" / f"helm-{RELEASE}-{NAME}.tar.gz"
    return hashlib.sha256(archive.read_bytes()).hexdigest()


def test_the_release_is_a_program(address: str, tmp_path: Path) -> None:
    program = install_release(tmp_path, {}, address=address, digests={NAME: digest(tmp_path)})
    assert Helm(programs(), program=str(program)).version() == "v3.22.0"


def test_another_archive_is_refused(address: str, tmp_path: Path) -> None:
    with pytest.raises(KalypsoError, match="which is not that of the release"):
        install_release(tmp_path, {}, address=address, digests=dict.fromkeys([NAME], "0" * 64))
    assert not list(tmp_path.glob("kalypso-helm-*"))


def test_a_machine_without_a_release(tmp_path: Path) -> None:
    with pytest.raises(KalypsoError, match="no release of helm is known for linux-"):
        install_release(tmp_path, {}, digests={})


def test_a_server_without_the_archive(address: str, tmp_path: Path) -> None:
    with pytest.raises(KalypsoError, match="cannot be fetched: 404") as raised:
        install_release(tmp_path, {}, address=f"{address}/none", digests=dict.fromkeys([NAME], ""))
    assert raised.value.problem.advice == "install helm in an earlier step of the job"


def test_the_digests_are_sha256() -> None:
    assert all(
        len(bytes.fromhex(each)) == hashlib.sha256().digest_size for each in DIGESTS.values()
    )
