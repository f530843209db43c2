"""Install a package of the guide as pip does: its modules, and metadata with its entry points."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def installed_package(
    folder: Path, name: str, files: Mapping[str, str], pyproject: str
) -> Iterator[None]:
    """Write the files of a package and its metadata to a folder, where imports find them."""
    metadata = f"{name}-1.dist-info"
    groups = tomllib.loads(pyproject)["project"]["entry-points"]
    points = (
        f"[{group}]\n" + "".join(f"{key} = {value}\n" for key, value in entries.items())
        for group, entries in groups.items()
    )
    described = {
        f"{metadata}/METADATA": f"Name: {name.replace('_', '-')}\nVersion: 1\n",
        f"{metadata}/entry_points.txt": "\n".join(points),
    }
    for path, text in {**files, **described}.items():
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        try:
            yield
        finally:
            sys.modules.pop(name, None)
