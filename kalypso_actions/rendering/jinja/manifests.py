"""A text in Jinja2 → a manifest that renders, the places of its errors, and the data it sees."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from types import CodeType, GeneratorType, TracebackType
from typing import Any, Final, TypeAlias, cast

import jinja2
from jinja2 import nodes
from jinja2.exceptions import TemplateError, TemplateSyntaxError
from jinja2.meta import find_undeclared_variables

from kalypso_actions.rendering.data import TemplateData, go_config, to_template_value
from kalypso_actions.rendering.functions import FUNCTIONS
from kalypso_actions.rendering.jinja.filters import FILTERS, REFUSED_FILTERS, REFUSED_TESTS, TESTS
from kalypso_actions.rendering.jinja.meter import Meter, current_meter, metered
from kalypso_actions.rendering.jinja.sandbox import Sandbox
from kalypso_actions.rendering.jinja.syntax import Metering, Vocabulary, check
from kalypso_actions.rendering.manifests import ManifestError
from kalypso_go.gotemplate import CONDITION, DEFAULT_LIMITS, Limits, Operand, Use
from kalypso_go.gotemplate.values import (
    ANY_MAP,
    STRING_MAP,
    YAML_MAP,
    FunctionError,
    GoMap,
    plain_key,
)

_PYTHON_ERRORS: Final = (
    TypeError,
    ValueError,
    ArithmeticError,
    LookupError,
    AttributeError,
    AssertionError,
    RuntimeError,  # includes RecursionError
)
"""Python's operators and methods, and Jinja2's filters, raise these for invalid arguments: the
template is wrong, not this program."""

Stream: TypeAlias = "GeneratorType[str, None, None]"
_LINE_END: Final = re.compile(r"\r\n|\r|\n")

_PREFIX: Final = re.compile(r"^(?:_|do_|sync_do_|test_)(?=\w+\(\) )")
"""The prefixes that functions of filters and tests add to the names in a template."""

_QUOTED_NAME: Final = re.compile(r"'([^']+)' is undefined|has no (?:key|attribute) '([^']+)'")
"""An error with a quoted name has a column, if the name can be located."""


class JinjaManifest:
    """A Jinja2 template in the sandbox; undefined names are errors.

    It is compiled once and rendered any number of times, by several threads at once.
    """

    def __init__(self, text: str, limits: Limits = DEFAULT_LIMITS) -> None:
        """Compile. Raises ManifestError."""
        self._text = text
        self._lines = _LINE_END.split(text)
        self._template = _compile(text, limits)

    changes_data = False  # the template sees a copy

    def render(self, data: TemplateData) -> str:
        """Render once, even if the output contains `{{`. Raises ManifestError."""
        meter = Meter(data.budget)
        try:
            context = self._template.new_context(variables(data))
        except FunctionError as error:
            raise ManifestError(str(error)) from error
        stream = cast("Stream", self._template.root_render_func(context))
        pieces = []
        try:
            with metered(meter):
                for piece in stream:
                    meter.write(piece)
                    pieces.append(piece)
        except (TemplateError, FunctionError, *_PYTHON_ERRORS) as error:
            message = _message(error)
            line = _line(error.__traceback__, self._template) or _line_of(stream, self._template)
            column = self._column(message, line)
            raise ManifestError(message, line, column, self._text) from error
        return "".join(pieces)

    def _column(self, message: str, line: int) -> int:
        """Locate a quoted name in its line; Jinja2 knows only lines. Return 0 if ambiguous."""
        quoted = _QUOTED_NAME.search(message)
        if not quoted or not 0 < line <= len(self._lines):
            return 0
        name = re.escape(quoted[1] or quoted[2])
        places = [*re.finditer(rf"(?<!\w){name}(?!\w)", self._lines[line - 1])]
        return places[0].start() + 1 if len(places) == 1 else 0


def _compile(text: str, limits: Limits) -> jinja2.Template:
    if len(text.encode("utf-8", "surrogatepass")) > limits.template_bytes:
        raise ManifestError(f"the template has more than {limits.template_bytes} bytes")
    try:
        tree = _parsed(text, limits)
        source = _SANDBOX.compile(Metering().visit(tree), raw=True)
    except TemplateSyntaxError as error:
        raise ManifestError(error.message or "", error.lineno, text=text) from error
    except (RecursionError, MemoryError) as error:  # from Jinja2's and Python's parsers
        raise ManifestError("the template is nested too deeply") from error
    except ValueError as error:  # a number with too many digits
        raise ManifestError(str(error)) from error
    return jinja2.Template.from_code(_SANDBOX, _python(source, text), _SANDBOX.make_globals(None))


def root_names(text: str) -> Iterator[tuple[tuple[str, ...], int]]:
    """Yield each name that a template looks up in its data, with a key of it, and its line.

    A template with a fault has none; the stage that compiles it reports the fault.
    """
    try:
        tree = _parsed(text, DEFAULT_LIMITS)
        undeclared = find_undeclared_variables(tree)
    except (TemplateSyntaxError, RecursionError, MemoryError, ValueError):
        return
    keyed = {
        id(node.node): node.attr
        for node in tree.find_all(nodes.Getattr)
        if isinstance(node.node, nodes.Name)
    }
    for node in tree.find_all(nodes.Name):
        if node.ctx == "load" and node.name in undeclared:
            key = keyed.get(id(node))
            yield ((node.name, key) if key else (node.name,)), node.lineno


def root_uses(text: str) -> Iterator[Use]:
    """Yield the defaults, comparisons and conditions of a template, as `gotemplate.uses` does.

    `in` is the function `has`. Names that the template itself sets are not followed.
    """
    try:
        tree = _parsed(text, DEFAULT_LIMITS)
    except (TemplateSyntaxError, RecursionError, MemoryError, ValueError):
        return
    rows = text.splitlines()
    for function, operands, node in _calls(tree):
        row = rows[node.lineno - 1] if node.lineno <= len(rows) else ""
        shown = re.search(r"\{[{%]-? *(.*?) *-?[%}]\}", row)
        words = shown[1] if shown else ""
        yield Use(function, operands, words, node.lineno, (shown.start(1) + 1) if shown else 0)


def _calls(tree: nodes.Node) -> Iterator[tuple[str, tuple[Operand, ...], nodes.Node]]:
    for node in tree.find_all((nodes.Filter, nodes.Compare, nodes.If, nodes.CondExpr)):
        match node:
            case nodes.Filter(name="default" | "d", args=[first, *_], node=nodes.Expr() as given):
                yield "default", (_operand(first), _operand(given)), node
            case nodes.Compare(expr=expr, ops=[nodes.Operand(op=operator, expr=other)]):
                functions = {"eq": "eq", "ne": "ne", "in": "has", "notin": "has"}
                if operator in functions:
                    yield functions[operator], (_operand(expr), _operand(other)), node
            case nodes.If(test=test) | nodes.CondExpr(test=test):
                rest = [item for item in node.iter_child_nodes() if item is not test]
                read = {_operand(inner).path for item in rest for inner in _names(item)}
                for operand in _tested(test):
                    if operand.path and operand.path not in read:
                        yield CONDITION, (operand,), node


def _names(node: nodes.Node) -> Iterator[nodes.Node]:
    yield node
    yield from node.find_all((nodes.Name, nodes.Getattr, nodes.Getitem))


def _tested(test: nodes.Node) -> Iterator[Operand]:
    match test:
        case nodes.And(left=left, right=right) | nodes.Or(left=left, right=right):
            yield from _tested(left)
            yield from _tested(right)
        case nodes.Not(node=inner):
            yield from _tested(inner)
        case _:
            yield _operand(test)


def _operand(node: nodes.Node | None) -> Operand:
    match node:
        case nodes.Const(value=value):
            return Operand(None, (str(value),), bool(value))
        case nodes.List(items=items) | nodes.Tuple(items=items):
            texts = [text for item in items for text in _operand(item).texts]
            return Operand(None, tuple(texts), bool(texts))
        case nodes.Name(name=name):
            return Operand((name,))
        case (
            nodes.Getattr(node=inner, attr=key)
            | nodes.Getitem(node=inner, arg=nodes.Const(value=key))
        ):
            above = _operand(inner).path
            return Operand((*above, key) if above else None)
        case nodes.Filter(name="default" | "d", args=[first, *_], node=inner):
            constant = _operand(first)
            return Operand(_operand(inner).path, constant.texts, constant.is_set)
    return Operand()


def _parsed(text: str, limits: Limits) -> nodes.Template:
    """Parse. Raises TemplateSyntaxError for anything that a manifest cannot use."""
    tree = _SANDBOX.parse(text)
    check(tree, _FILTER_NAMES, _TEST_NAMES, limits)
    return tree


def _python(source: str, text: str) -> CodeType:
    """Compile the Python code of Jinja2; Python finds some errors only now."""
    try:
        return compile(source, "<template>", "exec")
    except SyntaxError as error:
        line = _template_line(source, error.lineno or 0)
        raise ManifestError(error.msg, line, text=text) from error
    except (RecursionError, MemoryError) as error:
        raise ManifestError("the template is nested too deeply") from error


def _template_line(source: str, python_line: int) -> int:
    """Return the template's line for a line of the generated Python.

    Jinja2 ends its code with `debug_info = '<template line>=<Python line>&…'`.
    """
    pairs = source.rpartition("debug_info = ")[2].strip("'\n").split("&")
    lines = [tuple(map(int, pair.split("="))) for pair in pairs if pair]
    before = [line for line, written in lines if written <= python_line]
    return before[-1] if before else 0


def _line(trace: TracebackType | None, template: jinja2.Template) -> int:
    """Return the template's innermost line in a traceback, or 0."""
    line = 0
    while trace is not None:
        if trace.tb_frame.f_globals.get("__jinja_template__") is template:
            line = template.get_corresponding_lineno(trace.tb_lineno)
        trace = trace.tb_next
    return line


def _line_of(stream: Stream, template: jinja2.Template) -> int:
    """Return the line that wrote the last output, or 0 if the template has ended."""
    frame = stream.gi_frame
    return template.get_corresponding_lineno(frame.f_lineno) if frame else 0


def _message(error: Exception) -> str:
    match error:
        case RecursionError():
            return "the template calls itself too deeply"
        case UnicodeEncodeError():
            return f"the output holds half a character: {error.object[error.start]!r}"
        case OverflowError():
            return "a number is too large"
        case TypeError():
            return _PREFIX.sub("", str(error), count=1)
        case KeyError():
            return f"there is no {error}"
        case _:
            return str(error) or type(error).__name__


_INT64_MIN: Final = -(1 << 63)
_UINT64_MAX: Final = (1 << 64) - 1


def variables(data: TemplateData) -> dict[str, object]:
    """Return the fields of a Go template's dot, with every mapping sorted by its keys."""
    return {
        "DeploymentTargetName": data.target,
        "Namespace": data.namespace,
        "Environment": data.environment,
        "Workspace": data.workspace,
        "Workload": data.workload,
        "Labels": _sorted(GoMap(STRING_MAP, data.labels)),
        "Manifests": _sorted(GoMap(STRING_MAP, data.manifests)),
        "ClusterType": data.cluster_type,
        "ConfigData": _sorted(go_config(data.config)),
    }


def _sorted(value: object) -> object:
    """Copy a value with its mappings sorted by their keys.

    Raises `FunctionError` for a mapping with the keys 1 and true, which are equal in Python.
    """
    match value:
        case GoMap():
            if any(plain_key(key) is not key for key in value):
                raise FunctionError("a mapping has keys that only Go can tell apart: 1 and true")
            items = sorted(value.items(), key=lambda item: _rank(item[0]))
            return GoMap(value.type, [(key, _sorted(inner)) for key, inner in items])
        case list():
            return [_sorted(item) for item in value]
        case _:
            return value


def _rank(key: object) -> tuple[int, Any]:
    """Order keys of several types: none, booleans, numbers, texts."""
    match key:
        case None:
            return 0, 0
        case bool():
            return 1, key
        case int() | float():
            return 2, key
        case _:
            return 3, key


def _own_function(name: str) -> Callable[[object], object]:
    """Adapt Kalypso's function of Go templates to values of Jinja2."""
    function = FUNCTIONS[name]

    def call(value: object) -> object:
        meter = current_meter()
        meter.measure(value)
        arguments = (
            (meter.budget, _go_value(value)) if function.takes_budget else (_go_value(value),)
        )
        result = function.call(*arguments)
        meter.measure(result)
        return result

    call.__name__ = call.__qualname__ = name
    return call


def _go_value(value: object) -> object:
    """Return a value as Go sees it; maps from the data keep their type."""
    match value:
        case dict():
            entries = {key: _go_value(inner) for key, inner in value.items()}
            if isinstance(value, GoMap):
                return GoMap(value.type, entries)
            has_text_keys = all(isinstance(key, str) for key in value)
            return GoMap(ANY_MAP if has_text_keys else YAML_MAP, entries)
        case list() | tuple() | range():
            return [_go_value(item) for item in value]
        case int() if not _INT64_MIN <= value <= _UINT64_MAX:
            raise ValueError(f"Go has no integer as large as {value}")
        case int():
            return to_template_value(value)
        case _:
            return value


OWN_FUNCTIONS: Final[Mapping[str, Callable[[object], object]]] = {
    name: _own_function(name) for name in ("toYaml", "stringify", "hash", "unquote")
}
_SANDBOX: Final = Sandbox(OWN_FUNCTIONS)
_FILTER_NAMES: Final = Vocabulary("filter", {*FILTERS, *OWN_FUNCTIONS}, REFUSED_FILTERS)
_TEST_NAMES: Final = Vocabulary("test", TESTS, REFUSED_TESTS)
