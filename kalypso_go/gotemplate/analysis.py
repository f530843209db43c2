"""What a template reads and changes, found without executing it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields

from kalypso_go.gotemplate.budget import DEFAULT_LIMITS
from kalypso_go.gotemplate.builtins import BUILTINS
from kalypso_go.gotemplate.errors import Source
from kalypso_go.gotemplate.nodes import Field, Identifier, Node, Range, Variable, With
from kalypso_go.gotemplate.parser import Names, parse_trees
from kalypso_go.gotemplate.values import Function


def root_fields(
    text: str, functions: Mapping[str, Function], refused: Mapping[str, str]
) -> Iterator[tuple[tuple[str, ...], int, int]]:
    """Yield the fields that a template reads from its data, with line and column, both from 1.

    A field is a tuple of names, such as `("Manifests", "repo")`.

    Inside `with` and `range`, dot is not the data, but `$` still is. Inside `define`, neither is:
    this skips definitions. Raises `TemplateError` if the text does not parse.
    """
    source = Source("template", text)
    names = Names({**BUILTINS, **functions}, refused)
    body = parse_trees(source, names, DEFAULT_LIMITS.parse_depth)[source.name]
    for node_names, position in _fields(body, is_root=True):
        yield node_names, source.line(position), source.column(position) + 1


def _fields(value: object, *, is_root: bool) -> Iterator[tuple[tuple[str, ...], int]]:
    match value:
        case Field(position, names) if is_root:
            yield names, position
        case Variable(position, ("$", *names)) if names:
            yield tuple(names), position
        case With(cases=cases, otherwise=otherwise):
            for case in cases:
                yield from _fields(case.pipe, is_root=is_root)
                yield from _fields(case.body, is_root=False)
            yield from _fields(otherwise, is_root=is_root)
        case Range(pipe=pipe, body=body, otherwise=otherwise):
            yield from _fields(pipe, is_root=is_root)
            yield from _fields(body, is_root=False)
            yield from _fields(otherwise, is_root=is_root)
        case tuple():
            for item in value:
                yield from _fields(item, is_root=is_root)
        case Node():
            for field in fields(value):
                yield from _fields(getattr(value, field.name), is_root=is_root)


def changes_data(tree: object, functions: Mapping[str, Function]) -> bool:
    """Return whether a template calls a function that may change its arguments, and so the data.

    `tree` is a node, or a tuple of nodes.
    """
    if isinstance(tree, Identifier):
        return functions[tree.name].changes_arguments
    if isinstance(tree, Node):
        tree = tuple(getattr(tree, field.name) for field in fields(tree))
    return isinstance(tree, tuple) and any(changes_data(part, functions) for part in tree)
