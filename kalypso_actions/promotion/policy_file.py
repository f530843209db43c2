"""The text of an environment's PromotionPolicy with one hold more, or without some.

    text = with_hold(text, Hold("incident 4711", "octocat"), where)
    text = without_holds(text, {0, 2}, where)

Comments, order and all other fields stay as they are.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC
from typing import Final

import yaml

from kalypso_actions.errors import KalypsoError, Location
from kalypso_actions.model.promotion_policy import POLICY_API, POLICY_KIND, Hold
from kalypso_actions.model.yaml_edits import at_line_end, end_of, newline_of, value_of

NEW_FILE: Final = f"""\
apiVersion: {POLICY_API}
kind: {POLICY_KIND}
metadata:
  name: promotion
spec:
"""


def _item(hold: Hold) -> dict[str, str]:
    """Return the item of a hold in the file, without the fields that it does not have."""
    until = f"{hold.until.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}" if hold.until else ""
    fields = {"reason": hold.reason, "by": hold.by, "until": until, "at": hold.at}
    return {name: value for name, value in fields.items() if value}


def with_hold(text: str | None, hold: Hold, where: Location) -> str:
    """Return the text of the file with a hold more; None is no file.

    Raises KalypsoError for a file that the hold cannot be added to.
    """
    item = _item(hold)
    if text is None or not text.strip():
        return f"{NEW_FILE}  holds:\n{_block([item], '  ')}"
    spec = _spec(text, where)
    holds = value_of(spec, "holds")
    kept = _items(holds, where)
    if isinstance(holds, yaml.SequenceNode) and holds.value and not holds.flow_style:
        head, rest = at_line_end(text, end_of(holds), newline_of(text))
        edited = head + _block([item], " " * holds.start_mark.column) + rest
    elif holds is not None:
        edited = _replaced(text, spec, [*kept, item])
    else:
        edited = _with_key(text, spec, item)
    _check(text, edited, [*kept, item], where)
    return edited


def without_holds(text: str, released: Collection[int], where: Location) -> str | None:
    """Return the text of the file without some holds; None if nothing is left in the file.

    `released` are their places in the list. Raises KalypsoError for a file that cannot be edited.
    """
    spec = _spec(text, where)
    holds = value_of(spec, "holds")
    items = _items(holds, where)
    kept = [item for place, item in enumerate(items) if place not in released]
    if holds is None or len(kept) == len(items):
        return text
    if not kept and len(spec.value) == 1 and "#" not in text:
        return None
    if kept and isinstance(holds, yaml.SequenceNode) and not holds.flow_style:
        edited = text
        for place in reversed(range(len(items))):
            if place in released:
                node = holds.value[place]
                dash = edited.rindex("-", 0, node.start_mark.index)
                start = edited.rfind("\n", 0, dash) + 1
                edited = edited[:start] + at_line_end(edited, end_of(node), newline_of(text))[1]
    else:
        edited = _replaced(text, spec, kept)
    _check(text, edited, kept, where)
    return edited


def _spec(text: str, where: Location) -> yaml.MappingNode:
    try:
        spec = value_of(yaml.compose(text, Loader=yaml.SafeLoader), "spec")
    except yaml.YAMLError as error:
        raise KalypsoError(
            f"it is not valid YAML: {error}", where, "correct the file", "yaml-invalid"
        ) from error
    if not isinstance(spec, yaml.MappingNode):
        raise _not_writable(where)
    return spec


def _items(holds: yaml.Node | None, where: Location) -> list[dict[str, str]]:
    """Return the holds; all their values are texts."""
    if holds is None or (isinstance(holds, yaml.ScalarNode) and holds.value in {"", "~", "null"}):
        return []
    items = yaml.load(yaml.serialize(holds), Loader=yaml.BaseLoader)  # noqa: S506 - texts only
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise _not_writable(where)
    return items


class _Quoted(str):
    """A text in quotes: readers of YAML differ in what `y`, `0o7` and `12e3` are."""

    __slots__ = ()


class _Dumper(yaml.SafeDumper):
    """Writes the texts of holds."""


_Dumper.add_representer(
    _Quoted, lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, style="'")
)


def _dumped(items: list[dict[str, str]], *, flow: bool) -> str:
    quoted = [{key: _Quoted(value) for key, value in item.items()} for item in items]
    return yaml.dump(
        quoted,
        Dumper=_Dumper,
        sort_keys=False,
        allow_unicode=True,
        width=10_000,
        default_flow_style=flow,
    )


def _block(items: list[dict[str, str]], indent: str) -> str:
    """Return a list in block style, each line after `indent`."""
    return "".join(f"{indent}{line}\n" for line in _dumped(items, flow=False).splitlines())


def _flow(items: list[dict[str, str]]) -> str:
    return " ".join(_dumped(items, flow=True).split())


def _replaced(text: str, spec: yaml.MappingNode, items: list[dict[str, str]]) -> str:
    """Replace the value of `holds` by a list in flow style."""
    key, holds = next(pair for pair in spec.value if pair[0].value == "holds")
    value = _flow(items)
    after_key = text.index(":", key.end_mark.index) + 1
    start, end = holds.start_mark.index, holds.end_mark.index
    if isinstance(holds, yaml.SequenceNode) and not holds.flow_style:
        newline = newline_of(text)
        line, _ = at_line_end(text, after_key, newline)
        return (
            f"{text[:after_key]} {value}{line[after_key:]}"
            + at_line_end(text, end_of(holds), newline)[1]
        )
    between = text[after_key:start] if start > after_key else " "
    return f"{text[:after_key]}{between}{value}{text[max(end, after_key) :]}"


def _with_key(text: str, spec: yaml.MappingNode, item: dict[str, str]) -> str:
    if spec.flow_style:
        end = spec.end_mark.index - 1
        comma = ", " if spec.value else ""
        return f"{text[:end].rstrip()}{comma}holds: {_flow([item])}{text[end:]}"
    indent = " " * spec.start_mark.column
    head, rest = at_line_end(text, end_of(spec), newline_of(text))
    return f"{head}{indent}holds:\n{_block([item], indent)}{rest}"


def _check(before: str, after: str, holds: list[dict[str, str]], where: Location) -> None:
    """Raise KalypsoError unless the edited text has these holds, and is otherwise unchanged."""
    try:
        old, new = (yaml.load(text, Loader=yaml.BaseLoader) for text in (before, after))  # noqa: S506 - texts only
        got = new["spec"].pop("holds") or []
        old["spec"].pop("holds", None)
    except (yaml.YAMLError, KeyError, TypeError, AttributeError) as error:
        raise _not_writable(where) from error
    if got != holds or new != old:
        raise _not_writable(where)


def _not_writable(where: Location) -> KalypsoError:
    return KalypsoError(
        "the holds of the policy cannot be changed without another change",
        where,
        "write spec in plain form, with a list below `holds:`",
        "policy-not-writable",
    )
