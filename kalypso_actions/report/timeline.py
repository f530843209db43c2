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
from kalypso_actions.report.findings import print_findings
from kalypso_actions.report.printable import printable

STYLES: Final = {
    "people": "magenta",
    "status": "blue",
    "start": "dim",
}
COMMAND: Final = "cyan"
WIDTH_OF_TIME, WIDTH_OF_WHO, WIDTH_OF_ENVIRONMENT = 8, 13, 5


class Timeline:
    """Prints the steps as they come, under the titles of their acts."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._act = ""
        self._acts = 0

    def show(self, step: DemoStepEntry) -> None:
        """A step of the play."""
        if step.act != self._act:
            self._act = step.act
            self._acts += 1
            self._console.print()
            self._console.print(Rule(f"{self._acts}. {printable(step.act)}", align="left"))
        row = Table.grid(padding=(0, 2))
        for width in (WIDTH_OF_TIME, WIDTH_OF_WHO, WIDTH_OF_ENVIRONMENT):
            row.add_column(width=width, no_wrap=True)
        row.add_column(overflow="fold")
        row.add_row(
            Text(f"{datetime.fromisoformat(step.at):%H:%M:%S}", style="dim"),
            Text(step.who, style=STYLES.get(step.who, COMMAND)),
            Text(printable(step.environment), style="green"),
            _what(step),
        )
        self._console.print(row)


def _what(step: DemoStepEntry) -> Text:
    """What happened, how the clusters stood meanwhile, and where to look."""
    text = Text(printable(step.text), style="" if step.as_expected else "bold red")
    for line in step.details:
        text.append(f"\n  {printable(line)}", style="dim")
    places = [*map(_pull_request, step.links), *([_run(step.folder)] if step.folder else [])]
    if places:
        text.append("\n→ ", style="dim")
        text.append(Text(" · ", style="dim").join(places))
    return text


def _pull_request(url: str) -> Text:
    """`owner/name#number`, which leads to the sandbox while it is served."""
    owner, name, _, number = urlsplit(url).path.strip("/").split("/")
    return Text(printable(f"{owner}/{name}#{number}"), style=f"dim link {url}")


def _run(folder: str) -> Text:
    """The folder of a run, from where everything is kept."""
    return Text("/".join(folder.replace("\\", "/").split("/")[-2:]), style="dim")


def print_end(console: Console, document: DemoDocument) -> None:
    """What can be looked at now, and what went wrong."""
    console.print()
    console.print(Rule("Where to look", align="left"))
    folder = shlex.quote(document.dir)
    gitops = next((one.path for one in document.repositories if one.name.endswith("/gitops")), "")
    for words, command in (
        ("what each step has left: its page, its log, its outputs", f"ls {folder}/runs"),
        ("a repository", f"git clone -b dev {shlex.quote(gitops)}"),
        (
            "GitHub and Azure as they are now",
            f"kalypso sandbox --dir {folder} --port {urlsplit(document.url).port}",
        ),
    ):
        console.print(Text(f"# {words}", style="dim"))
        console.print(command, soft_wrap=True, markup=False)
    print_findings(console, (), document.problems)
