"""Check that texts of a registered repository change no documents of an assignment.

An application team may choose the texts in its documents, but not the documents. A `Trial` renders
neutral texts, too, and compares the documents, which must be the same, apart from fields of objects
that a condition of the Template chooses by the form of a text. In a neutral text, letters
replace special characters, indicators of YAML at the beginning or end, and sources that YAML reads
as a number or as `true`. Any other text is a plain scalar of YAML, quoted or not, if the Template
prints it as a value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final

from kalypso_actions.errors import Location
from kalypso_actions.model.kinds import RESERVED_LABELS, DeploymentTarget
from kalypso_actions.rendering.data import TemplateData
from kalypso_actions.rendering.failures import Failure, Outcome
from kalypso_actions.rendering.outline import (
    Outline,
    difference,
    object_difference,
    outline,
)
from kalypso_actions.rendering.registration_budget import Spend
from kalypso_go.gotemplate import Budget, Decisions
from kalypso_go.goyaml.scalars import is_text

_INDICATOR: Final = r"\A(?:[-:@]|\.\.\.)|:\Z"
"""Characters with which a plain scalar of YAML cannot begin or end."""

_SPECIAL: Final = re.compile(rf"[^A-Za-z0-9._/:@+-]|{_INDICATOR}")

_STRUCTURE: Final = re.compile(
    rf"[^A-Za-z0-9._/:@+,=<>~^| -]|:(?= )|\A[|>][0-9+-]*(?: |\Z)|{_INDICATOR}"
)
"""Characters that can end a text or begin a node. Templates may need the others: `>=1.0`, `a,b`."""

_PIPES: Final = "<>|"
_PIPE: Final = re.compile(f"[{_PIPES}]")
"""Characters that Templates may need and that shells interpret."""

_SEPARATOR: Final = re.compile(r"([,;] ?| )")
"""The separators of the items of a text that is a list."""

_LETTER, _OTHER_LETTER = "x", "z"

_USUAL: Final = {
    "repo": "https://github.com/owner/repository",
    "branch": "main",
    "path": "./folder/of/manifests",
}
_USUAL_VALUE: Final = "1"
_USUAL_NAME: Final = "usual"

_MOST_USUAL: Final = 30
"""The most keys of manifests, and the most labels, of an ordinary target."""

_LONGEST_USUAL_KEY: Final = 100

_LONGEST_NUMBER: Final = 400
"""A float has no more digits before its point, and YAML reads longer ones as text."""

Files = Mapping[str, bytes]
Render = Callable[[TemplateData], Outcome]


def special_texts(manifests: Mapping[str, str]) -> tuple[str, ...]:
    """Return the keys of `manifests` whose texts are compared, or that are special themselves."""
    return tuple(
        key
        for key, text in manifests.items()
        if _SPECIAL.search(key)
        or _SPECIAL.search(text)
        or _is_number(key, text)
        or _is_number_as_key(key)
    )


def with_few_texts(target: DeploymentTarget) -> DeploymentTarget:
    """Return a target with its first short keys only; ordinary targets have few."""

    def few(texts: Mapping[str, str]) -> dict[str, str]:
        short = (item for item in texts.items() if len(item[0]) <= _LONGEST_USUAL_KEY)
        return dict(islice(short, _MOST_USUAL))

    return replace(target, manifests=few(target.manifests), labels=few(target.labels))


def own_keys(target: DeploymentTarget) -> set[str]:
    """Return the keys of manifests and labels that only some targets have."""
    return (target.manifests.keys() - _USUAL.keys()) | (target.labels.keys() - RESERVED_LABELS)


def without_own_keys(target: DeploymentTarget) -> DeploymentTarget:
    """Return a target with the keys that every target has."""
    manifests = {key: text for key, text in target.manifests.items() if key in _USUAL}
    labels = {key: text for key, text in target.labels.items() if key in RESERVED_LABELS}
    return replace(target, manifests=manifests, labels=labels)


def with_usual_texts(target: DeploymentTarget) -> Iterator[DeploymentTarget]:
    """Yield variants of a target with usual values for `repo`, `branch`, `path` and its other keys.

    The first keeps the labels, the second has usual values for them, and the third has only the
    labels that every target has.
    """
    manifests = {**dict.fromkeys(target.manifests, _USUAL_VALUE), **_USUAL}
    fixed = {key: text for key, text in target.labels.items() if key in RESERVED_LABELS}
    usual = {**dict.fromkeys(target.labels, _USUAL_VALUE), **fixed}
    for labels in (target.labels, usual, fixed):
        yield replace(target, manifests=manifests, labels=labels)


def with_usual_names(target: DeploymentTarget) -> Iterator[DeploymentTarget]:
    """Yield a target with a word for each text, and usual names of itself and its workload."""
    manifests = {**dict.fromkeys(target.manifests, _USUAL_NAME), **_USUAL}
    labels = dict.fromkeys(target.labels, _USUAL_NAME)
    name = f"{_USUAL_NAME}-target"
    yield replace(target, name=name, workload=_USUAL_NAME, manifests=manifests, labels=labels)


def _failure(outcome: Outcome, fault: str, key: str, where: Location) -> Failure:
    if isinstance(outcome, Failure):
        return Failure(
            f"a Template fails with the text of manifests.{key}: {fault}",
            where,
            "write another text, or ask the platform team for a Template that takes this one",
            code="registration-render",
            is_delivered=True,
        )
    return Failure(
        f"the text of manifests.{key} changes the documents of the platform's Template: {fault}",
        where,
        "write a text without special characters, or ask the platform team to quote it in the "
        "Template",
        code="registration-documents",
        is_delivered=True,
    )


@dataclass(frozen=True, slots=True)
class _Rendered:
    """The files of an assignment, and the data from which they were rendered."""

    files: Files
    data: TemplateData


@dataclass(frozen=True, slots=True)
class Trial:
    """Renders neutral texts in place of an assignment's, and counts the work of it.

    The texts of the keys `lists` may decide how many documents there are, so their neutral texts
    keep the separators. `may_be_templates` means that the texts may be templates, and so may cause
    further passes.
    """

    data: TemplateData
    render: Render
    spend: Spend
    lists: frozenset[str]
    may_be_templates: bool
    special: re.Pattern[str] = _SPECIAL

    def judged(self, outcome: Outcome, target: DeploymentTarget, keys: tuple[str, ...]) -> Outcome:
        """Return the outcome of rendering, or the failure that the texts at `keys` cause."""
        trial = self
        neutral = trial.rendered(keys, _LETTER)
        if neutral is None:
            # Templates may need some characters, such as those of `>=1.0` or of `a,b`.
            trial = replace(trial, special=_STRUCTURE)
            neutral = trial.rendered(keys, _LETTER)
        if neutral is None:
            if isinstance(outcome, Failure):
                return outcome  # the Template fails for any text
            key = next((key for key in keys if trial.replaces(key)), keys[0])
            return _failure(outcome, "neutral texts fail in it", key, target.at(key))
        if isinstance(outcome, Failure):
            fault = outcome.headline
        else:
            fault = trial.difference(_Rendered(outcome, self.data), keys, neutral)
        if not fault:
            return outcome
        key = trial.guilty(keys, neutral)
        return _failure(outcome, fault, key, target.at(key))

    def rendered(
        self, keys: Collection[str], letter: str, budget: Budget | None = None
    ) -> _Rendered | None:
        """Return the files with the texts of `keys` replaced; None if rendering fails."""
        data = self.data.with_manifests(self._neutral(keys, letter), budget)
        files = self.render(data)
        return None if isinstance(files, Failure) else _Rendered(files, data)

    def replaces(self, key: str) -> bool:
        """Return whether the neutral text of a key differs from its text."""
        return self._neutral((key,), _LETTER) != self.data.manifests

    def difference(self, actual: _Rendered, keys: Collection[str], neutral: _Rendered) -> str:
        """Return how the documents differ from the neutral ones; "" if they do not.

        Most files have no text of an application, so this does not read equal files. Names may
        contain the text, or something made from it; those names depend on the letter.
        """
        names = {
            name
            for name in actual.files.keys() | neutral.files.keys()
            if actual.files.get(name) != neutral.files.get(name)
        }
        if self.special is _STRUCTURE:  # neutral texts keep characters that shells interpret
            kept = [text.encode() for text in self.data.manifests.values() if _PIPE.search(text)]
            names |= {
                name for name, file in actual.files.items() if any(text in file for text in kept)
            }
        actual_outline = self._outline(actual, names, is_neutral=False)
        expected = self._outline(neutral, names)
        if actual_outline == expected:
            return ""
        other = self.rendered(keys, _OTHER_LETTER)
        other_outline = self._outline(other, names) if other else expected
        fault = difference(actual_outline, expected, other_outline)
        if not fault or object_difference(actual_outline, expected, other_outline):
            return fault
        return fault if self._difference_of_prints(actual, keys) else ""

    def _difference_of_prints(self, actual: _Rendered, keys: Collection[str]) -> str:
        """Return how the documents differ from those that print neutral texts at the same places.

        A Template may choose fields of an object by the form of a text: `semver` or `branch`. So
        the neutral texts are printed by the parts that the conditions choose for the actual texts.
        """
        recorded = self._follow(self.data.manifests, None)
        if recorded is None or recorded.files != actual.files:
            return "the conditions are unknown"
        made = recorded.data.budget.decisions.made if recorded.data.budget.decisions else []
        neutral, other = (
            self._follow(self._neutral(keys, letter), made) for letter in (_LETTER, _OTHER_LETTER)
        )
        if neutral is None or other is None:
            return "neutral texts fail in it"
        names = actual.files.keys() | neutral.files.keys()
        return difference(
            self._outline(actual, names, is_neutral=False),
            self._outline(neutral, names),
            self._outline(other, names),
        )

    def _follow(
        self, manifests: Mapping[str, str], followed: Sequence[bool] | None
    ) -> _Rendered | None:
        """Render texts, and record the conditions or follow those of another rendering."""
        data = self.data.with_manifests(manifests, None)
        data.budget.decisions = Decisions(followed)
        files = self.render(data)
        return None if isinstance(files, Failure) else _Rendered(files, data)

    def guilty(self, keys: tuple[str, ...], neutral: _Rendered) -> str:
        """Return the key of a text that changes the documents.

        Find the fewest leading texts whose replacement gives the neutral documents: the last of
        them is guilty. One budget bounds the search.
        """
        budget = Budget(self.data.budget.limits)
        low, high = 0, len(keys) - 1
        while low < high:
            middle = (low + high) // 2
            trial = self.rendered(keys[: middle + 1], _LETTER, budget)
            if trial is None or self.difference(trial, keys, neutral):
                low = middle + 1
            else:
                high = middle
        return keys[low]

    def _outline(
        self, rendered: _Rendered, names: Collection[str], *, is_neutral: bool = True
    ) -> Outline:
        files = {name: text for name, text in rendered.files.items() if name in names}
        manifests = self.data.manifests
        numbers = {text for key, text in manifests.items() if _is_number(key, text)}
        numbers |= set(filter(_is_number_as_key, manifests))
        later_templates = () if self.may_be_templates else rendered.data.later_templates
        uncounted = _PIPES if is_neutral and self.special is _STRUCTURE else ""
        return outline(files, later_templates, numbers, self.spend, uncounted)

    def _neutral(self, keys: Collection[str], letter: str) -> dict[str, str]:
        replaced = frozenset(keys)  # a set, because there may be thousands
        return {
            self._key(key, letter) if key in replaced else key: (
                self._value(key, text, letter) if key in replaced else text
            )
            for key, text in self.data.manifests.items()
        }

    def _key(self, key: str, letter: str) -> str:
        return letter * max(1, len(key)) if _is_number_as_key(key) else self._replaced(key, letter)

    def _value(self, key: str, text: str, letter: str) -> str:
        if not _is_number(key, text):
            # `split` puts the separators of a list at odd indexes.
            parts = _SEPARATOR.split(text) if key in self.lists else (text,)
            return "".join(
                part if index % 2 else self._replaced(part, letter)
                for index, part in enumerate(parts)
            )
        return letter * len(text) if self.special is _SPECIAL else f"{text}-{letter}"

    def _replaced(self, text: str, letter: str) -> str:
        return self.special.sub(letter, text)


def _is_number(key: str, text: str) -> bool:
    """Return whether YAML reads a source without quotes as a number, a boolean or null.

    Templates print other texts unquoted to get their types: `replicas: {{ .Manifests.replicas }}`.
    """
    return key in _USUAL and 0 < len(text) < _LONGEST_NUMBER and not is_text(text)


def _is_number_as_key(key: str) -> bool:
    """Return whether an unquoted key is of another type than text in YAML: kustomize refuses it."""
    return len(key) < _LONGEST_NUMBER and not is_text(key)
