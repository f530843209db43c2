"""The output of `kalypso status`: its document, and its text."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Final, Literal, Self

from pydantic import Field
from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from kalypso_actions.model.counts import counted
from kalypso_actions.model.github import CommitView
from kalypso_actions.report.documents import OutputDocument, ProblemEntry, finding_counts
from kalypso_actions.report.escaping import escape_log_line
from kalypso_actions.report.hold_document import HoldEntry
from kalypso_actions.report.terminal import print_findings

STYLES: Final = {
    "success": "green",
    "failure": "bold red",
    "error": "bold red",
    "pending": "yellow",
}
DEPLOYED: Final = "Deployed"
"""Earlier versions posted it as pending in all environments but the last one."""

MOST_LINES: Final = 10
"""The most lines about waits, and about clusters, for each environment."""

UNITS: Final = (("d", 86_400), ("h", 3_600), ("min", 60))


class CommitViewEntry(OutputDocument):
    """A commit of main."""

    commit: str
    subject: str
    author: str
    committed_at: datetime

    @classmethod
    def of(cls, commit: CommitView | None) -> Self | None:
        """Convert a commit; None stays None."""
        if commit is None:
            return None
        return cls(
            commit=commit.id,
            subject=commit.subject,
            author=commit.author,
            committed_at=commit.committed_at,
        )


class StateEntry(OutputDocument):
    """The state of the promoted commit in an environment, as the latest status says.

    `author` and `at` are those of the status, "" and null without one; `url` is its link.
    """

    text: str
    state: Literal["", "error", "failure", "pending", "success"]
    author: str = ""
    at: datetime | None = None
    url: str = ""


class ProposalEntry(OutputDocument):
    """An open pull request to a branch of an environment."""

    repository: str
    number: int
    title: str
    url: str
    author: str
    created_at: datetime


class WaitEntry(OutputDocument):
    """A wait of an environment, or of main, and the page for it ("" without one)."""

    waits_for: Literal["people", "clusters", "a run", "an environment"]
    text: str
    url: str


class GitOpsBranchEntry(OutputDocument):
    """A GitOps branch: its head, the commit of main that its tree names, and its assignments."""

    repository: str
    branch: str
    commit: str
    promoted_commit: str
    assignments: int


class IssueEntry(OutputDocument):
    """An open issue about a failing assignment or an unusable registration."""

    repository: str
    number: int
    title: str
    url: str


class ClusterStateEntry(OutputDocument):
    """A cluster that does not comply; without `id` and `name`, a cluster type without a cluster.

    `cluster_type` is "" for a cluster that follows the whole tree. `since` is when the record saw
    its status and content begin (null: there is no record of it).
    """

    id: str = ""
    name: str = ""
    cluster_type: str
    state: str
    reason: str
    since: datetime | None = None


class EnvironmentStatusEntry(OutputDocument):
    """An environment.

    `commit` is the one of main that its branch names (null: none, or unknown), `ahead` the number
    of commits that main has after it. `assignments` are those of the merged trees; `failing` and
    `degraded` the numbers of assignments without files and of registrations that cannot be used, as
    the open issues say. `policy_url` is the page of its policy's file, or one that begins it.
    `waiting_for` is why the environment's policy lets no other commit in now ("": it does, as far
    as freezes and holds go), and `holds` are its holds. `clusters` are numbers by state, and
    `not_compliant` the clusters that do not comply, the worst first; both are null without
    `--clusters`. `warnings` are those of the sources of cluster reports.
    """

    environment: str
    branch: str
    commit: CommitViewEntry | None
    ahead: int | None
    state: StateEntry
    next_environments: tuple[str, ...]
    assignments: int
    failing: int
    degraded: int
    gitops: tuple[GitOpsBranchEntry, ...] = ()
    pull_requests: tuple[ProposalEntry, ...] = ()
    issues: tuple[IssueEntry, ...] = ()
    policy_url: str = ""
    waiting_for: str = ""
    holds: tuple[HoldEntry, ...] = ()
    waits: tuple[WaitEntry, ...] = ()
    clusters: dict[str, int] | None = None
    not_compliant: tuple[ClusterStateEntry, ...] | None = None
    warnings: tuple[ProblemEntry, ...] = ()
    problems: tuple[ProblemEntry, ...] = ()


class StatusDocument(OutputDocument):
    """The output of `kalypso status --output json`: the pipeline `at` one moment.

    `ci` is the state of the status `kalypso / ci` of the head of main, `waits` are the open pull
    requests to main, and what its head waits for. `warnings` are gaps of the chain.
    """

    schema_name: str = Field("kalypso.status/v1", alias="schema")
    control_plane: str = ""
    at: datetime | None = None
    main: CommitViewEntry | None = None
    ci: str = ""
    waits: tuple[WaitEntry, ...] = ()
    environments: tuple[EnvironmentStatusEntry, ...] = ()
    warnings: tuple[ProblemEntry, ...] = ()
    problems: tuple[ProblemEntry, ...] = ()


def print_status(console: Console, document: StatusDocument) -> None:
    """Print the pipeline, what each environment waits for, and the problems."""
    console.print(pipeline(document))
    problems = [
        *document.findings,
        *(finding for each in document.environments for finding in each.findings),
    ]
    if problems:
        print_findings(console, problems)
        console.print(finding_counts(problems))


def pipeline(document: StatusDocument) -> Group:
    """Return the table of the environments, with main above it, and waits and clusters below."""
    table = Table(box=None, pad_edge=False)
    for heading in ("environment", "state", "commit", "main ahead", "assignments merged"):
        table.add_column(heading, overflow="fold")
    for entry in document.environments:
        table.add_row(
            Text(escape_log_line(entry.environment)),
            _state(entry, document.at),
            _commit(entry.commit, document.at),
            Text({None: "unknown", 0: "-"}.get(entry.ahead, counted(entry.ahead or 0, "commit"))),
            Text(_assignments(entry)),
        )
    below = [*_waits(document), *_not_compliant(document)]
    return Group(_main(document), Text(), table, *((Text(), *below) if below else ()))


def _main(document: StatusDocument) -> Text:
    text = Text("main  ", style="bold")
    text.append(_commit(document.main, document.at))
    if document.ci:
        text.append(f"  ci: {document.ci}", style=STYLES[document.ci])
    return text


def _state(entry: EnvironmentStatusEntry, at: datetime | None) -> Text:
    state = "success" if entry.state.text == DEPLOYED else entry.state.state
    text = Text(escape_log_line(entry.state.text), style=STYLES.get(state, ""))
    if entry.state.at:
        text.append(f" ({age(entry.state.at, at)})", style="dim")
    if entry.clusters is not None:
        states = ", ".join(f"{number} {state}" for state, number in entry.clusters.items())
        text.append(f"\nclusters: {states or 'none'}", style="default")
    return text


def _commit(commit: CommitViewEntry | None, at: datetime | None) -> Text:
    if commit is None:
        return Text("none")
    text = Text(commit.commit[:7], style="yellow")
    text.append(f" {escape_log_line(commit.subject)}", style="default")
    author = escape_log_line(commit.author)
    text.append(f" ({author}, {age(commit.committed_at, at)})", style="dim")
    return text


def _assignments(entry: EnvironmentStatusEntry) -> str:
    numbers = ((entry.failing, "failing"), (entry.degraded, "registrations unusable"))
    faults = [f"{number} {noun}" for number, noun in numbers if number]
    return ", ".join([str(entry.assignments), *faults])


def _waits(document: StatusDocument) -> Iterator[Text]:
    """Yield a line for each wait, or a line that says that there is none."""
    rows = [("main", document.waits)]
    rows += [(entry.environment, entry.waits) for entry in document.environments]
    for name, waits in rows:
        for wait in waits[:MOST_LINES]:
            text = Text(escape_log_line(f"{name} waits for {wait.waits_for}: "))
            text.append(escape_log_line(wait.text), style="default")
            if wait.url:
                text.append(f"  {escape_log_line(wait.url)}", style="dim")
            yield text
        yield from _more(name, len(waits) - MOST_LINES)
    if not any(waits for _, waits in rows) and document.environments:
        yield Text("nothing waits")


def _not_compliant(document: StatusDocument) -> Iterator[Text]:
    for entry in document.environments:
        clusters = entry.not_compliant or ()
        for item in clusters[:MOST_LINES]:
            kind = f" ({item.cluster_type})" if item.cluster_type else ""
            subject = f"{item.name}{kind}" if item.name else f"cluster type {item.cluster_type}"
            since = f" since {item.since:%Y-%m-%d %H:%M} UTC" if item.since else ""
            line = f"{entry.environment}: {item.state}{since}: {subject}: {item.reason}"
            yield Text(escape_log_line(line))
        yield from _more(entry.environment, len(clusters) - MOST_LINES)


def _more(name: str, number: int) -> Iterator[Text]:
    if number > 0:
        yield Text(escape_log_line(f"{name}: … and {number} more; --output json lists all"))


def age(then: datetime, now: datetime | None) -> str:
    """Return `3 d ago`; the time itself if the present time is not given."""
    if now is None:
        return then.isoformat()
    seconds = max(0, int((now - then).total_seconds()))
    for unit, size in UNITS:
        if seconds >= size:
            return f"{seconds // size} {unit} ago"
    return "just now"
