"""The output of `kalypso demo`: its document, and its text, a line for each step."""

from __future__ import annotations

import shlex
from datetime import datetime
from typing import Final
from urllib.parse import urlsplit

from pydantic import Field
from rich.console import Console
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from kalypso_actions.report.documents import Document, ProblemEntry
from kalypso_actions.report.escaping import escape_line
from kalypso_actions.report.terminal import print_findings, print_trimmed

INTRODUCTION: Final = """\
Acme has a control plane (main, dev, stage), a GitOps repository, an application, a service of its \
platform team, and 16 clusters. All of it runs in this process, behind the APIs of GitHub and \
Azure, and git. Events start the workflows in the repositories, which run Kalypso's commands, as \
on GitHub. Only the clock is simulated: the demo takes up to a minute.
"""

STYLES: Final = {"people": "magenta", "status": "blue", "start-schedule": "dim"}
COMMAND: Final = "cyan"
ENDINGS: Final = {"compliant": "green", "failed": "red"}
WIDTHS: Final = {"time": 5, "number": 2, "who": 14, "environment": 5}


class DemoStepEntry(Document):
    """A step of `kalypso demo`.

    `who` is a command of Kalypso, `people`, or `status` (the statuses of a commit). `ending` is the
    result of a command in a word; `folder` has its files.
    """

    act: str
    at: str
    who: str
    environment: str = ""
    text: str
    ending: str = ""
    as_expected: bool = True
    details: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    folder: str = ""


class DemoRepositoryEntry(Document):
    """A repository of the sample organisation; git clones it from its path."""

    name: str
    path: str


class DemoDocument(Document):
    """The output of `kalypso demo --output json`.

    `url` is that of the sandbox, `report` the path of the page about the fleet ("" after a
    problem).
    """

    schema_name: str = Field("kalypso.demo/v1", alias="schema")
    dir: str
    url: str = ""
    report: str = ""
    repositories: tuple[DemoRepositoryEntry, ...] = ()
    steps: tuple[DemoStepEntry, ...] = ()
    problems: tuple[ProblemEntry, ...] = ()


class Timeline:
    """Prints each step under the title of its act.

    Times count from the first step, by the simulated clock.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self._acts = 0
        self._act = ""
        self._first: datetime | None = None

    def show(self, step: DemoStepEntry) -> None:
        """Print a step."""
        if not self._acts:
            print_trimmed(self._console, Text(INTRODUCTION.rstrip()))
        if step.act != self._act:
            self._act = step.act
            self._acts += 1
            self._console.print()
            self._console.print(Rule(f"{self._acts}. {escape_line(step.act)}", align="left"))
        row = Table.grid(padding=(0, 2))
        for width in WIDTHS.values():
            row.add_column(width=width, no_wrap=True)
        row.add_column(overflow="fold")
        row.add_row(
            Text(self._time(step), style="dim"),
            Text(_number(step.folder), style="dim"),
            Text(step.who, style=STYLES.get(step.who, COMMAND)),
            Text(escape_line(step.environment), style="green"),
            _description(step),
        )
        print_trimmed(self._console, row)

    def _time(self, step: DemoStepEntry) -> str:
        """Return minutes and seconds since the first step."""
        now = datetime.fromisoformat(step.at)
        self._first = self._first or now
        minutes, seconds = divmod(int((now - self._first).total_seconds()), 60)
        return f"{minutes:02}:{seconds:02}"


def _number(folder: str) -> str:
    """Return the number at the start of a step's folder."""
    return folder.replace("\\", "/").rpartition("/")[2].partition("-")[0]


def _description(step: DemoStepEntry) -> Text:
    """Return the step's text and details."""
    style = ENDINGS.get(step.ending, "") if step.as_expected else "bold red"
    text = Text().append(escape_line(step.text), style=style)
    for line in step.details:
        text.append(f"\n{escape_line(line)}", style="dim")
    return text


def print_end(console: Console, document: DemoDocument, program: str) -> None:
    """Print the result, and commands that show the details.

    `program` is the word that calls this program.
    """
    folder = shlex.quote(document.dir)
    gitops = next(
        (repo.path for repo in document.repositories if repo.name.endswith("/gitops")), ""
    )
    console.print()
    console.print(Rule("Where to look", align="left"))
    if document.report:
        console.print(Text("# the fleet: assignments, configuration, files, pipeline", style="dim"))
        console.print(document.report, soft_wrap=True, markup=False)
    for words, command in (
        ("each step by its number: summary, log, outputs, pull request", f"ls {folder}/runs/*"),
        ("any repository", f"git clone -b dev {shlex.quote(gitops)}"),
        (
            "GitHub and Azure in their final state",
            f"{shlex.quote(program)} sandbox --dir {folder} --port {urlsplit(document.url).port}",
        ),
    ):
        console.print(Text(f"# {words}", style="dim"))
        console.print(command, soft_wrap=True, markup=False)
    if document.problems:
        print_findings(console, document.findings)
    else:
        console.print(Text("\nEvery step ended as expected.", style="green"))
