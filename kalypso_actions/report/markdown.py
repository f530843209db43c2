"""GitHub's Markdown: pull requests, issues, comments, step summaries, and untrusted text in them.

    render("summaries.md.j2", "poll", document=document, heading=heading)

Names, messages and paths come from repositories and clusters that anybody may write to. None of
them may start a table cell, a link or HTML, or mention a person. So a template escapes each value
as plain text, unless a filter such as `code` has formatted it, or `safe` says that it is Markdown.
"""

from __future__ import annotations

import html
import re
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Final, Literal
from urllib.parse import quote

from kalypso_actions.errors import Finding, Level, Location
from kalypso_actions.model.counts import counted
from kalypso_actions.model.own_account import MARK
from kalypso_actions.report.documents import Where
from kalypso_actions.report.escaping import escape_line, shortened

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

PUNCTUATION: Final = re.compile(r"([!-/:-@\[-`{-~])")

# GitHub links people, issues and URLs in plain text, even if they are escaped.
LINKED: Final = re.compile(r"(@|#|GH\\?-|www|:)(?=[\w\\./])", re.IGNORECASE)
NO_LINK: Final = "\u200b"

COMMENT_ROOM: Final = 58_000
"""The most bytes of a comment or the body of a pull request; GitHub accepts 65,536 characters."""

LEFT_OUT: Final = 300
"""Bytes of a page with a limited size that stay free for the sentence about omitted blocks."""

HOST: Final = re.compile(r"^https?://[^/]+/(?=[^/]+/[^/])")
"""The part before `owner/name` in the URL of a repository."""

ON_GITHUB: Final = re.compile(r"https?://[^/\s<>()@]+/[\w.-]+/[\w.-]+")
"""The URL of a repository whose files have pages as on GitHub: `owner/name` on a server."""

MARKUP: Final = re.compile(
    r"\\(?P<escaped>[!-/:-@\[-`{-~])|\[(?P<linked>(?:[^\]\\]|\\.)*)\]\([^)]*\)|`+|\u200b"
)
"""The markup that the functions of this module write into a line."""


def render(template: str, part: str = "", **values: object) -> str:
    """Fill in a template of this room, or a block of it, and return it without its last line feed.

    Raises jinja2.UndefinedError for a value that is not given.
    """
    name = f"{template}#{part}" if part else template
    return _environment().get_template(name).render(values).removesuffix("\n")


def _template(name: str) -> str:
    """Return the text of a template, or of one of its blocks: compiling the others takes time."""
    file, _, part = name.partition("#")
    text = files(__package__).joinpath(file).read_text(encoding="utf-8")
    if part:
        text = text.partition(f"{{% block {part} %}}\n")[2].partition("{% endblock %}")[0]
    return text


@cache
def _environment() -> Environment:
    """Return the environment of all templates, which are compiled when they are first used."""
    from jinja2 import Environment, FunctionLoader, StrictUndefined  # noqa: PLC0415 - see `render`
    from markupsafe import Markup  # noqa: PLC0415

    def escaped(value: object) -> Markup:
        if isinstance(value, Markup):
            return value
        if not isinstance(value, str | int):
            raise TypeError(f"a template prints {value!r}")
        return Markup(text(str(value)))  # noqa: S704 - escaped as Markdown

    def formatting(function: Callable[..., str]) -> Callable[..., Markup]:
        return lambda *values: Markup(function(*values))  # noqa: S704 - it escapes its values

    environment = Environment(
        loader=FunctionLoader(_template),
        undefined=StrictUndefined,
        autoescape=True,
        finalize=escaped,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    for function in (text, html_text, code, link, links, commit_link, block, findings):
        environment.filters[function.__name__] = formatting(function)
    environment.filters |= {"counted": counted, "shortened": shortened}
    environment.globals |= {"VERIFIED": VERIFIED, "paragraph": formatting(_paragraph)}
    return environment


def _paragraph(content: str) -> str:
    """Return Markdown after an empty line; "" for none."""
    return f"\n{content}\n" if content else ""


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


def links(pages: Mapping[str, str]) -> str:
    """Link each name to its page, separated by commas."""
    return ", ".join(link(name, url) for name, url in pages.items())


def commit_link(commit: str, repository_url: str) -> str:
    """Link the short id of a commit to its page in a repository."""
    return link(commit[:7], f"{repository_url}/commit/{commit}")


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Format a table; cells are Markdown."""
    lines = (head, ["---"] * len(head), *rows)
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


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


VERIFIED: Final = "Nothing was written. The inputs match the repositories."
"""The text of a run with `verify-only`."""


MOST_FINDINGS: Final = 500
"""The most findings of a list: a step summary, 1 MiB, has room for two lists of them."""


def findings(listed: Iterable[Finding], most: int = MOST_FINDINGS) -> str:
    """Format problems and warnings as lists, and notes as a collapsed section; "" for none.

    A list has `most` findings, and the number of the others. Acknowledged warnings are left out.
    """
    found: dict[Level, list[Finding]] = {"error": [], "warning": [], "note": []}
    for finding in listed:
        if not finding.reason:
            found[finding.level].append(finding)
    titles: tuple[tuple[Level, str], ...] = (("error", "Problems"), ("warning", "Warnings"))
    parts = [
        f"**{title}**\n\n{_list(found[level], most)}" for level, title in titles if found[level]
    ]
    if found["note"]:
        parts.append(details(counted(len(found["note"]), "note"), _list(found["note"], most)))
    return "\n\n".join(parts)


def _list(listed: Sequence[Finding], most: int) -> str:
    more = len(listed) - most
    lines = [*map(_finding, listed[:most]), *([f"- … and {more} more"] if more > 0 else [])]
    return "\n".join(lines)


def _finding(finding: Finding) -> str:
    place = f"{_place(finding.where)} — " if finding.where else ""
    first, _, file = finding.advice.partition("\n")
    advice = f"<br>→ {text(first)}" if first else ""
    if file:
        advice += "\n" + textwrap.indent(f"\n{block(file)}", "  ")
    kind = f" [{code(finding.code)}]" if finding.code else ""
    return f"- {place}{text(finding.message)}{kind}{advice}"


def _place(where: Location) -> str:
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


def permalink(where: Location | Where) -> str:
    """Return the page of a line of a file at a commit; "" for other repositories than GitHub's."""
    repository = where.repository.removesuffix(".git")
    if not (where.commit and where.path and ON_GITHUB.fullmatch(repository)):
        return ""
    path = quote(where.path, errors="surrogateescape")
    return f"{repository}/blob/{where.commit}/{path}{f'#L{where.line}' if where.line else ''}"


def _on_one_line(content: str) -> str:
    return " ".join(escape_line(content.replace("\n", " ")).split())


@dataclass(frozen=True, slots=True)
class CommitLink:
    """A commit of main, and its page ("" without one)."""

    commit: str
    url: str

    @classmethod
    def on(cls, repository_url: str, commit: str | None) -> CommitLink | None:
        """Return a commit of a repository with its page; None for None."""
        return cls(commit, f"{repository_url}/commit/{commit}") if commit else None

    def __str__(self) -> str:
        """Format the short id as a link in Markdown."""
        if not self.url:
            return code(self.commit[:7])
        return link(self.commit[:7], self.url)


@dataclass(slots=True)
class MarkdownRoom:
    """Blocks of Markdown, as far as there is room for them; `left_out` counts the others."""

    size: int
    blocks: list[str] = field(default_factory=list)
    left_out: int = 0

    def add(self, block: str) -> None:
        """Add a block with the empty line before it, if it fits."""
        size = len(block.encode("utf-8", "replace")) + 2
        if not block:
            return
        if size > self.size:
            self.left_out += 1
            return
        self.size -= size
        self.blocks.append(block)

    def section(self, caller: Callable[[], str]) -> str:
        """Return what a template writes between `call` and `endcall`, if there is room for it."""
        from markupsafe import Markup  # noqa: PLC0415 - see `render`

        block, before = caller().strip("\n"), len(self.blocks)
        self.add(block)
        return Markup(f"{block}\n\n") if len(self.blocks) > before else ""  # noqa: S704 - escaped

    def add_details(self, summary: str, blocks: Iterable[str], share: int) -> None:
        """Add a collapsed section of blocks that together need `share` bytes at most."""
        frame = len(details(summary, "").encode()) + LEFT_OUT
        inner = MarkdownRoom(min(share, self.size) - frame)
        for block in blocks:
            inner.add(block)
        if inner.left_out:
            inner.blocks.append(f"… and {inner.left_out} more, which do not fit here.")
        if inner.blocks:
            self.add(details(summary, "\n\n".join(inner.blocks)))
        self.left_out += inner.left_out


MOST_NODES: Final = 30
"""A larger diagram is no help, and Mermaid refuses very large ones."""

MAIN: Final = ""
"""The node of main: no environment has this name."""

Mark = Literal["", "done", "failed", "active"]

STYLES: Final[dict[Mark, str]] = {
    "done": "stroke:#2da44e,stroke-width:3px",
    "failed": "stroke:#cf222e,stroke-width:3px",
    "active": "stroke:#bf8700,stroke-width:3px",
}
"""The colours of borders only: GitHub chooses the other colours by the reader's theme."""

SAFE: Final = re.compile(r"[^\w ./-]", re.ASCII)


@dataclass(frozen=True, slots=True)
class PipelineNode:
    """Main (`MAIN`) or an environment by its name, with a line of text and a mark."""

    name: str
    text: str = ""
    mark: Mark = ""


def pipeline_diagram(nodes: Sequence[PipelineNode], arrows: Sequence[tuple[str, str]]) -> str:
    """Return the nodes with the arrows between them, as Markdown; "" for too many, or no arrow."""
    ids = {node.name: f"n{number}" for number, node in enumerate(nodes)}
    edges = [
        f"  {ids[start]} --> {ids[end]}" for start, end in arrows if {start, end} <= ids.keys()
    ]
    if not edges or len(nodes) > MOST_NODES:
        return ""
    lines = ["flowchart LR", "  accTitle: From main through the environments"]
    for node in nodes:
        parts = (node.name or "main", node.text)
        words = "<br/>".join(_label(part) for part in parts if part)
        lines.append(f'  {ids[node.name]}["{words}"]')
    lines += edges
    for mark, style in STYLES.items():
        marked = [ids[node.name] for node in nodes if node.mark == mark]
        if marked:
            lines += [f"  classDef {mark} {style}", f"  class {','.join(marked)} {mark}"]
    return block("\n".join(lines), "mermaid")


def _label(words: str) -> str:
    """Write all but plain characters as Mermaid's codes, so that no text becomes syntax."""
    line = " ".join(escape_line(words.replace("\n", " ")).split())
    return SAFE.sub(lambda match: f"#{ord(match[0])};", line)
