"""The modules whose code decides the bytes of rendered files."""

from __future__ import annotations

import ast
import json
from importlib import metadata
from pathlib import Path

import pytest

from kalypso_actions.clients import installed_code
from kalypso_actions.clients.installed_code import DISTRIBUTION, RENDERING, code_digest

ROOT = Path(__file__).parents[2]
RENDERER = "kalypso_actions.planning.unchanged"


def file_of(module: str) -> Path | None:
    """Return the file of a module or a package of the distribution; None for anything else."""
    path = ROOT / module.replace(".", "/")
    files = (path.with_suffix(".py"), path / "__init__.py")
    return next((file for file in files if file.is_file()), None)


def imports(module: str) -> set[str]:
    """Return the modules of the distribution that a module imports, also within functions."""
    file = file_of(module)
    assert file is not None
    names = set()
    for node in ast.walk(ast.parse(file.read_bytes())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.module is not None, "imports are absolute"
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return {name for name in names if name.partition(".")[0] in DISTRIBUTION and file_of(name)}


def imported_by(module: str) -> set[str]:
    """Return a module, and all modules that run when it is imported, without empty packages."""
    known: set[str] = set()
    left = {module}
    while left:
        name = left.pop()
        known.add(name)
        parent = name.rpartition(".")[0]
        left |= ({parent} - {""} | imports(name)) - known
    return {name for name in known if ast.parse(text_of(name)).body[1:]}


def text_of(module: str) -> bytes:
    file = file_of(module)
    return b"" if file is None else file.read_bytes()


def is_in(module: str, place: str) -> bool:
    return f"{module}.".startswith(f"{place}.")


def test_the_declared_modules_are_those_that_rendering_imports() -> None:
    needed = imported_by(RENDERER) - {"kalypso_actions"}  # its version
    assert {name for name in needed if not any(is_in(name, place) for place in RENDERING)} == set()
    assert {place for place in RENDERING if not any(is_in(name, place) for name in needed)} == set()
    assert all(map(file_of, RENDERING))


def test_a_sentence_of_a_report_renders_nothing_anew() -> None:
    for module in ("report.schedule_document", "commands.doctor", "clients.github.errors"):
        name = f"kalypso_actions.{module}"
        assert file_of(name) is not None
        assert not any(is_in(name, place) for place in RENDERING)
    assert code_digest(RENDERING) != code_digest()


def test_the_digest_covers_each_byte_and_each_name() -> None:
    rooms = ("kalypso_actions.model.counts", "kalypso_actions.model.urls")
    assert len({code_digest(rooms), code_digest(rooms[:1]), code_digest(("kalypso_go",))}) == 3


COMMIT = "c" * 40


@pytest.mark.parametrize(
    ("url", "vcs_info", "commit"),
    [
        ("https://github.com/kalypso-actions/kalypso-actions.git", {"vcs": "git"}, COMMIT),
        ("ssh://git@github.com/Kalypso-Actions/kalypso-actions", {"vcs": "git"}, COMMIT),
        ("https://github.com/eve/kalypso-actions", {"vcs": "git"}, ""),
        ("https://github.com/kalypso-actions/kalypso-actions", {"vcs": "hg"}, ""),
        ("https://github.com/kalypso-actions/kalypso-actions", {"commit_id": "main"}, ""),
        ("file:///somewhere/kalypso-actions/kalypso-actions", None, ""),
    ],
)
def test_the_commit_from_which_pip_installed(
    monkeypatch: pytest.MonkeyPatch, url: str, vcs_info: dict[str, str] | None, commit: str
) -> None:
    origin: dict[str, object] = {"url": url}
    if vcs_info is not None:
        origin["vcs_info"] = {"commit_id": COMMIT, "vcs": "git", **vcs_info}

    class Distribution:
        def read_text(self, name: str) -> str:
            assert name == "direct_url.json"
            return json.dumps(origin)

    monkeypatch.setattr(metadata, "distribution", lambda _: Distribution())
    assert installed_code.installed_commit("kalypso-actions/kalypso-actions") == commit
