"""The text of a PromotionPolicy with one hold more, or without some."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from kalypso_actions.errors import KalypsoError, Location
from kalypso_actions.fleet.parsing import promotion_policy
from kalypso_actions.model.promotion_policy import POLICY_FILE, Hold
from kalypso_actions.promotion.policy_file import with_hold, without_holds
from kalypso_actions.sources.yaml_documents import parse_yaml
from tests.breaks import breaks, turned

WHERE = Location("https://github.com/acme/control-plane", POLICY_FILE)
HEAD = "apiVersion: kalypso.io/v1alpha1\nkind: PromotionPolicy\nmetadata: {name: stage}\n"
END = datetime(2026, 12, 1, 12, 30, tzinfo=UTC)
NEW = Hold('it "waits": #4711', "octocat", END, "a" * 40)
LINES = f"""\
- reason: 'it "waits": #4711'
  by: 'octocat'
  until: '2026-12-01T12:30:00Z'
  at: '{"a" * 40}'
"""


def indented(text: str, indent: str) -> str:
    return "".join(f"{indent}{line}\n" for line in text.splitlines())


def holds(text: str) -> tuple[Hold, ...]:
    """Read the file as cd does."""
    file = parse_yaml("test", POLICY_FILE, text.encode())
    reading = promotion_policy(file.documents, (*file.problems, *file.warnings))
    assert reading.problems == ()
    assert reading.policy
    return reading.policy.holds


def test_a_new_file() -> None:
    for text in (None, "", "\n"):
        assert with_hold(text, NEW, WHERE) == (
            "apiVersion: kalypso.io/v1alpha1\nkind: PromotionPolicy\nmetadata:\n  name: promotion\n"
            f"spec:\n  holds:\n{indented(LINES, '  ')}"
        )
    assert holds(with_hold(None, NEW, WHERE)) == (NEW,)
    for word in ("y", "on", "1e3", "0o7", "2026-12-01", "null", "- a", "a: b # c", "'", '"', "ü"):
        short = Hold(word, "12e3", at="1" * 38 + "e1")
        assert holds(with_hold(None, short, WHERE)) == (short,)
        flow = with_hold(HEAD + "spec: {}\n", short, WHERE)
        assert holds(flow) == (short,)


BOB = "{reason: mine, by: bob}"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(
            "spec:\n  queue: oldest # as agreed\n# end\n",
            f"spec:\n  queue: oldest # as agreed\n  holds:\n{indented(LINES, '  ')}# end\n",
            id="no holds",
        ),
        pytest.param(
            f"spec:\n  holds: # all\n    - {BOB} # bob's\n  # next\n  queue: oldest\n",
            f"spec:\n  holds: # all\n    - {BOB} # bob's\n{indented(LINES, '    ')}"
            "  # next\n  queue: oldest\n",
            id="a list",
        ),
        pytest.param(
            "spec:\n  holds:\n  - by: bob\n    reason: |\n      two\n      lines\n",
            "spec:\n  holds:\n  - by: bob\n    reason: |\n      two\n      lines\n"
            + indented(LINES, "  "),
            id="a text of lines",
        ),
        pytest.param("spec:\n  holds:\n  - {reason: r, by: b}", None, id="a line without its end"),
        pytest.param(f"spec:\n  holds: [{BOB}] # all\n", None, id="a list in flow style"),
        pytest.param("spec:\n  holds: [] # none\n", None, id="an empty list"),
        pytest.param("spec:\n  holds: # none\n  queue: newest\n", None, id="nothing"),
        pytest.param("spec: {queue: oldest} # all\n", None, id="flow style"),
        pytest.param("spec: {}\n", None, id="empty"),
        pytest.param("spec: {holds: []}\n", None, id="empty in flow style"),
        pytest.param("spec:\r\n  queue: oldest\r\n", None, id="Windows"),
    ],
)
def test_a_hold_is_added(before: str, after: str | None) -> None:
    text = HEAD + before
    known = holds(text)
    edited = with_hold(text, NEW, WHERE)
    if after is not None:
        assert edited == HEAD + after
    assert holds(edited) == (*known, NEW)
    assert [line for line in before.split("#")[1:2] if line.splitlines()[0] not in edited] == []
    back = without_holds(edited, {len(known)}, WHERE)
    assert (holds(back) if back else ()) == known


@breaks(
    "a release takes another person's hold along",
    turned(without_holds, "place not in released", "False"),
    case="one of two",
)
@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(
            "spec:\n  holds:\n  - by: octocat\n    reason: x\n  # bob's\n  - by: bob\n    reason: z\n",
            "spec:\n  holds:\n  # bob's\n  - by: bob\n    reason: z\n",
            id="one of two",
        ),
        pytest.param(
            "spec:\n  holds:\n  - by: bob\n    reason: z\n  - by: octocat\n    reason: |\n      x\n"
            "  queue: oldest\n",
            "spec:\n  holds:\n  - by: bob\n    reason: z\n  queue: oldest\n",
            id="the last one",
        ),
        pytest.param(
            f"spec:\n  holds: [{{reason: x, by: octocat}}, {BOB}] # all\n",
            "spec:\n  holds: [{reason: 'mine', by: 'bob'}] # all\n",
            id="flow style",
        ),
        pytest.param(
            "spec:\n  holds: # ours\n  - by: octocat\n    reason: x\n  queue: oldest\n",
            "spec:\n  holds: [] # ours\n  queue: oldest\n",
            id="the only one",
        ),
        pytest.param("spec:\n  holds:\n  - {by: octocat, reason: x}\n", None, id="the whole file"),
        pytest.param("spec:\n  queue: oldest\n", "spec:\n  queue: oldest\n", id="none"),
    ],
)
def test_holds_are_taken_away(before: str, after: str | None) -> None:
    octocats = {place for place, each in enumerate(holds(HEAD + before)) if each.by == "octocat"}
    edited = without_holds(HEAD + before, octocats, WHERE)
    assert edited == (None if after is None else HEAD + after)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("spec: [\n", id="no YAML"),
        pytest.param("spec: 1\n", id="no mapping"),
        pytest.param("spec:\n  holds: soon\n", id="no list"),
        pytest.param("a: &h [{by: b, reason: r}]\nspec:\n  holds: *h\n", id="an alias"),
        pytest.param("spec:\n  holds: []\n---\nkind: Other\n", id="two documents"),
    ],
)
def test_a_file_that_cannot_be_edited(text: str) -> None:
    with pytest.raises(KalypsoError) as refused:
        with_hold(text, NEW, WHERE)
    assert refused.value.problem.where == WHERE
