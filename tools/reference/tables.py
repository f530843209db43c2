"""What every action is given, gives and may do, as tables in README.md between two marks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from kalypso_actions.inputs.chain import ChainInputs
from kalypso_actions.inputs.permissions import PERMISSIONS, VERIFY_ONLY, Permission
from kalypso_actions.report import markdown
from tools.reference.actions import ACTIONS, Action, Input, inputs_of

COMMON: Final = "all actions"
MARKED: Final = re.compile(
    r"(<!-- ([a-z -]+): made by make docs -->\n).*?(<!-- end -->)", re.DOTALL
)


def with_tables(readme: str) -> str:
    """The text with its marked tables made anew. Raises KeyError for a mark of no action."""
    tables = {COMMON: input_table(inputs_of(ChainInputs))}
    tables |= {action.command: tables_of(action) for action in ACTIONS}
    return filled(readme, tables)


def filled(page: str, sections: Mapping[str, str]) -> str:
    """The page with its marked sections made anew. Raises KeyError for an unknown mark."""
    return MARKED.sub(lambda found: f"{found[1]}\n{sections[found[2]]}\n{found[3]}", page)


def tables_of(action: Action) -> str:
    """Inputs of its own, outputs, and the permissions that its command needs."""
    common = {one.name for one in inputs_of(ChainInputs)}
    own = [one for one in action.inputs if one.name not in common or one.required]
    outputs = [(f"`{name}`", text) for name, text in action.outputs.items()]
    parts = [input_table(own), table(("output", ""), outputs)]
    if action.command in PERMISSIONS:
        parts.append(permission_table(PERMISSIONS[action.command]))
    if action.command in VERIFY_ONLY:
        needed = (
            f"{one} in the {place}" for place, one in map(_right, VERIFY_ONLY[action.command])
        )
        parts.append(f"With `verify-only`: {', '.join(needed)}.\n")
    return "\n".join(parts)


def input_table(inputs: Iterable[Input]) -> str:
    """Name, default and description of each."""
    rows = (
        (
            f"`{one.name}`{', required' if one.required else ''}",
            f"`{one.default}`" if one.default else "",
            one.description,
        )
        for one in inputs
    )
    return table(("input", "default", ""), rows)


def permission_table(permissions: Iterable[Permission]) -> str:
    """Which permission, where, and what for."""
    rows = (
        (right, place, f"{one.reason}{f' ({one.only})' if one.only else ''}")
        for one in permissions
        for place, right in [_right(one)]
    )
    return table(("permission", "in the", "because it"), rows)


def _right(permission: Permission) -> tuple[str, str]:
    return permission.place, f"`{permission.name}: {permission.level}`"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    return markdown.table(head, ([_cell(text) for text in row] for row in rows)) + "\n"


def _cell(text: str) -> str:
    return text.replace("<", "&lt;").replace("|", "\\|")
