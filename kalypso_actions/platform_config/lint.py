"""Values that are too large, or that upstream's rules read in a surprising way."""

from __future__ import annotations

import base64
import difflib
import re
from collections.abc import Iterable, Iterator
from typing import Final

from kalypso_actions.errors import Location, Problem
from kalypso_actions.model.kinds import PLATFORM_CONFIG_LABEL, ConfigMap
from kalypso_actions.model.kubernetes_names import DATA_KEY
from kalypso_actions.model.nearest import character_advice, character_faults
from kalypso_actions.platform_config.layers import AZURE_APP_CONFIG_PREFIX
from kalypso_actions.platform_config.merging import bound_fault, parse_value

_SECRET_KEY: Final = re.compile(
    r"(?:password|passwd|passphrase|(?:api|access|account|private)key|secret|token)$"
)
_PASSWORD_KEY: Final = re.compile(r"(?:password|passwd|passphrase)$")
_SECRET_VALUE: Final = re.compile(r"(?=.*\d)(?=.*[a-z])[^\s${}<>/:]{8,}", re.IGNORECASE)
"""One word of letters and digits; URLs, paths and placeholders only name the place of a secret."""
_SHORT_PASSWORD: Final = re.compile(r"(?=.*\d)(?=.*[a-z])[^\s${}<>/:]{6,7}", re.IGNORECASE)

_PASSWORD_IN_TEXT: Final = re.compile(
    r"://[^/\s:@]*:(?P<url>[^/\s@]+)@"
    r"|://(?P<token>[\w-]{20,})@"
    r"|(?:^|[;?&\s])(?:password|pwd|accountkey|sharedaccesskey)\s*=\s*(?P<entry>[^;&\s]{6,})",
    re.IGNORECASE,
)
"""A password or token of a URL, or an entry of a connection string."""

_OCTAL: Final = re.compile(r"(?:^|[\[{,:-])\s*(0[0-7]+)\s*(?=[\]},#]|$)", re.MULTILINE)
"""A number of a mapping or list that begins with 0, without quotes."""

_PLACEHOLDER: Final = re.compile(r"[$<{%*@/]|\.\.\.|…|x+\Z", re.IGNORECASE)
"""The beginning of a text that stands for a password."""

KEY_ADVICE: Final = "write letters, digits, '-', '_' and '.' only, at most 253"

_ENTRY: Final = re.compile(r"(?:^| )(?:-|[\w./-]+:)(?= )")
"""The beginning of an entry of a mapping or list in a text of one line."""
_SEPARATORS: Final = str.maketrans("", "", "-_. ")


def config_map_problems(config_map: ConfigMap) -> Iterator[Problem]:
    """Yield a problem for each value that is too large or too deep to be read."""
    for key, text in _values(config_map):
        fault = bound_fault(text)
        if fault:
            yield Problem(
                f"ConfigMap {config_map.name!r}: {key}: {fault}",
                config_map.at(key),
                "make the value smaller, or put it in single quotes to keep it a text",
                "config-value-too-large",
            )


def config_map_warnings(config_map: ConfigMap) -> Iterator[Problem]:
    """Yield warnings for the label and the values of a ConfigMap of platform configuration."""
    yield from _wrong_label(config_map)
    for key, text in _values(config_map):
        value = parse_value(text)
        subject = f"ConfigMap {config_map.name!r}: {key}"
        if not DATA_KEY.fullmatch(key):
            yield Problem(
                f"ConfigMap {config_map.name!r}: Kubernetes accepts no key {key!r} in a ConfigMap",
                config_map.at(key),
                character_advice(key) or KEY_ADVICE,
                "config-key-invalid",
            )
        for fault, advice in character_faults(value):
            yield Problem(
                f"{subject} {fault}", config_map.at(key), advice, "config-value-characters"
            )
        if is_secret(key, text) or _has_secret(value):
            yield Problem(
                f"{subject} looks like a secret, and all readers of the GitOps repository get it",
                config_map.at(key),
                "revoke it, store it elsewhere, and write the name of that place",
                "config-secret",
            )
        if _one_line_block(text, value):
            form = "a list" if isinstance(value, list) else "a mapping"
            yield Problem(
                f"{subject} looks like a text, but it is read as {form}",
                config_map.at(key),
                "put it in single quotes inside the value to keep it a text",
                "config-value-not-text",
            )
        octal = _OCTAL.search(text) if isinstance(value, list | dict) else None
        if octal and int(octal[1], 8) in _numbers(value):
            yield Problem(
                f"{subject}: {octal[1]} is an octal number in YAML 1.1, which becomes "
                f"{int(octal[1], 8)}",
                config_map.at(key),
                f'put it in quotes: "{octal[1]}"',
                "config-value-not-text",
            )
        for boolean in sorted({str(key).lower() for key in _boolean_keys(value)}):
            yield Problem(
                f"{subject} has the key {boolean}, a boolean in YAML 1.1",
                config_map.at(key),
                "put the key in quotes if it is a text such as y, on or yes",
                "config-key-boolean",
            )
        if _has_nameless(value):
            yield Problem(
                f"{subject} is a list of mappings without a name: over another layer, they all "
                "merge into one another",
                config_map.at(key),
                "give every element a name",
                "config-list-nameless",
            )


def config_map_notes(config_map: ConfigMap) -> Iterator[Problem]:
    """Yield a note for each value of one line with a line break or blanks at its ends."""
    for key, text in _values(config_map):
        line = text.removesuffix("\n")
        is_folded = len(_ENTRY.findall(line)) > 1  # a mapping behind >, which has a warning
        is_line = line != text and line.strip() and "\n" not in line and not is_folded
        if is_line and parse_value(text) == text:
            yield Problem(
                f"ConfigMap {config_map.name!r}: {key} is one line that ends with a line break",
                config_map.at(key),
                "write it behind the key, or as |- without the last line break",
                "config-value-line-break",
            )
        elif text.strip(" \t") not in {"", text} and "\n" not in text:
            yield Problem(
                f"ConfigMap {config_map.name!r}: {key} begins or ends with a blank: {text!r}",
                config_map.at(key),
                "remove the blank",
                "config-value-line-break",
            )


def _has_secret(value: object) -> bool:
    """Return whether a mapping or list has a secret inside."""
    match value:
        case dict():
            return any(
                is_secret(str(key), inner) if isinstance(inner, str) else _has_secret(inner)
                for key, inner in value.items()
            )
        case list():
            return any(
                is_secret("", item) if isinstance(item, str) else _has_secret(item)
                for item in value
            )
    return False


def is_secret(key: str, text: str) -> bool:
    """Return whether a value is or contains a secret, and not only the name or place of one."""
    if "-----BEGIN " in text and "PRIVATE KEY-----" in text:
        return True
    for match in _PASSWORD_IN_TEXT.finditer(text):
        if not _PLACEHOLDER.match(match[match.lastgroup or 0]):
            return True
    folded, word = key.casefold().translate(_SEPARATORS), text.strip()
    if folded == "auth" or word.startswith("Basic "):
        return _is_login(word.removeprefix("Basic "))
    if _PASSWORD_KEY.search(folded) and _SHORT_PASSWORD.fullmatch(word):
        return True
    return bool(_SECRET_KEY.search(folded) and _SECRET_VALUE.fullmatch(word))


def _is_login(text: str) -> bool:
    """Return whether a text is `user:password` in Base64, as logins to registries have it."""
    try:
        user, _, password = base64.b64decode(text, validate=True).decode().partition(":")
    except ValueError:
        return False
    return bool(user and password) and not _PLACEHOLDER.match(password)


def _wrong_label(config_map: ConfigMap) -> Iterator[Problem]:
    """Report a missing label, or one that resembles `platform-config: "true"`.

    Upstream compares exactly. `"false"` says that the ConfigMap has another purpose.
    """
    is_reported = False
    for key, value in config_map.labels.items():
        if PLATFORM_CONFIG_LABEL in config_map.labels:
            is_near = key == PLATFORM_CONFIG_LABEL and value not in {"true", "false"}
        else:
            folded = key.lower().replace("_", "-").replace(".", "-")
            is_near = bool(difflib.get_close_matches(folded, [PLATFORM_CONFIG_LABEL], cutoff=0.85))
        if is_near:
            is_reported = True
            yield Problem(
                f"ConfigMap {config_map.name!r} is not platform configuration, because it has the "
                f"label {key}: {value!r}",
                _label_place(config_map, key),
                f'write {PLATFORM_CONFIG_LABEL}: "true"',
                "config-label-wrong",
            )
    is_used = config_map.name.startswith(AZURE_APP_CONFIG_PREFIX)
    if not (is_reported or is_used or PLATFORM_CONFIG_LABEL in config_map.labels):
        yield Problem(
            f"ConfigMap {config_map.name!r} is not platform configuration, because it has no label "
            f"{PLATFORM_CONFIG_LABEL}",
            config_map.where,
            f'add the label {PLATFORM_CONFIG_LABEL}: "true", or "false" if it is not meant to be',
            "config-label-missing",
        )


def _label_place(config_map: ConfigMap, key: str) -> Location:
    is_value = key == PLATFORM_CONFIG_LABEL
    places = config_map.label_value_places if is_value else config_map.label_places
    return places.get(key, config_map.where)


def _values(config_map: ConfigMap) -> Iterable[tuple[str, str]]:
    """Return keys and texts, or nothing if the ConfigMap is not platform configuration."""
    labelled = config_map.labels.get(PLATFORM_CONFIG_LABEL) == "true"
    if labelled or config_map.name.startswith(AZURE_APP_CONFIG_PREFIX):
        return config_map.data.items()
    return ()


def _one_line_block(text: str, value: object) -> bool:
    """Return whether a single line, such as `Endpoint: x`, is an object in block style."""
    stripped = text.strip()
    return (
        isinstance(value, list | dict) and "\n" not in stripped and stripped[:1] not in {"[", "{"}
    )


def _numbers(value: object) -> Iterator[object]:
    match value:
        case dict():
            for inner in value.values():
                yield from _numbers(inner)
        case list():
            for inner in value:
                yield from _numbers(inner)
        case int():
            yield value


def _boolean_keys(value: object) -> Iterator[bool]:
    match value:
        case dict():
            for key, inner in value.items():
                if isinstance(key, bool):
                    yield key
                yield from _boolean_keys(inner)
        case list():
            for inner in value:
                yield from _boolean_keys(inner)


def _has_nameless(value: object) -> bool:
    if not isinstance(value, list):
        return False
    nameless = [item for item in value if isinstance(item, dict) and "name" not in item]
    return len(nameless) > 1
