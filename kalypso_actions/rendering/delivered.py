"""What the texts of a registered repository do to the files of an assignment.

An application team may choose the texts of its documents, not the documents. A text of plain
characters cannot leave its place. Any other text is compared with a neutral one, whose special
characters are replaced by a letter, one by one: the documents must be the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Final

from kalypso_actions.errors import Location
from kalypso_actions.gotemplate import Budget
from kalypso_actions.model.kinds import DeploymentTarget
from kalypso_actions.rendering.data import TemplateData
from kalypso_actions.rendering.failures import Failure
from kalypso_actions.rendering.outline import Outline, difference, outline

_SPECIAL: Final = re.compile(r"[^A-Za-z0-9._/:@+-]")

_LETTER, _OTHER_LETTER = "x", "z"

_USUAL: Final = {
    "repo": "https://github.com/owner/repository",
    "branch": "main",
    "path": "./folder/of/manifests",
}
_OTHERWISE: Final = "1"

_MOST_REFUSED: Final = 8
"""Special texts that are tried one by one."""

Files = Mapping[str, bytes]
Render = Callable[[TemplateData], "dict[str, bytes] | Failure"]


def special_texts(manifests: Mapping[str, str]) -> tuple[str, ...]:
    """Return the keys of `manifests` that have a special character, or whose value has one."""
    return tuple(key for key, text in manifests.items() if _SPECIAL.search(f"{key}{text}"))


def with_usual_texts(target: DeploymentTarget) -> DeploymentTarget:
    """Return a target whose `manifests` have the same keys and usual values."""
    return replace(target, manifests={key: _USUAL.get(key, _OTHERWISE) for key in target.manifests})


def judged(
    outcome: dict[str, bytes] | Failure,
    data: TemplateData,
    target: DeploymentTarget,
    render: Render,
    *,
    may_be_templates: bool,
) -> dict[str, bytes] | Failure:
    """Return the outcome of rendering `data`, or the failure that its texts cause.

    `may_be_templates`: the texts may be templates, so they may cause further passes.
    """
    keys = special_texts(data.manifests)
    if not keys:
        return outcome
    trial = _Trial(data, render, may_be_templates)
    neutral = trial.outline(keys, _LETTER)
    if neutral is None and not isinstance(outcome, Failure):
        # Templates may refuse some neutral texts, such as `xx1.0` for `>=1.0`: compare the others.
        if len(keys) > _MOST_REFUSED:
            fault = f"{len(keys)} texts have special characters, and neutral ones fail"
            return _failure(outcome, fault, keys[0], target.at(keys[0]))
        keys = tuple(key for key in keys if trial.outline((key,), _LETTER))
        neutral = trial.outline(keys, _LETTER) if keys else None
    if neutral is None:
        return outcome  # the Template fails for any text
    other = trial.outline(keys, _OTHER_LETTER) or neutral
    fault = (
        outcome.message.strip()
        if isinstance(outcome, Failure)
        else trial.difference(outcome, data, neutral, other)
    )
    if not fault:
        return outcome
    key = trial.guilty(keys, neutral, other)
    return _failure(outcome, fault, key, target.at(key))


def _failure(outcome: dict[str, bytes] | Failure, fault: str, key: str, where: Location) -> Failure:
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
class _Trial:
    """Renders neutral texts in place of an assignment's."""

    data: TemplateData
    render: Render
    may_be_templates: bool

    def outline(self, keys: Collection[str], letter: str) -> Outline | None:
        """Return the documents with the texts of `keys` replaced; None if rendering fails."""
        data = self.data.with_manifests(_neutral(self.data.manifests, keys, letter))
        files = self.render(data)
        return None if isinstance(files, Failure) else self._outline(files, data)

    def difference(self, files: Files, data: TemplateData, neutral: Outline, other: Outline) -> str:
        """Return how the documents of `files` differ from the neutral ones; "" if they do not.

        Names may contain the text, or something made of it: they depend on the letter.
        """
        actual = self._outline(files, data)
        return "" if actual == neutral else difference(actual, neutral, other)

    def guilty(self, keys: tuple[str, ...], neutral: Outline, other: Outline) -> str:
        """Return the key of a text without which the documents are the neutral ones.

        Replace the first texts only, as few as are needed: the last of them is guilty. One budget
        bounds the search.
        """
        budget = Budget(self.data.budget.limits)
        low, high = 0, len(keys) - 1
        while low < high:
            middle = (low + high) // 2
            manifests = _neutral(self.data.manifests, keys[: middle + 1], _LETTER)
            data = self.data.with_manifests(manifests, budget)
            files = self.render(data)
            if isinstance(files, Failure) or self.difference(files, data, neutral, other):
                low = middle + 1
            else:
                high = middle
        return keys[low]

    def _outline(self, files: Files, data: TemplateData) -> Outline:
        return outline(files, () if self.may_be_templates else data.later_templates)


def _neutral(manifests: Mapping[str, str], keys: Collection[str], letter: str) -> dict[str, str]:
    def replaced(text: str) -> str:
        return _SPECIAL.sub(letter, text)

    return {
        replaced(key) if key in keys else key: replaced(text) if key in keys else text
        for key, text in manifests.items()
    }
