"""Lines of git's protocol: encoded lines can be parsed, and other content is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kalypso_sandbox.git.receive_pack import FLUSH, MAX_DATA, ProtocolError, band, line, section


@given(st.lists(st.binary(max_size=50)), st.binary(max_size=50))
def test_lines_are_read_as_they_were_written(contents: list[bytes], rest: bytes) -> None:
    written = b"".join(map(line, contents)) + FLUSH
    assert section(written + rest, 0) == (contents, len(written))


@given(st.text("0123456789aF+x", max_size=60))
def test_what_is_read_accounts_for_every_byte(text: str) -> None:
    content = text.encode()
    try:
        lines, end = section(content, 0)
    except ProtocolError:
        return
    assert sum(len(line) + 4 for line in lines) + len(FLUSH) == end <= len(content)
    assert content[end - 4 : end] == FLUSH


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"0",
        b"000",
        b"0005",
        b"0008abc",
        b"0001",
        b"0003abc",
        b"+005a0000",
        b"-001",
        b"zzzz",
        b"0005a",
    ],
)
def test_no_lines(content: bytes) -> None:
    with pytest.raises(ProtocolError):
        section(content, 0)


def test_a_band_is_cut_into_lines() -> None:
    content = b"x" * (MAX_DATA + 1)
    lines, _ = section(band(2, content) + FLUSH, 0)
    assert lines == [b"\x02" + b"x" * MAX_DATA, b"\x02x"]
    assert band(1, b"") == b""
