"""The life of a commit in an environment: a diagram and its states in the guide, a page of events."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from kalypso_actions.promotion.lifecycle import (
    ANY,
    NOT_DEPLOYED,
    ON_ITS_WAY,
    TRANSITIONS,
    State,
    Transition,
)
from tools.reference.tables import filled, table

PAGE: Final = """\
# Events of a promotion

Written by `make docs` from `kalypso_actions/promotion/lifecycle.py`. The guide shows
[the states of a commit](../guide/promotion.md#the-life-of-a-commit). Each row is an event for a commit
of main in one environment. An event of another environment, or of a newer commit, has its own row.

- **writes**: a status is `<environment> environment` on the promoted commit. A record is
  `kalypso / <command> <environment>`, on the promoted commit or, for `schedule`, on the head of the
  environment's branch. A start is the dispatch of a workflow.
- **if it is lost**: what makes the event good if its run is lost or killed. Where people act, it is
  the run that GitHub starts for them.

"""

ON_ITS_WAY_NAME: Final = "on_its_way"


def with_lifecycle(guide: str) -> str:
    """The guide with its marked diagram and table made anew."""
    return filled(guide, {"states of a commit": f"{diagram()}\n{state_table()}"})


def promotion_text() -> str:
    """A page with every event."""
    head = ("the commit is", "event", "by", "writes", "the commit becomes", "if it is lost")
    return PAGE + table(head, map(_row, TRANSITIONS))


def state_table() -> str:
    """Each state, what it means, and the description of its status."""
    rows = (
        (one.title, f"`{one.description}`" if one.description else "", one.meaning) for one in State
    )
    return table(("state", "status", "meaning"), rows)


def diagram() -> str:
    """The transitions that have a label, in Mermaid's language."""
    drawn = [one for one in TRANSITIONS if one.label]
    inside = [one for one in drawn if {*one.before[:1], *one.after[:1]} <= set(ON_ITS_WAY)]
    lines = ["stateDiagram-v2", f'  state "on its way" as {ON_ITS_WAY_NAME} {{']
    lines += [f"    {line}" for one in inside for line in _edge(one)]
    lines += ["  }", *(f"  {line}" for one in drawn if one not in inside for line in _edge(one))]
    names = [f'  state "{one.title}" as {_name(one)}' for one in ON_ITS_WAY if " " in one.title]
    names += [
        f"  {_name(one)}: {one.title}"
        for one in State
        if one not in ON_ITS_WAY[:0] and " " in one.title and one not in ON_ITS_WAY
    ]
    return "```mermaid\n" + "\n".join([lines[0], *names, *lines[1:]]) + "\n```\n"


def _edge(one: Transition) -> Iterator[str]:
    before = ON_ITS_WAY_NAME if one.before == NOT_DEPLOYED else _name(one.before[0])
    yield f"{before} --> {_name(one.after[0])}: {one.label}"


def _name(state: State) -> str:
    return "[*]" if state is State.ABSENT else state.title.replace(" ", "_")


def _row(one: Transition) -> Sequence[str]:
    writes = ", ".join(write.text for write in one.writes)
    after = ", or ".join(state.title for state in one.after) or "stays"
    return _states(one.before), one.event.text, one.actor.value, writes, after, one.repaired_by


def _states(states: Sequence[State]) -> str:
    if set(states) == set(ANY):
        return "anything"
    if states == NOT_DEPLOYED:
        return "anything but deployed"
    return ", ".join(state.title for state in states)
