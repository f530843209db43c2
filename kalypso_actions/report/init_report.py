"""The report of `kalypso init`, for people: preview, result, and remaining tasks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rich.console import Console
from rich.text import Text

from kalypso_actions.report.init_document import (
    InitBranchEntry,
    InitDocument,
    InitFileEntry,
    InitTaskEntry,
)
from kalypso_actions.report.terminal_escaping import escape_log_line

STYLES: Final = {"+": "green", "-": "red", "@": "cyan"}
WORDS: Final = {"add": "new", "replace": "replaced", "update": "differs", "delete": "to delete"}


def print_preview(console: Console, document: InitDocument) -> None:
    """Print the changes of each branch: names of new files, and diffs of all others."""
    changed = [branch for branch in document.branches if branch.files]
    for branch in changed:
        kind = " (new branch)" if branch.is_new else ""
        _print(console, f"{branch.repository}, {branch.branch}{kind}", "bold")
        for file in branch.files:
            _print_file(console, file)
        console.print()
    if not changed:
        _print(console, "There is nothing to write: all files are in place.")


def print_result(console: Console, document: InitDocument, *, in_clones: bool) -> None:
    """Print the result for each branch."""
    for branch in document.branches:
        if branch.pull_request_url:
            _print(console, f"proposed to {_name(branch)}: {branch.pull_request_url}")
        elif branch.commit:
            verb = "committed to" if in_clones else "pushed to"
            _print(console, f"{verb} {_name(branch)}: {branch.commit[:7]}")
    if not document.written and any(branch.files for branch in document.branches):
        _print(console, "Nothing was written.")


def print_remaining(console: Console, tasks: Sequence[InitTaskEntry]) -> None:
    """Print the numbered tasks."""
    console.print()
    _print(console, "Remaining tasks:", "bold")
    for number, task in enumerate(tasks, start=1):
        console.print()
        _print(console, f"{number}. {task.title}", "bold")
        _print(console, f"   {task.text}")
        for words, url in task.links.items():
            _print(console, f"   → {words}: {url}", "cyan")
        for line in task.lines:
            _print(console, f"     {line}")


def _print_file(console: Console, file: InitFileEntry) -> None:
    reason = f"  ({file.reason})" if file.reason else ""
    _print(console, f"  {WORDS[file.action]:<9} {file.path}{reason}")
    if file.action in {"replace", "update"}:
        for line in file.diff.splitlines():
            _print(console, f"    {line}", STYLES.get(line[:1], ""))


def _name(branch: InitBranchEntry) -> str:
    return f"{branch.repository}, {branch.branch}"


def _print(console: Console, line: str, style: str = "") -> None:
    """Print a line without folding, and with untrusted text escaped."""
    console.print(Text(escape_log_line(line), style=style), soft_wrap=True)
