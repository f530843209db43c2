"""What the recorded template cases cover: syntax nodes, built-ins, verbs of printf, functions.

A case counts for an item as `error` when Go refused it, as `odd` when it is tagged so, else as
`ordinary`. What a template is made of is read from Go's own tree; for one that does not parse,
from the tags in `covers` and the words of the error.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

from tests.oracle.cases import Case, load
from tools.oracle import program

CLASSES = ("ordinary", "odd", "error")

BUILTINS = (
    "and", "or", "not", "eq", "ne", "lt", "le", "gt", "ge", "len", "index", "print", "printf",
    "println", "call", "html", "js", "urlquery",
)  # fmt: skip
VERBS = tuple("vTtbcdoOqxXUeEfFgGs%")
"""All but `p`, which prints an address."""
FLAGS = ("+", "-", "#", " ", "0", "width", "precision", "*", "[n]")

_VERB = re.compile(
    r"%(?P<flags>[-+# 0]*)(?P<index>\[\d+\])?(?P<width>\d+|\*)?"
    r"(?P<precision>\.(?:\d+|(?:\[\d+\])?\*)?)?(?:\[\d+\])?(?P<verb>[a-zA-Z%])"
)
_CALLED = re.compile(r"error calling (\w+)|args for (\w+)")
_PLACE = re.compile(r"^template: [^: ]*(:\d+)*: ")


@dataclass(frozen=True, slots=True)
class Language:
    """What there is to cover, as the program names it."""

    nodes: tuple[str, ...]
    functions: tuple[str, ...]


@dataclass
class Coverage:
    """Cases per class, for every item of a kind (`node`, `function`, `verb`, `flag`)."""

    counts: dict[tuple[str, str], Counter[str]] = field(default_factory=dict)

    def add(self, kind: str, item: str, class_: str) -> None:
        """Count one case."""
        self.counts.setdefault((kind, item), Counter())[class_] += 1

    def of(self, kind: str, item: str) -> Counter[str]:
        """The counts of one item, all zero where nothing covers it."""
        return self.counts.get((kind, item), Counter())


def language() -> Language:
    """Ask the program for node kinds and functions."""
    (answer,) = program.ask([{"op": "language"}])
    return Language(tuple(answer["output"]["nodes"]), tuple(answer["output"]["functions"]))


def measure(known: Language) -> Coverage:
    """Count every recorded template case."""
    cases = load("template")
    trees = program.ask({"op": "syntax", "text": case.request["text"]} for case in cases)
    coverage = Coverage()
    for case, tree in zip(cases, trees, strict=True):
        parts = tree.get("output", {"nodes": (), "functions": (), "formats": ()})
        class_ = _class(case)
        for node in _nodes(case, set(parts["nodes"]), known):
            coverage.add("node", node, class_)
        for function in _functions(case, set(parts["functions"]), known):
            coverage.add("function", function, class_)
        for kind, item in _verbs(parts["formats"]):
            coverage.add(kind, item, class_)
    return coverage


def _class(case: Case) -> str:
    if case.error is not None:
        return "error"
    return "odd" if "odd" in case.covers else "ordinary"


def _nodes(case: Case, in_tree: set[str], known: Language) -> set[str]:
    """Those of the tree and those tagged; without a tree, those that the error names as well."""
    tags = {tag.lower() for tag in case.covers}
    if case.error is not None and not in_tree:
        tags |= set(re.findall(r"[a-z]+", _PLACE.sub("", case.error).lower()))
    return in_tree | {node for node in known.nodes if node.lower() in tags}


def _functions(case: Case, in_tree: set[str], known: Language) -> set[str]:
    """Those called and those tagged; of a case that fails, those that the error names, if any."""
    everything = {*known.functions, *BUILTINS}
    tagged = set(case.covers) & everything
    if case.error is None:
        return in_tree & everything | tagged
    named = {name for match in _CALLED.findall(case.error) for name in match} & everything
    return named | tagged or in_tree & everything


def _verbs(formats: list[str]) -> set[tuple[str, str]]:
    found = set()
    for match in (match for text in formats for match in _VERB.finditer(text)):
        if match["verb"] in VERBS:
            found.add(("verb", match["verb"]))
        flags = set(match["flags"])
        flags |= {"width"} if match["width"] else set()
        flags |= {"precision"} if match["precision"] else set()
        flags |= {"*"} if "*" in match[0] else set()
        flags |= {"[n]"} if "[" in match[0] else set()
        found |= {("flag", flag) for flag in flags}
    return found
