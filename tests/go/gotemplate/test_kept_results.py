"""Results that calls keep for maps that nothing changes: output, errors and work stay the same."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kalypso_go import gotemplate
from kalypso_go.gotemplate import Budget, Limits, TemplateError
from kalypso_go.gotemplate.sprig import FUNCTIONS
from kalypso_go.gotemplate.values import ANY_MAP, GoMap, GoStruct, Type, keep_results

MANIFESTS = (
    "{{ toJson .Config }}",
    "a: {{ toJson .Config | sha256sum | quote }}\nb: {{ toPrettyJson .Config | nindent 2 }}",
    "{{ .Config.a }} {{ index .Config `a` | upper }}{{ len .Config }}{{ keys .Config | sortAlpha }}",
    "{{ printf `%s-%s` .Config.a .Name }}{{ omit .Config `a` | toJson }}",
    "{{ with .Config.c }}{{ toJson . }}{{ pick $.Config `c` `a` | toJson }}{{ end }}",
    "{{ range list .Name `b` }}{{ omit $.Config . | toJson }}{{ end }}{{ toJson .Config }}",
    "{{ define `t` }}{{ toJson .Config }}{{ end }}{{ template `t` (dict `Config` .Name) }}"
    "{{ omit .Config `b` `c` | toJson }}{{ .Config }}",
    "{{ toJson .Config }}{{ toJson .Config }}{{ if .Config.a }}{{ toJson .Config }}{{ end }}",
)
TYPE = Type("struct", "data")
FREE_WORK = 1 << 16
LIMIT = 70_000


def execution(
    template: gotemplate.Template, name: str, config: GoMap, budget: Budget
) -> tuple[object, ...]:
    try:
        result = template.execute(GoStruct(TYPE, {"Name": name, "Config": config}), budget=budget)
    except TemplateError as error:
        result = str(error)
    return result, budget.work, budget.output, budget.counts_calls


@given(
    st.sampled_from(MANIFESTS),
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
@example(MANIFESTS[1], {"a": "x"}, [("n", LIMIT, -1_000), ("n", LIMIT, -300)])
@example(MANIFESTS[1], {"a": "x"}, [("n", 0, 0), ("n", FREE_WORK, -100)])
def test_executions_are_the_same(
    manifest: str, values: dict[str, str], runs: list[tuple[str, int, int]]
) -> None:
    """The earlier work ends near the budget's limit, or where small values count."""
    template = gotemplate.parse(manifest, functions=FUNCTIONS)
    items = {**values, "c": GoMap(ANY_MAP, values)}
    config, shared = GoMap(ANY_MAP, items), GoMap(ANY_MAP, {**items, "c": GoMap(ANY_MAP, values)})
    keep_results(shared)
    for name, used, more in runs:
        alone, sharing = (Budget(Limits(work=LIMIT)) for _ in range(2))
        for budget in (alone, sharing):
            budget.spend(min(max(0, used + more), LIMIT), "the executions before")
        expected = execution(template, name, config, alone)
        assert execution(template, name, shared, sharing) == expected


@pytest.mark.parametrize(
    ("manifest", "kept"),
    [
        ("{{ toJson .Config }}{{ toJson .Config }}", 2),
        ("{{ omit .Config `a` | toJson }}", 1),
        ("{{ range list `a` `b` `c` }}{{ omit $.Config . | toJson }}{{ end }}", 0),
        ("{{ keys .Config | join `,` }}", 0),
    ],
)
def test_each_call_keeps_one_result_that_depends_on_the_map_alone(manifest: str, kept: int) -> None:
    shared = GoMap(ANY_MAP, {"a": "1"})
    keep_results(shared)
    for _ in range(3):
        execution(gotemplate.parse(manifest, functions=FUNCTIONS), "n", shared, Budget(Limits()))
    assert len(shared.results or ()) == 3 * kept  # the calls of each template are its own
