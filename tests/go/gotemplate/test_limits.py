"""No template hangs or exhausts memory: exceeding a limit is an error that names it."""

from __future__ import annotations

import threading

import pytest

from kalypso_actions.rendering.functions import FUNCTIONS
from kalypso_go import gotemplate
from kalypso_go.gotemplate import DEFAULT_LIMITS, Budget, LimitError, Limits, TemplateError
from tests.breaks import breaks, turned
from tests.go.gotemplate.data import failure, render

MOST = DEFAULT_LIMITS.template_bytes


@pytest.mark.parametrize(
    ("text", "limits", "message"),
    [
        ("12345678", Limits(template_bytes=7), "the template goes beyond the limit of 7 bytes"),
        ("éééé", Limits(template_bytes=7), "the template goes beyond the limit of 7 bytes"),
        ("{{((1))}}", Limits(parse_depth=1), "1: max expression depth exceeded (1)"),
        ("{{if 1}}{{if 2}}", Limits(parse_depth=1), "1: max nesting depth exceeded (1)"),
        ("{{if 1}}{{(1)}}{{end}}", Limits(parse_depth=1), "1: max expression depth exceeded (1)"),
        (
            "{{range 9}}12345{{end}}",
            Limits(output_bytes=20),
            '1:11: executing "t" at <12345>: the output goes beyond the limit of 20 bytes',
        ),
        (
            '{{range 9}}{{"ééé"}}{{end}}',
            Limits(output_bytes=20),
            '1:13: executing "t" at <{{"ééé"}}>: the output goes beyond the limit of 20 bytes',
        ),
        (
            "{{range 6}}{{end}}",
            Limits(iterations=5),
            '1:8: executing "t" at <6>: the loop goes beyond the limit of 5 iterations of loops and calls '
            "of templates for one assignment",
        ),
        (
            '{{define "a"}}{{end}}{{range 3}}{{template "a"}}{{end}}',
            Limits(iterations=5),
            '1:43: executing "t" at <{{template "a"}}>: the call goes beyond the limit of 5 iterations of '
            "loops and calls of templates for one assignment",
        ),
        (
            '{{define "a"}}{{template "a"}}{{end}}{{template "a"}}',
            Limits(recursion=9),
            '1:25: executing "a" at <{{template "a"}}>: exceeded maximum template depth (9)',
        ),
        (
            '{{define "a"}}{{if 1}}{{with 1}}{{template "a"}}{{end}}{{end}}{{end}}{{template "a"}}',
            Limits(recursion=9),
            '1:43: executing "a" at <{{template "a"}}>: exceeded maximum template depth (9)',
        ),
        (
            "{{grow 99}}",
            Limits(output_bytes=20),
            '1:2: executing "t" at <grow 99>: error calling grow: grow would have 99 bytes; the limit '
            "for one value is 20",
        ),
        (
            '{{printf "%99d" 1}}',
            Limits(output_bytes=20),
            '1:2: executing "t" at <printf "%99d" 1>: error calling printf: the printed text would '
            "have 99 bytes; the limit for one value is 20",
        ),
        (
            "{{print .Name .Name .Name}}",
            Limits(output_bytes=8),
            '1:2: executing "t" at <print .Name .Name .Name>: error calling print: print would have '
            "9 bytes; the limit for one value is 8",
        ),
        (
            "{{.Labels}}",
            Limits(output_bytes=8),
            '1:2: executing "t" at <{{.Labels}}>: the printed text would have 12 bytes; the limit for '
            "one value is 8",
        ),
        (
            '{{js "<<<"}}',
            Limits(output_bytes=8),
            '1:2: executing "t" at <js "<<<">: error calling js: js would have 18 bytes; the limit '
            "for one value is 8",
        ),
    ],
    ids=[
        *("template", "template of several bytes per character"),
        *("parentheses", "controls", "parentheses in controls"),
        *("output of texts", "output of actions", "loop", "call", "recursion"),
        *("recursion in controls", "value", "width", "arguments", "printed value", "escaped value"),
    ],
)
def test_bound(text: str, limits: Limits, message: str) -> None:
    assert failure(text, limits=limits) == message


@pytest.mark.parametrize(
    "text",
    [
        '{{$x := "1234567890"}}{{range 99}}{{$x = print $x $x}}{{end}}',
        "{{range 1000000}}" * 9 + "{{end}}" * 9,
        "{{range 1000000000000}}{{end}}",
        "{{range 1000000}}" + "0123456789" * 50 + "{{end}}",
        '{{printf "%*d" 999999 1 | printf "%s%s%s" 1 2}}{{range 99}}{{printf "%999999d" 1}}{{end}}',
        '{{$x := printf "%999999d" 1}}{{range 1000000}}{{$y := len $x}}{{end}}',
        "".join(
            f'{{{{define "{n}"}}}}{{{{template "{n + 1}"}}}}{{{{template "{n + 1}"}}}}{{{{end}}}}'
            for n in range(60)
        )
        + '{{define "60"}}{{end}}{{template "0"}}',
    ],
    ids=[
        *("doubled text", "nested loops", "long loop", "long body", "widths", "long argument"),
        "doubled calls",
    ],
)
def test_growth_ends(text: str) -> None:
    assert "limit" in failure(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{{" + "(" * MOST, "max expression depth exceeded (60)"),
        ("{{if 1}}" * (MOST // 8), "max nesting depth exceeded (60)"),
        ("{{" * (MOST // 2), 'unexpected "{" in command'),
        ('{{"' + "\\" * (MOST - 4), "unterminated quoted string"),
        ("{{" + " " * (MOST - 4), "unclosed action"),
        ("{{" + "-" * (MOST - 4), 'bad number syntax: "--"'),
    ],
    ids=["parentheses", "controls", "delimiters", "quote", "spaces", "signs"],
)
def test_a_hostile_text_ends_in_a_located_error(text: str, message: str) -> None:
    with pytest.raises(TemplateError) as caught:
        gotemplate.parse(text[:MOST], name="t")
    assert str(caught.value) == f"template: t:1: {message}"


def test_long_chains_are_no_nesting() -> None:
    assert render("{{if 0}}" + "{{else if 0}}" * 2000 + "{{else}}x{{end}}") == "x"
    assert render("{{1" + " | print" * 2000 + "}}") == "1"
    assert render("{{print" + " 1" * 2000 + "}}") == " ".join("1" * 2000)


def test_a_map_within_itself_does_not_print() -> None:
    loop: dict[str, object] = {}
    loop["self"] = loop
    assert failure("{{.}}", loop).endswith("printed values may nest 100 levels")
    assert failure("{{range 1.5}}{{print $}}{{end}}", loop).endswith("iterate over 1.5")


def test_a_full_stack_is_an_error_of_the_template() -> None:
    template = gotemplate.parse(
        '{{define "a"}}{{if .}}{{template "a" .}}{{end}}{{end}}{{template "a" 1}}'
    )

    def deep(levels: int) -> str:
        return deep(levels - 1) if levels else template.execute(1)

    messages: list[str] = []

    def run() -> None:
        try:
            deep(900)
        except TemplateError as error:
            messages.append(error.message)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert messages == ["template: template: actions and values nest too deeply to be executed"]


def test_a_budget_counts_what_is_reserved() -> None:
    budget = Budget(Limits(work=100_000))
    budget.reserve(60_000, "one")
    with pytest.raises(LimitError, match="two goes beyond the limit of 100000 characters"):
        budget.reserve(60_000, "two")


@breaks(
    "a function is called before its arguments count",
    turned("kalypso_go.gotemplate.budget.Budget.count_call", "_CALL + cost * size", "0"),
)
def test_large_arguments_count_once_much_is_done() -> None:
    budget = Budget(Limits(work=1 << 20))
    budget.count_call("nothing", 1, ["x" * (1 << 16)])
    assert budget.counts_calls
    with pytest.raises(LimitError, match="list goes beyond"):
        budget.count_call("list", 1, [["x" * 100_000] * 10])


@pytest.mark.parametrize(
    ("text", "work"),
    [
        ("{{ .A | upper }}", (2144, 2144, 16, 544)),
        ("{{ upper .A }}", (2142, 2142, 14, 542)),
        ("{{ trunc 500 .A }}", (1647, 1647, 18, 547)),
        ("{{ .A | trunc 5 }}", (1147, 1152, 18, 352)),
        ("{{ .A | indent 2 }}", (3152, 3152, 221, 752)),
        ('{{ eq .A "x" }}', (1149, 1149, 20, 349)),
        ("{{ index .M .A }}", (3177, 3177, 17, 777)),
        ('{{ printf "%s%s" .A .B }}', (3164, 3164, 230, 764)),
        ('{{ printf "%.5s%.5s" .A .A }}', (4173, 4183, 437, 983)),
        ('{{ .A | replace "a" .B }}', (3155, 3155, 225, 755)),
        ("{{ list .A .B .A | len }}", (2154, 4475, 25, 1275)),
        ("{{ ternary .A .A true }}", (3153, 3153, 24, 753)),
    ],
)
def test_each_form_of_a_call_counts(text: str, work: tuple[int, ...]) -> None:
    """The work with large values, without and after other work, and with small values."""
    template = gotemplate.parse(text, functions=FUNCTIONS)
    counted = []
    for size, before in ((1000, 0), (1000, 1 << 17), (200, 0), (200, 1 << 17)):
        budget = Budget(DEFAULT_LIMITS)
        budget.spend(before, "other work")
        data = {"A": "a" * size, "B": "b", "M": {"a" * size: "z" * size}}
        template.execute(data, budget=budget)
        counted.append(budget.work - before)
    assert tuple(counted) == work
