"""The types and values that yaml.v2 gives scalars."""

from __future__ import annotations

import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kalypso_go.goyaml import YAMLError
from kalypso_go.goyaml.scalars import TAG_PREFIX, Scalar, is_timestamp, resolve, tagged

INFINITY = math.inf


@pytest.mark.parametrize(
    ("texts", "value"),
    [
        (["", "~", "null", "Null", "NULL"], None),
        (["y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"], True),
        (["n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"], False),
        ([".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"], INFINITY),
        (["-.inf", "-.Inf", "-.INF"], -INFINITY),
    ],
    ids=["null", "true", "false", "infinity", "minus infinity"],
)
def test_words(texts: list[str], value: Scalar) -> None:
    assert [resolve(text) for text in texts] == [value] * len(texts)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0),
        ("-0", 0),
        ("+12", 12),
        ("1_000", 1000),
        ("1__0_", 10),
        ("0777", 511),
        ("0o17", 15),
        ("-0O17", -15),
        ("0b11", 3),
        ("-0B11", -3),
        ("0b-11", -3),
        ("0b+11", 3),
        ("0x_1F", 31),
        ("0XfF", 255),
        ("9223372036854775807", 2**63 - 1),
        ("-9223372036854775808", -(2**63)),
        ("9223372036854775808", 2**63),
        ("18446744073709551615", 2**64 - 1),
        ("0xffffffffffffffff", 2**64 - 1),
        ("00000000000000000000000000000000017", 15),
    ],
)
def test_integers(text: str, value: int) -> None:
    assert resolve(text) == value
    assert type(resolve(text)) is int


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("09", 9.0),
        ("1.", 1.0),
        ("1.5", 1.5),
        ("-.5", -0.5),
        (".5", 0.5),
        (".5_0", 0.5),
        ("1e3", 1000.0),
        ("+1.5E-3", 0.0015),
        ("1_0.5", 10.5),
        ("1e-400", 0.0),
        ("18446744073709551616", 18446744073709551616.0),
        ("+18446744073709551615", 18446744073709551615.0),
        ("-9223372036854775809", -9223372036854775809.0),
    ],
)
def test_floats(text: str, value: float) -> None:
    assert resolve(text) == value
    assert type(resolve(text)) is float


def test_not_a_number() -> None:
    assert all(math.isnan(float(resolve(text) or 0)) for text in (".nan", ".NaN", ".NAN"))


@pytest.mark.parametrize(
    "text",
    [
        *("=", "<<", "yess", "Nul", "tRue", "inf", "NaN", ".", "-", "+", "_1", "._1", ".5_", ".e5"),
        *("0b2", "0b", "0o8", "0x", "0xg", "-0b-1", "0o-7", "0x1p4", "1e", "1e400", "-1e400"),
        *("1:20", "190:20:30", "2001-01-01", "2001-12-14T21:59:43Z", "1,000", "1 000", "1.2.3"),
        *("0x1ffffffffffffffff", "0b" + "1" * 65, "9" * 400, "١", "１", "é", "\udcff"),
    ],
)
def test_texts(text: str) -> None:
    assert resolve(text) == text


@given(st.text() | st.text("0123456789+-._eExXoObB", max_size=12))
@example("9" * 5000)
@example("0x" + "f" * 5000)
def test_resolve_never_fails(text: str) -> None:
    assert isinstance(resolve(text), str | int | float | None)


@pytest.mark.parametrize(
    ("tag", "text", "value"),
    [
        ("str", "5", "5"),
        ("str", "", ""),
        ("int", "0x10", 16),
        ("float", "5", 5.0),
        ("float", "1.5", 1.5),
        ("float", ".inf", INFINITY),
        ("bool", "yes", True),
        ("null", "~", None),
        ("null", "", None),
        ("timestamp", "2001-1-1", "2001-1-1"),
        ("binary", "aGk=", "hi"),
        ("binary", "a G k".replace(" ", "\n") + "=", "hi"),
        ("binary", "/w==", "\udcff"),
        ("set", "5", "5"),
    ],
)
def test_tags(tag: str, text: str, value: Scalar) -> None:
    assert tagged(text, TAG_PREFIX + tag) == value
    assert type(tagged(text, TAG_PREFIX + tag)) is type(value)


def test_unknown_tags_leave_the_text() -> None:
    assert [tagged("5", tag) for tag in ("!", "!custom", "tag:example.org:int")] == ["5"] * 3


@pytest.mark.parametrize(
    ("tag", "text", "problem"),
    [
        ("int", "x", "cannot decode !!str `x` as a !!int"),
        ("int", "1.5", "cannot decode !!float `1.5` as a !!int"),
        ("int", "2001-1-1", "cannot decode !!str `2001-1-1` as a !!int"),
        ("float", "x", "cannot decode !!str `x` as a !!float"),
        ("float", "18446744073709551615", "cannot decode !!int"),
        ("bool", "1", "cannot decode !!int `1` as a !!bool"),
        ("null", "x", "cannot decode !!str `x` as a !!null"),
        ("timestamp", "2001-13-1", "cannot decode !!str"),
        ("timestamp", "true", "cannot decode !!bool `true` as a !!timestamp"),
        *(("binary", text, "invalid base64 data") for text in ("a", "aGk", "aGk==", "=", "a b=")),
    ],
)
def test_tags_that_do_not_fit(tag: str, text: str, problem: str) -> None:
    with pytest.raises(YAMLError, match=f"^yaml: line 7: .*{problem}"):
        tagged(text, TAG_PREFIX + tag, 7)


@pytest.mark.parametrize(
    "text",
    [
        *("2001-01-01", "2001-1-1", "0000-1-1", "2000-02-29", "2001-1-1T1:2:3Z"),
        *("2001-12-14t21:59:43.10-05:00", "2001-12-14 21:59:43", "2001-12-14  21:59:43,5"),
        "2001-12-14T21:59:43+24:60",
    ],
)
def test_timestamps(text: str) -> None:
    assert is_timestamp(text)


@pytest.mark.parametrize(
    "text",
    [
        *("2001-13-1", "2001-0-1", "2001-1-32", "2001-2-29", "1900-02-29", "01-1-1", "20011-1-1"),
        *("2001-1-1T1:2:3", "2001-1-1 1:2:3Z", "2001-1-1Z", "2001-1-1 24:0:0", "2001-1-1 1:60:0"),
        *("2001-1-1T1:2:3+25:00", "2001-1-1T1:2:3+5", "2001-1-1T1:2:3z", "2001-1-1 1:2:3.", "x"),
        "2001-12-14 21:59:43.10 -5",
    ],
)
def test_texts_that_resemble_timestamps(text: str) -> None:
    assert not is_timestamp(text)
