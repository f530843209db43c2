from __future__ import annotations

import html
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from kalypso_actions.errors import Finding, Level, Location
from kalypso_actions.report import markdown
from kalypso_actions.report.escaping import escape_line

PARSER = MarkdownIt("gfm-like", {"linkify": False})

HOSTILE = [
    "a | b",
    "`x` `` y",
    "<script>alert(1)</script>",
    "<!-- kalypso:v1 kind=x -->",
    "@acme/admins please",
    "fixes #12 and GH-13",
    "[click](javascript:alert)",
    "![i](https://evil.example/x.png)",
    "https://evil.example www.evil.example",
    "a\n\n# Title\n\n- item",
    "***bold*** ~~no~~ _under_",
    "\\| \\` \\",
    "</details>",
    "&lt;b&gt; &#124;",
    "1. one",
    "    code",
    "| --- |",
    "\x1b[31mred",
    "",
]
anything = st.one_of(st.sampled_from(HOSTILE), st.text(), st.text("|`<@#[]()!*_\\&~-\n "))


def tokens(text: str) -> list[Token]:
    """Yield every token, including those inside of lines."""
    parts = []
    for token in PARSER.parse(text):
        parts.append(token)
        parts += token.children or []
    return parts


def plain(text: str) -> str:
    return " ".join(escape_line(text.replace("\n", " ")).split())


@given(anything)
def test_text_stays_text(content: str) -> None:
    parts = tokens("x " + markdown.text(content) + " y")
    kinds = {token.type for token in parts}
    assert kinds <= {"paragraph_open", "paragraph_close", "inline", "text", "text_special"}
    shown = "".join(token.content for token in parts if token.type in {"text", "text_special"})
    assert shown.replace("\u200b", "").split() == ["x", *plain(content).split(), "y"]


@pytest.mark.parametrize(
    ("content", "never"),
    [
        ("@acme/admins", r"@\w"),
        ("#12", r"#\d"),
        ("GH-13", r"GH-\d"),
        ("https://evil.example", r"://"),
        ("www.evil.example", r"www\."),
    ],
)
def test_no_mention_and_no_link_remains(content: str, never: str) -> None:
    shown = "".join(
        token.content for token in tokens(markdown.text(content)) if token.children is None
    )
    assert not re.search(never, shown)


@given(anything)
def test_a_summary_in_html_stays_text(content: str) -> None:
    shown = markdown.html_text(content)
    assert "<" not in shown
    assert not re.search(r"@\w|#\d|GH-\d|://|www\.", shown)
    assert html.unescape(shown).replace("\u200b", "") == plain(content)


@given(anything)
def test_code_is_one_piece_of_code_in_a_cell_too(content: str) -> None:
    parts = tokens(markdown.table(["a", "b"], [[markdown.code(content), "end"]]))
    (piece,) = (token for token in parts if token.type == "code_inline")
    expected = escape_line(content.replace("\n", " "))
    assert piece.content.strip() == expected.strip()
    assert [token.type for token in parts].count("td_open") == 2


@given(anything)
def test_a_block_holds_its_lines(content: str) -> None:
    parts = tokens(markdown.block(content, "text") + "\n\nafter")
    assert [token.type for token in parts][:2] == ["fence", "paragraph_open"]
    lines = content.replace("\r\n", "\n").split("\n")
    assert parts[0].content == "".join(escape_line(line) + "\n" for line in lines)


def test_links_go_where_they_say() -> None:
    assert markdown.link("#7", "https://github.com/a/b/pull/7").endswith(
        "](https://github.com/a/b/pull/7)"
    )
    assert "(" not in markdown.link("x", "javascript:alert(1)").replace("\\(", "")


def test_marks_and_long_lists() -> None:
    assert markdown.marker("pull-request", "dev") == (
        "<!-- kalypso:v1 kind=pull-request environment=dev -->"
    )
    assert markdown.some(["a", "b", "c"], 2) == ["a", "b", "… and 1 more"]
    assert markdown.some(["a", "b"], 2) == ["a", "b"]
    assert "<summary>s</summary>\n\nx\n\n</details>" in markdown.details("s", "x")


@given(anything)
def test_plain_words_come_back(words: str) -> None:
    shown = " ".join(escape_line(words.replace("\n", " ")).split())
    assert markdown.plain(markdown.text(words)) == shown


def test_the_words_of_a_heading_with_links_and_code() -> None:
    heading = f"{markdown.link('pull [1]', 'https://a.example/1')} in {markdown.code('dev')}"
    assert markdown.plain(heading) == "pull [1] in dev"


@pytest.mark.parametrize(
    ("repository", "path", "line", "shown"),
    [
        ("https://git.test/acme/shop", "a/b.yaml", 3, "`a/b.yaml:3` in `acme/shop`"),
        ("https://git.test/acme/fleet@dev", "a.yaml", 0, "`a.yaml` in `acme/fleet@dev`"),
        ("git@git.test:acme/shop.git", "a.yaml", 1, "`a.yaml:1` in `git@git.test:acme/shop.git`"),
        ("https://git.test/shop", "", 0, "`https://git.test/shop`"),
        ("../shop", "", 0, "`../shop`"),
    ],
)
def test_a_finding_says_in_which_file_of_which_repository(
    repository: str, path: str, line: int, shown: str
) -> None:
    finding = Finding("it fails", Location(repository, path, line), "mend it")
    said = f"**Problems**\n\n- {shown} — it fails<br>→ mend it"
    assert markdown.findings([finding]) == said


def test_warnings_follow_problems_and_notes_are_collapsed() -> None:
    levels: tuple[Level, ...] = ("note", "warning", "error")
    listed = [Finding(level, level=level) for level in levels]
    listed.append(Finding("acknowledged", reason="until May", level="warning"))
    assert markdown.findings(listed) == (
        "**Problems**\n\n- error\n\n**Warnings**\n\n- warning\n\n"
        "<details>\n<summary>1 note</summary>\n\n- note\n\n</details>"
    )
    assert markdown.findings([]) == ""


@pytest.mark.parametrize(
    ("repository", "path", "expected"),
    [
        ("https://git.test/acme/fleet.git", "a b/(c).yaml", "https://git.test/acme/fleet/blob/1/a%20b/%28c%29.yaml#L3"),
        ("https://dev.azure.com/org/project/_git/repo", "a.yaml", ""),
        ("https://user@git.test/acme/fleet", "a.yaml", ""),
        ("git@git.test:acme/fleet", "a.yaml", ""),
        ("../fleet", "a.yaml", ""),
        ("https://git.test/acme/fleet", "", ""),
    ],
)  # fmt: skip
def test_permalinks(repository: str, path: str, expected: str) -> None:
    where = Location(repository, path, 3, commit="1")
    assert markdown.permalink(where) == expected
    assert markdown.permalink(replace(where, commit="")) == ""
