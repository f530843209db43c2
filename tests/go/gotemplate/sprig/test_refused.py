"""What must be reproducible: functions are refused with the reason, or have an order of their own."""

from __future__ import annotations

import pytest

from kalypso_go.gotemplate import TemplateError
from kalypso_go.gotemplate.sprig import FUNCTIONS, REFUSED
from tests.go.gotemplate.sprig.rendering import render

READ_THE_HOST = {"env", "expandenv", "getHostByName"}
READ_THE_CLOCK = {"now", "ago"}
RANDOM = {
    *("randAlpha", "randAlphaNum", "randAscii", "randNumeric", "shuffle", "uuidv4", "encryptAES"),
    *("genPrivateKey", "genCA", "genSelfSignedCert", "genSignedCert", "buildCustomCert"),
}


def test_exactly_these_are_refused() -> None:
    assert set(REFUSED) == READ_THE_HOST | READ_THE_CLOCK | RANDOM


def test_with_them_sprig_is_complete() -> None:
    assert len(FUNCTIONS) + len(REFUSED) == 150


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_the_error_says_why(name: str) -> None:
    with pytest.raises(TemplateError) as raised:
        render(f"{{{{ {name} }}}}")
    assert name in raised.value.message
    assert REFUSED[name] in raised.value.message


def test_a_refused_function_is_an_error_even_where_it_is_not_reached() -> None:
    with pytest.raises(TemplateError):
        render('{{ if false }}{{ env "HOME" }}{{ end }}')


@pytest.mark.parametrize(
    "text",
    [
        '{{ date "2006" nil }}',
        '{{ date "2006" "2020-01-01" }}',
        '{{ date "2006" 1.5 }}',
        '{{ date "2006" (list) }}',
        '{{ dateInZone "2006" "x" "UTC" }}',
        '{{ date_in_zone "2006" true "UTC" }}',
        "{{ htmlDate nil }}",
        '{{ htmlDateInZone "" "UTC" }}',
        '{{ date "2006" .missing }}',
        '{{ date "2006" (toDate "2006" "2020").Month }}',
    ],
)
def test_a_date_function_without_a_date_is_refused(text: str) -> None:
    with pytest.raises(TemplateError, match="sprig would use the current time"):
        render(text)


def test_the_current_time_is_named_with_what_was_given() -> None:
    with pytest.raises(TemplateError, match="string is not a date"):
        render('{{ date "2006" "today" }}')


DATA = {"b": 2, "a": 3, "é": 4, "B": 1, "\U0001f600": 6, "\uffff": 5}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{{ keys . | join "," }}', "B,a,b,é,\uffff,\U0001f600"),
        ('{{ values . | join "," }}', "1,3,2,4,5,6"),
        ('{{ keys (dict "z" 1) (dict "b" 1 "a" 2) | join "," }}', "z,a,b"),
    ],
)
def test_keys_and_values_are_in_order(text: str, expected: str) -> None:
    assert render(text, DATA) == expected
