"""A copy of the package with one break, and the tests that run against it."""

from __future__ import annotations

import multiprocessing
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, NoReturn

import pytest

from tools.mutants.breaks import Break

ROOT: Final = Path(__file__).parents[2]
PACKAGES: Final = ("kalypso_actions", "kalypso_go", "kalypso_placement", "kalypso_sandbox")
BESIDE: Final = ("tests", "tools", "bench", "samples", "workflows-templates", "actions")
"""Folders that the package and its tests need; no break changes them."""

PASSED: Final = 0
FAILED: Final = 1
"""Exit codes of pytest; any other one means that pytest could not run the tests."""

NOTICED: Final = re.compile(r"^(?:FAILED|ERROR) \S*?(\w+)\.py::(\S+)", re.MULTILINE)
PROCESSES: Final = multiprocessing.get_context("forkserver")
IMPORTED_ONCE: Final = ("pytest", "cryptography.x509", "flask", "graphql", "jsonschema", "pydantic")
"""Other projects' modules that the tests take longest to import."""

LIMIT: Final = 280
"""Seconds; nothing else catches a break that makes the chain run for ever."""


@dataclass(frozen=True, slots=True)
class Trial:
    """The result of a break: `by` is the test that noticed, or the error."""

    broken: Break
    ending: Literal["caught", "survived", "not tried"]
    by: str
    seconds: float


def attempt(broken: Break) -> Trial:
    """Break a copy of the package, and run the tests that should notice."""
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="kalypso-mutant-") as name:
        copy = Path(name)
        for package in PACKAGES:
            shutil.copytree(ROOT / package, copy / package)
        shutil.copy2(ROOT / "pyproject.toml", copy)
        for beside in BESIDE:
            (copy / beside).symlink_to(ROOT / beside)
        misfit = apply(broken, copy)
        if misfit:
            return Trial(broken, "not tried", misfit, 0)
        ending, by = _run(copy, broken.tests)
    return Trial(broken, ending, by, time.monotonic() - started)


def apply(broken: Break, folder: Path) -> str:
    """Break a file below a folder; return why that is impossible, or ""."""
    file = folder / broken.file
    if not file.is_file():
        return f"{broken.file} is gone"
    text = file.read_text(encoding="utf-8")
    count = text.count(broken.old)
    if count != 1:
        return f"{broken.file} contains the text to replace {count} times"
    file.write_text(text.replace(broken.old, broken.new), encoding="utf-8")
    return ""


def _run(
    folder: Path, tests: Sequence[str]
) -> tuple[Literal["caught", "survived", "not tried"], str]:
    """Run the tests; return how they ended, and which of them failed."""
    said = folder / "said.txt"
    # Set the list here and not on import: all contexts of a process share one list.
    PROCESSES.set_forkserver_preload(list(IMPORTED_ONCE))
    process = PROCESSES.Process(target=_test, args=(folder, tests, said))
    process.start()
    process.join(LIMIT)
    if process.exitcode is None:
        process.kill()
        process.join()
        return "caught", f"the tests did not end within {LIMIT} seconds"
    if process.exitcode == PASSED:
        return "survived", ""
    words = said.read_text("utf-8", "replace")
    noticed = NOTICED.search(words)
    if process.exitcode != FAILED or noticed is None:
        return "not tried", words.strip()[-600:]
    return "caught", f"{noticed[1]}::{noticed[2]}"


def _test(folder: Path, tests: Sequence[str], said: Path) -> NoReturn:
    """Run the tests in a folder, in a process of its own; write their output to a file."""
    with said.open("wb") as file:
        for stream in (sys.stdout, sys.stderr):
            os.dup2(file.fileno(), stream.fileno())
    os.chdir(folder)
    sys.path.insert(0, str(folder))
    os.environ["PYTHONPATH"] = str(folder)  # for the programs that tests start
    arguments = ["-x", "-q", "-p", "no:cacheprovider", "--tb=line", *tests]
    sys.exit(pytest.main(arguments))
