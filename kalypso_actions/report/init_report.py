"""What `kalypso init` would write, has written, and leaves to do, for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rich.console import Console
from rich.text import Text

from kalypso_actions.report.documents import (
    InitBranchEntry,
    InitDocument,
    InitFileEntry,
    InitTaskEntry,
)
from kalypso_actions.report.escaping import escape_log_line

STYLES: Final = {"+": "green", "-": "red", "@": "cyan"}
WORDS: Final = {"add": "new", "replace": "replaced", "update": "differs", "delete": "to delete"}


def print_preview(console: Console, document: InitDocument) -> None:
    """Each branch with its new files by name, and every other change line by line."""
    changed = [branch for branch in document.branches if branch.files]
    for branch in changed:
        kind = " (new branch)" if branch.is_new else ""
        _print(console, f"{branch.repository}, {branch.branch}{kind}", "bold")
        for file in branch.files:
            _print_file(console, file)
        console.print()
    if not changed:
        _print(console, "Nothing is left to write: every file is in its place.")


def print_result(console: Console, document: InitDocument, *, in_clones: bool) -> None:
    """What became of each branch."""
    for branch in document.branches:
        if branch.pull_request_url:
            _print(console, f"proposed to {_name(branch)}: {branch.pull_request_url}")
        elif branch.commit:
            verb = "committed to" if in_clones else "pushed to"
            _print(console, f"{verb} {_name(branch)}: {branch.commit[:7]}")
    if not document.written and any(branch.files for branch in document.branches):
        _print(console, "Nothing was written.")


def print_remaining(console: Console, tasks: Sequence[InitTaskEntry]) -> None:
    """What is left to people, numbered."""
    console.print()
    _print(console, "What is left to do:", "bold")
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
    """A line that is not folded: what repositories hold moves no cursor, and commands no runner."""
    console.print(Text(escape_log_line(line), style=style), soft_wrap=True)
