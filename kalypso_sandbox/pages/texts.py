"""Untrusted texts as HTML: Markdown, source code, and diffs.

Markdown becomes HTML by markdown-it-py, and nh3 removes everything from it that could run, load or
imitate something. Pygments escapes what it colors.
"""

from __future__ import annotations

import html
import posixpath
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, MutableMapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from markupsafe import Markup
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexer import Lexer
from pygments.lexers.data import JsonLexer, YamlLexer
from pygments.lexers.diff import DiffLexer
from pygments.lexers.special import TextLexer

from kalypso_sandbox.git.objects import FileChange
from kalypso_sandbox.git.repositories import BareRepository

MAX_COLORED: Final = 200_000
"""The number of characters from which code is not colored."""

MAX_DIFF_LINES: Final = 4000
"""The number of lines to show of a diff: a proposal of the sample has fewer than 1,000."""

LEXERS: Final[dict[str, Callable[..., Lexer]]] = {
    ".yaml": YamlLexer,
    ".yml": YamlLexer,
    ".json": JsonLexer,
    ".diff": DiffLexer,
    "yaml": YamlLexer,
    "json": JsonLexer,
    "diff": DiffLexer,
}
"""By the end of a file's name, and by the language of a block of Markdown."""

CLASSES: Final = frozenset(
    {"c", "c1", "gd", "gh", "gi", "gu", "k", "kc", "mi", "nt", "s", "s1", "s2"}
)
"""Classes of colored code that the style knows."""

TAGS: Final = frozenset(
    {"a", "b", "blockquote", "br", "code", "dd", "del", "details", "div", "dl", "dt", "em", "hr"}
    | {"h1", "h2", "h3", "h4", "h5", "h6", "i", "ins", "kbd", "li", "ol", "p", "pre", "s", "span"}
    | {"strong", "sub", "summary", "sup", "table", "tbody", "td", "th", "thead", "tr", "ul"}
)
"""The elements of Markdown. Images are links, because nothing may be loaded from elsewhere."""

ATTRIBUTES: Final = {
    "a": {"href", "title"},
    "details": {"open"},
    "ol": {"start"},
    "td": {"align"},
    "th": {"align"},
}

NODE: Final = re.compile(r'^  (\w+)\["(.*)"\]$', re.MULTILINE)
EDGE: Final = re.compile(r"^  (\w+) --> (\w+)$", re.MULTILINE)
MARKED: Final = re.compile(r"^  class ([\w,]+) (\w+)$", re.MULTILINE)
"""The lines of a flowchart in Mermaid, as reports write them."""

DIAGRAM_MARKS: Final = {"done": "✓ ", "failed": "✗ ", "active": "● "}

NO_BREAK: Final = "\u200b"
"""Keeps GitHub from making links of words; a copied text must not have it."""

FIRST_LEVEL: Final = 3
"""The level of the first heading in a text, because the page around it has the levels above."""

Resolve = Callable[[str], str | None]
"""Returns the URL of a relative link; None removes it."""


def _colored(text: str, language: str, _attributes: str = "") -> str:
    """Return code as HTML; each line is complete, with its own elements."""
    lexer = LEXERS.get(language.lower(), TextLexer) if len(text) < MAX_COLORED else TextLexer
    colored = str(highlight(text, lexer(stripnl=False), HtmlFormatter(nowrap=True)))
    return colored if text.endswith("\n") else colored.removesuffix("\n")


def _image(
    _renderer: RendererHTML,
    tokens: Sequence[Token],
    index: int,
    _options: Any,
    _env: MutableMapping[str, Any],
) -> str:
    token = tokens[index]
    text = token.content or "image"
    return str(Markup('<a href="{}">{}</a>').format(str(token.attrs.get("src", "")), text))


def _nest_headings(state: StateCore) -> None:
    """Let each heading be one level below the last one of a higher level."""
    above: list[int] = []
    for token in state.tokens:
        if token.type == "heading_open":
            level = int(token.tag[1])
            above = [*(each for each in above if each < level), level]
        if token.type in {"heading_open", "heading_close"}:
            token.tag = f"h{min(FIRST_LEVEL - 1 + len(above), 6)}"


def _fence(
    renderer: RendererHTML,
    tokens: Sequence[Token],
    index: int,
    options: Any,
    env: MutableMapping[str, Any],
) -> str:
    """Write a flowchart as a list of its ways, because no script may draw it."""
    token = tokens[index]
    ways = _ways(token.content) if token.info.strip() == "mermaid" else ()
    if not ways:
        return renderer.fence(tokens, index, options, env)
    return str(
        Markup("<ul>{}</ul>").format(Markup("").join(map(Markup("<li>{}</li>").format, ways)))
    )


def _ways(text: str) -> Sequence[str]:
    """Return the ways of a flowchart: `main 1234567 → dev compliant`."""
    names = {node: _label(words) for node, words in NODE.findall(text)}
    for nodes, mark in MARKED.findall(text):
        for node in nodes.split(","):
            names[node] = DIAGRAM_MARKS.get(mark, "") + names.get(node, node)
    ways: list[list[str]] = []
    ending = defaultdict[str, list[list[str]]](list)
    for start, end in EDGE.findall(text):
        if not ending[start]:
            ways.append([start])
            ending[start].append(ways[-1])
        way = ending[start].pop(0)
        way.append(end)
        ending[end].append(way)
    return [" → ".join(names.get(node, node) for node in way) for way in ways]


def _label(words: str) -> str:
    """Return the text of a label; Mermaid writes a character as `#34;`."""
    text = re.sub(r"#(\d{1,6});", lambda match: html.unescape(f"&#{match[1]};"), words)
    return text.replace("<br/>", " ")


def _renderer() -> MarkdownIt:
    options: dict[str, Any] = {"html": True, "highlight": _colored}
    known = MarkdownIt("commonmark", options).enable(["table", "strikethrough"])
    known.add_render_rule("image", _image)
    known.add_render_rule("fence", _fence)
    known.core.ruler.push("nested_headings", _nest_headings)
    return known


RENDERER: Final = _renderer()


def markdown(text: str | None, resolve: Resolve = lambda url: url) -> Markup:
    """Return Markdown as safe HTML. `resolve` completes relative links."""
    import nh3  # noqa: PLC0415 - a sandbox without readers does not need it

    clean = nh3.clean(
        RENDERER.render((text or "").replace(NO_BREAK, "")),
        tags=set(TAGS),
        attributes=ATTRIBUTES,
        allowed_classes={"span": set(CLASSES)},
        url_schemes={"http", "https", "mailto"},
        url_relative=resolve,
    )
    return Markup(clean)  # noqa: S704 - nh3 has cleaned it


def within(page: str, path: str) -> Resolve:
    """Return how links of a file at `path` lead to other files, whose pages are below `page`."""
    folder = posixpath.dirname(path)

    def resolve(url: str) -> str | None:
        if url.startswith(("#", "//")):
            return url if url.startswith("#") else None
        target, hash_sign, fragment = url.partition("#")
        joined = posixpath.normpath(posixpath.join("/", folder, target))
        return page + joined + hash_sign + fragment

    return resolve


def code_lines(text: str, path: str) -> Sequence[Markup]:
    """Return the lines of a file as HTML."""
    colored = _colored(text.removesuffix("\n"), posixpath.splitext(path)[1])
    return [Markup(line) for line in colored.removesuffix("\n").split("\n")]  # noqa: S704 - escaped


@dataclass(frozen=True, slots=True)
class FileDiff:
    """The change of a file, and its diff as HTML."""

    change: FileChange
    html: Markup


def file_diffs(git: BareRepository, base: str | None, head: str) -> Iterator[FileDiff]:
    """Yield the changes between two commits; base None means all files. Raises LookupError."""
    patch = git.patch(base, head).decode("utf-8", "replace")
    sections = f"\n{patch}".removesuffix("\n").split("\ndiff --git ")[1:]
    left = MAX_DIFF_LINES
    for number, change in enumerate(git.diff(base, head)):
        lines = list(_body(sections[number].split("\n") if number < len(sections) else []))
        text = "\n".join(lines[:left])
        if len(lines) > left:
            text += f"\n\\ {len(lines) - left} more lines are not shown"
        left = max(left - len(lines), 0)
        yield FileDiff(change, Markup(_colored(text, "diff")))  # noqa: S704 - Pygments escapes


def _body(lines: Sequence[str]) -> Iterator[str]:
    """Yield the lines of a file's diff after its header."""
    is_header = True
    for line in lines:
        is_header = is_header and not line.startswith(("@@", "Binary files"))
        if not is_header:
            yield line
