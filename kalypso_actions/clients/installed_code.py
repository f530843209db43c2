"""The digest of the installed code: installations with equal digests render equally."""

from __future__ import annotations

import hashlib
import os
import sys
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Final

RENDERING: Final = ("google-re2", "jinja2", "markupsafe", "pyyaml")
"""The third-party packages that rendering and validation use."""

PACKAGES: Final = ("kalypso_actions", "kalypso_go", "kalypso_placement")
"""The packages of this distribution that decide what is rendered."""


@cache
def code_digest() -> str:
    """Return the digest of this package's modules, of Python and of the packages that render.

    The version does not suffice, because an action can run at any commit.
    """
    sha256 = hashlib.sha256(sys.version.encode())
    for package in RENDERING:
        sha256.update(metadata.version(package).encode() + b"\n")
    root = str(Path(__file__).parents[2])
    # With pathlib or glob, the 900 files take up to twice as long.
    folders = (
        (folder[len(root) + 1 :], names)
        for package in PACKAGES
        for folder, _, names in os.walk(f"{root}/{package}")
    )
    modules = (
        f"{folder}/{name}".lstrip("/")
        for folder, names in folders
        for name in names
        if name.endswith(".py")
    )
    for name in sorted(modules):
        with open(f"{root}/{name}", "rb", buffering=0) as file:  # noqa: PTH123
            content = file.read()
        sha256.update(b"%s %d\n" % (name.encode(), len(content)))
        sha256.update(content)
    return sha256.hexdigest()
