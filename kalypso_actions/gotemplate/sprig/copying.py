"""Copies of a value with all that it holds, as mitchellh/copystructure makes them."""

from __future__ import annotations

from kalypso_actions.gotemplate.budget import Budget
from kalypso_actions.gotemplate.sprig.nesting import check_depth
from kalypso_actions.gotemplate.sprig.semver import VersionValue
from kalypso_actions.gotemplate.sprig.signature import function
from kalypso_actions.gotemplate.sprig.versions import Version
from kalypso_actions.gotemplate.values import ANY, FunctionError, GoMap, GoSlice, GoStruct


@function("deepCopy", ANY, bounded=True)
def deep_copy(budget: Budget, value: object) -> object:
    """A copy that shares no map or list with the original."""
    if value is None:
        raise FunctionError("reflect: call of reflect.Value.Type on zero Value")
    return _copy(budget, value, 0)


def _copy(budget: Budget, value: object, depth: int) -> object:
    check_depth(depth, "deepCopy")
    if isinstance(value, list):
        budget.spend(len(value), "deepCopy")
        elements = [_copy(budget, element, depth + 1) for element in value]
        if isinstance(value, GoSlice):
            return GoSlice(value.type, elements, nil=value.nil)
        return elements
    if isinstance(value, dict):
        budget.spend(len(value), "deepCopy")
        items = {key: _copy(budget, element, depth + 1) for key, element in value.items()}
        return GoMap(value.type, items, nil=value.nil) if isinstance(value, GoMap) else items
    if isinstance(value, VersionValue):
        # Only exported fields are copied, and a version has none.
        return VersionValue(Version())
    if isinstance(value, GoStruct) and value.fields:
        fields = {name: _copy(budget, field, depth + 1) for name, field in value.fields.items()}
        return GoStruct(value.type, fields, value.methods, pointer=value.pointer)
    return value
