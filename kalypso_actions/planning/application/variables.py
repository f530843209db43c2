"""Replace the ten variables in a YAML file, so that each value stays the text that it is.

With upstream's modes, replace variables as envsubst does, and warn where a value is no text.
https://www.gnu.org/software/gettext/manual/html_node/envsubst-Invocation.html
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Final

import yaml

from kalypso_actions.errors import Diagnostics, Location, Problem
from kalypso_actions.model.application import VARIABLES, Compatibility
from kalypso_actions.model.nearest import misspelled
from kalypso_actions.sources.yaml_documents import LOADER, error_mark, error_message, read_text
from kalypso_go import goyaml

REFERENCE: Final = re.compile(r"\$(?:([A-Za-z_][A-Za-z0-9_]*)|\{([A-Za-z_][A-Za-z0-9_]*)\})")
"""`$A` and `${A}`; envsubst leaves every other `$` as it is: `${A:-x}`, `$1`, `$(A)`."""
_TEN: Final = "|".join(VARIABLES)
OWN_REFERENCE: Final = re.compile(rf"\$?\$(?:({_TEN})(?![A-Za-z0-9_])|\{{({_TEN})\}})")
"""A reference to one of the ten; with `$$`, the text of such a reference."""

FLOW_STARTS: Final = (yaml.FlowSequenceStartToken, yaml.FlowMappingStartToken)
FLOW_ENDS: Final = (yaml.FlowSequenceEndToken, yaml.FlowMappingEndToken)
RESOLVER: Final = yaml.resolver.Resolver()
TEXT_TAG: Final = "tag:yaml.org,2002:str"
NEVER_PLAIN_IN_FLOW: Final = re.compile(r"[][{},]|\A[:?]")
OTHER_TYPES: Final = frozenset({"binary", "bool", "float", "int", "null", "timestamp"})
"""YAML's tags of scalars that are no texts."""
PRIVATE_USE: Final = range(0xE000, 0xF900)
"""Characters that mean nothing in YAML. https://www.unicode.org/faq/private_use.html"""
PATCHES: Final = frozenset({"patch", "patchesStrategicMerge"})
"""Fields of a kustomization whose texts kustomize reads as YAML."""
MAX_SHOWN: Final = 80


def replace_variables(
    content: bytes,
    variables: Mapping[str, str],
    where: Location,
    compatibility: Compatibility,
) -> tuple[bytes, Diagnostics]:
    """Return the file with the values of `variables`; `where` is the file.

    With `none`, only the ten names are variables. A plain scalar that YAML would not read as the
    text that it is gets quotes. If quotes do not help, it is a problem, and so is a variable
    without a value outside comments. Upstream's modes replace every name, by nothing if it has no
    value.
    """
    if compatibility != "none":
        return _as_envsubst(content, variables, where)
    text = read_text(content, where)
    if isinstance(text, Problem):
        return content, Diagnostics([text] if b"$" in content else [])
    findings = Diagnostics(warnings=list(_misspelled(text, where)))
    if not OWN_REFERENCE.search(text):
        return content, findings
    try:
        filled = _fill(text, OWN_REFERENCE, variables, where)
    except yaml.YAMLError as error:
        place = Location(where.repository, where.path, *error_mark(error, text))
        message = f"not valid YAML: {error_message(error)}"
        findings.problems.append(Problem(message, place, code="yaml-invalid"))
        return content, findings
    findings.problems += filled.refused
    for name, reference in filled.unknown.items():
        message, advice = f"the variable ${name} has no value", f"give it with --{OPTIONS[name]}"
        place = replace(where, line=reference.line)
        findings.problems.append(Problem(message, place, advice, "variable-undefined"))
    return filled.text.encode(), findings


def _as_envsubst(
    content: bytes, variables: Mapping[str, str], where: Location
) -> tuple[bytes, Diagnostics]:
    values = {**dict.fromkeys(VARIABLES, ""), **variables}
    findings = Diagnostics()
    with suppress(yaml.YAMLError):  # the check of the values reports it
        filled = _fill(content.decode("utf-8-sig", "replace"), REFERENCE, values, where)
        findings.warnings += [*filled.quoted, *filled.refused]
        for name, reference in filled.unknown.items():
            message = f"upstream replaces ${name} by a variable of the runner, Kalypso by nothing"
            place = replace(where, line=reference.line)
            advice = "set compatibility to none, where it stays as it is"
            findings.warnings.append(Problem(message, place, advice, "variable-unknown"))
    text = content.decode("utf-8", "surrogateescape")
    text = REFERENCE.sub(lambda match: values.get(match[1] or match[2], ""), text)
    return text.encode("utf-8", "surrogateescape"), findings


@dataclass(frozen=True, slots=True)
class _Reference:
    """A reference in a text, and its value; None for a variable without one."""

    text: str
    name: str
    value: str | None
    line: int


def _references(
    text: str, pattern: re.Pattern[str], variables: Mapping[str, str]
) -> Iterator[_Reference]:
    line, position = 1, 0
    for match in pattern.finditer(text):
        line += text.count("\n", position, match.start())
        position = match.start()
        name = match[1] or match[2]
        value = match[0][1:] if match[0].startswith("$$") else variables.get(name)
        yield _Reference(match[0], name, value, line)


def _misspelled(text: str, where: Location) -> Iterator[Problem]:
    """Warn of names that are probably meant to be one of the ten."""
    lines: dict[str, int] = {}
    for item in _references(text, REFERENCE, {}):
        lines.setdefault(item.name, item.line)
    for name, line in lines.items():
        near = misspelled(name, VARIABLES) if name.isupper() and name not in VARIABLES else ""
        if near:
            message = f"${name} is not one of the ten variables, and stays as it is"
            place, advice = replace(where, line=line), f"is ${near} meant?"
            yield Problem(message, place, advice, "variable-unknown")


@dataclass(slots=True)
class _Filled:
    """A text with its values, and the findings: plain scalars that need quotes, refused scalars.

    `unknown` are the first references to variables without a value, by name, except in comments.
    """

    text: str = ""
    unknown: dict[str, _Reference] = field(default_factory=dict)
    quoted: list[Problem] = field(default_factory=list)
    refused: list[Problem] = field(default_factory=list)


def _fill(
    text: str, pattern: re.Pattern[str], variables: Mapping[str, str], where: Location
) -> _Filled:
    """Put the values in, with quotes around plain scalars that would be no texts without them.

    References without a value stay. YAML must read the result as it reads the text with a word in
    the place of each reference, else a scalar is refused. Raises yaml.YAMLError.
    """
    used = set(text)
    mark = next((character for character in map(chr, PRIVATE_USE) if character not in used), "")
    if not mark:
        raise yaml.YAMLError("the text has all characters of Unicode's private use")
    marked, rest = pattern.sub(mark, text), _references(text, pattern, variables)
    filled, position = _Filled(), 0
    parts: list[str] = []
    wanted: list[tuple[yaml.Token, object]] = []
    for token, context in _tokens(marked):
        value = getattr(token, "value", None)
        if isinstance(token, yaml.ScalarToken) and mark in token.value:
            start, end = token.start_mark.index, token.end_mark.index
            parts.append(_put(marked[position:start], mark, rest))
            references = list(islice(rest, marked.count(mark, start, end)))
            scalar = _put(marked[start:end], mark, iter(references))
            # The first line of a block scalar may end with a comment.
            references = references[-token.value.count(mark) :]
            value = _put(token.value, mark, iter(references))
            source = _put(token.value, mark, iter(references), source=True)
            place = replace(where, line=references[0].line)
            if token.plain and not _is_plain(value, in_flow=context.in_flow):
                scalar = json.dumps(value, ensure_ascii=False) + "\n" * scalar.count("\n")
                message = f"YAML does not read {_shown(value)} as a text without quotes"
                advice = f"write {json.dumps(source)}"
                filled.quoted.append(Problem(message, place, advice, "variable-not-text"))
            elif context.key in PATCHES:
                first = token.start_mark.line + (token.style in {"|", ">"})
                filled.refused += _in_patch(source, pattern, variables, replace(where, line=first))
            if context.tag in OTHER_TYPES:
                message = f"{_shown(value)} is no text with the tag !!{context.tag}"
                problem = Problem(message, place, "remove the tag", "variable-not-text")
                filled.refused.append(problem)
            for reference in references:
                if reference.value is None:
                    filled.unknown.setdefault(reference.name, reference)
            parts.append(scalar)
            position = end
        wanted.append((token, value))
    filled.text = "".join((*parts, _put(marked[position:], mark, rest)))
    line = _first_difference(wanted, filled.text)
    if line and not filled.refused:
        message = "with the values of the variables, YAML reads this line differently"
        advice = "write the value in double quotes, on one line of at most 1024 characters"
        problem = Problem(message, replace(where, line=line), advice, "variable-not-text")
        filled.refused.append(problem)
    return filled


@dataclass(frozen=True, slots=True)
class _Context:
    """Where a token stands: in a flow collection, below a key, behind a tag."""

    in_flow: bool
    key: str
    tag: str


def _tokens(text: str) -> Iterator[tuple[yaml.Token, _Context]]:
    """Yield the tokens of YAML's scanner with their contexts. Raises yaml.YAMLError."""
    depth, key, tag, is_key = 0, "", "", False
    for token in yaml.scan(text, Loader=LOADER):
        depth += isinstance(token, FLOW_STARTS) - isinstance(token, FLOW_ENDS)
        yield token, _Context(depth > 0, key, tag)
        if is_key and isinstance(token, yaml.ScalarToken):
            key = token.value
        is_key = isinstance(token, yaml.KeyToken)
        if not isinstance(token, yaml.AnchorToken):
            tag = token.value[1].rpartition(":")[2] if isinstance(token, yaml.TagToken) else ""


def _in_patch(
    text: str, pattern: re.Pattern[str], variables: Mapping[str, str], where: Location
) -> Iterator[Problem]:
    """Yield a problem for each scalar of a patch that needs quotes, which are its author's."""
    with suppress(yaml.YAMLError):  # kustomize reports it
        filled = _fill(text, pattern, variables, where)
        for problem in (*filled.quoted, *filled.refused):
            line = problem.where.line if problem.where else 0
            yield replace(problem, where=replace(where, line=where.line + line))


def _first_difference(wanted: Iterable[tuple[yaml.Token, object]], text: str) -> int:
    """Return the line of the first token that YAML does not read in a text; 0 if it reads all."""
    tokens = yaml.scan(text, Loader=LOADER)
    for token, value in wanted:
        try:
            actual = next(tokens)
        except (yaml.YAMLError, StopIteration):
            actual = None
        if type(actual) is not type(token) or getattr(actual, "value", None) != value:
            return int(token.start_mark.line) + 1
    return 0


def _put(text: str, mark: str, references: Iterator[_Reference], *, source: bool = False) -> str:
    """Replace the marks by the values of the next references, or by those as in the `source`."""

    def value(_: re.Match[str]) -> str:
        reference = next(references)
        return reference.text if source or reference.value is None else reference.value

    return re.sub(mark, value, text)


def _is_plain(text: str, *, in_flow: bool) -> bool:
    """Whether PyYAML and Go's libraries read a plain scalar as the text that it is."""
    if in_flow and NEVER_PLAIN_IN_FLOW.search(text):
        return False
    shown = text.strip(" ")
    tag = RESOLVER.resolve(yaml.ScalarNode, shown, (True, False))  # type: ignore[no-untyped-call]  # PyYAML has no types
    return tag == TEXT_TAG and goyaml.dump_v3(shown) == f"{shown}\n"


def _shown(text: str) -> str:
    return repr(text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}…")


OPTIONS: Final = {
    "WORKLOAD": "workload",
    "ENVIRONMENT": "environment",
    "SOURCE_REPO": "source-repository",
    "GITOPS_REPO": "gitops-repository",
    "SOURCE_BRANCH": "source-branch",
    "VERSION": "version",
    "IMAGE_TAG": "image-tag",
    "IMAGE_NAME": "image-name",
    "SRC_COMMIT": "source-commit",
    "CONFIG_REVISION": "config-revision",
}
"""The input that gives each variable its value."""
