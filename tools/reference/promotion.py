"""The life of a commit in an environment: diagram and states in the guide, a page of events."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from kalypso_actions.promotion.statuses import State
from tools.reference.lifecycle import ANY, NOT_DEPLOYED, TRANSITIONS, Transition
from tools.reference.tables import filled, table

PAGE: Final = """\
# Events of a promotion

Written by `make docs` from `tools/reference/lifecycle.py`. The guide shows
[the states of a commit](../guide/promotion.md#the-life-of-a-commit). Each row is an event for a
commit of main in one environment.

- **writes**: a status is `<environment> environment` on the promoted commit. A record is
  `kalypso / <command> <environment>`, on the promoted commit or, for `schedule`, on the head of the
  environment's branch. A start is the dispatch of a workflow.
- **if it is lost**: what recovers the event if its run is lost or killed. If a person acts, its run
  is the one that GitHub starts for the action.

"""

NOT_DEPLOYED_TEXT: Final = "anything but deployed"
ELSE: Final = "not_deployed"


def with_lifecycle(guide: str) -> str:
    """Return the guide with a new diagram and a new table between its marks."""
    return filled(guide, {"states of a commit": f"{diagram()}\n{state_table()}"})


def promotion_text() -> str:
    """Return a page with every event."""
    head = ("the commit is", "event", "by", "writes", "the commit becomes", "if it is lost")
    return PAGE + table(head, map(_row, TRANSITIONS))


def state_table() -> str:
    """Return a table of the states, with status and meaning of each."""
    rows = (
        (state.title, f"`{state.description}`" if state.description else "", state.meaning)
        for state in State
    )
    return table(("state", "status", "meaning"), rows)


def diagram() -> str:
    """Return the transitions that have a label, in Mermaid's language."""
    names = {_name(state): state.title for state in State if " " in state.title} | {
        ELSE: NOT_DEPLOYED_TEXT
    }
    lines = [f"  {name}: {title}" for name, title in names.items()]
    lines += [f"  {_edge(transition)}" for transition in TRANSITIONS if transition.label]
    return "\n".join(["```mermaid", "stateDiagram-v2", *lines, "```\n"])


def _edge(transition: Transition) -> str:
    before = ELSE if transition.before == NOT_DEPLOYED else _name(transition.before[0])
    return f"{before} --> {_name(transition.after[0])}: {transition.label}"


def _name(state: State) -> str:
    return "[*]" if state is State.ABSENT else state.title.replace(" ", "_")


def _row(transition: Transition) -> Sequence[str]:
    writes = ", ".join(write.text for write in transition.writes)
    after = ", or ".join(state.title for state in transition.after) or "stays"
    return (
        _states(transition.before),
        transition.event.text,
        transition.actor.value,
        writes,
        after,
        transition.repaired_by,
    )


def _states(states: Sequence[State]) -> str:
    if set(states) == set(ANY):
        return "anything"
    if states == NOT_DEPLOYED:
        return NOT_DEPLOYED_TEXT
    return ", ".join(state.title for state in states)
