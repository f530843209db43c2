"""Which rooms may touch the outside; import-linter checks the order of the floors.

The rules look at the names in a module, so an innocent part of a library (`os.fsencode`,
`urllib.parse`) stays allowed everywhere.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import kalypso_actions

ROOT = Path(kalypso_actions.__file__).parents[1]
PACKAGES = ("kalypso_actions", "kalypso_go", "kalypso_placement", "kalypso_sandbox")

RULES = {
    "programs": (
        ("subprocess", "os.system", "os.popen", "os.posix_spawn", "os.fork", "multiprocessing"),
        ("kalypso_actions/clients/process.py", "kalypso_actions/clients/worker_processes.py"),
    ),
    "the network": (
        ("socket", "ssl", "http", "urllib.request", "requests", "httpx", "ftplib", "asyncio"),
        ("kalypso_actions/clients/", "kalypso_sandbox/"),
    ),
    "other servers": (  # the sandbox listens, and calls nobody
        ("requests", "http.client", "urllib.request", "httpx", "socket.create_connection"),
        ("kalypso_actions/clients/",),
    ),
    "the environment": (("os.environ", "os.getenv", "os.putenv"), ("kalypso_actions/cli/",)),
    "the clock": (
        ("time", "datetime.datetime.now", "datetime.datetime.utcnow", "datetime.date.today"),
        # Progress is only for people: no output depends on it.
        (
            "kalypso_actions/clients/",
            "kalypso_sandbox/",
            "kalypso_actions/commands/sandbox/",
            "kalypso_actions/cli/",
            "kalypso_actions/report/terminal.py",
            "kalypso_placement/command.py",
        ),
    ),
    "chance": (
        ("random", "secrets", "uuid", "os.urandom"),
        ("kalypso_sandbox/", "kalypso_actions/runner.py"),
    ),
    "files": (
        ("builtins.open", "os.open", "os.walk", "os.scandir", "shutil", "tempfile", "pathlib"),
        (
            "kalypso_actions/clients/",
            "kalypso_sandbox/",
            "kalypso_actions/commands/shared/reading/",
            "kalypso_actions/commands/",
            "kalypso_actions/runner.py",
            "kalypso_actions/cli/",
            "kalypso_actions/inputs/",
            "kalypso_placement/command.py",
        ),
    ),
    "code out of texts": (("builtins.eval", "builtins.exec", "pickle", "marshal"), ()),
}
"""For each part of the outside: the names that reach it, and the only modules that may use them."""


def names_in(source: str) -> Iterator[str]:
    """Yield every imported name, every attribute reached through one, and every called built-in."""
    tree = ast.parse(source)
    imported: dict[str, str] = {}
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                for alias in names:
                    imported[alias.asname or alias.name.partition(".")[0]] = (
                        alias.name if alias.asname else alias.name.partition(".")[0]
                    )
                    yield alias.name
            case ast.ImportFrom(module=str(module), names=names, level=0):
                for alias in names:
                    imported[alias.asname or alias.name] = f"{module}.{alias.name}"
                    yield f"{module}.{alias.name}"
    for node in ast.walk(tree):
        match node:
            case ast.Attribute():
                first, _, rest = dotted(node).partition(".")
                if first in imported:
                    yield f"{imported[first]}.{rest}"
            case ast.Call(func=ast.Name(id=name)) if name in {"eval", "exec", "open"}:
                yield f"builtins.{name}"


def dotted(node: ast.expr) -> str:
    """Return `a.b.c` for attributes of a name, else ""; `ast.unparse` takes ten times as long."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=value, attr=name):
            return f"{dotted(value)}.{name}"
    return ""


@cache
def names_of(module: str) -> frozenset[str]:
    """Return the names in a module of the package, which is read once for all rules."""
    return frozenset(names_in((ROOT / module).read_text(encoding="utf-8")))


def reaches(name: str, forbidden: str) -> bool:
    """Tell whether `name` is forbidden, or a part of a forbidden one."""
    return name == forbidden or name.startswith(forbidden + ".")


def modules() -> list[str]:
    files = (path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
    return sorted(path.relative_to(ROOT).as_posix() for path in files)


@pytest.mark.parametrize("thing", RULES)
def test_only_the_rooms_for_it_reach(thing: str) -> None:
    forbidden, allowed = RULES[thing]
    reached = [
        f"{module}: {name}"
        for module in modules()
        if not module.startswith(allowed)
        for name in sorted(names_of(module))
        if any(reaches(name, module) for module in forbidden)
    ]
    assert reached == []


@pytest.mark.parametrize("package", PACKAGES)
def test_a_public_class_name_exists_once_in_a_package(package: str) -> None:
    places: dict[str, list[str]] = {}
    for module in modules():
        if module.startswith(f"{package}/"):
            for node in ast.parse((ROOT / module).read_text(encoding="utf-8")).body:
                if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                    places.setdefault(node.name, []).append(module)
    assert {name: files for name, files in places.items() if len(files) > 1} == {}


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("import os\nprint(os.environ['A'])", "os.environ"),
        ("from os import environ", "os.environ"),
        ("import os as system\nsystem.getenv('A')", "os.getenv"),
        ("import urllib.request", "urllib.request"),
        ("from urllib import request", "urllib.request"),
        ("from datetime import datetime\nnow = datetime.now()", "datetime.datetime.now"),
        ("import datetime as d\nd.datetime.now(d.UTC)", "datetime.datetime.now"),
        ("eval('1')", "builtins.eval"),
    ],
)
def test_the_rules_see(source: str, name: str) -> None:
    assert any(reaches(reached, name) for reached in names_in(source))


def test_innocent_parts_are_allowed() -> None:
    source = "import os\nfrom urllib.parse import urlsplit\nos.fsencode(urlsplit('a').path)"
    assert not any(
        reaches(name, forbidden)
        for name in names_in(source)
        for names, _ in RULES.values()
        for forbidden in names
    )
