"""Properties for any argument: round trips, orders, and no errors but Go's."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from kalypso_go.gotemplate import DEFAULT_LIMITS, Budget, FunctionError
from kalypso_go.gotemplate.sprig import FUNCTIONS
from kalypso_go.gotemplate.sprig.dates import TimeValue
from kalypso_go.gotemplate.sprig.instants import (
    Instant,
    civil_date,
    day_number,
    format_duration,
    parse_duration,
)
from kalypso_go.gotemplate.sprig.layouts import format_instant, parse_instant
from kalypso_go.gotemplate.sprig.semver import Version, parse_constraints, parse_version, satisfies
from kalypso_go.gotemplate.text import from_bytes, to_bytes

SHORT = st.text(max_size=20)
BYTES = st.binary(max_size=30).map(from_bytes)
PATTERNS = st.one_of(SHORT, st.text(alphabet=r"ab.*+?()[]{}|\^$-,012PQEdwpi:<>=!&", max_size=15))
TAGS = st.from_regex(r"\A[0-9A-Za-z-]{1,4}(\.[0-9A-Za-z-]{1,4}){0,2}\Z")
VERSIONS = st.builds(
    Version,
    *[st.integers(0, 3)] * 3,
    prerelease=st.one_of(st.just(""), TAGS),
)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(-1e15, 1e15)
    | st.text(max_size=5),
    lambda values: (
        st.lists(values, max_size=3) | st.dictionaries(st.text(max_size=3), values, max_size=3)
    ),
    max_leaves=10,
)


def call(name: str, *arguments: object) -> object:
    """Call a function like the engine."""
    function = FUNCTIONS[name]
    budget = [Budget(DEFAULT_LIMITS)] if function.takes_budget else []
    return function.call(*budget, *arguments)


def outcome(name: str, *arguments: object) -> tuple[object, str]:
    """Return the result and "", or None and the error's text."""
    try:
        return call(name, *arguments), ""
    except FunctionError as error:
        return None, str(error)


@given(PATTERNS, SHORT, SHORT, st.integers(-2, 4))
def test_any_pattern_matches_or_is_refused(
    pattern: str, text: str, replacement: str, count: int
) -> None:
    matches, refusal = outcome("regexFindAll", pattern, text, count)
    if refusal:
        assert refusal.startswith("regexp: Compile(")
        assert call("regexMatch", pattern, text) is False
        return
    assert isinstance(matches, list)
    assert all(part in text for part in matches)
    first = call("regexFindAll", pattern, text, 1)
    assert isinstance(first, list)
    assert call("regexMatch", pattern, text) is bool(first)
    assert [call("regexFind", pattern, text)] == (first or [""])
    parts = call("regexSplit", pattern, text, -1)
    assert isinstance(parts, list)
    assert len("".join(parts)) <= len(text)
    assert isinstance(call("regexReplaceAll", pattern, text, replacement), str)


@given(SHORT, SHORT, SHORT)
def test_an_escaped_pattern_replaces_like_replace(old: str, new: str, text: str) -> None:
    pattern = re.sub(r"([\\.+*?()|\[\]{}^$])", r"\\\1", old)
    assert call("regexReplaceAllLiteral", pattern, text, new) == call("replace", old, new, text)


@given(st.integers(1, 8), st.text(alphabet="ab  \n", max_size=40))
def test_wrapped_lines_keep_the_words_within_the_width(width: int, text: str) -> None:
    wrapped = str(call("wrapWith", width, "|", text))
    assert all(len(line) <= width for line in wrapped.split("|"))
    assert wrapped.replace("|", "").replace(" ", "") == text.replace(" ", "")


@given(st.integers(-3, 30), st.integers(-3, 30), BYTES)
def test_abbreviated_is_not_longer(left: int, right: int, text: str) -> None:
    for abbreviated in (call("abbrev", right, text), call("abbrevboth", left, right, text)):
        assert len(to_bytes(str(abbreviated))) <= max(len(to_bytes(text)), 0)


@given(st.integers(0, 30), BYTES)
def test_trunc_keeps_the_first_bytes(count: int, text: str) -> None:
    assert to_bytes(str(call("trunc", count, text))) == to_bytes(text)[:count]


@given(BYTES)
def test_what_is_encoded_decodes_to_itself(text: str) -> None:
    assert call("b64dec", call("b64enc", text)) == text
    assert call("b32dec", call("b32enc", text)) == text


@given(st.text(alphabet="A2=\n!aZ", max_size=20))
def test_decoding_never_fails(text: str) -> None:
    assert isinstance(call("b64dec", text), str)
    assert isinstance(call("b32dec", text), str)


@given(JSON)
def test_json_reads_back(value: object) -> None:
    for name in ("toJson", "toPrettyJson"):
        text = str(call(name, value))
        assert json.loads(text) == value
        assert not re.search("[<>&\u2028\u2029]", text)


@given(st.text(alphabet="a./", max_size=12))
def test_a_clean_path_stays_clean(path: str) -> None:
    clean = str(call("clean", path))
    assert call("clean", clean) == clean
    assert "//" not in clean
    assert call("isAbs", clean) == call("isAbs", path)


@given(VERSIONS, VERSIONS, VERSIONS)
def test_versions_are_ordered(first: Version, second: Version, third: Version) -> None:
    assert parse_version(str(first)).compare(first) == 0
    assert first.compare(second) == -second.compare(first)
    if first.compare(second) <= 0 and second.compare(third) <= 0:
        assert first.compare(third) <= 0
    assert first.compare(first.next_patch()) < 0
    assert first.next_patch().compare(first.next_minor()) < 0
    assert first.next_minor().compare(first.next_major()) < 0


@given(VERSIONS, VERSIONS)
def test_constraints_follow_the_order(version: Version, bound: Version) -> None:
    order = version.compare(bound)
    names_prerelease = bool(bound.prerelease) or not version.prerelease
    for operator, holds in (
        (">", order > 0),
        (">=", order >= 0),
        ("<", order < 0),
        ("=", not order),
    ):
        constraints = parse_constraints(f"{operator}{bound}")
        assert satisfies(constraints, version) == (holds and names_prerelease)


@given(st.text(alphabet="0123.x*-~^><=!| ,av", max_size=12), VERSIONS)
def test_any_constraint_holds_or_is_refused(text: str, version: Version) -> None:
    holds, refusal = outcome("semverCompare", text, str(version))
    if refusal:
        assert re.match("improper constraint: |constraint Parser Error", refusal)
    else:
        assert isinstance(holds, bool)


@given(st.integers(-(2**63), 2**63 - 1))
def test_durations_read_back(nanoseconds: int) -> None:
    assert parse_duration(format_duration(nanoseconds)) == nanoseconds


@given(st.integers(-(10**7), 10**7))
def test_the_calendar_counts_every_day(number: int) -> None:
    assert day_number(*civil_date(number)) == number


@given(st.datetimes(timezones=st.just(UTC)))
def test_the_calendar_is_python_s_where_that_reaches(moment: datetime) -> None:
    seconds = (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(seconds=1)
    written = format_instant(Instant(seconds), "2006-01-02T15:04:05 Mon 002")
    assert written == f"{moment.year:04d}-{moment:%m-%dT%H:%M:%S %a %j}"


@given(st.integers(-62_135_596_800, 253_402_300_799), st.integers(0, 999_999_999))
def test_dates_read_back(seconds: int, nanosecond: int) -> None:
    layout = "2006-01-02T15:04:05.999999999Z07:00"
    instant = Instant(seconds, nanosecond)
    assert parse_instant(layout, format_instant(instant, layout)) == instant


@given(SHORT, SHORT)
def test_any_layout_reads_or_gives_the_zero_time(layout: str, text: str) -> None:
    value = call("toDate", layout, text)
    assert isinstance(value, TimeValue)
    assert call("date", layout, value) is not None


@given(st.text(alphabet="ab:/?#@[]%41 é", max_size=15))
def test_any_url_reads_or_is_refused(text: str) -> None:
    parts, refusal = outcome("urlParse", text)
    if refusal:
        assert refusal.startswith("unable to parse url: parse ")
    else:
        assert isinstance(parts, dict)
        assert isinstance(call("urlJoin", parts), str)


@given(st.lists(st.integers(-3, 3) | st.sampled_from(["a", "", "1"]), max_size=6))
def test_lists_are_taken_apart_and_put_together(values: list[object]) -> None:
    if values:
        assert call("append", call("initial", values), call("last", values)) == values
        assert call("prepend", call("rest", values), call("first", values)) == values
    assert call("reverse", call("reverse", values)) == values
    once = call("uniq", values)
    assert call("uniq", once) == once
    assert call("without", values, *values) == []
    assert all(call("has", value, values) for value in values)
