"""Replace secrets in the text of a file: YAML, JSON, shell scripts, or anything else.

A text is read line by line, because a template may print any text.
"""

from __future__ import annotations

import base64
import binascii
import heapq
import json
import re
from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache
from typing import Final
from urllib.parse import quote

from kalypso_actions.comparison.masked_keys import KeyNames

MASKED: Final = "***"

_LINE: Final = re.compile(r"[^\n]*\n|[^\n]+")
"""YAML's lines: str.splitlines also splits elsewhere, which would end a masked value."""

_ENTRY: Final = re.compile(
    r"""(?P<start>[ \t#]*+(?:-[ \t]++)*+(?:export[ \t]++)?+)  # the indentation, and dashes of lists
    (?P<quote>["']?)(?P<key>[^"':=\#<\n]{1,200}+)(?P=quote)
    (?P<separator>[ \t]*+(?::(?=[ \t]|$)|=)[ \t]*+)(?P<value>.*)""",
    re.VERBOSE,
)
"""A line that begins with a key: `- password: text`, `"token": "text",`, `export KEY="text"`."""

_KEY: Final = re.compile(
    r"""(?<![\w.-])(?P<key>[\w.-]++)\\?["']?[ \t]{0,40}"""
    r"""(?P<separator>:|=|[ \t](?=[^\s-]))[ \t]{0,40}"""
)
"""A key within a line: in JSON, in a connection string, in a program's options."""

_NAMED: Final = re.compile(
    r"""\b(?:name|key)\\?["']?[ \t]{0,40}[:=][ \t]{0,40}\\?["']?(?P<key>[\w.-]++)\\?["']?"""
    r"""(?:[,\s]|\\n)++\\?["']?value\\?["']?[ \t]{0,40}(?P<separator>[:=])[ \t]{0,40}"""
)
"""A named value, as in `{name: PASSWORD, value: text}` or `<add key="Password" value="text"/>`."""

_NAMED_LATER: Final = re.compile(
    r"""\bvalue\\?["']?[ \t]{0,40}(?P<separator>[:=])[ \t]{0,40}"""
    r"""(?=(?:"[^"\n]*+"|'[^'\n]*+'|[^\s,;{}"'][^,;{}"'\n]{0,400}+)[,\s]++"""
    r"""\\?["']?(?:name|key)\\?["']?[ \t]{0,40}[:=][ \t]{0,40}\\?["']?(?P<key>[\w.-]++))"""
)
"""A named value with the value first: `{value: text, name: PASSWORD}`."""

_OPTION: Final = re.compile(
    r"""(?<![\w.-])(?P<key>--?[\w-]++)\\?["']?[ \t]*+"""
    r"""(?:(?P<separator>,)\s*+|\n[ \t]*+-[ \t]++)(?=[^\s-])(?!["']-)"""
)
"""An option before its value in a list: `["--password", "text"]`."""

_ELEMENT: Final = re.compile(r"<(?P<key>[\w.:-]{1,200}+)[^<>]{0,200}+>(?P<separator>)(?=[^<])")
"""An element of XML that begins with a text."""

_DOUBLED: Final = r"""''(?=[^'\s,}\]])(?:[^']++|'''')*+''(?!')|''(?=[ \t]++[^'\s,}\]#])[^'\n]*+''"""
"""A text in the doubled quotes of another one; they are an empty value if nothing follows them."""

# The quantifiers are possessive, because backtracking takes a hundred bytes for each character.
_QUOTED: Final = (
    r"""\\?"(?:[^"\\]++|\\.)*+"|""" + _DOUBLED + r"""|'[^']*+'(?:'[^']*+')*+|[\[{](?:\\\n|.)*+"""
)
_VALUES: Final = {
    # YAML folds a quoted text after a backslash.
    ":": re.compile(rf"{_QUOTED}|(?:\\\n|[^,\]}}\n])++"),
    "=": re.compile(rf"""{_QUOTED}|[^\s,;&"'\]}}]+"""),
    "": re.compile(r"[^<]+"),
}

_CREDENTIAL_FORMS: Final = {
    "@": r"(?<=://)[^/\s@]+(?=@)",
    "Bearer ": r"(?<=\bBearer )[\w+/=.~-]{8,}",
    "Basic ": r"(?<=\bBasic )[\w+/=]{8,}",
    **{
        start: rf"\b{start}[\w-]{{10,}}"
        for start in (
            *("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "npm_"),
            *("xoxa-", "xoxb-", "xoxp-", "xoxr-", "xoxs-"),
        )
    },
    "AKIA": r"\bAKIA[0-9A-Z]{16}\b",
    **{start: rf"\b{start}[\w-]{{20,}}" for start in ("sk-", "sk_live_", "AIza")},
    "hooks.slack.com/services/": r"(?<=hooks\.slack\.com/services/)[\w/]+",
    "eyJ": r"(?<![\w-])eyJ[\w-]+\.[\w-]+\.[\w-]+",
}
"""Patterns for credentials in URLs and headers, and for tokens of well-known services. A key
is a text that every match needs: most texts have none of the keys, and so need no search."""

_BASE64: Final = re.compile(r"[A-Za-z0-9+/]{8,}+={0,2}")

_PRIVATE_KEY: Final = re.compile(
    r"(-----BEGIN [^-\n]*PRIVATE KEY[^-\n]*-----).*?(-----END |\Z)", re.DOTALL
)
_LAST_KEY: Final = re.compile(
    r"""(?<![\w.-])(?P<key>[\w.-]++)["']?[ \t]*+:[ \t]*+[|>]?[+-]?\s*+\Z"""
)
"""A key at the end of a line, as in `file: 'password:`: its value is on the next lines."""

_AFTER_LAST_KEY: Final = (":", "|", ">", "+", "-")
"""The last character of a line that _LAST_KEY matches."""

_LAST_NAME: Final = re.compile(
    r"""\b(?:name|key)["']?[ \t]*+:[ \t]*+["']?(?P<key>[\w.-]++)["']?\s*+\Z"""
)
"""A name at the end of a line, as in `file: 'name: PASSWORD`."""

_SUBJECT: Final = re.compile(r"(?:\w '|^[\w.-]++ on )(?P<name>[\w.-]++)'?: ")
"""The subject of a sentence, whose name is not a key: `ConfigMap 'name': …`, `web on name: …`."""

_OPERATOR: Final = re.compile(
    r"""[ \t]*+\\?["']?[\w./-]*+\\?["']?(?:[,\s]|\\n)++\\?["']?operator\\?["']?[ \t]*:"""
)
"""The text after `key:` in a selector, a toleration or an affinity, whose key is not secret."""

_KEY_REFERENCE: Final = re.compile(
    r"""key_?refs?\\?["']?[ \t]*:[ \t]*(?:\{[^{}]{0,200}"""
    r"""|(?:\n[ \t]+(?:-[ \t]+)?(?:name|optional)[ \t]*:[^\n]*){0,3}\n[ \t]+)\Z""",
    re.IGNORECASE,
)
"""The text before `key:` in a secretKeyRef, where it is the name of an entry of a Secret."""
_LONGEST_REFERENCE: Final = 400

_OF_REFERENCES: Final = frozenset(
    {
        *("name", "secretname", "namespace", "kind", "group", "apiversion", "optional"),
        *("items", "key", "path", "mode", "defaultmode", "audience", "expirationseconds"),
    }
)
_NAMING: Final = frozenset({"name", "secretname", "audience"})
"""The keys of a mapping that names a Secret, as `secret:` of a volume; one is a name."""

_FLOW_MAPPING: Final = re.compile(r"\{([^{}\n]{1,200})\}")

_SECRET_KIND: Final = re.compile(
    r"""(?m)(?:^|[\s{,-])\\?["']?kind\\?["']?[ \t]*:[ \t]*"""
    r"""\\?["']?Secret\\?["']?[ \t]*(?=[,}#\r]|$)"""
)
_SECRET_DATA: Final = ("data", "stringData")
_HEREDOC: Final = re.compile(r"""<<[-~]?["']?(?P<end>\w+)""")
_LONGEST_MAPPING: Final = 200
"""The most lines between the name and the value of an entry."""

_NAMES, _VALUE = frozenset({"name", "key"}), "value"

_WORD: Final = re.compile(r"[\w.-]+")
_ELEMENT_NAME: Final = re.compile(r"<([\w.:-]{1,200})")
_LONGEST_KNOWN: Final = 200
"""The most characters of a remembered line; the files of a fleet have many lines in common."""


def mask_text(text: str, names: KeyNames, secrets: Collection[str] = ()) -> str:
    """Return the text without the values below secret keys, and without `secrets`."""
    text = replace_secrets(_PRIVATE_KEY.sub(rf"\1{MASKED}\2", text), secrets)
    if not _may_have_secret(text, names):
        return text
    documents = re.split(r"(?m)^(---.*\n?)", text)
    return _without_credentials("".join(_document(each, names) for each in documents))


def mask_line(text: str, names: KeyNames, secrets: Collection[str] = ()) -> str:
    """Return a sentence without secrets."""
    text = replace_secrets(text, secrets)
    subjects = {match.start("name") for match in _SUBJECT.finditer(text)}
    return _without_credentials(_inline(text, names, subjects))


def has_token(text: str) -> bool:
    """Whether a text has a token of a well-known service, and no placeholder such as ghp_xxx."""
    found = (
        re.search(pattern, text)
        for needed, pattern in _CREDENTIAL_FORMS.items()
        if needed in text and needed not in {"@", "Bearer ", "Basic "}
    )
    return any(match and re.search(r"\d", match[0]) for match in found)


def _without_credentials(text: str) -> str:
    patterns = [pattern for needed, pattern in _CREDENTIAL_FORMS.items() if needed in text]
    return re.sub("|".join(patterns), MASKED, text) if patterns else text


def replace_secrets(text: str, secrets: Collection[str]) -> str:
    """Replace secrets in plain, quoted, URL-encoded and base64 form, the longest first."""
    present = {form for secret in secrets for form in _forms(secret) if form in text}
    for form in sorted(present, key=len, reverse=True):
        text = text.replace(form, MASKED)
    return _BASE64.sub(lambda word: _without_encoded(word[0], secrets), text) if secrets else text


@lru_cache(maxsize=1000)
def _forms(secret: str) -> tuple[str, ...]:
    encoded = secret.encode("utf-8", "surrogateescape")
    quoted = json.dumps(secret, ensure_ascii=False)[1:-1]
    return (
        secret,
        base64.b64encode(encoded).decode(),
        quote(encoded, safe=""),
        quoted,
        # Go's JSON escapes these as well.
        re.sub("[<>&]", lambda character: f"\\u{ord(character[0]):04x}", quoted),
    )


def _without_encoded(word: str, secrets: Collection[str]) -> str:
    """Return a word, or *** if it is a text with a secret in base64."""
    padding = "=" * (-len(word) % 4)
    try:
        decoded = base64.b64decode(word + padding).decode("utf-8", "surrogateescape")
    except binascii.Error:
        return word
    return MASKED if any(secret in decoded for secret in secrets) else word


def _may_have_secret(text: str, names: KeyNames) -> bool:
    """Return whether a text may have a credential or a secret key."""
    unknown = set(text.split("\n")) - names.plain_lines
    if any(len(line) > _LONGEST_KNOWN or _line_may_have(line, names) for line in unknown):
        return True
    names.remember(unknown)
    return False


def _line_may_have(line: str, names: KeyNames) -> bool:
    """Look at all words, and at the key and the name of an entry: masking uses no other keys."""
    if any(needed in line for needed in _CREDENTIAL_FORMS):
        return True
    keys = [*_WORD.findall(line), *_ELEMENT_NAME.findall(line)]
    if "\\" in line:
        keys += [key[1:] for key in keys]
    entry = _ENTRY.match(line.rstrip("\r"))
    if entry:
        keys.append(entry["key"].strip(" {"))
    if entry and entry["key"] in _NAMES:
        keys.append(entry["value"].strip(" \t\"',"))
    return any(map(names.include, keys))


def _document(text: str, names: KeyNames) -> str:
    lines = _LINE.findall(text)
    if _SECRET_KIND.search(text):
        names = names.extended(_SECRET_DATA)
    entries = [_ENTRY.match(line.rstrip("\r\n")) for line in lines]
    masked = {
        number
        for number, entry in enumerate(entries)
        if entry
        and names.include(entry["key"].strip(" {"))
        and not _is_selector(entry, lines[number + 1 : number + 2])
        and not (
            entry["key"] == "key"
            and _is_reference("".join(lines[max(number - 4, 0) : number]) + entry["start"])
        )
    }
    plain = {number for number in masked if _names_a_secret(number, entries, lines, names)}
    masked |= set(_named_values(entries, lines, names))
    return _inline("".join(_masked_lines(lines, entries, masked, plain, names)), names)


def _names_a_secret(
    number: int, entries: list[re.Match[str] | None], lines: list[str], names: KeyNames
) -> bool:
    """Whether the value of an entry is a mapping that only names a Secret and its entries."""
    entry = entries[number]
    if entry is None or names.is_given(entry["key"].strip(" {")):
        return False
    value = entry["value"].strip()
    if value:
        return _is_flow_reference(value, 0)
    inner = entries[number + 1 : _end_of_block(lines, number + 1, len(entry["start"]))]
    return _only_name(each["key"] if each else "" for each in inner)


def _is_flow_reference(text: str, start: int) -> bool:
    """Whether a flow mapping of names begins at a place: `{secretName: tls}`.

    A key in quotes, an entry without a value and a comma in a value are no names.
    """
    mapping = _FLOW_MAPPING.match(text, start)
    entries = mapping[1].split(",") if mapping else ()
    return _only_name(each.partition(":")[0] for each in entries)


def _only_name(keys: Iterable[str]) -> bool:
    """Whether a mapping with these keys names something, and holds nothing else."""
    known = {key.strip().casefold() for key in keys}
    return not known.isdisjoint(_NAMING) and known <= _OF_REFERENCES


def _is_selector(entry: re.Match[str], following: list[str]) -> bool:
    text = "\n".join([entry["value"], *following])
    return entry["key"].strip(" {") == "key" and _OPERATOR.match(text) is not None


def _masked_lines(
    lines: list[str],
    entries: list[re.Match[str] | None],
    masked: set[int],
    plain: set[int],
    names: KeyNames,
) -> Iterator[str]:
    """Yield the lines without the values of those `masked`, except `plain` mappings of names."""
    number = 0
    while number < len(lines):
        line, entry = lines[number], entries[number]
        number += 1
        if number - 1 in plain:
            yield line
            continue
        if entry is None or number - 1 not in masked:
            yield line
            ends_by_key = line.rstrip().endswith(_AFTER_LAST_KEY)
            last = _LAST_KEY.search(line) if ends_by_key else None
            if last and names.include(last["key"]):
                number = _end_of_block(lines, number, len(line) - len(line.lstrip(" \t-")))
            continue
        end = line[len(line.rstrip("\r\n")) :]
        comma = "," if entry["value"].rstrip().endswith(",") else ""
        key = f"{entry['start']}{entry['quote']}{entry['key']}{entry['quote']}"
        separator = entry["separator"] if "=" in entry["separator"] else ": "
        yield f"{key}{separator}{MASKED}{comma}{end}"
        number = _end_of_value(entry, lines, number)


def _end_of_value(entry: re.Match[str], lines: list[str], first: int) -> int:
    """Return the first line, from `first` on, that does not belong to the value of an entry."""
    value, column = entry["value"].strip(), len(entry["start"])
    opening = value[:1]
    following = range(first, len(lines))
    heredoc = _HEREDOC.match(value)
    if heredoc:
        ends = (n + 1 for n in following if lines[n].strip() == heredoc["end"])
        return next(ends, len(lines))
    if "=" in entry["separator"]:
        if opening not in {'"', "'"} or value[1:].endswith(opening):
            return first
        ends = (n + 1 for n in following if lines[n].rstrip().endswith(opening))
        return next(ends, len(lines))
    # The items of a list may begin in the column of its key.
    return _end_of_block(lines, first, column, has_items=not value)


def _end_of_block(lines: list[str], first: int, column: int, *, has_items: bool = False) -> int:
    """Return the first line, from `first` on, that is not indented beyond a column."""
    for number in range(first, len(lines)):
        content = lines[number].strip()
        indent = len(lines[number]) - len(lines[number].lstrip(" \t"))
        is_item = has_items and indent == column and content.startswith("-")
        if content and indent <= column and not is_item:
            return number
    return len(lines)


def _named_values(
    entries: list[re.Match[str] | None], lines: list[str], names: KeyNames
) -> Iterator[int]:
    """Yield the lines `value: …` in the same mapping as a line `name: PASSWORD`."""
    for number, entry in enumerate(entries):
        if entry is None or entry["key"] not in _NAMES:
            yield from _next_value(number, entries, lines, names)
            continue
        if not names.include(entry["value"].strip(" \t\"',")):
            continue
        column = len(entry["start"])
        begins = "-" in entry["start"]
        last = min(number + _LONGEST_MAPPING, len(lines))
        first = number if begins else max(number - _LONGEST_MAPPING, 0)
        for siblings in (range(number + 1, last), range(number - 1, first - 1, -1)):
            yield from _values(siblings, entries, lines, column)


def _next_value(
    number: int, entries: list[re.Match[str] | None], lines: list[str], names: KeyNames
) -> Iterator[int]:
    """Yield the next line if, in a quoted text, it is the value of a name that ends a line."""
    name = _LAST_NAME.search(lines[number])
    if name and names.include(name["key"]):
        following = range(number + 1, min(number + 3, len(lines)))
        entry = next((entries[n] for n in following if lines[n].strip()), None)
        if entry and entry["key"] == _VALUE:
            yield next(n for n in following if entries[n] is entry)


def _values(
    siblings: range, entries: list[re.Match[str] | None], lines: list[str], column: int
) -> Iterator[int]:
    is_backward = siblings.step < 0
    for number in siblings:
        entry = entries[number]
        indent = len(lines[number]) - len(lines[number].lstrip(" \t"))
        starts_item = lines[number].lstrip(" \t").startswith("-") and indent < column
        if lines[number].strip() and indent < column and not (is_backward and starts_item):
            return
        if entry and entry["key"] == _VALUE and len(entry["start"]) == column:
            yield number
        if starts_item:
            return


def _inline(text: str, names: KeyNames, subjects: Collection[int] = ()) -> str:
    masked, end = [], 0
    patterns = (_KEY, _NAMED, _NAMED_LATER, _OPTION, _ELEMENT)
    # Lazily, because a hostile text has a key at every eighth character.
    for match in heapq.merge(*(each.finditer(text) for each in patterns), key=re.Match.end):
        is_option = match["separator"] in {" ", "\t"}
        is_key = match["key"].startswith("-") if is_option else True
        if match.start("key") in subjects or not is_key:
            continue
        if match.end() >= end and _is_secret(match, text, names):
            value = _VALUES.get(match["separator"], _VALUES["="]).match(text, match.end())
            if value:
                masked += [text[end : match.end()], MASKED]
                end = value.end()
    return "".join((*masked, text[end:]))


def _is_reference(before: str) -> bool:
    """Whether a text ends where a secretKeyRef names the entry of its Secret."""
    return _KEY_REFERENCE.search(before.rstrip("\"'\\")) is not None


def _is_secret(match: re.Match[str], text: str, names: KeyNames) -> bool:
    """Whether a key is secret; after a backslash, its first letter may stand for a line break."""
    key, start = match["key"], match.start("key")
    before = text[max(start - _LONGEST_REFERENCE, 0) : start]
    if key == "key" and (_OPERATOR.match(text, match.end()) or _is_reference(before)):
        return False
    if _is_flow_reference(text, match.end()) and not names.is_given(key):
        return False
    is_escaped = text[max(start - 1, 0) : start] == "\\"
    return names.include(key) or (is_escaped and names.include(key[1:]))
