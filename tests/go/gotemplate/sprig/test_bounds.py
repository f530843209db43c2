"""No function hangs or exhausts the memory, whatever its arguments."""

from __future__ import annotations

import re
import tracemalloc

import pytest

from kalypso_go.gotemplate import Limits, TemplateError
from tests.go.gotemplate.sprig.rendering import render

SMALL = Limits(output_bytes=1 << 20, work=8 << 20)
MEMORY = 100 << 20

BIG = '{{ $big := repeat 1000000 "x" }}'
DEEP = "{{ $l := list 1 }}{{ range until 60 }}{{ $l = list $l $l }}{{ end }}"
SELF = '{{ $d := dict }}{{ $_ := set $d "d" $d }}'

HUGE_RESULTS = [
    '{{ repeat 1000000000000 "x" }}',
    '{{ repeat 9223372036854775807 "xx" }}',
    '{{ indent 1000000000000 "a" }}',
    '{{ nindent 1000000000000 "a" }}',
    BIG + '{{ indent 1000 ($big | replace "x" "\\n") }}',
    "{{ until 1000000000000 }}",
    "{{ until -1000000000000 }}",
    "{{ untilStep 0 9223372036854775807 1 }}",
    "{{ untilStep 9223372036854775807 -9223372036854775807 -1 }}",
    BIG + '{{ replace "" $big $big }}',
    BIG + '{{ replace "x" $big $big }}',
    BIG + '{{ replace "x" "é" (replace "x" "é" $big) | replace "é" $big }}',
    BIG + "{{ join $big (until 100000) }}",
    BIG + '{{ wrapWith 1 (repeat 1000 "y") $big }}',
    BIG + '{{ regexReplaceAll "" $big $big }}',
    BIG + '{{ regexReplaceAllLiteral "x" $big $big }}',
    BIG + '{{ regexReplaceAll "(x+)" $big (repeat 1000 "$1") }}',
    BIG + "{{ cat $big $big $big }}",
    BIG + "{{ quote $big $big }}",
    BIG + "{{ squote $big $big }}",
    BIG + "{{ toStrings (list (list $big) (list $big)) }}",
    BIG + "{{ toJson (list $big $big) }}",
    BIG + '{{ toPrettyJson (dict "a" $big "b" $big) }}',
]

MANY_TIMES_THE_SAME = [
    DEEP + "{{ toJson $l }}",
    DEEP + "{{ toString $l }}",
    DEEP + "{{ quote $l }}",
    DEEP + "{{ cat $l }}",
    DEEP + '{{ join "" $l }}',
    DEEP + "{{ deepCopy $l | len }}",
    DEEP + "{{ sortAlpha $l }}",
    DEEP + "{{ dict $l 1 }}",
    DEEP + "{{ toDecimal $l }}",
]

LONG_WORK = [
    # Each match rescans the rest of the text.
    BIG + '{{ regexFindAll "(?:x.*y|x)" $big -1 | len }}',
    BIG + '{{ regexSplit "(?:x.*y|x)" $big -1 | len }}',
    BIG + '{{ regexReplaceAll "(?:x.*y|x)" $big "" }}',
    '{{ semverCompare (printf "1 - %s" (repeat 10000 "1")) "1.0" }}',
    "{{ $a := list }}{{ range until 2000 }}{{ $a = append $a (list .) }}{{ end }}{{ uniq $a | len }}",
    '{{ range until 1000 }}{{ derivePassword 1 "pin" "a" "b" "c" | len }}{{ end }}',
    '{{ decryptAES "k" (repeat 100000 "AAAA") }}',
    BIG + "{{ range until 1000000 }}{{ $_ := upper $big }}{{ end }}",
    BIG + "{{ range until 1000000 }}{{ $_ := sha256sum $big }}{{ end }}",
    "{{ $l := until 10000 }}{{ range until 1000000 }}{{ $_ := rest $l }}{{ end }}",
    "{{ $l := until 10000 }}{{ range until 1000000 }}{{ $_ := has -1 $l }}{{ end }}",
    "{{ $l := list }}{{ range until 1000000 }}{{ $l = append $l . }}{{ end }}",
    '{{ range until 1000000 }}{{ $_ := regexMatch (printf "((((a{10}){10})b){8}%d)" .) "a" }}{{ end }}',
]

NESTED = [
    SELF + "{{ deepCopy $d }}",
    SELF + "{{ toString $d }}",
    SELF + SELF.replace("$d", "$e") + "{{ merge $d $e }}{{ $d }}",
    "{{ $l := list }}{{ range until 200 }}{{ $l = list $l }}{{ end }}{{ toJson $l }}",
    "{{ $l := list }}{{ range until 200 }}{{ $l = list $l }}{{ end }}{{ deepCopy $l | len }}",
    "{{ $l := list }}{{ $m := list }}{{ range until 200 }}{{ $l = list $l }}{{ $m = list $m }}"
    "{{ end }}{{ deepEqual $l $m }}",
]


def last_function(text: str) -> str:
    """Return the name of the last function that a template calls."""
    return str(re.findall(r"\{\{ (?:\$\w+ :?= )?(?!end\b|range\b)(\w+)", text)[-1])


@pytest.mark.parametrize("text", HUGE_RESULTS, ids=last_function)
def test_a_huge_result_is_refused_before_it_is_built(text: str) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(TemplateError, match="limit"):
            render(text, limits=SMALL)
        assert tracemalloc.get_traced_memory()[1] < MEMORY
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("text", MANY_TIMES_THE_SAME, ids=last_function)
def test_a_value_with_many_references_to_the_same_list_is_refused(text: str) -> None:
    with pytest.raises(TemplateError, match="limit"):
        render(text, limits=Limits(output_bytes=1 << 16))


@pytest.mark.parametrize("text", LONG_WORK, ids=last_function)
def test_long_work_ends(text: str) -> None:
    with pytest.raises(TemplateError, match="limit"):
        render(text, limits=SMALL)


@pytest.mark.parametrize("text", NESTED, ids=last_function)
def test_values_too_deep_are_refused(text: str) -> None:
    with pytest.raises(TemplateError, match="may nest 100 levels"):
        render(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{{ repeat 1000000000000 "" }}', ""),
        (SELF + "[{{ toJson $d }}]", "[]"),
        (SELF + "{{ deepEqual $d $d }}", "true"),
        (SELF + SELF.replace("$d", "$e") + "{{ deepEqual $d $e }}", "true"),
        (DEEP + DEEP.replace("$l", "$m") + "{{ deepEqual $l $m }}", "true"),
        ("{{ round 1.5 9223372036854775807 }}", "NaN"),
        ("{{ round 1.5 -9223372036854775808 }}", "NaN"),
        ('{{ atoi (repeat 100000 "9") }}', "9223372036854775807"),
        ('{{ int64 (repeat 100000 "9") }}', "0"),
        ('{{ float64 (repeat 100000 "9") }}', "0"),
        ('{{ toDecimal (repeat 100000 "7") }}', "0"),
        ('{{ toDate "2006" (repeat 100000 "9") }}', "0001-01-01 00:00:00 +0000 UTC"),
        (
            '{{ dateModify (repeat 100000 "9") (toDate "2006" "2020") }}',
            "2020-01-01 00:00:00 +0000 UTC",
        ),
        ('{{ regexMatch "(a+)+$" (printf "%sb" (repeat 100000 "a")) }}', "false"),
        ('{{ regexMatch (repeat 1000 "(a*)*") (repeat 1000 "b") }}', "true"),
        ('{{ repeat 100000 "((" | regexMatch "x" }}', "false"),
    ],
)
def test_extreme_arguments_have_results(text: str, expected: str) -> None:
    assert render(text) == expected
