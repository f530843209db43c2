"""Rename the words of an assignment in its files, so that the files of many become equal.

    words = Renaming(KNOWN).words(assignment)
    renamed = rename(content, words)  # b"name: web-1" becomes b"name: kqza-xxx"

A renamed text has the same structure as the original, whatever a Template does with the words: each
is letters, digits and hyphens, so it never ends a scalar or begins a node, and has a letter that no
number and no word like `true` has, so every scalar with it is a text. Each new word belongs to one
old word, so equal scalars stay equal and different ones different. It has the same kinds of
characters and is at least as long, so a check of characters and lengths that accepts the renamed
text accepts the original. Words that a check knows are not renamed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from itertools import islice
from typing import Final

from kalypso_actions.model.caches import IdentityCache
from kalypso_actions.model.kinds import Assignment, ClusterType, DeploymentTarget

Words = tuple[tuple[bytes, bytes], ...]
"""Words with their new words."""

KEPT: Final = 10_000
"""The most targets, and the most cluster types, whose words are kept."""

COMMON: Final = 20
"""A word of more targets than this stays: the files of those that have it are equal anyway."""

MOST: Final = 24
"""The most words of a target that are renamed."""

LONGEST: Final = 100
STEP: Final = 8
LABEL: Final = 63
"""Lengths are rounded up to a multiple of `STEP`, but not beyond the limit of a label."""

MARK: Final = b"qz"
"""A part of each new word; a text that has it already is not renamed."""

_WORD: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?")
_OF_TEXTS_ALONE: Final = re.compile(r"[ghjkmpqvw]", re.IGNORECASE)
"""Letters of no number, date, boolean or null of YAML, in any notation."""
_OF_NEW_WORDS: Final = re.compile(r"[kK1]?q?z?[a-y]?-?Q?x*")
"""Matches the parts of new words."""

NEW_WORD: Final = re.compile(r"[kK1]qz[a-y]-?Q?x")
"""Matches new words, whose lengths and letters are not those of the old ones."""

_QUOTED_DIGITS: Final = re.compile(rb'"[0-9]{8,20}"')
_HEXADECIMAL: Final = re.compile(
    rb"(?<![0-9A-Za-z])(?=[0-9e]*[a-df])[0-9a-f]{32,64}(?![0-9A-Za-z])"
)
DIGITS: Final = b"9071503246817250941"


class Renaming:
    """Renames the words of assignments; `known` are texts that the checks compare with."""

    def __init__(self, known: Iterable[str]) -> None:
        self._known = "\n".join(known)
        self._of_targets: IdentityCache[DeploymentTarget, Words] = IdentityCache(KEPT)
        self._of_types: IdentityCache[ClusterType, Words] = IdentityCache(KEPT)
        self._counts: Counter[str] = Counter()

    def words(self, assignment: Assignment) -> Words:
        """Return the words of an assignment that are renamed."""
        of_target = self._of_targets.result(self._target_words, assignment.target)
        return self._of_types.result(self._type_words, assignment.cluster_type) + of_target

    def _target_words(self, target: DeploymentTarget) -> Words:
        texts = (target.name, target.workload, *target.manifests.values())
        words = dict.fromkeys(
            word for text in (*texts, *target.labels.values()) for word in _WORD.findall(text)
        )
        self._counts.update(words.keys())
        chosen = [
            word for word in words if self._counts[word] <= COMMON and self._is_suitable(word)
        ]
        pairs = [
            (word.encode(), _new_word(word, chr(ord("a") + index)))
            for index, word in enumerate(chosen[:MOST])
        ]
        # A word may contain another.
        return tuple(sorted(pairs, key=lambda pair: len(pair[0]), reverse=True))

    def _type_words(self, cluster_type: ClusterType) -> Words:
        name = cluster_type.name
        is_word = _WORD.fullmatch(name) and self._is_suitable(name)
        return ((name.encode(), _new_word(name, "y")),) if is_word else ()

    def _is_suitable(self, word: str) -> bool:
        return bool(
            len(word) <= LONGEST
            and _OF_TEXTS_ALONE.search(word)
            and not _OF_NEW_WORDS.fullmatch(word)
            and word not in self._known
        )


def _new_word(word: str, letter: str) -> bytes:
    """Return a word with the same kinds of characters, at least as long as the old one."""
    first = "1" if word[0].isdigit() else "K" if word[0].isupper() else "k"
    start = first + MARK.decode() + letter
    start += "-" if "-" in word else ""
    start += "Q" if word != word.lower() else ""
    length = max(len(start) + 1, -(-len(word) // STEP) * STEP)
    if len(word) <= LABEL < length:
        length = LABEL
    return start.ljust(length, "x").encode()


def rename(content: bytes, words: Words) -> bytes:
    """Return a text with its words renamed."""
    for word, new_word in words:
        content = content.replace(word, new_word)
    return content


def quoted_digits(content: bytes) -> Words:
    """Return the long numbers in quotes, which `hash` prints, as words."""
    numbers = dict.fromkeys(_QUOTED_DIGITS.findall(content))
    if not numbers or DIGITS in content:
        return ()
    return tuple(
        (number[1:-1], b"%s%d" % (DIGITS, index))
        for index, number in enumerate(islice(numbers, 10))
        if content.count(number[1:-1]) == content.count(number)
    )


def hexadecimal_digests(content: bytes) -> Words:
    """Return the long hexadecimal texts that have another letter than that of an exponent."""
    return tuple(
        (
            digest,
            (b"%s%sz%d" % (b"1" if digest[:1].isdigit() else b"k", MARK, index)).ljust(
                len(digest), b"x"
            ),
        )
        for index, digest in enumerate(dict.fromkeys(_HEXADECIMAL.findall(content)))
    )


def original(renamed: bytes, words: Words) -> bytes:
    """Return a part of a renamed text with the old words."""
    for word, new_word in words:
        renamed = renamed.replace(new_word, word)
    return renamed
