"""What a template changes, found without executing it."""

from __future__ import annotations

import copy
from itertools import product
from typing import Any

import pytest

from kalypso_go import gotemplate
from kalypso_go.gotemplate import Budget, FunctionError, Limits
from kalypso_go.gotemplate.sprig import FUNCTIONS
from kalypso_go.gotemplate.values import ANY, Function, Type


def test_functions_that_change_their_arguments_say_so() -> None:
    def sample(type_: Type) -> list[Any]:
        maps = [{"a": {"b": ["1", "x"], "e": ""}, "c": "d"}, {"a": {"b": "2"}, "f": "g"}]
        slices = [["b", "a", "b", ""], [{"c": "1"}, ["d"]]]
        by_kind: dict[str, list[Any]] = {
            "map": maps,
            "slice": slices,
            "string": ["a", "1"],
            "bool": [True],
        }
        if type_ == ANY:
            return [*maps, *slices, "a", 1]
        return by_kind.get(type_.kind, [1, 0])

    changing = set()
    for name, function in FUNCTIONS.items():
        parameters = [*function.parameters, *function.parameters[-1:] * function.variadic]
        for arguments in product(*map(sample, parameters)):
            given_ = copy.deepcopy(arguments)
            if _call(function, given_) and given_ != arguments:
                changing.add(name)
    declared = {name for name, function in FUNCTIONS.items() if function.changes_arguments}
    assert changing == declared == {"set", "unset", "merge", "mergeOverwrite"}


def _call(function: Function, arguments: tuple[Any, ...]) -> bool:
    """Call a function; return whether it succeeds."""
    budget = [Budget(Limits())] if function.takes_budget else []
    try:
        function.call(*budget, *arguments)
    except (FunctionError, AttributeError, TypeError, ValueError, KeyError, IndexError):
        return False  # the engine checks the types of arguments before
    return True


@pytest.mark.parametrize(
    ("text", "changes"),
    [
        ("{{ set .Config `a` `b` | toJson }}", True),
        ("{{ define `t` }}{{ if true }}{{ unset . `a` }}{{ end }}{{ end }}", True),
        ("{{ range (merge (dict) .Config) }}{{ end }}", True),
        ("set {{ `unset` }} {{ omit .Config `merge` | toJson }}", False),
    ],
)
def test_which_templates_change_their_data(text: str, changes: bool) -> None:
    assert gotemplate.parse(text, functions=FUNCTIONS).changes_data == changes
