"""The pipeline as HTML: a map of main and the environments with arrows, and a card for each.

    html = pipeline_html(status_document, server="https://github.com")

The pages of `kalypso report` and of the sandbox show it. It has no scripts and no styles; its
classes are those of both pages.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from kalypso_actions.model.counts import counted
from kalypso_actions.report.documents import PositionEntry
from kalypso_actions.report.status_document import (
    DEPLOYED,
    EnvironmentStatusEntry,
    StateEntry,
    StatusDocument,
    age,
)

MAIN: Final = ""
"""Main among the names of environments, none of which is empty."""

WIDTH, HEIGHT, BAR = 184, 76, 96
BETWEEN, BELOW, MARGIN = 48, 28, 8
"""The size of a node of the map and of its bar, the gaps between nodes, and the margin."""

MOST_LETTERS: Final = 22
MOST_OF_NAME: Final = 12
"""The letters of a state and of a name that fit in a node."""

MOST: Final = 200
"""The most entries of a list in a card."""

LOOKS: Final = {"success": "good", "pending": "warn", "failure": "bad", "error": "bad"}
MARKS: Final = {"good": "✓", "warn": "●", "bad": "✗", "": "○"}

CLUSTER_LOOKS: Final = {
    "compliant": "good",
    "ahead": "good",
    "failed": "bad",
    "missing": "bad",
    "unreachable": "bad",
}
"""The look of a cluster's state; others are on their way."""


@dataclass(frozen=True, slots=True)
class PlannedEnvironment:
    """What a report has planned for an environment, beside its state on GitHub."""

    environment: str
    main: PositionEntry | None
    assignments: int
    failing: int
    problems: int
    warnings: int


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of the bar of an environment's clusters: a look, from where, and how wide."""

    look: str
    x: float
    width: float


@dataclass(frozen=True, slots=True)
class Node:
    """A place of the map. `share` is `7/8` clusters, "" if they are not known."""

    name: str
    look: str
    text: str
    commit: str
    share: str
    bar: Sequence[Segment]
    x: int
    y: int


@dataclass(frozen=True, slots=True)
class Arrow:
    """A way of promotion; it `moves` while the next environment has another commit."""

    path: str
    head: str
    moves: bool


@dataclass(frozen=True, slots=True)
class Map:
    """The nodes and arrows, and the size that they take."""

    nodes: Sequence[Node]
    arrows: Sequence[Arrow]
    width: int
    height: int


def pipeline_html(
    document: StatusDocument,
    planned: Sequence[PlannedEnvironment] | None = None,
    *,
    server: str = "",
) -> str:
    """Return the drawing. `planned` adds what a report knows, also of unknown environments.

    `server` is the URL of GitHub, for links to branches and commits; "" leaves them out.
    """
    states = {each.environment: each for each in document.environments}
    plans = {each.environment: each for each in planned or ()}
    return _template().render(
        document=document,
        cards=[(name, states.get(name), plans.get(name)) for name in plans or states],
        map=_map(document) if document.environments else None,
        server=server,
    )


@cache
def _template() -> Template:
    environment = Environment(
        loader=PackageLoader("kalypso_actions", "report"),
        undefined=StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"age": age, "counted": counted, "look": look, "quote": quote}
    environment.filters["share"] = _share
    environment.globals |= {"MARKS": MARKS, "MOST": MOST, "CLUSTER_LOOKS": CLUSTER_LOOKS}
    environment.globals |= {"WIDTH": WIDTH, "HEIGHT": HEIGHT, "BAR": BAR}
    return environment.get_template("pipeline.html.j2")


def look(state: StateEntry) -> str:
    """Return the look of a state. Earlier versions posted `Deployed` as pending."""
    return "good" if state.text == DEPLOYED else LOOKS.get(state.state, "")


def _share(clusters: Mapping[str, int] | None) -> str:
    """Return how many of the clusters comply: `7/8`; "" if they are not known."""
    return f"{clusters.get('compliant', 0)}/{sum(clusters.values())}" if clusters else ""


def _map(document: StatusDocument) -> Map:
    """Place main and the environments: each to the right of all that lead to it."""
    known = {each.environment: each for each in document.environments}
    ways = {
        name: [to for to in each.next_environments if to in known] for name, each in known.items()
    }
    led_to = {to for ends in ways.values() for to in ends}
    ways = {MAIN: [name for name in known if name not in led_to] or [*known][:1], **ways}
    columns: dict[int, list[str]] = {}
    for name, column in _columns(ways).items():
        columns.setdefault(column, []).append(name)
    places = {
        name: (MARGIN + column * (WIDTH + BETWEEN), MARGIN + row * (HEIGHT + BELOW))
        for column, names in columns.items()
        for row, name in enumerate(names)
    }
    commits = {name: each.commit.commit if each.commit else "" for name, each in known.items()}
    commits[MAIN] = document.main.commit if document.main else ""
    skips = any(_skips(places[name], places[to]) for name, ends in ways.items() for to in ends)
    nodes = [_main(document, *places[MAIN])]
    nodes += [_node(each, *places[name]) for name, each in known.items()]
    arrows = [
        _arrow(places[name], places[to], moves=commits[name] != commits[to])
        for name, ends in ways.items()
        for to in ends
    ]
    return Map(
        nodes,
        arrows,
        MARGIN + max(x for x, _ in places.values()) + WIDTH,
        MARGIN + max(y for _, y in places.values()) + HEIGHT + (BELOW if skips else 0),
    )


def _columns(ways: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """Return the column of each name: after all that lead to it, as far as there is no circle."""
    columns = dict.fromkeys(ways, 0)
    for _ in ways:
        for name, ends in ways.items():
            for to in ends:
                columns[to] = max(columns[to], min(columns[name] + 1, len(ways)))
    used = sorted(set(columns.values()))
    return {name: used.index(column) for name, column in columns.items()}


def _main(document: StatusDocument, x: int, y: int) -> Node:
    commit = document.main.commit[:7] if document.main else ""
    text = f"ci: {document.ci}" if document.ci else ""
    return Node("main", LOOKS.get(document.ci, ""), text, commit, "", (), x, y)


def _node(entry: EnvironmentStatusEntry, x: int, y: int) -> Node:
    return Node(
        _cut(entry.environment, MOST_OF_NAME),
        look(entry.state),
        _cut(entry.state.text, MOST_LETTERS),
        entry.commit.commit[:7] if entry.commit else "",
        _share(entry.clusters),
        tuple(_segments(entry.clusters or {})),
        x,
        y,
    )


def _segments(clusters: Mapping[str, int]) -> list[Segment]:
    """Return the bar: the best clusters first."""
    order = ("good", "warn", "bad")
    numbers = dict.fromkeys(order, 0)
    for state, number in clusters.items():
        numbers[CLUSTER_LOOKS.get(state, "warn")] += number
    total = sum(numbers.values())
    segments: list[Segment] = []
    x = 0.0
    for name in order:
        width = round(BAR * numbers[name] / total, 1) if total else 0
        if width:
            segments.append(Segment(name, x, width))
        x += width
    return segments


def _arrow(start: tuple[int, int], end: tuple[int, int], *, moves: bool) -> Arrow:
    """Return an arrow to the node at `end`; one that skips a column goes below the nodes."""
    if _skips(start, end):
        x, y, to_x, to_y = start[0] + WIDTH // 2, start[1], end[0] + WIDTH // 2, end[1] + HEIGHT + 2
        path = (
            f"M{x} {y + HEIGHT} C{x} {y + HEIGHT + BELOW} {to_x} {to_y + BELOW} {to_x} {to_y + 6}"
        )
        return Arrow(path, f"M{to_x - 5} {to_y + 9} L{to_x} {to_y} L{to_x + 5} {to_y + 9} Z", moves)
    x, y = start[0] + WIDTH, start[1] + HEIGHT // 2
    to_x, to_y = end[0] - 2, end[1] + HEIGHT // 2
    half = (to_x - x) / 2
    path = f"M{x} {y} C{x + half:g} {y} {to_x - half:g} {to_y} {to_x - 6} {to_y}"
    return Arrow(path, f"M{to_x - 9} {to_y - 5} L{to_x} {to_y} L{to_x - 9} {to_y + 5} Z", moves)


def _skips(start: tuple[int, int], end: tuple[int, int]) -> bool:
    return end[0] - start[0] > WIDTH + BETWEEN


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
