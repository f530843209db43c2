"""Texts that are kept for other executions: the same output, errors and work as without them."""

from __future__ import annotations

import copy
from itertools import product
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kalypso_actions.rendering.functions import FUNCTIONS
from kalypso_go import gotemplate
from kalypso_go.gotemplate import Budget, FunctionError, KeptTexts, Limits, TemplateError
from kalypso_go.gotemplate.values import ANY, ANY_MAP, Function, GoMap, GoStruct, Type

MANIFESTS = (
    "{{ toYaml .Config }}",
    "a: {{ hash .Config | quote }}\nb: {{ toYaml .Config | nindent 2 }}",
    "{{ .Config.a }} {{ index .Config `a` | upper }}{{ len .Config }}",
    "{{ printf `%s-%s` .Config.a .Name }}{{ omit .Config `a` | toYaml }}",
    "{{ with .Config }}{{ toYaml . }}{{ toYaml $.Config }}{{ end }}{{ toYaml .Config }}",
    "{{ with .Config.a }}{{ upper . }}{{ with $.Name }}{{ . | quote }}{{ end }}{{ end }}",
    "{{ with .Config.none }}x{{ else with .Config.b }}{{ . | quote }}{{ else }}{{ upper .Name }}"
    "{{ end }}{{ with $x := .Config }}{{ toYaml . }}{{ end }}",
    "{{ with .Config }}{{ range . }}{{ upper . }}{{ with . }}{{ quote . }}{{ end }}{{ end }}"
    "{{ .a | quote }}{{ with .a }}{{ upper . }}{{ end }}{{ end }}",
    "{{ range list .Name `b` }}{{ . | quote }}{{ end }}{{ .Config.a | repeat 40 }}",
    "{{ define `t` }}{{ toYaml .Config }}{{ end }}{{ template `t` (dict `Config` .Name) }}"
    "{{ toYaml .Config }}",
    "{{ $x := .Config.a }}{{ $x }}{{ .Config.none | default `d` }}{{ .Config.none }}",
    "{{ toYaml .Config }}{{ toYaml .Config }}{{ if .Config.a }}{{ toYaml .Config }}{{ end }}",
)
TYPE = Type("struct", "data")
FREE_WORK = 1 << 16
LIMIT = 70_000


def data(name: str, config: GoMap) -> GoStruct:
    return GoStruct(TYPE, {"Name": name, "Config": config})


def parsed(text: str) -> gotemplate.Template:
    return gotemplate.parse(text, functions=FUNCTIONS)


def execution(
    template: gotemplate.Template, name: str, config: GoMap, budget: Budget, **kept: KeptTexts
) -> tuple[object, ...]:
    try:
        result = template.execute(data(name, config), budget=budget, kept=kept)
    except TemplateError as error:
        result = str(error)
    return result, budget.work, budget.output, budget.counts_calls


@given(
    st.sampled_from(MANIFESTS).map(parsed),
    st.dictionaries(st.sampled_from("abc"), st.text("xyz<", max_size=30), max_size=3),
    st.lists(
        st.tuples(
            st.sampled_from(["n", "m"]),
            st.sampled_from([0, FREE_WORK, LIMIT]),
            st.integers(-1_000, 100),
        ),
        min_size=2,
        max_size=8,
    ),
)
@example(parsed(MANIFESTS[1]), {"a": "x"}, [("n", LIMIT, -1_000), ("n", LIMIT, -300)])
@example(parsed(MANIFESTS[1]), {"a": "x"}, [("n", 0, 0), ("n", FREE_WORK, -100)])
@example(parsed(MANIFESTS[7]), {"a": "x", "b": "y"}, [("n", 0, 0), ("m", 0, 0)])
def test_executions_are_the_same(
    template: gotemplate.Template, values: dict[str, str], runs: list[tuple[str, int, int]]
) -> None:
    """The earlier work ends near the budget's limit, or where small values count."""
    config, kept = GoMap(ANY_MAP, values), KeptTexts()
    for name, used, more in runs:
        alone, sharing = (Budget(Limits(work=LIMIT)) for _ in range(2))
        for budget in (alone, sharing):
            budget.spend(min(max(0, used + more), LIMIT), "the executions before")
        expected = execution(template, name, config, alone)
        assert execution(template, name, config, sharing, Config=kept) == expected


def test_only_calls_that_depend_on_the_field_alone_are_kept() -> None:
    config = GoMap(ANY_MAP, {"a": "1"})
    kept = {text: KeptTexts() for text in MANIFESTS}
    for text, texts in kept.items():
        execution(parsed(text), "n", config, Budget(Limits()), Config=texts)
    # The last manifest writes the same action three times; each is kept separately.
    assert [len(texts) for texts in kept.values()] == [1, 2, 1, 1, 2, 1, 0, 2, 1, 1, 1, 3]


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
        ("{{ set .Config `a` `b` | toYaml }}", True),
        ("{{ define `t` }}{{ if true }}{{ unset . `a` }}{{ end }}{{ end }}", True),
        ("{{ range (merge (dict) .Config) }}{{ end }}", True),
        ("set {{ `unset` }} {{ omit .Config `merge` | toYaml }}", False),
    ],
)
def test_which_templates_change_their_data(text: str, changes: bool) -> None:
    assert parsed(text).changes_data == changes
