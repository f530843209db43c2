"""Escape untrusted text in GitHub's Markdown: pull requests, issues, comments, step summaries.

Names, messages and paths come from repositories and clusters that anybody may write to. None of
them may start a table cell, a link or HTML, or mention a person.
"""

from __future__ import annotations

import html
import re
import textwrap
from collections.abc import Iterable, Sequence
from typing import Final
from urllib.parse import quote

from kalypso_actions.model.counts import counted
from kalypso_actions.model.own_account import MARK
from kalypso_actions.report.documents import ProblemEntry, Where
from kalypso_actions.report.terminal_escaping import escape_line

PUNCTUATION: Final = re.compile(r"([!-/:-@\[-`{-~])")

# GitHub links people, issues and URLs in plain text, even if they are escaped.
LINKED: Final = re.compile(r"(@|#|GH\\?-|www|:)(?=[\w\\./])", re.IGNORECASE)
NO_LINK: Final = "\u200b"

HOST: Final = re.compile(r"^https?://[^/]+/(?=[^/]+/[^/])")
"""The part before `owner/name` in the URL of a repository."""

ON_GITHUB: Final = re.compile(r"https?://[^/\s<>()@]+/[\w.-]+/[\w.-]+")
"""The URL of a repository whose files have pages as on GitHub: `owner/name` on a server."""

MARKUP: Final = re.compile(
    r"\\(?P<escaped>[!-/:-@\[-`{-~])|\[(?P<linked>(?:[^\]\\]|\\.)*)\]\([^)]*\)|`+|\u200b"
)
"""The markup that the functions of this module write into a line."""


def text(content: str) -> str:
    """Escape `content` as plain text on one line."""
    return LINKED.sub(r"\1" + NO_LINK, PUNCTUATION.sub(r"\\\1", _on_one_line(content)))


def html_text(content: str) -> str:
    """Escape `content` for a line with an HTML tag, where GitHub does not read Markdown."""
    return LINKED.sub(r"\1" + NO_LINK, html.escape(_on_one_line(content), quote=False))


def code(content: str) -> str:
    """Format `content` as inline code that also fits a table's cell."""
    words = escape_line(content.replace("\n", " ")).replace("|", "\\|")
    longest = max((len(run) for run in re.findall("`+", words)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if words.startswith("`") or words.endswith("`") or not words.strip() else ""
    return f"{fence}{pad}{words or ' '}{pad}{fence}"


def plain(line: str) -> str:
    """Remove the markup of this module from a line."""
    return MARKUP.sub(lambda mark: mark["escaped"] or plain(mark["linked"] or ""), line).strip()


def block(content: str, language: str = "") -> str:
    """Format `content` as a block of code."""
    longest = max((len(run) for run in re.findall("`+", content)), default=0)
    fence = "`" * max(3, longest + 1)
    lines = [escape_line(line) for line in content.replace("\r\n", "\n").split("\n")]
    return "\n".join([f"{fence}{language}", *lines, fence])


def link(words: str, url: str) -> str:
    """Link `words` to a URL; without a link if the URL is not http(s)."""
    if not re.fullmatch(r"https?://[^\s<>()]+", url):
        return text(words)
    return f"[{text(words)}]({url})"


def table(head: Sequence[str], rows: Iterable[Sequence[str]], *, rule: str = "---") -> str:
    """Format a table; cells are Markdown. `rule` is the line below each column's head."""
    lines = ["| " + " | ".join(head) + " |", "| " + " | ".join(rule for _ in head) + " |"]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines)


def properties(rows: Sequence[tuple[str, str]]) -> str:
    """Format names and values as a table, with the first row as its head.

    Markdown's tables need a head, and GitHub would display an empty head. The rule keeps GitHub
    from centring the head.
    """
    return table(rows[0], rows[1:], rule=":---")


def details(summary: str, content: str) -> str:
    """Format a collapsed section: `content` is Markdown, `summary` is HTML."""
    return f"<details>\n<summary>{summary}</summary>\n\n{content}\n\n</details>"


def marker(kind: str, environment: str, **more: str) -> str:
    """Return the hidden first line by which Kalypso recognizes its own text."""
    pairs = {"kind": kind, "environment": environment, **more}
    written = " ".join(f"{key}={value}" for key, value in pairs.items())
    return f"{MARK}{written} -->"


def some(lines: Sequence[str], limit: int) -> list[str]:
    """Return the first lines, and a line with the number of the others."""
    if len(lines) <= limit:
        return list(lines)
    return [*lines[:limit], f"… and {len(lines) - limit} more"]


VERIFIED: Final = (
    "Nothing was written: the inputs were only compared with the repositories, and they are right."
)
"""The text of a run with `verify-only`."""


def findings(warnings: Sequence[ProblemEntry], problems: Sequence[ProblemEntry]) -> str:
    """Format problems and warnings as lists; "" if there are none."""
    parts = []
    for title, entries in (("Problems", problems), ("Warnings", warnings)):
        if entries:
            parts.append(f"**{title}**\n\n" + "\n".join(map(_finding, entries)))
    return "\n\n".join(parts)


def notes(entries: Sequence[ProblemEntry]) -> str:
    """Format notes as a collapsed section; "" if there are none."""
    lines = "\n".join(map(_finding, entries))
    return details(counted(len(entries), "note"), lines) if entries else ""


def _finding(entry: ProblemEntry) -> str:
    place = f"{_place(entry.where)} — " if entry.where else ""
    first, _, file = entry.advice.partition("\n")
    advice = f"<br>→ {text(first)}" if first else ""
    if file:
        advice += "\n" + textwrap.indent(f"\n{block(file)}", "  ")
    kind = f" [{code(entry.code)}]" if entry.code else ""
    return f"- {place}{text(entry.message)}{kind}{advice}"


def _place(where: Where) -> str:
    """Format file and repository; shorten an https URL to `owner/name`.

    A file of a commit is a link to its line, which stays valid when the file changes.
    """
    repository = HOST.sub("", where.repository)
    if not where.path:
        return code(repository)
    line = f":{where.line}" if where.line else ""
    file = code(where.path + line)
    url = permalink(where)
    return f"{f'[{file}]({url})' if url else file} in {code(repository)}"


def permalink(where: Where) -> str:
    """Return the page of a line of a file at a commit; "" for other repositories than GitHub's."""
    repository = where.repository.removesuffix(".git")
    if not (where.commit and where.path and ON_GITHUB.fullmatch(repository)):
        return ""
    path = quote(where.path, errors="surrogateescape")
    return f"{repository}/blob/{where.commit}/{path}{f'#L{where.line}' if where.line else ''}"


def _on_one_line(content: str) -> str:
    return " ".join(escape_line(content.replace("\n", " ")).split())
