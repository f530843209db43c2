"""The start of an action: its Python, and the installation, on machines of all sorts."""

from __future__ import annotations

import importlib.machinery
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from actions import install
from tests.actions.checkout import POSIX, ROOT, UV, Machine, fingerprint
from tests.actions.composite import Job, read_log
from tests.actions.package_index import index_of

pytestmark = POSIX

SLOW_PIP = pytest.mark.parametrize("installer", ["uv", pytest.param("pip", marks=pytest.mark.slow)])


# Installation


@SLOW_PIP
def test_an_action_installs_once_per_job(machine: Machine, installer: str) -> None:
    machine.has(installer)
    first = machine.launch()
    assert f"by {installer}" in first.errors
    surroundings = first.surroundings
    assert surroundings["arguments"] == ["ci", "two words"]
    assert (
        Path(surroundings["package"]) == machine.checkout.folder / "kalypso_actions" / "__main__.py"
    )
    assert Path(surroundings["marble"]).is_relative_to(machine.temp)
    assert Path(surroundings["python"]).is_relative_to(machine.temp)
    assert (surroundings["isolated"], surroundings["utf8"]) == (1, 1)
    assert surroundings["points"] == {"sky": "colours:red"}
    assert list(Path(surroundings["marble"]).parent.glob("__pycache__/*.pyc"))
    shutil.rmtree(machine.wheels)
    second = machine.launch({})
    assert second.surroundings["python"] == surroundings["python"]
    assert second.errors == ""


@pytest.mark.slow
def test_without_uv_and_pip_python_installs_its_own_pip(machine: Machine) -> None:
    machine.has("pip")
    machine.bare_python()
    assert machine.launch().surroundings["arguments"] == ["ci", "two words"]


@pytest.mark.slow
def test_a_pip_that_cannot_install_for_another_python_is_passed_over(machine: Machine) -> None:
    """The pip of some distributions is too old for the option (pip 22.3)."""
    machine.has("pip")
    pip = machine.bare_python() / "pip" / "__main__.py"
    pip.parent.mkdir()
    pip.write_text("import sys\nif '--python' in sys.argv: sys.exit('no such option: --python')\n")
    assert machine.launch().surroundings["arguments"] == ["ci", "two words"]


@SLOW_PIP
def test_a_package_that_differs_from_the_lock_is_refused(machine: Machine, installer: str) -> None:
    machine.has(installer)
    machine.checkout.lock("0" * 64)
    launched = machine.launch()
    assert launched.exit_code == 1
    assert "::error title=kalypso::Kalypso cannot be installed:" in launched.errors
    assert "hash" in launched.errors.lower()
    assert machine.markers() == []
    assert list(machine.temp.iterdir()) == []


@SLOW_PIP
def test_nothing_is_built(machine: Machine, installer: str) -> None:
    """Building a package would run its code."""
    machine.has(installer)
    next(machine.wheels.iterdir()).rename(machine.wheels / "marble-1.0.tar.gz")
    launched = machine.launch()
    assert launched.exit_code == 1
    assert "marble" in launched.errors


def test_another_lock_or_entry_point_is_installed_for_itself(machine: Machine) -> None:
    first = machine.launch().surroundings["python"]
    with (machine.checkout.folder / "requirements.lock").open("a") as lock:
        lock.write("# changed\n")
    assert machine.launch().surroundings["python"] != first
    machine.checkout.register("grey")
    assert machine.launch().surroundings["points"] == {"sky": "colours:grey"}
    assert len(machine.markers()) == 3


def test_an_installation_that_is_killed_half_way_is_never_used(machine: Machine) -> None:
    started = machine.folder / "started"
    uv = machine.folder / "bin" / "uv"
    uv.unlink()
    machine.program("uv", f"echo > {shlex.quote(str(started))}; sleep 60")
    process = machine.start(machine.offline())
    for _ in range(2400):
        if started.exists():
            break
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    assert list(machine.temp.iterdir())
    assert machine.markers() == []
    uv.unlink()
    uv.symlink_to(UV)
    assert Path(machine.launch().surroundings["marble"]).is_relative_to(machine.temp)


def test_an_installation_that_has_vanished_is_made_again(machine: Machine) -> None:
    shutil.rmtree(Path(machine.launch().surroundings["python"]).parents[1])
    assert machine.launch().surroundings["arguments"] == ["ci", "two words"]


def test_two_at_once(machine: Machine) -> None:
    processes = [machine.start(machine.offline()) for _ in range(2)]
    outputs = [json.loads(process.communicate(timeout=300)[0]) for process in processes]
    assert len(machine.markers()) == 1
    assert machine.launch({}).surroundings["python"] in {output["python"] for output in outputs}


def test_the_layout_of_windows(machine: Machine) -> None:
    python = Path(machine.launch().surroundings["python"])
    folder = python.parents[1]
    scripts = machine.program(f"{folder}/Scripts/python.exe", f'exec {python.parent}/real "$@"')
    python.rename(python.parent / "real")
    assert not (folder / "bin" / "python").exists()
    assert scripts == install.python_in(folder)
    assert machine.launch({}).surroundings["arguments"] == ["ci", "two words"]


@pytest.mark.slow
def test_an_extra_is_added_to_what_is_installed(machine: Machine) -> None:
    python = Path(machine.launch().surroundings["python"])
    checkout = machine.checkout.folder
    lock = (checkout / "requirements.lock").read_text()
    (checkout / "requirements-more.lock").write_text(lock)
    before = {path.name for path in python.parents[1].iterdir()}
    arguments = [machine.folder / "bin" / "python3", "-I", checkout / "actions" / "install.py"]
    done = subprocess.run(
        [*map(str, arguments), "more"],
        env={**machine.variables, **machine.offline()},
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    assert done.stdout == str(python)
    (marker,) = {path.name for path in python.parents[1].iterdir()} - before
    assert marker.startswith("more-")


# Variables of the job


@pytest.mark.slow
def test_neither_the_job_nor_its_workspace_leads_python_elsewhere(machine: Machine) -> None:
    workspace, trap = machine.folder / "workspace", "raise SystemExit('trapped')"
    for name in ("kalypso_actions/__init__", "marble", "json", "sitecustomize", "pip/__main__"):
        for folder in (workspace, machine.folder / "pythonpath"):
            path = folder / f"{name}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(trap)
    (workspace / "uv.toml").write_text("no-index = ")
    (workspace / "pyproject.toml").write_text("[tool.uv]\nno-index = ")
    misleading = {
        "PYTHONPATH": f"{machine.folder / 'pythonpath'}:.",
        "PYTHONHOME": "/nowhere",
        "PYTHONSTARTUP": str(workspace / "json.py"),
        "PYTHONUSERBASE": str(workspace),
        "PYTHONUTF8": "0",
        "VIRTUAL_ENV": str(workspace),
        "PIP_TARGET": str(workspace),
        "PIP_USER": "1",
        "PIP_REQUIRE_VIRTUALENV": "1",
        "UV_SYSTEM_PYTHON": "1",
        "UV_PYTHON": "3.9",
        "CDPATH": str(machine.checkout.folder),
    }
    for installer in ("uv", "pip"):
        launched = machine.launch(machine.offline() | misleading)
        assert f"by {installer}" in launched.errors
        assert "tried" not in launched.errors
        surroundings = launched.surroundings
        assert Path(surroundings["package"]).is_relative_to(machine.checkout.folder)
        assert Path(surroundings["marble"]).is_relative_to(machine.temp)
        # The programs that the command starts for the job get the original variables.
        assert {name: surroundings["variables"].get(name) for name in misleading} == misleading
        if installer == "uv":
            machine.has("pip")
            machine.markers()[0].unlink()


@pytest.mark.parametrize(
    ("installer", "variable"),
    [
        ("uv", "UV_DEFAULT_INDEX"),
        ("uv", "UV_INDEX_URL"),
        ("uv", "PIP_INDEX_URL"),
        pytest.param("pip", "PIP_INDEX_URL", marks=pytest.mark.slow),
    ],
)
def test_an_index_that_a_variable_names(machine: Machine, installer: str, variable: str) -> None:
    machine.has(installer)
    with index_of(machine.wheels) as index:
        launched = machine.launch({variable: index.url})
        assert launched.surroundings["arguments"] == ["ci", "two words"]
        assert "tried" not in launched.errors
        assert [path for path in index.requests if path.startswith("/files/")]


@pytest.mark.slow
@pytest.mark.parametrize("has_uv", [True, False])
def test_an_index_that_pip_conf_names(machine: Machine, has_uv: bool) -> None:
    """uv does not read it: if uv finds nothing, pip installs."""
    machine.variables["UV_DEFAULT_INDEX"] = "http://127.0.0.1:9/simple"
    if not has_uv:
        machine.has("pip")
    with index_of(machine.wheels) as index:
        configuration = machine.folder / "pip.conf"
        configuration.write_text(f"[global]\nindex-url = {index.url}\n")
        launched = machine.launch({"PIP_CONFIG_FILE": str(configuration)})
        assert launched.surroundings["arguments"] == ["ci", "two words"]
        assert ("uv failed; trying pip." in launched.errors) is has_uv


@pytest.mark.slow
def test_pip_conf_may_prefer_the_user_s_own_folder(machine: Machine) -> None:
    machine.has("pip")
    configuration = machine.folder / "pip.conf"
    configuration.write_text("[install]\nuser = true\n[global]\nrequire-virtualenv = true\n")
    launched = machine.launch(machine.offline() | {"PIP_CONFIG_FILE": str(configuration)})
    assert Path(launched.surroundings["marble"]).is_relative_to(machine.temp)


def test_installers_get_no_token_and_cannot_command_the_runner(machine: Machine) -> None:
    log = machine.folder / "log"
    output = "::add-mask::Kalypso\n::set-output name=a::b\n##[error]x\nits last words"
    machine.has("pip")
    machine.program("uv", f"set > {shlex.quote(str(log))}; echo {shlex.quote(output)} >&2; exit 1")
    pip = machine.bare_python() / "pip" / "__main__.py"
    pip.parent.mkdir()
    options = machine.folder / "options"
    pip.write_text(
        "import pathlib, sys\n"
        "if 'install' in sys.argv:\n"
        f"    pathlib.Path({str(options)!r}).write_text(' '.join(sys.argv))\n"
        f"    sys.exit({output!r})\n"
    )
    names = ("GH_TOKEN", "GITHUB_TOKEN", "KALYPSO_APP_PRIVATE_KEY", "ACTIONS_RUNTIME_TOKEN")
    launched = machine.launch(machine.offline() | dict.fromkeys(names, "secret"))
    assert launched.exit_code == 1
    assert launched.errors.count("its last words") == 3  # from uv, and from both in the annotation
    assert "PATH=" in log.read_text()
    assert "secret" not in log.read_text()
    assert "--require-hashes --only-binary :all:" in options.read_text()
    _, commands = read_log(launched.errors, masks=[])
    assert [command.name for command in commands] == ["error"]


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"RUNNER_TEMP": ""}, "RUNNER_TEMP is not set%0Athis script is for jobs"),
        ({"KALYPSO_INPUTS": '{"wheelhouse": "no%\\nwhere"}'}, "no%25%0Awhere is not a folder"),
        ({"RUNNER_TEMP": "/nowhere/at/all"}, "/nowhere/at/all"),
    ],
)
def test_advice_for_the_user_is_one_annotation(
    machine: Machine, variables: dict[str, str], message: str
) -> None:
    launched = machine.launch(variables)
    assert launched.exit_code == 1
    assert launched.errors.startswith("::error title=kalypso::Kalypso cannot be installed: ")
    assert message in launched.errors
    assert launched.errors.count("\n") == 1


@pytest.mark.skipif(not hasattr(os, "ST_NOEXEC"), reason="only Linux shows it")
def test_a_folder_where_nothing_may_be_executed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Packages have compiled parts, and the system would refuse each of them."""
    monkeypatch.setenv("RUNNER_TEMP", str(tmp_path))
    assert install.temporary_folder() == tmp_path
    mount = SimpleNamespace(f_flag=os.ST_NOEXEC | os.ST_NOSUID)
    monkeypatch.setattr(os, "statvfs", lambda _: mount)
    with pytest.raises(install.InstallError, match="mounted noexec") as caught:
        install.temporary_folder()
    assert caught.value.advice == "keep the runner's work folder where programs may run"


def test_alpine_gets_its_own_advice(monkeypatch: pytest.MonkeyPatch) -> None:
    suffixes = [".cpython-312-x86_64-linux-musl.so", ".so"]
    monkeypatch.setattr(importlib.machinery, "EXTENSION_SUFFIXES", suffixes)
    assert "use an image with glibc and git" in install.advice_for_missing_wheels()


def test_the_tests_of_actions_use_the_installed_packages(job: Job, runner_temp: Path) -> None:
    """launch.sh looks for the same marker, so it installs nothing."""
    before = set(runner_temp.iterdir())
    assert runner_temp / f"kalypso-{fingerprint()}" in before
    job.shell(f"{ROOT}/actions/launch.sh --version")
    assert set(runner_temp.iterdir()) == before


def test_the_script_is_clean() -> None:
    shellcheck = Path(sys.executable).parent / "shellcheck"
    subprocess.run([str(shellcheck), str(ROOT / "actions" / "launch.sh")], check=True)
