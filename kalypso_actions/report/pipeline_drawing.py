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
from kalypso_actions.model.promotion_policy import PolicyPage
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

WIDTH, HEIGHT, INSIDE = 184, 76, 160
BETWEEN, BELOW, MARGIN = 48, 28, 8
"""The size of a node of the map, the width inside, the gaps between nodes, and the margin."""

DIGIT: Final = 8
"""The width of a letter of a node's share, beside which its bar has room."""

MOST_LETTERS: Final = 22
MOST_OF_NAME: Final = 12
"""The letters of a state and of a name that fit in a node."""

NARROW: Final = 350
"""The width of a map that fits a telephone."""

MOST_ISSUES: Final = 3
"""The most issues to list in a card."""

MOST: Final = 200
"""The most entries of a list in a card."""

RANKS: Final = ("good", "", "warn", "bad")
"""The looks from the best to the worst."""

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
    """A place of the map. `share` is `7/8` clusters (`7/8 at 1234567`), "" if they are not known.

    A node that `is_closed` lets no commit in.
    """

    name: str
    look: str
    text: str
    commit: str
    share: str
    bar: Sequence[Segment]
    x: int
    y: int
    is_closed: bool = False

    @property
    def bar_width(self) -> int:
        """The width of the whole bar."""
        return _bar_width(self.share)


@dataclass(frozen=True, slots=True)
class Arrow:
    """A way of promotion; it `moves` while the next environment has another commit.

    One that `is_closed` ends at a bar, because the next environment lets nothing in.
    """

    path: str
    head: str
    moves: bool
    is_closed: bool


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
    hold: str = "",
    clusters: str = "",
) -> str:
    """Return the drawing. `planned` adds what a report knows, also of unknown environments.

    `server` is the URL of GitHub, for links to branches and commits; "" leaves them out. `hold` is
    the text of a new policy, which cards then offer, and `clusters` a page with an anchor
    `cluster-<name>` for each cluster.
    """
    states = {each.environment: each for each in document.environments}
    plans = {each.environment: each for each in planned or ()}
    return _template().render(
        document=document,
        cards=[(name, states.get(name), plans.get(name)) for name in plans or states],
        map=_map(document) if document.environments else None,
        server=server,
        hold=hold,
        clusters=clusters,
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
    environment.filters |= {"share": _share, "shown_look": _shown_look, "hold_url": _hold_url}
    environment.filters |= {"beside_state": _beside_state, "merged_before": _merged_before}
    environment.globals |= {"MARKS": MARKS, "MOST": MOST, "MOST_ISSUES": MOST_ISSUES}
    environment.globals |= {"CLUSTER_LOOKS": CLUSTER_LOOKS}
    environment.globals |= {"WIDTH": WIDTH, "HEIGHT": HEIGHT, "NARROW": NARROW}
    return environment.get_template("pipeline.html.j2")


def look(state: StateEntry) -> str:
    """Return the look of a state. Earlier versions posted `Deployed` as pending."""
    return "good" if state.text == DEPLOYED else LOOKS.get(state.state, "")


def _shown_look(entry: EnvironmentStatusEntry) -> str:
    """Return the look of an environment: the worst of its state and of what is so now."""
    return max((look(entry.state), *(each for each, _ in _notes(entry))), key=RANKS.index)


def _notes(entry: EnvironmentStatusEntry) -> list[tuple[str, str]]:
    """Return what the state, which a run posted once, does not say: looks and texts."""
    notes = [("bad", f"{entry.failing} failing")] if entry.failing else []
    notes += [("bad", counted(len(entry.problems), "problem"))] if entry.problems else []
    notes += [("warn", closed)] if (closed := _closed(entry)) else []
    notes += [
        (look, f"{number} {state}{_at_another(entry)}")
        for state, number in (entry.clusters or {}).items()
        if (look := CLUSTER_LOOKS.get(state, "warn")) != "good"
    ]
    return sorted(notes, key=lambda note: -RANKS.index(note[0]))


def _beside_state(entry: EnvironmentStatusEntry) -> list[str]:
    """Return the notes that the state does not imply, the worst first."""
    base = look(entry.state)
    return [
        note
        for each, note in _notes(entry)
        if base == "good" or note == _closed(entry) or (each == "bad" and base != "bad")
    ]


def _closed(entry: EnvironmentStatusEntry) -> str:
    """Return the word for an environment that lets no commit in, "" for another."""
    return ("held" if entry.holds else "closed") if entry.waiting_for else ""


def _hold_url(entry: EnvironmentStatusEntry, text: str) -> str:
    """Return the page that offers the file of a policy with this text; "" without its place."""
    page = PolicyPage.of(entry.policy_url, entry.branch)
    return page.begins_with(text) if page else ""


def _share(clusters: Mapping[str, int] | None) -> str:
    """Return how many of the clusters comply: `7/8`; "" if they are not known."""
    return f"{clusters.get('compliant', 0)}/{sum(clusters.values())}" if clusters else ""


def _merged_before(entry: EnvironmentStatusEntry) -> str:
    """Return the commit of the merged trees, if the environment's own one is not merged yet."""
    own = entry.commit.commit if entry.commit else ""
    merged = {each.promoted_commit for each in entry.gitops if each.promoted_commit}
    return min(merged)[:7] if merged and own and own not in merged else ""


def _at_another(entry: EnvironmentStatusEntry) -> str:
    """Return the end of a number of clusters that judges the trees of an earlier commit."""
    return f" at {before}" if (before := _merged_before(entry)) else ""


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
    closed = {name for name, each in known.items() if _closed(each)}
    arrows = [
        _arrow(
            places[name],
            places[to],
            moves=commits[name] != commits[to],
            is_closed=to in closed,
        )
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
    share = _share(entry.clusters)
    shown = share and f"{share}{_at_another(entry)}"
    return Node(
        _cut(entry.environment, MOST_OF_NAME),
        _shown_look(entry),
        _text_of_node(entry, share),
        entry.commit.commit[:7] if entry.commit else "",
        shown,
        tuple(_segments(entry.clusters or {}, _bar_width(shown))),
        x,
        y,
        bool(_closed(entry)),
    )


def _text_of_node(entry: EnvironmentStatusEntry, share: str) -> str:
    """Return the state, with the worst of what it does not say as far as there is room."""
    text, notes = entry.state.text.removesuffix(f" {share}"), _beside_state(entry)
    if not notes:
        return _cut(text, MOST_LETTERS)
    both = f"{text.partition(':')[0]}, {notes[0]}"
    return both if len(both) <= MOST_LETTERS else _cut(notes[0], MOST_LETTERS)


def _bar_width(share: str) -> int:
    return INSIDE - DIGIT * (len(share) + 1)


def _segments(clusters: Mapping[str, int], bar: int) -> list[Segment]:
    """Return the parts of a bar of this width: the best clusters first."""
    order = ("good", "warn", "bad")
    numbers = dict.fromkeys(order, 0)
    for state, number in clusters.items():
        numbers[CLUSTER_LOOKS.get(state, "warn")] += number
    total = sum(numbers.values())
    segments: list[Segment] = []
    x = 0.0
    for name in order:
        width = round(bar * numbers[name] / total, 1) if total else 0
        if width:
            segments.append(Segment(name, x, width))
        x += width
    return segments


def _arrow(start: tuple[int, int], end: tuple[int, int], *, moves: bool, is_closed: bool) -> Arrow:
    """Return an arrow to the node at `end`; one that skips a column goes below the nodes."""
    if _skips(start, end):
        x, y, to_x, to_y = start[0] + WIDTH // 2, start[1], end[0] + WIDTH // 2, end[1] + HEIGHT + 2
        path = (
            f"M{x} {y + HEIGHT} C{x} {y + HEIGHT + BELOW} {to_x} {to_y + BELOW} {to_x} {to_y + 6}"
        )
        head = f"M{to_x - 5} {to_y + 9} L{to_x} {to_y} L{to_x + 5} {to_y + 9} Z"
        stop = f"M{to_x - 8} {to_y + 4} h16 v4 h-16 Z"
        return Arrow(path, stop if is_closed else head, moves, is_closed)
    x, y = start[0] + WIDTH, start[1] + HEIGHT // 2
    to_x, to_y = end[0] - 2, end[1] + HEIGHT // 2
    half = (to_x - x) / 2
    path = f"M{x} {y} C{x + half:g} {y} {to_x - half:g} {to_y} {to_x - 6} {to_y}"
    head = f"M{to_x - 9} {to_y - 5} L{to_x} {to_y} L{to_x - 9} {to_y + 5} Z"
    stop = f"M{to_x - 8} {to_y - 8} h4 v16 h-4 Z"
    return Arrow(path, stop if is_closed else head, moves, is_closed)


def _skips(start: tuple[int, int], end: tuple[int, int]) -> bool:
    return end[0] - start[0] > WIDTH + BETWEEN


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
