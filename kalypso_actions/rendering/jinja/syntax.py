"""Check the syntax of a Jinja2 template, and insert calls of the meter.

Jinja2's compiler has no hook for loops, comparisons, slices and `~`. `Metering` rewrites them into
calls of filters whose names no template can write (`%…`); `sandbox` defines these filters.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final, cast

from jinja2 import nodes
from jinja2.exceptions import TemplateAssertionError, TemplateSyntaxError
from jinja2.visitor import NodeTransformer

from kalypso_actions.model.nearest import nearest
from kalypso_go.gotemplate import Limits

MAX_NODES: Final = 30_000
"""Jinja2 needs many seconds to compile a larger template."""

MAX_LOOPS: Final = 16
"""Python compiles at most 20 nested blocks."""

ENTER_LOOP: Final = "%loop"
ENTER_MACRO: Final = "%macro"
MEASURED: Final = "%measured"
CONCAT: Final = "%concat"
SLICE: Final = "%slice"
SPREAD: Final = "%spread"
DECIDED: Final = "%decided"

_ALONE = "a manifest stands alone: there are no other templates to "
_REFUSED_TAGS: Final[Mapping[type[nodes.Node], str]] = {
    nodes.Extends: f"{_ALONE}extend",
    nodes.Include: f"{_ALONE}include",
    nodes.Import: f"{_ALONE}import",
    nodes.FromImport: f"{_ALONE}import from",
    nodes.Block: "blocks are for templates that extend one another; write a macro",
    nodes.ScopedEvalContextModifier: "nothing is escaped automatically; use the filter escape",
}


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The names of filters or tests, and the reasons why some of Jinja2's do not exist here."""

    kind: str
    known: Collection[str]
    refused: Mapping[str, str]

    def check(self, name: str, lineno: int) -> None:
        """Raise TemplateAssertionError for a name that does not exist."""
        if name in self.refused:
            fault = f"the {self.kind} {name!r} does not exist here: {self.refused[name]}"
            raise TemplateAssertionError(fault, lineno)
        if name not in self.known:
            near = nearest(name, self.known)
            hint = f" Did you mean {near!r}?" if near else ""
            raise TemplateAssertionError(f"No {self.kind} named {name!r}.{hint}", lineno)


def check(tree: nodes.Template, filters: Vocabulary, tests: Vocabulary, limits: Limits) -> None:
    """Raise TemplateSyntaxError, with the line, for anything that a manifest cannot use."""
    count = 0
    level: list[nodes.Node] = [tree]
    for _ in range(limits.parse_depth):
        for node in level:
            _check_node(node, filters, tests)
        count += len(level)
        if count > MAX_NODES:
            raise TemplateSyntaxError(f"the template has more than {MAX_NODES} elements", 1)
        level = [child for node in level for child in node.iter_child_nodes()]
        if not level:
            return
    raise TemplateSyntaxError(
        f"the template is nested more than {limits.parse_depth} deep", level[0].lineno
    )


def _check_node(node: nodes.Node, filters: Vocabulary, tests: Vocabulary) -> None:
    reason = _REFUSED_TAGS.get(type(node))
    if reason:
        raise TemplateAssertionError(reason, node.lineno)
    match node:
        case nodes.Filter():
            filters.check(node.name, node.lineno)
        case nodes.Test():
            tests.check(node.name, node.lineno)
        case nodes.Const(value=float() as number) if math.isinf(number):
            raise TemplateSyntaxError("a number is too large", node.lineno)
        case nodes.Tuple() if any(isinstance(item, nodes.Slice) for item in node.items):
            raise TemplateSyntaxError("only one slice fits between brackets", node.lineno)


class Metering(NodeTransformer):
    """Inserts calls of the meter wherever a template could take long or grow large."""

    def __init__(self) -> None:
        self._loops = 0

    def visit_For(self, node: nodes.For) -> nodes.Node:  # noqa: N802 - Jinja2 finds it by name
        """Count each iteration, and each test of an element (`for … if …`)."""
        self._loops += 1
        if self._loops > MAX_LOOPS:
            raise TemplateSyntaxError(f"loops are nested more than {MAX_LOOPS} deep", node.lineno)
        weight = _weight(node)
        self.generic_visit(node)
        self._loops -= 1
        node.body.insert(0, _entering(ENTER_LOOP, weight, node.lineno))
        if node.test is not None:
            entered = _call(ENTER_LOOP, nodes.Const(1), lineno=node.lineno)
            node.test = nodes.And(entered, node.test, lineno=node.lineno)
        return node

    def _visit_body(self, node: nodes.Macro | nodes.CallBlock) -> nodes.Node:
        """Count each call of a macro, and of `caller`."""
        weight = _weight(node)
        self.generic_visit(node)
        node.body.insert(0, _entering(ENTER_MACRO, weight, node.lineno))
        return node

    visit_Macro = visit_CallBlock = _visit_body  # noqa: N815

    def visit_Compare(self, node: nodes.Compare) -> nodes.Node:  # noqa: N802 - as above
        """Measure both sides: comparing visits all of them."""
        self.generic_visit(node)
        node.expr = _measured(node.expr)
        for operand in node.ops:
            operand.expr = _measured(operand.expr)
        return node

    def _visit_condition(self, node: nodes.If | nodes.CondExpr) -> nodes.Node:
        """Record the outcome of a condition, or follow that of another rendering."""
        self.generic_visit(node)
        test = cast("nodes.Expr", node.test)
        node.test = _call(DECIDED, test, lineno=node.lineno)
        return node

    visit_If = visit_CondExpr = _visit_condition  # noqa: N815

    def visit_Pair(self, node: nodes.Pair) -> nodes.Node:  # noqa: N802 - as above
        """Measure the keys of a mapping: hashing visits all of them."""
        self.generic_visit(node)
        node.key = _measured(node.key)
        return node

    def visit_Concat(self, node: nodes.Concat) -> nodes.Node:  # noqa: N802 - as above
        """Replace `~` by a call."""
        self.generic_visit(node)
        return _call(CONCAT, nodes.List(node.nodes, lineno=node.lineno), lineno=node.lineno)

    def visit_Getitem(self, node: nodes.Getitem) -> nodes.Node:  # noqa: N802 - as above
        """Replace a slice by a call."""
        self.generic_visit(node)
        if not isinstance(node.arg, nodes.Slice):
            return node
        bounds = [
            nodes.Const(None) if bound is None else bound
            for bound in (node.arg.start, node.arg.stop, node.arg.step)
        ]
        return _call(SLICE, node.node, *bounds, lineno=node.lineno)

    def _visit_arguments(self, node: nodes.Call | nodes.Filter | nodes.Test) -> nodes.Node:
        """Count the elements of `*arguments` and `**arguments`."""
        self.generic_visit(node)
        if node.dyn_args is not None:
            node.dyn_args = _call(SPREAD, node.dyn_args, lineno=node.lineno)
        if node.dyn_kwargs is not None:
            node.dyn_kwargs = _call(SPREAD, node.dyn_kwargs, lineno=node.lineno)
        return node

    visit_Call = visit_Filter = visit_Test = _visit_arguments  # noqa: N815


def _weight(node: nodes.Node) -> int:
    return sum(1 for _ in node.find_all(nodes.Node))


def _entering(name: str, weight: int, lineno: int) -> nodes.ExprStmt:
    return nodes.ExprStmt(_call(name, nodes.Const(weight), lineno=lineno), lineno=lineno)


def _measured(node: nodes.Expr) -> nodes.Expr:
    if isinstance(node, nodes.Const):
        return node
    return _call(MEASURED, node, lineno=node.lineno)


def _call(name: str, value: nodes.Expr, *args: nodes.Expr, lineno: int) -> nodes.Filter:
    return nodes.Filter(value, name, list(args), [], None, None, lineno=lineno)
