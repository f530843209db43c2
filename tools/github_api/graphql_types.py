"""Cut a GraphQL schema to some of its types, without descriptions."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping
from typing import Any, Final

from graphql import (
    REMOVE,
    DefinitionNode,
    DocumentNode,
    FieldDefinitionNode,
    NamedTypeNode,
    Node,
    UnionTypeDefinitionNode,
    Visitor,
    parse,
    print_ast,
    visit,
)
from graphql.language import InterfaceTypeDefinitionNode, ObjectTypeDefinitionNode

WITH_FIELDS: Final = InterfaceTypeDefinitionNode | ObjectTypeDefinitionNode
BUILT_IN: Final = {"Boolean", "Float", "ID", "Int", "String"}


def cut(source: str, types: Collection[str]) -> str:
    """Return the schema of these types, with their fields that lead to them or to leaf types.

    It includes the scalars, enumerations and inputs in use. Raises KeyError for an unknown type.
    """
    known: Mapping[str, DefinitionNode] = {
        definition.name.value: definition
        for definition in parse(source, no_location=True).definitions
        if hasattr(definition, "name")
    }
    left_out = {
        name
        for name, definition in known.items()
        if isinstance(definition, WITH_FIELDS | UnionTypeDefinitionNode) and name not in types
    }
    definitions: dict[str, DefinitionNode] = {}
    waiting = list(types)
    while waiting:
        name = waiting.pop()
        if name not in definitions and name not in BUILT_IN:
            cutting = _Cutting(left_out)
            definitions[name] = visit(known[name], cutting)
            waiting += cutting.used
    return (
        print_ast(
            DocumentNode(definitions=tuple(definitions[name] for name in sorted(definitions)))
        )
        + "\n"
    )


class _Cutting(Visitor):
    """Removes descriptions, directives and references to other types; records used types."""

    def __init__(self, left_out: Collection[str]) -> None:
        super().__init__()
        self._left_out = left_out
        self.used: set[str] = set()

    def enter(self, node: Node, *_: Any) -> Any:
        if isinstance(node, FieldDefinitionNode) and _type_name(node.type) in self._left_out:
            return REMOVE
        if isinstance(node, NamedTypeNode):
            if node.name.value in self._left_out:
                return REMOVE
            self.used.add(node.name.value)
        texts = {"description", "directives"} & set(node.keys)
        return dataclasses.replace(node, **dict.fromkeys(texts)) if texts else None


def _type_name(node: Node) -> str:
    while not isinstance(node, NamedTypeNode):
        node = node.type  # type: ignore[attr-defined]  # lists and non-nulls have one
    return node.name.value
