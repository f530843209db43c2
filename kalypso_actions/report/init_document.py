"""The output of `kalypso init`: its document, its text, and its pull request."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from pydantic import Field
from rich.console import Console

from kalypso_actions.report import markdown
from kalypso_actions.report.chain_document import WriteEntry
from kalypso_actions.report.documents import OutputDocument, ProblemEntry
from kalypso_actions.report.terminal import print_line

STYLES: Final = {"+": "green", "-": "red", "@": "cyan"}
WORDS: Final = {
    "add": "new",
    "replace": "replaced",
    "annotate": "annotated",
    "update": "differs",
    "delete": "to delete",
}


class InitFileEntry(OutputDocument):
    """A change to a file.

    `action` is add, replace (upstream's workflow), annotate (an Environment object that names a new
    environment as next), update (a workflow that people have changed) or delete (a file that
    upstream left behind); update and delete need consent to be `written`.
    `diff` is a unified diff.
    """

    path: str
    action: str
    reason: str
    diff: str
    written: bool


class InitBranchEntry(OutputDocument):
    """A branch; `commit` is its new commit, or that of the pull request."""

    repository: str
    branch: str
    is_new: bool
    files: tuple[InitFileEntry, ...]
    commit: str = ""
    pull_request_url: str = ""


class InitTaskEntry(OutputDocument):
    """A task for people: pages by purpose, and lines to type."""

    title: str
    text: str
    links: dict[str, str]
    lines: tuple[str, ...]


class OnboardingDocument(OutputDocument):
    """What `kalypso init` and `kalypso app init` have in common.

    `written` means that at least one branch was pushed or proposed. `writes` are those to GitHub
    that a dry run would make.
    """

    environments: tuple[str, ...] = ()
    written: bool = False
    branches: tuple[InitBranchEntry, ...] = ()
    remaining: tuple[InitTaskEntry, ...] = ()
    writes: tuple[WriteEntry, ...] = ()
    warnings: tuple[ProblemEntry, ...] = ()
    problems: tuple[ProblemEntry, ...] = ()


class InitDocument(OnboardingDocument):
    """The output of `kalypso init --output json`."""

    schema_name: str = Field("kalypso.init/v1", alias="schema")
    control_plane: str
    gitops: str


class AppInitDocument(OnboardingDocument):
    """The output of `kalypso app init --output json`."""

    schema_name: str = Field("kalypso.app-init/v1", alias="schema")
    source: str
    configs: str
    gitops: str


class AppRegisterDocument(OutputDocument):
    """The output of `kalypso app register --output json`.

    `text` is the registration for the `file` of the control plane. `lines` propose it there.
    """

    schema_name: str = Field("kalypso.app-register/v1", alias="schema")
    file: str = ""
    text: str = ""
    lines: tuple[str, ...] = ()
    problems: tuple[ProblemEntry, ...] = ()


def print_registration(console: Console, document: AppRegisterDocument) -> None:
    """Print the registration, with the lines as comments: the output is the whole file."""
    for line in document.lines:
        print_line(console, f"# {line}")
    for line in document.text.splitlines():
        print_line(console, line)


def print_preview(console: Console, document: OnboardingDocument) -> None:
    """Print the changes of each branch: names of new files, and diffs of all others."""
    changed = [branch for branch in document.branches if branch.files]
    for branch in changed:
        kind = " (new branch)" if branch.is_new else ""
        print_line(console, f"{branch.repository}, {branch.branch}{kind}", "bold")
        for file in branch.files:
            _print_file(console, file)
        console.print()
    if not changed:
        print_line(console, "There is nothing to write: all files are in place.")
    for write in document.writes:
        print_line(console, f"Would {write.line}")


def print_result(console: Console, document: OnboardingDocument, *, in_clones: bool) -> None:
    """Print the result for each branch."""
    for branch in document.branches:
        if branch.pull_request_url:
            print_line(console, f"proposed to {_name(branch)}: {branch.pull_request_url}")
        elif branch.commit:
            verb = "committed to" if in_clones else "pushed to"
            print_line(console, f"{verb} {_name(branch)}: {branch.commit[:7]}")
    if not document.written and any(branch.files for branch in document.branches):
        print_line(console, "Nothing was written.")


def print_remaining(console: Console, tasks: Sequence[InitTaskEntry]) -> None:
    """Print the numbered tasks."""
    console.print()
    print_line(console, "Remaining tasks:", "bold")
    for number, task in enumerate(tasks, start=1):
        console.print()
        print_line(console, f"{number}. {task.title}", "bold")
        print_line(console, f"   {task.text}")
        for words, url in task.links.items():
            print_line(console, f"   → {words}: {url}", "cyan")
        for line in task.lines:
            print_line(console, f"     {line}")


def _print_file(console: Console, file: InitFileEntry) -> None:
    reason = f"  ({file.reason})" if file.reason else ""
    print_line(console, f"  {WORDS[file.action]:<9} {file.path}{reason}")
    if file.action in {"replace", "annotate", "update"}:
        for line in file.diff.splitlines():
            print_line(console, f"    {line}", STYLES.get(line[:1], ""))


def _name(branch: InitBranchEntry) -> str:
    return f"{branch.repository}, {branch.branch}"


def pull_request_text(branch: str, changes: Iterable[tuple[str, str, str]]) -> tuple[str, str]:
    """Return title and body; `changes` are the path of each file, the action, and the reason."""
    mark = markdown.marker("init", branch)
    return f"Set up Kalypso on {branch}", markdown.render("init_pull_request.md.j2", **locals())
