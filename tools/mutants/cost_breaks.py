"""Breaks of limits of time and memory: budgets, and limits of registrations."""

from __future__ import annotations

from typing import Final

from tools.mutants.breaks import Break

TEMPLATES: Final = "tests/hostile/test_template_costs.py"
FUNCTIONS: Final = "tests/hostile/test_function_costs.py"
REGISTRATIONS: Final = "tests/hostile/test_registration_costs.py"
ASSIGNMENTS: Final = "tests/hostile/test_many_assignments.py"
SCHEMAS: Final = "tests/hostile/test_schema_costs.py"

COST_BREAKS: Final = (
    Break(
        "each pass of an assignment has a budget of its own",
        "kalypso_actions/rendering/go_manifests.py",
        "data.budget.spend(PARSING * len(text)",
        "gotemplate.Budget(gotemplate.DEFAULT_LIMITS).spend(PARSING * len(text)",
        (f"{TEMPLATES}::test_a_small_text_that_is_a_template_for_many_manifests",),
    ),
    Break(
        "a function is called before its arguments count",
        "kalypso_go/gotemplate/budget.py",
        "self.spend(_CALL + cost * size, function)",
        "self.spend(0, function)",
        (f"{FUNCTIONS}::test_each_function_of_go_templates_spends_its_time",),
    ),
    Break(
        "the parts of a split text do not count before they exist",
        "kalypso_go/gotemplate/sprig/strings.py",
        "    budget.reserve_elements(parts_of_all if count < 0 else",
        "    budget.reserve_elements(0 if count < 0 else",
        (f"{TEMPLATES}::test_a_large_value_of_a_small_template_ends_at_the_limit",),
    ),
    Break(
        "a registration's text has no limit",
        "kalypso_actions/snapshot/revision_reader.py",
        "if self.limits is None or size <= self.limits.text_bytes:",
        "if True:",
        (f"{REGISTRATIONS}::test_too_much",),
    ),
    Break(
        "the assignments of a registration share no budget",
        "kalypso_actions/rendering/registration_budget.py",
        "        if self._work > of_registration:\n",
        "        if self._work < 0:\n",
        (f"{ASSIGNMENTS}::test_one_registration",),
    ),
    Break(
        "the guilty text of each failing assignment is looked for",
        "kalypso_actions/rendering/renderer.py",
        "if self._faults[registration] >= ENOUGH_FAULTS:",
        "if False:",
        (f"{ASSIGNMENTS}::test_a_guilty_text_among_many",),
    ),
    Break(
        "documents of a text may be nested deeply",
        "kalypso_actions/rendering/outline.py",
        "    if len(path) == DEEPEST:\n",
        "    if len(path) < 0:\n",
        (f"{ASSIGNMENTS}::test_one_registration",),
    ),
    Break(
        "expensive Templates make registrations unusable",
        "kalypso_actions/rendering/registration_budget.py",
        "usual + REGISTRATION_EXCESS - self.excess",
        "REGISTRATION_EXCESS - self.excess",
        (f"{ASSIGNMENTS}::test_a_large_registration",),
    ),
    Break(
        "a registration's own schemas cost it nothing",
        "kalypso_actions/config_checks.py",
        "config.values, texts, _steps(count) if own else _nothing",
        "config.values, texts, _nothing",
        (f"{ASSIGNMENTS}::test_schemas_of_its_own",),
    ),
    Break(
        "two processes each give a registration its budget",
        "kalypso_actions/assignment_rendering.py",
        "    refused = {name for name, work in excess.items() if rendering.is_excessive(work)}\n",
        "    refused = set[str]()\n",
        ("tests/test_large_registrations.py::test_the_excess_of_all_processes_counts_together",),
    ),
    Break(
        "values behind aliases do not count",
        "kalypso_actions/sources/yaml_documents.py",
        "self._count(anchor.values, event)",
        "self._count(0, event)",
        (f"{REGISTRATIONS}::test_too_much",),
    ),
    Break(
        "a pattern's size does not count",
        "kalypso_actions/config_schemas/patterns.py",
        "return 1 + self.size * (",
        "return 1 + 1 * (",
        (f"{SCHEMAS}::test_a_schema_ends_at_the_limit",),
    ),
    Break(
        "all keys of a target count as usual",
        "kalypso_actions/rendering/renderer.py",
        "next(with_usual_texts(with_few_texts(target)))",
        "next(with_usual_texts(target))",
        (f"{ASSIGNMENTS}::test_one_registration",),
    ),
    Break(
        "kustomize has no limit of time",
        "kalypso_actions/clients/process_limits.py",
        "        seconds = cpu_seconds or math.ceil(",
        "        seconds = math.ceil(",
        ("tests/clients/test_kustomize.py::test_a_build_that_does_not_end",),
    ),
)
