"""The Python that an action finds on machines of all sorts."""

from __future__ import annotations

import shlex
import sys

import pytest

from tests.actions.checkout import POSIX, PYTHON, Machine

pytestmark = POSIX

STORE = 'echo "Python was not found; run without arguments to install from the Store" >&2; exit 49'


SHIM = 'echo "shim: python3: command not found in the installed versions" >&2; exit 127'


TOO_OLD = (
    f"exec {shlex.quote(sys.executable)} -I -c "
    "'import sys; sys.version_info = (3, 10, 9); exec(sys.argv[1])' \"$3\""
)


PYTHON_2 = 'echo "Unknown option: -I" >&2; exit 2'


@pytest.mark.parametrize(
    "other", [STORE, SHIM, TOO_OLD, PYTHON_2], ids=["store", "shim", "old", "2"]
)
def test_a_python_that_will_not_do_is_passed_over(machine: Machine, other: str) -> None:
    machine.program("python3", other)
    refused = machine.launch()
    assert (refused.exit_code, refused.output) == (1, "")
    assert refused.errors.startswith("::error title=kalypso::Kalypso needs Python 3.11 or later")
    assert "actions/setup-python" in refused.errors
    assert refused.errors.count("\n") == 1
    machine.program("python", PYTHON)
    assert machine.launch().surroundings["arguments"] == ["ci", "two words"]


def test_no_python_at_all(machine: Machine) -> None:
    (machine.folder / "bin" / "python3").unlink()
    assert "Kalypso needs Python" in machine.launch().errors


@pytest.mark.parametrize("separator", ["/", "\\"])
def test_the_newest_of_the_runners_tools_that_works(machine: Machine, separator: str) -> None:
    (machine.folder / "bin" / "python3").unlink()
    cache, chosen = machine.folder / "tool cache", machine.folder / "chosen"
    for place, script in {
        "3.9.1/x64/bin/python": PYTHON,
        "3.12.9/x64/bin/python": PYTHON,
        "3.12.10/arm64/bin/python": f"echo here > {shlex.quote(str(chosen))}; {PYTHON}",
        "3.13.2/x64/python.exe": SHIM,
        "3.14.0-rc.1/x64/bin/python": SHIM,
    }.items():
        machine.program(f"{cache}/Python/{place}", script)
    machine.variables["RUNNER_TOOL_CACHE"] = str(cache).replace("/", separator)
    assert machine.launch().surroundings["arguments"] == ["ci", "two words"]
    assert chosen.exists()


def test_git_bash_gives_python_paths_of_windows(machine: Machine) -> None:
    """Git Bash converts its own paths (`/d/a/…`), unless a job has turned that off."""
    of_windows = machine.folder / "of windows"
    of_windows.symlink_to(machine.checkout.folder / "actions")
    git_bash = machine.folder / "git-bash.sh"
    git_bash.write_text(
        f'pwd() {{ if [ "${{1:-}}" = -W ]; then echo {shlex.quote(str(of_windows))}; '
        'else builtin pwd "$@"; fi; }\n'
    )
    log = machine.folder / "log"
    machine.program("python3", f'echo "$4" >> {shlex.quote(str(log))}\n{PYTHON}')
    assert machine.launch(machine.offline() | {"BASH_ENV": str(git_bash)}).surroundings
    assert log.read_text().splitlines()[-1] == f"{of_windows}/install.py"
