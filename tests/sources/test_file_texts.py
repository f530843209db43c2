"""The text of a file: its encodings, and bytes that are no text."""

from __future__ import annotations

import pytest

from kalypso_actions.errors import Location, Problem
from kalypso_actions.sources.file_texts import MAX_BYTES, read_text
from kalypso_actions.sources.yaml_documents import parse_yaml

HERE = Location("repo", "x.yaml")


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
        (b"a: \xff\n", 1, "the file is not UTF-8 (byte 3)"),
        (b"a: 1\nb: \xc3", 2, "the file is not UTF-8 (byte 8)"),
        (b"\xff\xfea", 1, "the file is not UTF-8 (byte 2)"),
        (b"#" * (MAX_BYTES + 1), 0, "the file has 64.0 MiB, but the limit is 64 MiB"),
    ],
    ids=["Latin-1", "a half character", "half UTF-16", "too large"],
)
def test_bytes_that_are_no_text(content: bytes, line: int, message: str) -> None:
    problem = read_text(content, HERE)
    assert isinstance(problem, Problem)
    assert problem.where is not None
    assert (problem.where.line, problem.message) == (line, message)
