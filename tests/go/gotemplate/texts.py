"""Texts that look like templates, valid and invalid."""

from __future__ import annotations

from hypothesis import strategies as st

PIECES = (
    "{{", "}}", "{{", "}}", "{{- ", " -}}", "\n", " ", "text", "{{end}}", "{{else}}", "{{.}}",
    "if ", "else if ", "else with ", "range ", "with ", "define ", "template ", "block ", "end",
    "break", "continue", "nil", "true", ".", ".Name", ".Labels.app", "$", "$x", ":=", "=", ", ",
    " | ", "(", ")", '"a"', '"\\n"', "`raw`", "'c'", "12", "0x1F", "1.5", "2i", "1+2i", "089",
    "print", "printf", "and", "eq", "len", "/*", "*/", "{{/* c */}}", '"', "'", "é", "²", "-", "@",
    "{{if .}}", "{{range .}}", "{{range $i, $x := .}}", "{{with $x := .}}", '{{define "a"}}',
    '{{template "a" .}}', '{{block "b" .}}', "{{$x := 1}}", "{{$x = 2}}", "{{else if .}}",
)  # fmt: skip

TEMPLATES = st.lists(st.sampled_from(PIECES), max_size=24).map("".join)
"""Pieces of the language in any order."""

_OPERANDS = (
    ".", ".Name", ".Labels.app", ".Labels.nope", "$", "$x", "$x.a", "1", "-2", "1.5", "2i", "'c'",
    '"s"', '"%v\\n"', "`r`", "true", "nil", "(len .Labels)", "(index .Labels `app`)", "(print)",
)  # fmt: skip
_FUNCTIONS = (
    "and", "or", "not", "eq", "ne", "lt", "le", "gt", "ge", "len", "index", "slice", "print",
    "printf", "println", "html", "js", "urlquery", "call",
)  # fmt: skip

_operand = st.sampled_from(_OPERANDS)
_call = st.tuples(st.sampled_from(_FUNCTIONS), st.lists(_operand, max_size=3)).map(
    lambda call: " ".join((call[0], *call[1]))
)
_command = _operand | _call
_pipeline = st.tuples(_command, st.lists(_call, max_size=2)).map(
    lambda parts: " | ".join((parts[0], *parts[1]))
)
_action = _pipeline.map(lambda pipeline: f"{{{{{pipeline}}}}}")


def _controls(bodies: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    def control(keyword: str) -> st.SearchStrategy[str]:
        return st.tuples(_pipeline, bodies, bodies).map(
            lambda parts: f"{{{{{keyword}{parts[0]}}}}}{parts[1]}{{{{else}}}}{parts[2]}{{{{end}}}}"
        )

    keywords = ("if ", "with ", "range ", "range $x := ", "range $i, $x := ", "with $x := ")
    return st.one_of([control(keyword) for keyword in keywords])


_bodies = st.recursive(
    _action | st.sampled_from(("text", " ", "é\n")),
    lambda inner: st.lists(inner | _controls(inner), max_size=3).map("".join),
    max_leaves=8,
)

PARSABLE = _bodies.map(lambda body: "{{$x := .Labels}}" + body)
"""Templates that parse; the execution of some fails."""
