"""Parsing any bytes to documents and problems."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kalypso_actions.errors import Location, Problem
from kalypso_actions.model.documents import TextPlace
from kalypso_actions.sources import yaml_documents
from kalypso_actions.sources.yaml_documents import MAX_BYTES, ParsedFile, parse_yaml, read_text
from tests.sources.trees import texts


@pytest.fixture(params=["libyaml", "pure Python"], scope="module", autouse=True)
def _loader(request: pytest.FixtureRequest) -> Iterator[None]:
    """Every test runs with both parsers of PyYAML."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "pure Python":
            patch.setattr(yaml_documents, "LOADER", yaml.SafeLoader)
        yield


def parse(text: str | bytes) -> ParsedFile:
    return parse_yaml("repo", "x.yaml", text.encode() if isinstance(text, str) else text)


def body(text: str | bytes) -> object:
    parsed = parse(text)
    assert not parsed.problems
    (document,) = parsed.documents
    return document.body


@pytest.mark.parametrize(
    ("scalar", "value"),
    [
        ("yes", True),
        ("off", False),
        ("y", True),
        ("~", None),
        ("", None),
        ("0777", 511),
        ("0o17", 15),
        ("1_000", 1000),
        ("1e3", 1000.0),
        (".inf", math.inf),
        ("1:20", "1:20"),
        ("2001-01-01", "2001-01-01"),
        ("2001-01-01T00:00:00Z", "2001-01-01T00:00:00Z"),
        ("=", "="),
        ('"yes"', "yes"),
        ("'12'", "12"),
        ("|\n  12", "12\n"),
        (">-\n  a\n  b", "a b"),
        ("!!str 12", "12"),
        ('!!int "12"', 12),
        ("!!float 1", 1.0),
        ("! 12", "12"),
        ("!own thing", "thing"),
        ("!!binary aGk=", "hi"),
        ("&anchor 1", 1),
        ("\U0001f600", "\U0001f600"),
    ],
)
def test_scalars_are_those_of_kubernetes(scalar: str, value: object) -> None:
    assert body(f"a: {scalar}\n") == {"a": value}


def test_values_are_plain_python() -> None:
    text = "a: {b: [1, {c: d}]}\n? long key\n: - x\n  - [z]\n"
    assert body(text) == {"a": {"b": [1, {"c": "d"}]}, "long key": ["x", ["z"]]}


def test_every_key_and_item_knows_its_place() -> None:
    (document,) = parse(
        "# first\n\nspec:\n  items:\n  - a: 1\n    b: |\n      x\n  - - y\n"
    ).documents
    assert (document.where.line, document.where.column) == (3, 1)
    assert document.marks == {
        ("spec",): (3, 1, 1),
        ("spec", "items"): (4, 3, 3),
        ("spec", "items", 0): (5, 5, 5),
        ("spec", "items", 0, "a"): (5, 5, 8),
        ("spec", "items", 0, "b"): (6, 5, 8),
        ("spec", "items", 1): (8, 5, 5),
        ("spec", "items", 1, 0): (8, 7, 7),
    }
    assert document.at("spec", "items", 0, "b", "deeper").line == 6
    assert document.at("spec", "items", 1).column == 5
    assert document.at("spec", "items", 0, "a").column == 8
    assert document.at("spec", "items", 0, "a", "deeper").column == 5
    assert document.key_at("spec", "items", 0, "a").column == 5
    assert document.text_at("spec", "items", 0, "b") == TextPlace(7, 7)
    assert document.at("spec", "nothing").line == 3
    assert document.at("nothing").line == 3
    assert document.at("spec", "items", 9).line == 4


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n\n",
        "# only a comment\n",
        "---\n",
        "---\n---\n# x\n...\n",
        "{}\n",
        "[]",
        "~",
        "null\n---\n",
    ],
)
def test_empty_documents_are_no_documents(text: str) -> None:
    assert parse(text) == ParsedFile()


def test_several_documents_each_at_its_line() -> None:
    parsed = parse("a: 1\n---\n\nb: 2\n---\n# c\n--- {c: 3}\n...\n---\nd: 4")
    assert [document.where.line for document in parsed.documents] == [1, 4, 7, 10]
    assert [document.body for document in parsed.documents] == [
        {"a": 1},
        {"b": 2},
        {"c": 3},
        {"d": 4},
    ]


def test_aliases_share_and_merge_keys_merge() -> None:
    text = """\
base: &base {a: 1, b: 2}
other: &other {b: 3, c: 4}
alias: *base
before: {<<: *base, b: x}
after: {b: x, <<: *base}
both: {<<: [*base, *other]}
quoted: {"<<": 5}
"""
    assert body(text) == {
        "base": {"a": 1, "b": 2},
        "other": {"b": 3, "c": 4},
        "alias": {"a": 1, "b": 2},
        "before": {"a": 1, "b": "x"},
        "after": {"a": 1, "b": "x"},
        "both": {"a": 1, "b": 2, "c": 4},
        "quoted": {"<<": 5},
    }


def test_anchors_end_with_their_document() -> None:
    (problem,) = parse("a: &x 1\n---\nb: *x\n").problems
    assert problem.message == "the alias *x has no anchor &x in its document"
    assert (problem.where.line if problem.where else 0) == 3
    assert problem.advice.startswith("anchors end with their document")


@pytest.mark.parametrize(
    ("text", "is_told"),
    [
        ("data:\n  A: >\n    level: info\n    format: json\n", True),
        ("data:\n  A: >-\n\n    - a\n\n    - b: c\n  B: x\n", True),
        ("data:\n  A: |\n    level: info\n    format: json\n", False),
        ("data:\n  A: >\n    level: info\n", False),
        ("data:\n  A: >\n    Note: we restart\n    at three.\n", False),
        ("spec:\n  A: >\n    level: info\n    format: json\n", False),
        (">\n  a: b\n  c: d\n", False),
    ],
)
def test_a_mapping_that_is_joined_to_one_line(text: str, is_told: bool) -> None:
    warnings = parse(text).warnings
    assert [(item.code, item.where and item.where.line) for item in warnings] == [
        ("config-value-folded", 2)
    ] * is_told


def test_alias_as_a_key() -> None:
    assert body("a: &x name\n*x : 1\n&y k: 2\nb: *y\n") == {
        "a": "name",
        "name": 1,
        "k": 2,
        "b": "k",
    }


def test_key_written_twice_is_a_warning_and_the_last_wins() -> None:
    parsed = parse("a:\n  b: 1\n  c: {d: 1}\n  b: 2\n")
    assert texts(parsed.warnings) == [
        "x.yaml:4: the key 'b' is duplicate, on lines 2 and 4; the last one counts"
    ]
    assert parsed.documents[0].body == {"a": {"b": 2, "c": {"d": 1}}}
    assert parsed.documents[0].at("a", "b").line == 4
    assert not parsed.problems


ONE = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: one\n"
SPEC = "spec: {a: 1}\n"


@pytest.mark.parametrize(
    ("text", "lines", "rest"),
    [
        (ONE + ONE, [5], 0),
        (ONE + SPEC + ONE, [6], 0),
        (ONE + SPEC + ONE + SPEC + ONE, [6, 11], 0),
        ("kind: A\napiVersion: v1\n" * 2, [3], 0),
        (ONE + "---\n" + ONE + ONE + "---\n" + ONE, [10], 2),
    ],
)
def test_a_separator_that_is_missing_is_the_only_finding(
    text: str, lines: list[int], rest: int
) -> None:
    parsed = parse(text)
    assert [problem.where and problem.where.line for problem in parsed.problems] == lines
    assert {problem.code for problem in parsed.problems} == {"yaml-separator-missing"}
    assert (len(parsed.documents), parsed.warnings) == (rest, ())


@pytest.mark.parametrize(
    "text",
    [f"{ONE}kind: Secret\n", f"{ONE}metadata: {{}}\n", f"items:\n- a: {{{{}}: 1}}\n{SPEC * 2}"],
)
def test_other_repeated_keys_are_no_missing_separator(text: str) -> None:
    assert "yaml-separator-missing" not in {problem.code for problem in parse(text).problems}


@pytest.mark.parametrize("key", ["1", "0", "-7", "8080"])
def test_decimal_keys_are_texts(key: str) -> None:
    parsed = parse(f"{key}: 2\n")
    assert not parsed.problems
    assert parsed.documents[0].body == {key: 2}


@pytest.mark.parametrize(
    ("key", "name", "written"),
    [
        ("0x1F", "number", "0x1F"),
        ("1.5", "number", "1.5"),
        ("true", "boolean", "true"),
        ("y", "boolean", "y"),
        ("~", "null", "~"),
        ("!!int '0o3'", "number", "0o3"),
    ],
)
def test_key_that_is_no_string_is_a_problem(key: str, name: str, written: str) -> None:
    parsed = parse(f"ok: 1\n{key}: 2\n")
    (problem,) = parsed.problems
    assert problem.message == f"the key {written!r} is a {name} in YAML, but keys must be strings"
    assert problem.advice == f'write it in quotes: "{written}"'
    assert problem.where
    assert problem.where.line == 2
    assert parsed.documents[0].body == {"ok": 1, written: 2}


BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join(['*' + before] * 9)}]\n"
    for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"- a\n- b\n", "1: the document is a list, but must be an object"),
        (b"\n\njust text\n", "3: the document is a single value, but must be an object"),
        (b"a: *x\n", "1: the alias *x has no anchor &x before it"),
        (b"a: &x\n  b: *x\n", "2: the alias *x is inside its own anchor"),
        (b"a: &x [*x]\n", "1: the alias *x is inside its own anchor"),
        (b"a: {<<: 1}\n", "1: the value of << must be an object or a list of objects"),
        (b"a: {<<: [x]}\n", "1: the value of << must be an object or a list of objects"),
        (b"? [a]\n: 1\n", "1: a list or an object cannot be a key"),
        (b"a: !!int x\n", "1: cannot decode !!str `x` as a !!int"),
        (b"a:\n" + b"- " * 200, "2: the nesting has more than 100 levels"),
        (b"a: " + b"[" * 10_000, "1: the nesting has more than 100 levels"),
        (b"a: " + b"{a: " * 10_000, "1: the nesting has more than 100 levels"),
        (BOMB.encode(), "7: the expanded aliases make the document too large"),
        (
            b"a: &a " + b"x" * 1_000_000 + b"\nb: [" + b"*a," * 12 + b"]",
            "2: the expanded aliases make the document too large",
        ),
        (b"a: 1\n\x00b: 1\n", "2: not valid YAML: #x0000"),
        (b"a: \x1b[31m\n", "1: not valid YAML: #x001b"),
        (b"a: b\n\tc: d\n", "2: not valid YAML: "),
        (b"a:\n  b: c\n\td: e\n", "3: not valid YAML: "),
        (b"a: [1\n", ": not valid YAML: "),
        (b"a: 'x\n", ": not valid YAML: "),
        (b"a: b: c\n", "1: not valid YAML: "),
        (b'a: "\\ud800"\n', "1: "),
        (b'a: "\\UFFFFFFFF"\n', ": not valid YAML: "),
        (b'a: "\\U00110000"\n', ": not valid YAML: "),
        (b"%YAML 3.0\n---\na: 1\n", ": not valid YAML: "),
        (b"a: !<tag:yaml.org,2002:bool> x\n", "1: cannot decode !!str `x` as a !!bool"),
    ],
)
def test_unreadable_yaml_is_a_problem(content: bytes, text: str) -> None:
    (problem,) = texts(parse(content).problems)
    assert text in problem


@pytest.mark.parametrize(
    ("text", "line", "said", "advice"),
    [
        (
            "a:\n  b: 1\n c: 2\n  d: 3\n",
            3,
            "c stands 1 blank to the left of the lines around it",
            "indent it like",
        ),
        (
            "a:\n  - b: 1\n    c: 2\n\n  d: 3\n    e: 4\n",
            5,
            "d stands 2 blanks to the left",
            "indent it like",
        ),
        (
            "a:\n  b: 1\n    c: 2\n  d: 3\n",
            3,
            "this line stands 2 blanks deeper than b above",
            "indent both",
        ),
        (
            "a:\n  b: [1]\n    c: 2\n  d: 3\n",
            3,
            "c stands 2 blanks to the right of the lines around",
            "indent it like",
        ),
        ("a:\n  b:c\n  d: 1\n", 2, "b: has no blank behind the colon", "write b: and a blank"),
        ("a: 1\n  b: 2\n", 2, "this line stands 2 blanks deeper than a above", "indent both alike"),
        ("a: 1\nb\nc: 2\n", 2, "this line has no colon", "write key: value"),
        ("a: b: c\n", 1, "mapping values", ""),
        ("a: 'b': c\n", 1, "not valid YAML", ""),
    ],
)
def test_the_line_that_breaks_the_ones_behind_it_is_named(
    text: str, line: int, said: str, advice: str
) -> None:
    (problem,) = parse(text).problems
    assert problem.where
    assert problem.where.line == line
    assert said in problem.message
    assert problem.advice.startswith(advice)


def test_documents_around_an_error_are_kept() -> None:
    parsed = parse("a: 1\n---\nb: [\n---\nc: 1\n")
    assert [document.body for document in parsed.documents] == [{"a": 1}, {"c": 1}]
    assert len(parsed.problems) == 1


@pytest.mark.parametrize(
    ("limit", "text", "message"),
    [
        ("MAX_DOCUMENTS", "a: 1\n---\nb: 1\n---\nc: 1\n---\nd: 1\n", "more than 3 documents"),
        ("MAX_VALUES", "a: [1, 2, 3]\n", "more than 3 values"),
        (
            "MAX_PROBLEMS",
            "1.5: a\n2.5: b\n3.5: c\n4.5: d\n",
            "problems: the rest of it is not read",
        ),
        ("MAX_PROBLEMS", "a: a\na: b\na: c\na: d\n", "problems: the rest of it is not read"),
    ],
)
def test_limits(limit: str, text: str, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yaml_documents, limit, 3)
    assert message in parse(text).problems[-1].message


@pytest.mark.slow
def test_one_file_with_5000_cluster_types_and_their_configuration() -> None:
    """Such as the output of kustomize, which nobody can split."""
    data = "".join(f"  SETTING_{number:03}: value {number} of the store\n" for number in range(4))
    text = "".join(
        f"kind: ClusterType\nmetadata: {{name: store-{number}}}\nspec: {{reconciler: flux}}\n---\n"
        f"kind: SchedulingPolicy\nmetadata: {{name: store-{number}}}\n---\n"
        f"kind: ConfigMap\nmetadata: {{name: store-{number}}}\ndata:\n{data}---\n"
        for number in range(5_000)
    )
    parsed = parse(text)
    assert (len(parsed.documents), parsed.problems) == (15_000, ())


PIECES = st.sampled_from(
    [
        *("a", "b", ": ", ":\n", "\n", "\n  ", "\n    ", "- ", "? ", "&x ", "*x", "<<: ", "{", "}"),
        *("[", "]", ",", "|\n", ">-\n", "'", '"', "#", "---\n", "...\n", "%YAML 1.1\n", "!!int "),
        *("! ", "!<", "\t", "\\", "\r", "~", "1", "-", ".", "\x00"),
        *("\ufeff", "\x85", "\u2028", "ü"),
        *("@", "`", "\U0001f600", "apiVersion: v1\n", "kind: List\n", "items:\n", "0x", "e9"),
    ]
)


@given(
    st.binary(max_size=60)
    | st.lists(PIECES, max_size=30).map(lambda parts: "".join(parts).encode())
)
@example(b"? \n? \n")
@example(b"&x &x")
@example(b"\xff\xfe\x00")
def test_no_bytes_end_in_a_traceback(content: bytes) -> None:
    parsed = parse(content)
    for document in parsed.documents:
        assert isinstance(document.body, dict)
        assert document.where.line >= 1
    for problem in (*parsed.problems, *parsed.warnings):
        assert problem.where
        line_ends = sum(map(content.count, (b"\n", b"\r", b"\xc2\x85", b"\xe2\x80\xa8")))
        assert problem.where.line <= line_ends + 1


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.text(),
    lambda values: st.lists(values, max_size=3) | st.dictionaries(st.text(), values, max_size=3),
    max_leaves=10,
)


@settings(max_examples=30)
@given(st.dictionaries(st.text(), JSON, min_size=1, max_size=4))
def test_what_pyyaml_writes_in_quotes_is_read_back(value: dict[str, object]) -> None:
    text = yaml.safe_dump(value, default_style='"', allow_unicode=False)
    assert body(text) == value


@pytest.mark.parametrize(
    ("content", "line"),
    [(b"a: b\n\tc: d\n", 2), (b"a:\n\tc: d\n", 2), (b"a:\n  b: c\n  \td: e\nf: g\n", 3)],
    ids=["after a value", "instead of a value", "after spaces"],
)
def test_a_tab_is_named(content: bytes, line: int) -> None:
    (problem,) = parse_yaml("repository", "a.yaml", content).problems
    message = f"not valid YAML: line {line} is indented with a tab, which YAML forbids"
    assert (problem.message, problem.advice) == (message, "write spaces")


def test_a_tab_elsewhere_is_not_named() -> None:
    (problem,) = parse_yaml("repository", "a.yaml", b"a: |\n  x\n  \ty\nb: [1\n").problems
    assert problem.advice == ""


def test_a_syntax_error_has_a_column() -> None:
    (problem,) = parse_yaml("repository", "a.yaml", b"a: b: c\n").problems
    assert problem.where is not None
    assert (problem.where.line, problem.where.column) == (1, 5)


@pytest.mark.parametrize(
    ("content", "value"),
    [
        (b"\xef\xbb\xbfa: b", "b"),
        ("a: ü".encode("utf-16-le").join([b"\xff\xfe", b""]), "ü"),
        ("a: ü".encode("utf-16-be").join([b"\xfe\xff", b""]), "ü"),
        (b"a: b\r\n# c\r\n", "b"),
        (b"a: b\rc: d\r", "b"),
    ],
)
def test_encodings_and_line_ends(content: bytes, value: str) -> None:
    (document,) = parse_yaml("repo", "x.yaml", content).documents
    assert document.body["a"] == value


@pytest.mark.parametrize(
    ("content", "line", "message"),
    [
        (
            b"version https://git-lfs.github.com/spec/v1\noid sha256:4d\nsize 12\n",
            0,
            "the file is a pointer of Git LFS, which is not followed",
        ),
        (b"\0GITCRYPT\0\x9f\x01", 0, "the file is encrypted by git-crypt, and nothing decrypts it"),
        (b"a: \xff\n", 1, "the file is not UTF-8 (byte 3)"),
        (b"a: 1\nb: \xc3", 2, "the file is not UTF-8 (byte 8)"),
        (b"\xff\xfea", 1, "the file is not UTF-8 (byte 2)"),
        (b"#" * (MAX_BYTES + 1), 0, "the file has 64.0 MiB, but the limit is 64 MiB"),
    ],
    ids=["Git LFS", "git-crypt", "Latin-1", "a half character", "half UTF-16", "too large"],
)
def test_bytes_that_are_no_text(content: bytes, line: int, message: str) -> None:
    problem = read_text(content, Location("repo", "x.yaml"))
    assert isinstance(problem, Problem)
    assert problem.where is not None
    assert (problem.where.line, problem.message) == (line, message)


@pytest.mark.parametrize(
    ("content", "bodies", "problems"),
    [
        ("a: [\nb: c\n---\nd: e\n", [{"d": "e"}], ["3: the list begins on line 1"]),
        ("a: @x\n---\nd: e\n", [{"d": "e"}], ["1: cannot start any token"]),
        ("a: b\n---\nc: 'x\n---\nd: e\n", [{"a": "b"}, {"d": "e"}], ["4: the quoted text begins on line 3"]),
        ("a: `\n---\nb: `\n---\nc: d\n", [{"c": "d"}], ["1: cannot start any token", "3: cannot start any token"]),
        ("a: 'x\nb: c\n", [], ["2: found unexpected end of stream; the quoted text begins on line 1"]),
        ("--- `\n--- `\n--- {a: b}\n", [{"a": "b"}], ["1: cannot start any token", "2: cannot start any token"]),
        ("a: b\n<<<<<<< HEAD\nc: d\n=======\nc: e\n>>>>>>> x\n", [], ["2: the markers of a merge conflict"]),
    ],
)  # fmt: skip
def test_the_documents_behind_a_syntax_error_are_read(
    content: str, bodies: list[object], problems: list[str]
) -> None:
    parsed = parse(content)
    assert [document.body for document in parsed.documents] == bodies
    assert len(parsed.problems) == len(problems)
    for problem, expected in zip(parsed.problems, problems, strict=True):
        line, _, words = expected.partition(": ")
        assert problem.where
        assert (str(problem.where.line), words in problem.message) == (line, True)


def test_the_number_of_syntax_errors_is_limited() -> None:
    parsed = parse("a: `\n---\n" * 1_000)
    assert len(parsed.problems) == yaml_documents.MAX_SYNTAX_ERRORS
