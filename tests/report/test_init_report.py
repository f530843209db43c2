"""The report of `kalypso init`."""

from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console

from kalypso_actions.report.init_document import (
    InitBranchEntry,
    InitDocument,
    InitFileEntry,
    InitTaskEntry,
    print_preview,
    print_remaining,
    print_result,
)

DIFF = "--- a/ci.yaml\n+++ b/ci.yaml\n@@ -1 +1 @@\n-old \x1b[31m\n+::error::new\n"


def file(action: str, reason: str = "", *, diff: str = DIFF) -> InitFileEntry:
    return InitFileEntry(path="ci.yaml", action=action, reason=reason, diff=diff, written=False)


def branch(name: str, *files: InitFileEntry, is_new: bool = False, **more: str) -> InitBranchEntry:
    return InitBranchEntry.model_validate(
        {"repository": "a/cp", "branch": name, "is_new": is_new, "files": files, **more}
    )


def document(*branches: InitBranchEntry, written: bool = False) -> InitDocument:
    return InitDocument(control_plane="a/cp", gitops="a/go", branches=branches, written=written)


def console() -> tuple[Console, StringIO]:
    written = StringIO()
    return Console(file=written, width=40, highlight=False), written


def test_new_files_are_named_and_others_shown() -> None:
    made, written = console()
    dev = branch("dev", file("add"), is_new=True)
    main = branch(
        "main", file("replace", "why"), file("update", "differs"), file("delete", diff="-x\n")
    )
    print_preview(made, document(dev, branch("stage"), main))
    diff = [
        "    --- a/ci.yaml",
        "    +++ b/ci.yaml",
        "    @@ -1 +1 @@",
        "    -old \\x1b[31m",
        "    +::error::new",
    ]
    assert written.getvalue().splitlines() == [
        "a/cp, dev (new branch)",
        "  new       ci.yaml",
        "",
        "a/cp, main",
        "  replaced  ci.yaml  (why)",
        *diff,
        "  differs   ci.yaml  (differs)",
        *diff,
        "  to delete ci.yaml",
        "",
    ]


def test_nothing_to_write() -> None:
    made, written = console()
    print_preview(made, document(branch("main")))
    print_result(made, document(branch("main")), in_clones=False)
    assert written.getvalue() == "There is nothing to write: all files are in place.\n"


@pytest.mark.parametrize(("in_clones", "verb"), [(True, "committed to"), (False, "pushed to")])
def test_the_result_for_each_branch(verb: str, *, in_clones: bool) -> None:
    made, written = console()
    dev = branch("dev", file("add"), commit="a" * 40)
    main = branch("main", file("add"), commit="b" * 40, pull_request_url="https://x/pull/1")
    print_result(made, document(dev, main, written=True), in_clones=in_clones)
    assert written.getvalue().splitlines() == [
        f"{verb} a/cp, dev: aaaaaaa",
        "proposed to a/cp, main: https://x/pull/1",
    ]


def test_nothing_was_written() -> None:
    made, written = console()
    print_result(made, document(branch("dev", file("add"))), in_clones=False)
    assert written.getvalue() == "Nothing was written.\n"


def test_tasks_are_numbered_and_their_lines_whole() -> None:
    made, written = console()
    url = "https://example.com/" + "x" * 60
    tasks = [
        InitTaskEntry(title="One", text="Do it.", links={"here": url}, lines=("a: [b]",)),
        InitTaskEntry(title="Two", text="Then this.", links={}, lines=()),
    ]
    print_remaining(made, tasks)
    assert written.getvalue().splitlines() == [
        "",
        "Remaining tasks:",
        "",
        "1. One",
        "   Do it.",
        f"   → here: {url}",
        "     a: [b]",
        "",
        "2. Two",
        "   Then this.",
    ]
