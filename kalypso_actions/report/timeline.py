"""The play of `kalypso demo` on a terminal: a line for each step, and where to look afterwards."""

from __future__ import annotations

import shlex
from datetime import datetime
from typing import Final
from urllib.parse import urlsplit

from rich.console import Console
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from kalypso_actions.report.documents import DemoDocument, DemoStepEntry
from kalypso_actions.report.escaping import escape_line
from kalypso_actions.report.terminal import print_findings

BEGINNING: Final = """\
Acme has a control plane (main, dev, stage), a GitOps repository, an application, a service of its \
platform team, and 16 clusters. All of it lives in this process, behind the APIs of GitHub and \
Azure, and git. What happens starts workflows, as their files in the repositories say, and these \
run Kalypso's commands, as they would on GitHub. Only the clock is not real.
"""

STYLES: Final = {"people": "magenta", "status": "blue", "start-schedule": "dim"}
COMMAND: Final = "cyan"
ENDINGS: Final = {"compliant": "green", "failed": "red"}
WIDTHS: Final = {"time": 5, "number": 2, "who": 14, "environment": 5}


class Timeline:
    """Prints the steps as they come, under the titles of their acts, after a word on all of it.

    Times count from the first step, by the clock of the play.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self._acts = 0
        self._act = ""
        self._first: datetime | None = None

    def show(self, step: DemoStepEntry) -> None:
        """A step of the play."""
        if not self._acts:
            self._console.print(BEGINNING.rstrip())
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
            _what(step),
        )
        self._console.print(row)

    def _time(self, step: DemoStepEntry) -> str:
        """Minutes and seconds since the first step."""
        now = datetime.fromisoformat(step.at)
        self._first = self._first or now
        minutes, seconds = divmod(int((now - self._first).total_seconds()), 60)
        return f"{minutes:02}:{seconds:02}"


def _number(folder: str) -> str:
    """The number by which the folder of a step begins."""
    return folder.replace("\\", "/").rpartition("/")[2].partition("-")[0]


def _what(step: DemoStepEntry) -> Text:
    """What happened, and what else there is to know of it."""
    style = ENDINGS.get(step.ending, "") if step.as_expected else "bold red"
    text = Text().append(escape_line(step.text), style=style)
    for line in step.details:
        text.append(f"\n{escape_line(line)}", style="dim")
    return text


def print_end(console: Console, document: DemoDocument, program: str) -> None:
    """Whether all went as it should, and what can be looked at now.

    `program` is what this program is called by, for lines to be copied.
    """
    folder = shlex.quote(document.dir)
    gitops = next((one.path for one in document.repositories if one.name.endswith("/gitops")), "")
    console.print()
    console.print(Rule("Where to look", align="left"))
    for words, command in (
        ("by a step's number: its page, log, outputs, pull request", f"ls {folder}/runs/*"),
        ("any repository", f"git clone -b dev {shlex.quote(gitops)}"),
        (
            "GitHub and Azure as they are now",
            f"{shlex.quote(program)} sandbox --dir {folder} --port {urlsplit(document.url).port}",
        ),
    ):
        console.print(Text(f"# {words}", style="dim"))
        console.print(command, soft_wrap=True, markup=False)
    if document.problems:
        print_findings(console, (), document.problems)
    else:
        console.print(Text("\nEverything has ended as it should.", style="green"))
