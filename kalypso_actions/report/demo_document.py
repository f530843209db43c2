"""The output of `kalypso demo`: its document, and its text, a line for each step."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from datetime import datetime
from typing import Final
from urllib.parse import urlsplit

from pydantic import Field
from rich.console import Console
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from kalypso_actions.report.documents import OutputDocument, ProblemEntry
from kalypso_actions.report.escaping import escape_line
from kalypso_actions.report.terminal import print_findings, print_trimmed

INTRODUCTION: Final = """\
Acme has a control plane (main, dev, perf, stage), a GitOps repository, an application, services \
of its platform team, and 17 clusters. All of it runs in this process, behind git and the APIs of \
GitHub and of what the clusters report to. Events start the workflows in the repositories, which \
run Kalypso's commands, as on GitHub. Only the clock is simulated: the demo takes up to a minute.
"""

INTRODUCTION_OF_APPLICATION: Final = """\
Acme's platform runs hello-world on 10 of its clusters. The application's team has a source with a \
chart, its configs, and the GitOps repository that the clusters follow, each of the last two with \
the branches dev, dev-green, dev-red and stage. All of it runs in this process, behind git and the \
APIs of GitHub and Azure. Only the clock is simulated: the demo takes up to a minute.
"""

STYLES: Final = {"people": "magenta", "status": "blue", "start-schedule": "dim"}
COMMAND: Final = "cyan"
ENDINGS: Final = {"compliant": "green", "failed": "red"}
WIDTHS: Final = {"time": 5, "number": 2, "who": 14, "environment": 5}


class DemoStepEntry(OutputDocument):
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


class DemoRepositoryEntry(OutputDocument):
    """A repository of the sample organisation; git clones it from its path."""

    name: str
    path: str


class DemoDocument(OutputDocument):
    """The output of `kalypso demo --output json`.

    `url` is that of the sandbox, `report` the path of the page about the fleet ("" after a
    problem). `cluster_options` let `kalypso clusters` ask where the clusters report.
    """

    schema_name: str = Field("kalypso.demo/v1", alias="schema")
    dir: str
    url: str = ""
    report: str = ""
    cluster_options: tuple[str, ...] = ()
    repositories: tuple[DemoRepositoryEntry, ...] = ()
    steps: tuple[DemoStepEntry, ...] = ()
    problems: tuple[ProblemEntry, ...] = ()


class Timeline:
    """Prints each step under the title of its act.

    Times count from the first step, by the simulated clock.
    """

    def __init__(
        self, console: Console, act: int | None = None, *, application: bool = False
    ) -> None:
        self._console = console
        self._introduction = INTRODUCTION_OF_APPLICATION if application else INTRODUCTION
        self._widths = {**WIDTHS, **({"environment": 9} if application else {})}
        self._is_first = True
        self._acts = (act or 1) - 1
        self._act = ""
        self._first: datetime | None = None

    def show(self, step: DemoStepEntry) -> None:
        """Print a step."""
        if self._is_first:
            self._is_first = False
            print_trimmed(self._console, Text(self._introduction.rstrip()))
        if step.act != self._act:
            self._act = step.act
            self._acts += 1
            self._console.print()
            self._console.print(Rule(f"{self._acts}. {escape_line(step.act)}", align="left"))
        row = Table.grid(padding=(0, 2))
        for width in self._widths.values():
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
            "GitHub, Azure and Argo CD in their final state",
            f"{shlex.quote(program)} sandbox --dir {folder} --port {urlsplit(document.url).port}",
        ),
        (
            "who reports what, in a shell with the lines that it prints",
            shlex.join([program, "clusters", *document.cluster_options]),
        ),
    ):
        console.print(Text(f"# {words}", style="dim"))
        console.print(command, soft_wrap=True, markup=False)
    if document.problems:
        print_findings(console, document.findings)
    else:
        console.print(Text("\nEvery step ended as expected.", style="green"))


EXAMPLES: Final = """\
# Create a repository, and clone it with the token:

curl -H "Authorization: Bearer $GITHUB_TOKEN" -d '{"name": "fleet"}' \\
  "$GITHUB_API_URL/orgs/acme/repos"
git clone -c http.extraHeader="Authorization: Bearer $GITHUB_TOKEN" \\
  "$GITHUB_SERVER_URL/acme/fleet"

# Open the next pull request, but lose the response:

curl -H "Content-Type: application/json" "$GITHUB_SERVER_URL/_sandbox/faults" \\
  -d '{"method": "POST", "path": "/repos/{owner}/{repo}/pulls", "kind": "lost"}'

# Post a status as the cluster berlin-1 of the type standard, by acme-clusters[bot]:

curl -H "Authorization: Bearer $CLUSTERS_TOKEN" \\
  "$GITHUB_API_URL/repos/acme/gitops/statuses/COMMIT" \\
  -d '{"state": "success", "context": "cluster/berlin-1/standard",
       "description": "reconciliation succeeded"}'
"""


class AppEntry(OutputDocument):
    """A GitHub App of the sandbox; `privateKey` is the path of its key."""

    id: int
    owner: str
    private_key: str


class SandboxDocument(OutputDocument):
    """The output of `kalypso sandbox --output json` once the sandbox serves.

    `page` is the URL of a page that shows the sandbox's contents. `environment` has the variables
    for programs that use the sandbox, including the tokens; `argocd` is the URL of its Argo CD.
    `runs`: events start the workflow files of the repositories. `speed` is that of the clock.
    `cloned` are the repositories that were copied from elsewhere.
    """

    schema_name: str = Field("kalypso.sandbox/v1", alias="schema")
    dir: str
    url: str = ""
    page: str = ""
    environment: dict[str, str] = Field(default_factory=dict)
    argocd: str = ""
    app: AppEntry | None = None
    runs: bool = False
    cloned: tuple[str, ...] = ()
    speed: float = 1.0
    repositories: tuple[str, ...] = ()
    problems: tuple[ProblemEntry, ...] = ()


def exports(environment: Mapping[str, str]) -> str:
    """Return the lines that set variables in a shell."""
    lines = (f"export {name}={shlex.quote(value)}\n" for name, value in environment.items())
    return "".join(lines)


def sandbox_text(document: SandboxDocument) -> str:
    """Return the text to print once the sandbox serves; each command is on its own line."""
    file = shlex.quote(f"{document.dir}/env")
    runs = (
        f"# Events start the workflows of the repositories; its clock is {document.speed:g} times "
        "as fast.\n"
        if document.runs
        else ""
    )
    parts = [
        f"# In a browser: {document.page}\n"
        f"# GitHub and Azure Resource Graph at {document.url}, Argo CD at {document.argocd}.\n"
        f"{runs}"
        f"# Everything is kept in {escape_line(document.dir)}. It serves until Ctrl-C.\n"
        "# The shell that uses it reads its variables:\n",
        f". {file}\n",
    ]
    if app := document.app:
        key = escape_line(app.private_key)
        parts.append(f"# An App is installed for {app.owner}: its id is {app.id}, its key {key}\n")
    if document.cloned:
        names = ", ".join(map(escape_line, document.cloned))
        parts.append(
            f"# Copied: {names}. Kalypso's workflows take the place of their own by:\n"
            "# kalypso init --control-plane OWNER/NAME --gitops OWNER/NAME --update-workflows "
            "--delete-upstream-workflows\n"
        )
    parts.append(EXAMPLES)
    if document.repositories:
        parts.append(f"# Repositories: {', '.join(map(escape_line, document.repositories))}\n")
    return "\n".join(parts)
