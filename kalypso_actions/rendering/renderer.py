"""Render assignments, and enforce the bounds on texts of registered repositories."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from dataclasses import replace
from itertools import chain, islice
from typing import Final

from kalypso_actions.model.caches import IdentityCache
from kalypso_actions.model.config import MergedConfig
from kalypso_actions.model.kinds import Assignment, DeploymentTarget, Template
from kalypso_actions.model.kubernetes_names import LABEL_LIMIT, dns_label_fault, object_name_fault
from kalypso_actions.rendering.data import TemplateData
from kalypso_actions.rendering.delivered import (
    Trial,
    own_keys,
    special_texts,
    with_few_texts,
    with_usual_names,
    with_usual_texts,
    without_own_keys,
)
from kalypso_actions.rendering.failures import Failure, Outcome
from kalypso_actions.rendering.folder_files import KEPT_TARGETS, FileRenderer, Options
from kalypso_actions.rendering.outline import outline, refused_names, repeated_key
from kalypso_actions.rendering.registration_budget import (
    EACH,
    REFUSAL,
    TIMES_USUAL,
    RegistrationBudget,
    RegistrationBudgetError,
    Spend,
)

Check = Callable[[Spend], Failure | None]
"""Checks an assignment before its rendering, and counts the work of the check."""

IsSound = Callable[[Assignment, Mapping[str, bytes]], bool]
"""Says whether the files of an assignment are known to be YAML without a repeated key."""


ENOUGH_FAULTS: Final = 20
"""The most assignments to report that fail because of texts of their registration. One is enough to
replace the registration. Further ones tell people more, but each takes additional renderings."""

SIZE_DIGITS: Final = 3
"""The leading binary digits by which sizes of configurations differ: steps of an eighth or less."""


class Renderer:
    """Renders the assignments of one environment; compiles each Template once."""

    def __init__(
        self,
        environment: str,
        templates: Iterable[Template],
        options: Options,
        unpromoted: Collection[str] = (),
        is_sound: IsSound = lambda _, __: False,
    ) -> None:
        """`unpromoted` are Templates of main's head that the environment's commit lacks."""
        self._options = options
        self._is_sound = is_sound
        self._folder = FileRenderer(environment, templates, options, unpromoted)
        self._budgets: dict[str, RegistrationBudget] = {}
        self._faults: Counter[str] = Counter()
        self._usual_work: dict[Hashable, int] = {}
        self._texts: IdentityCache[DeploymentTarget, tuple[tuple[str, ...], set[str]]]
        self._texts = IdentityCache(KEPT_TARGETS)
        """The special texts and own keys of targets, found once for all of their assignments."""

    def render(
        self, assignment: Assignment, config: MergedConfig, check: Check = lambda _: None
    ) -> Outcome:
        """Return the files of the assignment's folder by name.

        There are no files if `check` fails, if any Template fails, if a text of a registered
        repository changes the documents, or if the registration takes too much. An empty
        configuration has no file; the other two files exist even if they are empty.
        """
        registration = assignment.target.registration
        if not registration:
            return check(lambda _: None) or self._render(assignment, config, lambda _: None)
        if registration not in self._budgets:
            self._budgets[registration] = RegistrationBudget(self._work_of_usual_texts)
        budget = self._budgets[registration]
        if self._faults[registration] >= ENOUGH_FAULTS:
            return Failure(
                f"it is not rendered, because {ENOUGH_FAULTS} other assignments fail with texts of "
                "its registration",
                assignment.target.where,
                "correct those texts first",
                code="registration-render",
                is_delivered=True,
                is_consequence=True,
            )
        outcome = self._within(budget, assignment, config, check)
        self._faults[registration] += isinstance(outcome, Failure) and outcome.is_delivered
        return outcome

    def excess_of(self, registration: str) -> int:
        """Return the work of a registration so far beyond that of usual texts."""
        budget = self._budgets.get(registration)
        return budget.excess if budget else 0

    def _within(
        self, budget: RegistrationBudget, assignment: Assignment, config: MergedConfig, check: Check
    ) -> Outcome:
        try:
            budget.begin(assignment, config)
            failure = check(budget.spend)
            budget.end_schemas()
            return failure or self._render(assignment, config, budget.spend)
        except RegistrationBudgetError as error:
            return too_large(assignment.target, str(error), is_consequence=error.is_repeated)
        finally:
            budget.end()

    def _render(self, assignment: Assignment, config: MergedConfig, spend: Spend) -> Outcome:
        data = self._folder.data(assignment, config)
        target = assignment.target
        fault = dns_label_fault(data.namespace)
        if fault:
            of_others = data.namespace.removesuffix(target.name)
            fits_others = not dns_label_fault(f"{of_others}x")
            cluster_type = assignment.cluster_type
            if len(of_others) >= LABEL_LIMIT and of_others.endswith(f"-{cluster_type.name}-"):
                return Failure(
                    f"the name of the ClusterType has {len(cluster_type.name)} characters, which "
                    f"leaves no room for a target in namespaces of at most {LABEL_LIMIT}",
                    cluster_type.at("metadata.name"),
                    "give the ClusterType a shorter name",
                    code="namespace-invalid",
                )
            return Failure(
                f"the namespace {data.namespace!r} {fault}",
                target.where,
                "give the target, the workload or the cluster type another name",
                code="namespace-invalid",
                is_delivered=bool(target.registration) and fits_others,
            )

        def render(rendered: TemplateData) -> Outcome:
            spend(max(0, data.texts.work - EACH))  # EACH counts the few texts of ordinary targets
            work = rendered.budget.work
            outcome = self._folder.render(assignment, rendered, config)
            spend(rendered.budget.work - work + _size(outcome))
            return outcome

        outcome = render(data)
        if not target.registration:
            return outcome
        special, own = self._texts.result(_texts_of, target)
        if special:
            lists = frozenset(self._folder.list_keys(assignment.cluster_type))
            are_templates = self._options.registration_text == "any"
            trial = Trial(data, render, spend, lists, are_templates)
            outcome = trial.judged(outcome, target, special)
        if isinstance(outcome, Failure):
            return outcome
        if not self._is_sound(assignment, outcome):
            repeated = repeated_key(outcome, own, target, spend)
            if repeated and not self._is_repeated_without(assignment, config, spend):
                return repeated
        return self._with_names(outcome, assignment, config, spend)

    def _is_repeated_without(
        self, assignment: Assignment, config: MergedConfig, spend: Spend
    ) -> bool:
        """Return whether the Templates themselves repeat a key of a target."""
        target = assignment.target
        files, _ = self._with_texts(without_own_keys(target), assignment, config)
        if isinstance(files, Failure):
            return False
        spend(_size(files))
        return repeated_key(files, own_keys(target), target, spend) is not None

    def _with_names(
        self, files: dict[str, bytes], assignment: Assignment, config: MergedConfig, spend: Spend
    ) -> Outcome:
        """Return the files, or the failure of a refused name that usual texts do not cause."""
        refused = refused_names(files, spend)
        if not refused:
            return files
        target = assignment.target
        *_, usual_target = islice(with_usual_texts(target), 2)
        usual, _ = self._with_texts(usual_target, assignment, config)
        if isinstance(usual, Failure):
            return files
        spend(_size(usual))
        known = refused_names(usual, spend)
        name = next((name for place, name in refused.items() if place not in known), None)
        if name is None:
            return files
        key = next((key for key, text in target.manifests.items() if text and text in name), "")
        return Failure(
            f"a document has the name {name!r}; it {object_name_fault(name)}",
            target.at(key),
            "deliver a text that can be a part of a name, or ask the platform team to convert it",
            code="registration-documents",
            is_delivered=True,
        )

    def _work_of_usual_texts(self, assignment: Assignment, config: MergedConfig, work: int) -> int:
        """Return the work of usual texts in an assignment, or an estimate that allows `work`.

        The estimate is that of the same Templates with a configuration of about the same size.
        Labels may choose what a Template prints; the exact work is that with the target's labels.
        """
        cluster_type, target = assignment.cluster_type, assignment.target
        size = self._folder.config_work(cluster_type, config)
        kind = (
            cluster_type.reconciler,
            cluster_type.namespace_service,
            cluster_type.config_type,
            size >> max(0, size.bit_length() - SIZE_DIGITS),
            size.bit_length(),
        )
        known = self._usual_work.get(kind)
        if known is None:
            *_, plain = with_usual_texts(without_own_keys(target))
            known = self._usual_work[kind] = self._work_of_texts(plain, assignment, config)
        if work > TIMES_USUAL * known:
            usual = next(with_usual_texts(with_few_texts(target)))
            exact = self._work_of_texts(usual, assignment, config)
            if work <= TIMES_USUAL * exact:
                self._usual_work[kind] = exact
            return exact
        return known

    def _work_of_texts(
        self, texts: DeploymentTarget, assignment: Assignment, config: MergedConfig
    ) -> int:
        """Return the work of rendering and comparing the texts of a target in an assignment."""
        files, data = self._with_texts(texts, assignment, config)
        parts = [EACH, data.budget.work, _size(files)]
        if not isinstance(files, Failure):
            outline(files, (), spend=parts.append)
        return sum(parts)

    def renders_other_texts(
        self,
        assignment: Assignment,
        config: MergedConfig,
        others: Iterable[DeploymentTarget],
        accepts: Callable[[Assignment, Mapping[str, bytes]], bool] = lambda _, __: True,
    ) -> bool:
        """Return whether an assignment renders with usual texts or names, or those of `others`.

        `accepts` says whether the files are acceptable.
        """
        target = assignment.target
        texts_of_others = (
            replace(target, manifests=other.manifests, labels=other.labels) for other in others
        )
        for other in chain(with_usual_texts(target), texts_of_others, with_usual_names(target)):
            files, _ = self._with_texts(other, assignment, config)
            trial = replace(assignment, target=other)
            if not isinstance(files, Failure) and accepts(trial, files):
                return True
        return False

    def _with_texts(
        self, texts: DeploymentTarget, assignment: Assignment, config: MergedConfig
    ) -> tuple[Outcome, TemplateData]:
        """Render an assignment with the texts of another target; also return its data."""
        trial = replace(assignment, target=texts)
        data = self._folder.data(trial, config)
        return self._folder.render(trial, data, config), data


def _texts_of(target: DeploymentTarget) -> tuple[tuple[str, ...], set[str]]:
    return special_texts(target.manifests), own_keys(target)


def too_large(
    target: DeploymentTarget, message: str = REFUSAL, *, is_consequence: bool = False
) -> Failure:
    """Return the failure of a target whose texts, or those of its registration, take too much."""
    return Failure(
        message,
        target.where,
        "deliver shorter texts or simpler schemas, or divide the registration into several",
        code="registration-too-large",
        is_delivered=True,
        is_consequence=is_consequence,
    )


def _size(outcome: Outcome) -> int:
    return 0 if isinstance(outcome, Failure) else sum(map(len, outcome.values()))
