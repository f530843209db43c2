"""The pages for users, parsed: headings, links, and blocks of code.

A block whose first line is a comment with a path, such as `# control-plane/dev/policies.yaml`, is a
file of the page: the page's console blocks run in a folder that holds all of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]

FENCE: Final = re.compile(r"^ *(`{3,})(\S*)[^\n]*\n(.*?)^ *\1`*$\n?", re.MULTILINE | re.DOTALL)
HEADING: Final = re.compile(r"^(#{1,6}) +(.+?) *$", re.MULTILINE)
LINK: Final = re.compile(r"\[(?:[^\[\]]|\[[^\[\]]*\])*\]\(([^()\s]+(?:\([^()]*\))?[^()\s]*)\)")
CODE: Final = re.compile(r"`[^`\n]+`")
FILE: Final = re.compile(r"^# ([\w.-]+(?:/[\w.-]+)+)$")
ANCHOR: Final = re.compile(r"<a (?:name|id)=\"([^\"]+)\"")


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its text, and the line it begins in."""

    language: str
    text: str
    line: int

    @property
    def path(self) -> str:
        """The name of the file in the block; "" if it names none."""
        match = FILE.match(self.text.partition("\n")[0])
        return match[1] if match else ""


@dataclass(frozen=True)
class Page:
    """A Markdown file of the repository."""

    path: Path

    def __str__(self) -> str:
        return self.path.relative_to(ROOT).as_posix()

    @cached_property
    def text(self) -> str:
        return self.path.read_text(encoding="utf-8")

    @cached_property
    def prose(self) -> str:
        """The text without blocks of code."""
        return FENCE.sub("", self.text)

    def blocks(self, *languages: str) -> Iterator[Block]:
        """Return the blocks, or only those of some languages."""
        for match in FENCE.finditer(self.text):
            if not languages or match[2] in languages:
                line = self.text.count("\n", 0, match.start()) + 1
                yield Block(match[2], _dedented(match), line)

    def files(self) -> dict[str, str]:
        """Return the files in the blocks, by path."""
        files: dict[str, str] = {}
        for block in self.blocks():
            if block.path:
                assert block.path not in files, f"{self}:{block.line}: {block.path} is there twice"
                files[block.path] = block.text
        return files

    def links(self) -> Iterator[str]:
        """Return the targets of the links."""
        return (match[1] for match in LINK.finditer(CODE.sub("", self.prose)))

    def anchors(self) -> set[str]:
        """Return the anchors of the headings on GitHub, and explicit ones."""
        anchors: dict[str, int] = {}
        for match in HEADING.finditer(self.prose):
            slug = slug_of(match[2])
            number = anchors.get(slug, -1) + 1
            anchors[slug] = number
            if number:
                anchors[f"{slug}-{number}"] = 0
        return {*anchors, *ANCHOR.findall(self.prose)}

    def section(self, heading: str) -> str:
        """Return the text below a heading, up to the next one of its level."""
        match = re.search(rf"^(#+) {re.escape(heading)}$", self.text, re.MULTILINE)
        assert match, f"{self} has no heading {heading!r}"
        rest = self.text[match.end() :]
        end = re.search(rf"^#{{1,{len(match[1])}}} ", rest, re.MULTILINE)
        return rest[: end.start()] if end else rest


def slug_of(heading: str) -> str:
    """Return the anchor of a heading on GitHub."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
    return re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")


def pages() -> list[Page]:
    """Return every page for users, written by hand or by a tool."""
    return [
        Page(path) for path in (*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md")))
    ]


def _dedented(fence: re.Match[str]) -> str:
    """Remove the indentation of a block in a list."""
    indentation = len(fence[0]) - len(fence[0].lstrip(" "))
    return re.sub(rf"^ {{0,{indentation}}}", "", fence[3], flags=re.MULTILINE)
