"""Coverage of the recorded template cases: syntax nodes, built-ins, verbs of printf, functions.

A case counts for an item as `error` when Go refused it, as `odd` when it is tagged so, else as
`ordinary`. The items of a template come from Go's own tree; if it does not parse, from the tags in
`covers` and the words of the error.
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
    """The node kinds and functions to cover, as the Go program names them."""

    nodes: tuple[str, ...]
    functions: tuple[str, ...]


@dataclass
class Coverage:
    """Counts of cases per class for each item of a kind (`node`, `function`, `verb`, `flag`)."""

    counts: dict[tuple[str, str], Counter[str]] = field(default_factory=dict)

    def add(self, kind: str, item: str, class_: str) -> None:
        """Count one case."""
        self.counts.setdefault((kind, item), Counter())[class_] += 1

    def of(self, kind: str, item: str) -> Counter[str]:
        """Return the counts of one item, all zero if nothing covers it."""
        return self.counts.get((kind, item), Counter())


def language() -> Language:
    """Ask the Go program for node kinds and functions."""
    (answer,) = program.ask([{"op": "language"}])
    return Language(tuple(answer["output"]["nodes"]), tuple(answer["output"]["functions"]))


def measure(vocabulary: Language) -> Coverage:
    """Count every recorded template case."""
    cases = load("template")
    trees = program.ask({"op": "syntax", "text": case.request["text"]} for case in cases)
    coverage = Coverage()
    for case, tree in zip(cases, trees, strict=True):
        parts = tree.get("output", {"nodes": (), "functions": (), "formats": ()})
        class_ = _class(case)
        for node in _nodes(case, set(parts["nodes"]), vocabulary):
            coverage.add("node", node, class_)
        for function in _functions(case, set(parts["functions"]), vocabulary):
            coverage.add("function", function, class_)
        for kind, item in _verbs(parts["formats"]):
            coverage.add(kind, item, class_)
    return coverage


def _class(case: Case) -> str:
    if case.error is not None:
        return "error"
    return "odd" if "odd" in case.covers else "ordinary"


def _nodes(case: Case, in_tree: set[str], vocabulary: Language) -> set[str]:
    """Return the nodes of the tree and the tags; without a tree, also those in the error."""
    tags = {tag.lower() for tag in case.covers}
    if case.error is not None and not in_tree:
        tags |= set(re.findall(r"[a-z]+", _PLACE.sub("", case.error).lower()))
    return in_tree | {node for node in vocabulary.nodes if node.lower() in tags}


def _functions(case: Case, in_tree: set[str], vocabulary: Language) -> set[str]:
    """Return the called and tagged functions; for an error, those that its text names, if any."""
    everything = {*vocabulary.functions, *BUILTINS}
    tagged = set(case.covers) & everything
    if case.error is None:
        return in_tree & everything | tagged
    in_message = {name for match in _CALLED.findall(case.error) for name in match} & everything
    return in_message | tagged or in_tree & everything


def _verbs(formats: list[str]) -> set[tuple[str, str]]:
    items = set()
    for match in (match for text in formats for match in _VERB.finditer(text)):
        if match["verb"] in VERBS:
            items.add(("verb", match["verb"]))
        flags = set(match["flags"])
        flags |= {"width"} if match["width"] else set()
        flags |= {"precision"} if match["precision"] else set()
        flags |= {"*"} if "*" in match[0] else set()
        flags |= {"[n]"} if "[" in match[0] else set()
        items |= {("flag", flag) for flag in flags}
    return items
