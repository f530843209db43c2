"""Calls of kustomize. A script replaces it, except in the last tests."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path

import pytest

from kalypso_actions.clients.kustomize import SIMPLER, Kustomize, find_kustomize
from kalypso_actions.errors import KalypsoError
from tests.git_repositories import programs
from tests.sources.trees import kustomization, manifest

POSIX = pytest.mark.skipif(os.name != "posix", reason="the script is one for POSIX")
REAL = pytest.mark.skipif(not shutil.which("kustomize"), reason="kustomize is not installed")

SCRIPT = f"""#!{sys.executable}
import json, os, pathlib, sys
files = sorted(str(path) for path in pathlib.Path(".").rglob("*") if path.is_file())
home = os.listdir(os.environ["HOME"])
json.dump([sys.argv[1:], files, dict(os.environ), os.getcwd(), home], sys.stdout)
"""


def script(folder: Path, text: str = SCRIPT) -> Kustomize:
    file = folder / "kustomize"
    file.write_text(text)
    file.chmod(0o755)
    kustomize = find_kustomize(programs(PATH=str(folder), GITHUB_TOKEN="secret", HOME="/home/me"))
    assert kustomize
    return kustomize


@POSIX
def test_it_sees_the_files_and_nothing_of_the_machine(tmp_path: Path) -> None:
    built = script(tmp_path)({"app/kustomization.yaml": b"x", "base/é.yaml": b"y"}, "app")
    arguments, files, environment, folder, home = json.loads(built)
    assert arguments == [
        "build",
        "--load-restrictor",
        "LoadRestrictionsRootOnly",
        str(Path(folder) / "app"),
    ]
    assert files == ["app/kustomization.yaml", "base/é.yaml"]
    assert home == []
    assert not Path(folder).exists()
    environment.pop("LC_CTYPE", None)
    assert environment["PATH"] == ""
    assert environment["HOME"] == environment["XDG_CONFIG_HOME"] != "/home/me"
    assert environment["https_proxy"] == environment["HTTP_PROXY"] == "http://127.0.0.1:9"
    assert "secret" not in environment.values()


@POSIX
def test_its_messages_do_not_name_our_temporary_folder(tmp_path: Path) -> None:
    failing = (
        f"#!{sys.executable}\nimport sys\nsys.exit('Error: ' + sys.argv[-1] + '/x is missing')\n"
    )
    with pytest.raises(KalypsoError) as caught:
        script(tmp_path, failing)({"app/kustomization.yaml": b"x"}, "app")
    assert caught.value.problem.message == "kustomize build failed: Error: app/x is missing"


@POSIX
def test_endless_output_is_refused(tmp_path: Path) -> None:
    endless = f"#!{sys.executable}\nwhile True: print('a: b' * 10**6)\n"
    with pytest.raises(KalypsoError, match="kustomize build failed: kustomize wrote more than"):
        script(tmp_path, endless)({"app/kustomization.yaml": b"x"}, "app")


@POSIX
@pytest.mark.parametrize("path", ["../x.yaml", "/tmp/x.yaml", "a/../../x.yaml"])
def test_nothing_is_written_outside(tmp_path: Path, path: str) -> None:
    with pytest.raises(ValueError, match="leaves the folder"):
        script(tmp_path)({path: b"x"}, "app")


@POSIX
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits running programs")
def test_a_build_that_does_not_end(tmp_path: Path) -> None:
    busy = "import time\nwhile time.process_time() < 5: pass\n"
    kustomize = script(tmp_path, f"#!{sys.executable}\n{busy}")
    with pytest.raises(KalypsoError, match="kustomize build: it takes more than 1 s"):
        kustomize({"a": b""}, "app", cpu_seconds=1)


@POSIX
def test_a_build_that_takes_too_long(tmp_path: Path) -> None:
    kustomize = script(tmp_path, f"#!{sys.executable}\nimport time\ntime.sleep(60)\n")
    with pytest.raises(KalypsoError, match=r"kustomize did not finish within 0\.5 s") as caught:
        kustomize({"a": b""}, "app", timeout=0.5)
    assert caught.value.problem.advice == SIMPLER


@POSIX
def test_a_build_that_crashes(tmp_path: Path) -> None:
    kustomize = script(tmp_path, f"#!{sys.executable}\nimport os\nos._exit(2)\n")
    with pytest.raises(KalypsoError, match="crashed, and probably needs more than 1024 MB"):
        kustomize({"a": b""}, "app")


def test_absent_program() -> None:
    assert find_kustomize(programs(PATH="")) is None


def build(files: dict[str, str], folder: str = "app") -> str:
    kustomize = find_kustomize(programs())
    assert kustomize
    return kustomize({path: text.encode() for path, text in files.items()}, folder).decode()


@REAL
def test_real_build() -> None:
    files = {
        "app/kustomization.yaml": kustomization("../base", "a.yaml", more="namePrefix: x-\n"),
        "app/a.yaml": manifest("a"),
        "base/kustomization.yaml": kustomization("b.yaml"),
        "base/b.yaml": manifest("b"),
    }
    output = build(files)
    assert "name: x-a" in output
    assert "name: x-b" in output


@REAL
@pytest.mark.parametrize(
    ("more", "words"),
    [
        ("patches:\n- path: ../outside.yaml\n", "is not in or below"),
        ("configMapGenerator:\n- {name: a, files: [/etc/passwd]}\n", "is not in or below"),
        ("patches:\n- path: http://example.com/x.yaml\n", "127.0.0.1:9"),
        ("configMapGenerator:\n- {name: a, files: ['k=https://example.com/x']}\n", "127.0.0.1:9"),
        ("components: ['https://github.com/kubernetes-sigs/kustomize//x?ref=main']\n", "git"),
        ("helmCharts:\n- {name: a, repo: 'https://example.com'}\n", "enable-helm"),
        ("generators:\n- plugin.yaml\n", "plugin"),
    ],
)
def test_real_build_reaches_neither_other_files_nor_the_network(more: str, words: str) -> None:
    files = {
        "app/kustomization.yaml": kustomization("a.yaml", more=more),
        "app/a.yaml": manifest("a"),
        "app/plugin.yaml": "apiVersion: someteam.example.com/v1\nkind: Evil\nmetadata:\n  name: a\n",
        "outside.yaml": "{}",
    }
    with pytest.raises(KalypsoError, match=words):
        build(files)
