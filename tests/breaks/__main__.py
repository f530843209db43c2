"""Break every declared rule: `python -m tests.breaks [part of a name …]`; with -v, list them all.

The tests are collected once. Each break then has a fork of this process, as many at once as there
are processors: nothing that a break leaves behind, in caches or fixtures, reaches another one.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Final

import pytest

from tests.breaks import BREAKING, Break, MisfitError

DECLARES: Final = "from tests.breaks import "
FORK: Final = multiprocessing.get_context("fork")
LIMIT: Final = 120
"""Seconds for the tests of one break, and for each part of all tests."""

PARTS: Final = 4

FAULTS_OF_BREAKS: Final = (NameError, ImportError, SyntaxError)
"""Exceptions of a break that is written wrongly; no rule of the product raises them."""


@dataclass(slots=True)
class Outcome:
    """What a run of tests told: the test that failed first, and what is wrong with the break."""

    noticed_by: str = ""
    fault: str = ""
    seconds: float = 0.0


@dataclass(eq=False, slots=True)
class Failures:
    """A plug-in of a fork: it keeps the first failure."""

    first: str = ""
    fault: str = ""
    passed: int = 0

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Keep a failure, and see whether the break itself is at fault."""
        report = yield
        if report.failed and not self.first:
            self.first = item.name
            error = call.excinfo.value if call.excinfo else None
            innermost = call.excinfo.traceback[-1].path if call.excinfo else ""
            if isinstance(error, FAULTS_OF_BREAKS):
                self.fault = f"it raises {error!r}"
            elif isinstance(error, TypeError) and Path(str(innermost)).parent.name == "breaks":
                self.fault = f"its replacement cannot be called: {error}"
        self.passed += report.passed and report.when == "call"
        return report


class Breaking:
    """The plug-in that runs the declared tests, once without a break and once with each."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = names
        self.outcomes: dict[str, Outcome] = {}

    @pytest.hookimpl
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run all breaks, instead of all tests."""
        tests: dict[str, tuple[Break, list[pytest.Item]]] = {}
        declared = Counter[str]()
        for item in session.items:
            for mark in item.iter_markers("breaks"):
                broken: Break = mark.args[0]
                known, items = tests.setdefault(broken.name, (broken, []))
                declared[broken.name] += known is not broken
                if broken.case in item.name:
                    items.append(item)
        chosen = [
            (broken, items)
            for name, (broken, items) in tests.items()
            if not self.names or any(part in name for part in self.names)
        ]
        needed = list({item: None for _, items in chosen for item in items})
        jobs: dict[str, Callable[[], Outcome]] = {
            f"part {part + 1} of the tests, without any break": partial(
                _unbroken, needed[part::PARTS]
            )
            for part in range(PARTS)
        }
        jobs |= {broken.name: partial(_broken, broken, items) for broken, items in chosen}
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            self.outcomes = dict(zip(jobs, pool.map(_in_fork, jobs.values()), strict=True))
        for name in declared.elements():
            self.outcomes[name] = Outcome(fault="two breaks have this name")
        return True


def _in_fork(job: Callable[[], Outcome]) -> Outcome:
    """Do a job in a fork of this process, and return what it returns."""
    started = time.monotonic()
    receiver, sender = FORK.Pipe(duplex=False)

    def work(sender: Connection) -> None:
        with open(os.devnull, "w") as nowhere:  # noqa: PTH123 # a device
            os.dup2(nowhere.fileno(), 1)
            os.dup2(nowhere.fileno(), 2)
        try:
            outcome = job()
        except Exception as error:  # noqa: BLE001 # the parent process tells it
            outcome = Outcome(fault=repr(error))
        sender.send(outcome)

    process = FORK.Process(target=work, args=(sender,))
    process.start()
    sender.close()
    outcome = Outcome(fault=f"the tests did not end within {LIMIT} seconds")
    if receiver.poll(LIMIT):
        try:
            outcome = receiver.recv()
        except EOFError:
            outcome = Outcome(fault="the process ended")
    else:
        process.kill()
    process.join()
    outcome.seconds = time.monotonic() - started
    return outcome


def _unbroken(items: Sequence[pytest.Item]) -> Outcome:
    failures = _run(items, stop=False)
    return Outcome(fault=f"{failures.first} fails without a break" if failures.first else "")


def _broken(broken: Break, items: Sequence[pytest.Item]) -> Outcome:
    if not items:
        return Outcome(fault=f"no case of the test contains {broken.case!r}")
    try:
        for change in broken.changes:
            change.apply()
    except MisfitError as misfit:
        return Outcome(fault=str(misfit))
    failures = _run(items, stop=True)
    if failures.fault:
        return Outcome(fault=failures.fault)
    if not all(change.is_used for change in broken.changes):
        return Outcome(fault="the tests do not call what it replaces")
    if not failures.first:
        ran = f"{failures.passed} of {len(items)} tests pass"
        return Outcome(fault=f"no test notices it: {ran}")
    return Outcome(noticed_by=failures.first)


def _run(items: Sequence[pytest.Item], *, stop: bool) -> Failures:
    """Run tests in this process, which ends afterwards; with `stop`, until one fails."""
    failures = Failures()
    if items:
        plugins = items[0].config.pluginmanager
        plugins.unregister(name="terminalreporter")
        plugins.register(failures)
    for item, following in zip_longest(items, items[1:]):
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        if stop and failures.first:
            item.session._setupstate.teardown_exact(None)  # servers of fixtures end, too
            break
    return failures


def main(arguments: Sequence[str], folder: Path = Path(__file__).parents[1]) -> int:
    """Try the breaks whose names contain one of the arguments; return 1 if one is not noticed."""
    started = time.monotonic()
    os.environ[BREAKING] = "1"
    names = [argument for argument in arguments if argument != "-v"]
    files = [
        str(file)
        for file in sorted(folder.rglob("test_*.py"))
        if DECLARES in file.read_text("utf-8")
    ]
    breaking = Breaking(names)
    # Random examples differ from run to run; a break must not.
    options = [
        "-q",
        "--hypothesis-seed=0",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
        "--no-header",
        "-m",
        "breaks",
    ]
    collected = pytest.main([*options, *files], plugins=[breaking])
    outcomes = breaking.outcomes
    for name, outcome in outcomes.items():
        if outcome.fault:
            print(f"NOT NOTICED: {name}: {outcome.fault}")
        elif "-v" in arguments:
            print(f"{outcome.seconds:5.1f} s  {name}  {outcome.noticed_by}")
    wrong = sum(bool(outcome.fault) for outcome in outcomes.values())
    count = len(outcomes) - PARTS
    print(f"{count} breaks, {wrong} faults, {time.monotonic() - started:.0f} seconds")
    return (
        1
        if wrong
        or count < 1
        or collected not in {pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED}
        else 0
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
