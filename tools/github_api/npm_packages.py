"""GitHub's descriptions and recordings from npm: pinned and checked.

`npm pack` downloads them to `.build/npm`, from the configured registry; the hash proves that they
are the pinned versions.
"""

from __future__ import annotations

import base64
import hashlib
import subprocess
import tarfile
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / ".build" / "npm"


@dataclass(frozen=True, slots=True)
class Package:
    """A version of an npm package; `integrity` is the base64 SHA-512 of its tarball."""

    name: str
    version: str
    integrity: str

    @property
    def tarball(self) -> Path:
        """Return the path of the tarball, which has the name that `npm pack` gives it."""
        return FOLDER / f"{self.name.lstrip('@').replace('/', '-')}-{self.version}.tgz"

    def fetch(self) -> None:
        """Download a missing tarball. Raises CalledProcessError; ValueError for a wrong hash."""
        if self.tarball.exists() and self._hash() == self.integrity:
            return
        FOLDER.mkdir(parents=True, exist_ok=True)
        subprocess.run(
            ["npm", "pack", "--silent", f"{self.name}@{self.version}"],
            cwd=FOLDER,
            stdout=subprocess.DEVNULL,
            check=True,
        )
        if self._hash() != self.integrity:
            raise ValueError(f"{self.tarball.name} is not what was pinned: its hash differs")

    def read(self, *paths: str) -> dict[str, bytes]:
        """Return path -> content of some files of the package. Raises KeyError."""
        self.fetch()
        wanted = {f"package/{path}": path for path in paths}
        with tarfile.open(self.tarball) as archive:
            contents = {
                wanted[member.name]: content.read()
                for member in archive
                if member.name in wanted and (content := archive.extractfile(member))
            }
        return {path: contents[path] for path in paths}

    def _hash(self) -> str:
        return base64.b64encode(hashlib.sha512(self.tarball.read_bytes()).digest()).decode()


OPENAPI = Package(
    "@octokit/openapi",
    "23.0.2",
    "pV8M7L9GY23AybNvTmo2nyjmpmnt6+2sRE/tqr0ZLQcPS4lnw7u5eZGNmwRNkBC3D7gZXbFx5AHzLUVRBXGDhg==",
)
FIXTURES = Package(
    "@octokit/fixtures",
    "23.1.2",
    "niG+SVffZ/xzojT3CE6M7DlqX7H9aQ75A6Xxjt4N47CkqssKXpSy2k6+Tj5ntcI5uWW2D9POzKxwJDmBfR+sJw==",
)
GRAPHQL_SCHEMA = Package(
    "@octokit/graphql-schema",
    "15.26.1",
    "RFDC2MpRBd4AxSRvUeBIVeBU7ojN/SxDfALUd7iVYOSeEK3gZaqR2MGOysj4Zh2xj2RY5fQAUT+Oqq7hWTraMA==",
)
