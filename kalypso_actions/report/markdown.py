"""Untrusted text in GitHub's Markdown: pull requests, issues, comments, step summaries.

Names, messages and paths come from repositories and clusters that anybody may write to: none of
them may begin a table cell, a link, HTML, or call a person.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence
from typing import Final

from kalypso_actions.model.counts import counted
from kalypso_actions.report.documents import ProblemEntry, Where
from kalypso_actions.report.escaping import escape_line

PUNCTUATION: Final = re.compile(r"([!-/:-@\[-`{-~])")

# GitHub links people, issues and addresses in plain text by itself, however they are escaped.
LINKED: Final = re.compile(r"(@|#|GH\\?-|www|:)(?=[\w\\./])", re.IGNORECASE)
NO_LINK: Final = "\u200b"

HOST: Final = re.compile(r"^https?://[^/]+/(?=[^/]+/[^/])")
"""What comes before `owner/name` in the URL of a repository."""

OURS: Final = re.compile(
    r"\\(?P<escaped>[!-/:-@\[-`{-~])|\[(?P<linked>(?:[^\]\\]|\\.)*)\]\([^)]*\)|`+|\u200b"
)
"""What makes Markdown of words in a line of ours."""


def text(content: str) -> str:
    """`content` as plain words on one line."""
    return LINKED.sub(r"\1" + NO_LINK, PUNCTUATION.sub(r"\\\1", _on_one_line(content)))


def html_text(content: str) -> str:
    """`content` as plain words where Markdown is not read: on a line with an HTML tag."""
    return LINKED.sub(r"\1" + NO_LINK, html.escape(_on_one_line(content), quote=False))


def code(content: str) -> str:
    """`content` as code on one line, in a fence longer than any inside; fit for a table's cell."""
    words = escape_line(content.replace("\n", " ")).replace("|", "\\|")
    longest = max((len(run) for run in re.findall("`+", words)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if words.startswith("`") or words.endswith("`") or not words.strip() else ""
    return f"{fence}{pad}{words or ' '}{pad}{fence}"


def plain(line: str) -> str:
    """The words of a line that was made here: without escapes, links and marks of code."""
    return OURS.sub(lambda mark: mark["escaped"] or plain(mark["linked"] or ""), line).strip()


def block(content: str, language: str = "") -> str:
    """`content` as a block of code, whatever it holds."""
    longest = max((len(run) for run in re.findall("`+", content)), default=0)
    fence = "`" * max(3, longest + 1)
    lines = [escape_line(line) for line in content.replace("\r\n", "\n").split("\n")]
    return "\n".join([f"{fence}{language}", *lines, fence])


def link(words: str, url: str) -> str:
    """A link to a URL that we have from GitHub; anything else than http(s) is left as words."""
    if not re.fullmatch(r"https?://[^\s<>()]+", url):
        return text(words)
    return f"[{text(words)}]({url})"


def table(head: Sequence[str], rows: Iterable[Sequence[str]], *, rule: str = "---") -> str:
    """A table; cells are Markdown already. `rule` is the line below each column's head."""
    lines = ["| " + " | ".join(head) + " |", "| " + " | ".join(rule for _ in head) + " |"]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines)


def facts(rows: Sequence[tuple[str, str]]) -> str:
    """What there is to say of one thing: a row for each name and value, the first one the head.

    A table has to have a head, and an empty one is seen; heads are centred unless they are told.
    """
    return table(rows[0], rows[1:], rule=":---")


def details(summary: str, content: str) -> str:
    """Something that is shown on a click: `content` is Markdown already, `summary` HTML."""
    return f"<details>\n<summary>{summary}</summary>\n\n{content}\n\n</details>"


def marker(kind: str, environment: str, **more: str) -> str:
    """The first line of what we write, by which it is found again."""
    pairs = {"kind": kind, "environment": environment, **more}
    written = " ".join(f"{key}={value}" for key, value in pairs.items())
    return f"<!-- kalypso:v1 {written} -->"


def some(lines: Sequence[str], limit: int) -> list[str]:
    """The first lines, and how many more there are."""
    if len(lines) <= limit:
        return list(lines)
    return [*lines[:limit], f"… and {len(lines) - limit} more"]


VERIFIED: Final = (
    "Nothing was written: the inputs were only held against the repositories, and they hold."
)
"""What the page of a run says that was only to verify its inputs."""


def findings(warnings: Sequence[ProblemEntry], problems: Sequence[ProblemEntry]) -> str:
    """Problems, then warnings, as lists; "" where there are none."""
    parts = []
    for title, entries in (("Problems", problems), ("Warnings", warnings)):
        if entries:
            parts.append(f"**{title}**\n\n" + "\n".join(map(_finding, entries)))
    return "\n\n".join(parts)


def notes(entries: Sequence[ProblemEntry]) -> str:
    """How many notes there are, and on a click the notes; "" where there are none."""
    lines = "\n".join(map(_finding, entries))
    return details(counted(len(entries), "note"), lines) if entries else ""


def _finding(entry: ProblemEntry) -> str:
    place = f"{_place(entry.where)} — " if entry.where else ""
    advice = f"<br>→ {text(entry.advice)}" if entry.advice else ""
    return f"- {place}{text(entry.message)}{advice}"


def _place(where: Where) -> str:
    """The file and its repository: `owner/name`, as far as its URL is one of https."""
    repository = HOST.sub("", where.repository)
    if not where.path:
        return code(repository)
    line = f":{where.line}" if where.line else ""
    return f"{code(where.path + line)} in {code(repository)}"


def _on_one_line(content: str) -> str:
    return " ".join(escape_line(content.replace("\n", " ")).split())
