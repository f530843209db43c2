from __future__ import annotations

import logging

from kalypso_actions.cli.streams import LogFormatter


def test_a_logged_call_is_no_command_for_the_runner() -> None:
    url = "https://host.example/##[stop-commands]x"
    record = logging.LogRecord(
        "k", logging.DEBUG, "f", 1, "%s: git fetch\n::error::y", (url,), None
    )
    line = LogFormatter("%(message)s").format(record)
    assert line == "https://host.example/## [stop-commands]x: git fetch\n\u200b::error::y"
