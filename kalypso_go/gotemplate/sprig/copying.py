"""Deep copies like those of mitchellh/copystructure."""

from __future__ import annotations

from kalypso_go.gotemplate.budget import Budget
from kalypso_go.gotemplate.sprig.nesting import check_depth
from kalypso_go.gotemplate.sprig.semver import VersionStruct, VersionValue
from kalypso_go.gotemplate.sprig.signature import function
from kalypso_go.gotemplate.sprig.versions import Version
from kalypso_go.gotemplate.values import ANY, FunctionError, GoMap, GoSlice, GoStruct

_ELEMENT = 64
"""The approximate size of an element of a list or map, in bytes."""


@function("deepCopy", ANY, takes_budget=True)
def deep_copy(budget: Budget, value: object) -> object:
    """Return a copy that shares no map or list with the original."""
    if value is None:
        raise FunctionError("reflect: call of reflect.Value.Type on zero Value")
    return _Copier(budget).copy(value, 0)


class _Copier:
    """Copies one value; an element that occurs several times is copied each time."""

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.size = 0

    def copy(self, value: object, depth: int) -> object:
        check_depth(depth, "deepCopy")
        if isinstance(value, list):
            return self._list(value, depth + 1)
        if isinstance(value, dict):
            return self._map(value, depth + 1)
        if isinstance(value, VersionValue | VersionStruct):
            # copystructure copies only exported fields, and a version has none.
            return type(value)(Version())
        if isinstance(value, GoStruct) and value.fields:
            fields = {name: self.copy(field, depth + 1) for name, field in value.fields.items()}
            return GoStruct(value.type, fields, value.methods, pointer=value.pointer)
        return value

    def _list(self, value: list[object], depth: int) -> list[object]:
        self._grow(len(value))
        elements = [self.copy(element, depth) for element in value]
        if isinstance(value, GoSlice):
            return GoSlice(value.type, elements, nil=value.nil)
        return elements

    def _map(self, value: dict[object, object], depth: int) -> dict[object, object]:
        self._grow(len(value))
        items = {key: self.copy(element, depth) for key, element in value.items()}
        return GoMap(value.type, items, nil=value.nil) if isinstance(value, GoMap) else items

    def _grow(self, elements: int) -> None:
        self.size += _ELEMENT * (elements + 1)
        self.budget.fit(self.size, "the copy")
        self.budget.spend(_ELEMENT * (elements + 1), "deepCopy")
