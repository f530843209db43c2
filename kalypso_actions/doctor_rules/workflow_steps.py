"""What our actions need in the steps and jobs of workflow files, and the keys that GitHub takes.

findings = step_faults(files, actions, templates)
findings = syntax_faults(file)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final, NamedTuple

import yaml

from kalypso_actions.doctor_rules.workflow_nodes import (
    CANCELLED,
    EXPRESSION,
    INPUT,
    NOT_STARTED,
    PERMISSION,
    UNPROTECTED,
    WorkflowFile,
    get,
    items,
    pairs,
    scalars,
    text_of,
    texts_below,
)
from kalypso_actions.doctor_rules.workflows import EXPRESSIONS, names_in
from kalypso_actions.errors import Finding
from kalypso_actions.inputs.chain import LONGEST_RUN
from kalypso_actions.inputs.values import DURATION, UNITS
from kalypso_actions.model.counts import MAX_LISTED, abbreviated
from kalypso_actions.model.nearest import misspelled, nearest
from kalypso_actions.model.workflow_files import ACTIONS, FOLDER


@dataclass(frozen=True, slots=True)
class OurAction:
    """What one of our actions takes, and what it needs.

    `choices` are the values of inputs that have no others, `defaults` those of optional inputs.
    `secrets` are the inputs that are no variables.
    `outputs` imports the model of the document, and returns the names of the outputs. `permissions`
    have the level and the reason of each permission that the job's token needs, where the job runs
    in a control plane; `verify_only` those with the input `verify-only`.
    """

    inputs: frozenset[str]
    required: frozenset[str] = frozenset()
    choices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    defaults: Mapping[str, str] = field(default_factory=dict)
    permissions: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    verify_only: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    outputs: Callable[[], Collection[str]] = frozenset
    secrets: frozenset[str] = frozenset()


Actions = Mapping[str, OurAction]


class _Step(NamedTuple):
    """A step that uses one of our actions."""

    file: WorkflowFile
    job: tuple[yaml.ScalarNode, yaml.Node]
    action: str
    uses: yaml.Node
    node: yaml.Node
    inputs: dict[str, tuple[yaml.ScalarNode, yaml.Node]]

    def value(self, name: str) -> str:
        """Return the text of an input; "" if it is not given."""
        return text_of(self.inputs[name][1]) if name in self.inputs else ""


_USES: Final = re.compile(rf"/actions/({ACTIONS})@")
_ROOT: Final = re.compile(r"/kalypso-actions@")
ROOT: Final = "start-schedule"
"""The command that our action at the root runs in the templates."""
EXPRESSION_START: Final = "${{"


def _steps(file: WorkflowFile) -> Iterator[_Step]:
    for job in file.jobs():
        for step in items(get(job[1], "steps")):
            uses = get(step, "uses")
            inputs = {key.value: (key, value) for key, value in pairs(get(step, "with"))}
            action = used_action(step)
            if action == ROOT and "run" in inputs:
                action = text_of(inputs["run"][1]).split(" ")[0]
            if action and uses is not None:
                yield _Step(file, job, action, uses, step, inputs)


def used_action(step: yaml.Node) -> str:
    """Return the name of our action that a step uses, ROOT for that at the root, "" for none."""
    uses = text_of(get(step, "uses"))
    match = _USES.search(uses)
    return match[1] if match else ROOT if _ROOT.search(uses) else ""


def step_faults(
    files: Sequence[WorkflowFile],
    actions: Actions,
    templates: Mapping[str, str],
) -> Iterator[Finding]:
    """Yield what is wrong with the inputs, permissions and secrets of our actions on a branch."""
    steps = [step for file in files for step in _steps(file)]
    for step in steps:
        if step.action in actions and _USES.search(text_of(step.uses)):
            yield from _inputs(step, actions[step.action])
    yield from _variables_with_secrets(steps, actions, templates)
    yield from _permissions(steps, actions)
    yield from _without_reviewers(steps)
    yield from _short_limits(steps, actions)
    yield from _shared_groups(steps)
    yield from _differing_options(steps, actions)
    yield from _names(files, templates)


def _inputs(step: _Step, action: OurAction) -> Iterator[Finding]:
    """Report misspelled and missing inputs, and values that an input does not take.

    GitHub only warns of unknown inputs in the log; the action refuses the others.
    """
    missing = {name for name in action.required if not step.value(name)}
    for name, (key, value) in step.inputs.items():
        near = nearest(name, action.inputs) if name not in action.inputs else ""
        if near:
            lacks = f", and needs {near}: every run fails" if near in missing else ""
            yield step.file.finding(
                f"the action {step.action} has no input {name!r}{lacks}",
                key,
                f"did you mean {near}?",
                INPUT,
                "error" if lacks else "warning",
            )
            missing -= {near}
        choices, text = action.choices.get(name, ()), text_of(value)
        if choices and text and EXPRESSION_START not in text and text not in choices:
            near = nearest(text, choices)
            known = f"{name} is one of {', '.join(choices)}"
            yield step.file.finding(
                f"the action {step.action} refuses {name}: {text}; every run fails",
                value,
                f"did you mean {near}? The input {known}" if near else f"the input {known}",
                INPUT,
                "error",
            )
    for name in sorted(missing):
        yield step.file.finding(
            f"the action {step.action} needs the input {name}: every run fails",
            step.inputs[name][0] if name in step.inputs else step.uses,
            f"add {name} below with:",
            INPUT,
            "error",
        )


def _variables_with_secrets(
    steps: Iterable[_Step], actions: Actions, templates: Mapping[str, str]
) -> Iterator[Finding]:
    """Report secrets that come from variables, or are written as variables of our secrets.

    GitHub shows variables to all who may read the repository, and does not mask them in logs.
    """
    of_actions = {name for action in actions.values() for name in action.secrets}
    ours = {name for text in templates.values() for name in names_in(text)}
    for step in steps:
        for name, (_, value) in step.inputs.items():
            for used in _values_in(text_of(value)):
                kind, _, short = used.partition(".")
                is_ours = used not in ours and f"secrets.{short}" in ours
                if kind == "vars" and (name in of_actions or is_ours):
                    yield step.file.finding(
                        f"{name} is a secret, but vars.{short} is a variable: it is empty, or all "
                        "who may read the repository and its logs have it",
                        value,
                        f"write secrets.{short}; if the variable is set, revoke its value and "
                        "delete it",
                        EXPRESSION,
                    )


def _values_in(text: str) -> Iterator[str]:
    """Yield the secrets and variables that can be the value of a text, and no condition of it."""
    for expression in EXPRESSIONS.findall(text):
        for alternative in expression.split("||"):
            value = alternative.rpartition("&&")[2]
            if "==" not in value and "!=" not in value:
                yield from names_in(value)


_ACKNOWLEDGED: Final = re.compile(rf"#.*kalypso\.io/ignore:.*\b{UNPROTECTED}\b")


_REVIEWED: Final = {
    "cd": "promotes",
    "check-promote": "promotes",
    "rollback": "brings an environment back",
}
"""What the actions do in the job that has `environment:` in our templates."""


def _without_reviewers(steps: Iterable[_Step]) -> Iterator[Finding]:
    """Report jobs that promote outside of a GitHub environment, unless a comment says why."""
    for step in steps:
        keys = {key.value for key, _ in pairs(step.job[1])}
        is_misspelled = bool(nearest("environment", keys - JOB_KEYS))
        is_promoting = step.action in _REVIEWED and step.value("verify-only") in {"", "false"}
        if not is_promoting or "environment" in keys or is_misspelled:
            continue
        if not _ACKNOWLEDGED.search(step.file.text):
            yield step.file.finding(
                f"the job {step.job[0].value!r} {_REVIEWED[step.action]} without environment: the "
                "required reviewers of the GitHub environment are never asked, and its variables "
                "and secrets are empty",
                step.job[0],
                "add environment: ${{ inputs.environment }} to the job; if the merge of the pull "
                "request in the GitOps repository is enough approval, write the comment "
                f"# kalypso.io/ignore: {UNPROTECTED}",
                UNPROTECTED,
            )


def _short_limits(steps: Iterable[_Step], actions: Actions) -> Iterator[Finding]:
    """Report jobs and steps that GitHub cancels before our action has ended to wait."""
    for step in steps:
        default = actions[step.action].defaults.get("timeout", "") if step.action in actions else ""
        wait = DURATION.fullmatch(step.value("timeout") or default)
        if wait is None or step.value("verify-only") == "true":
            continue
        waits = min(timedelta(seconds=int(wait[1]) * UNITS[wait[2]]), LONGEST_RUN)
        for holder, noun in (
            (step.job[1], f"the job {step.job[0].value!r}"),
            (step.node, "the step"),
        ):
            limit = get(holder, "timeout-minutes")
            minutes = text_of(limit)
            if limit is None or not minutes.isdigit() or int(minutes) * 60 > waits.total_seconds():
                continue
            yield step.file.finding(
                f"GitHub cancels {noun} after {minutes} minutes, but {step.action} may wait for "
                f"{waits // timedelta(minutes=1)}: the run ends without a verdict",
                limit,
                "write timeout-minutes: 360, as in our template, or give the action a shorter "
                "timeout",
                CANCELLED,
            )


_SAME_PLACE: Final = frozenset({"github.ref", "github.ref_name", "github.sha", "github.head_ref"})
_SAME_ALWAYS: Final = frozenset(
    {
        *("github.workflow", "github.workflow_ref", "github.repository", "github.event_name"),
        *("github.repository_owner", "github.job", "github.base_ref", "format", "true", "false"),
    }
)
"""What is the same for all runs of a workflow on a branch, and for all runs of it."""

_ENVIRONMENTS: Final = "different environments"
_PULL_REQUEST: Final = "${{ github.event.pull_request.number || github.sha }}"
_REPLACED: Final[Mapping[str, tuple[str, frozenset[str], str]]] = {
    "schedule": (
        _ENVIRONMENTS,
        _SAME_ALWAYS | _SAME_PLACE,
        "add ${{ inputs.environment }} to the group",
    ),
    **dict.fromkeys(
        ("cd", "check-promote", "rollback"),
        (
            _ENVIRONMENTS,
            _SAME_ALWAYS | _SAME_PLACE,
            "remove concurrency:, as in our template",
        ),
    ),
    **dict.fromkeys(
        ("ci", "preview"),
        ("different pull requests", _SAME_ALWAYS, f"add {_PULL_REQUEST} to the group"),
    ),
}
"""The actions of which each run counts: for what, the names that do not differ, and advice."""


def _shared_groups(steps: Iterable[_Step]) -> Iterator[Finding]:
    """Report concurrency groups in which a run replaces that of another environment."""
    told: set[int] = set()
    for step in steps:
        if step.action not in _REPLACED:
            continue
        runs, same, advice = _REPLACED[step.action]
        environment = step.value("environment")
        if runs == _ENVIRONMENTS and EXPRESSION_START not in environment:
            continue
        of_job = "matrix." in environment  # one run is for all environments
        for holder in (step.job[1],) if of_job else (step.file.root, step.job[1]):
            concurrency = get(holder, "concurrency")
            group = get(concurrency, "group") or concurrency
            is_cancelling = text_of(get(concurrency, "cancel-in-progress")) not in {"", "false"}
            is_queue = text_of(get(concurrency, "queue")) == "max" and not is_cancelling
            if not isinstance(group, yaml.ScalarNode) or is_queue or id(group) in told:
                continue
            used = _WORD.findall(_TEXT.sub("", " ".join(EXPRESSIONS.findall(group.value))))
            if {name.lower() for name in used} <= same:
                told.add(id(group))
                whom = "the running and the waiting one" if is_cancelling else "the waiting one"
                yield step.file.finding(
                    f"runs for {runs} share the concurrency group {group.value!r}: each cancels "
                    f"{whom}",
                    group,
                    advice,
                    CANCELLED,
                )


_TEXT: Final = re.compile(r"'(?:[^']|'')*'")
_WORD: Final = re.compile(r"[A-Za-z_][\w.-]*")


LEVELS: Final = {"none": 0, "read": 1, "write": 2}

_TOKENS: Final = ("app-id", "token", "github-token")
"""The inputs by which a step uses another token than that of its job."""


def _permissions(steps: Iterable[_Step], actions: Actions) -> Iterator[Finding]:
    """Report permissions that a job's token lacks, once for each job."""
    needed: dict[int, dict[str, tuple[str, str]]] = {}
    jobs: dict[int, _Step] = {}
    for step in steps:
        action = actions.get(step.action)
        if action is None or any(name in step.inputs for name in _TOKENS):
            continue
        is_verifying = step.value("verify-only") == "true"
        of_job = needed.setdefault(id(step.job[1]), {})
        jobs.setdefault(id(step.job[1]), step)
        for name, row in (action.verify_only if is_verifying else action.permissions).items():
            if LEVELS[row[0]] > LEVELS[of_job.get(name, ("none", ""))[0]]:
                of_job[name] = row
    for key, step in jobs.items():
        node = get(step.job[1], "permissions") or get(step.file.root, "permissions")
        given = _given(node)
        lacking = {
            name: row
            for name, row in needed[key].items()
            if given is not None and LEVELS[row[0]] > LEVELS.get(given.get(name, "none"), 2)
        }
        if lacking:
            lines = [f"{name}: {level}" for name, (level, _) in lacking.items()]
            reasons = "; ".join(f"{step.action} {reason}" for _, reason in lacking.values())
            yield step.file.finding(
                f"the job {step.job[0].value!r} lacks the permission {', '.join(lines)}: {reasons}",
                get(step.job[1], "permissions") or step.job[0],
                f"add {', '.join(lines)} below permissions: of this job",
                PERMISSION,
            )


def _given(node: yaml.Node | None) -> dict[str, str] | None:
    """Return the levels of permissions; None if the repository's setting decides, or all are."""
    if isinstance(node, yaml.MappingNode):
        return {key.value: text_of(value) for key, value in pairs(node)}
    if text_of(node) == "read-all":
        names = ("actions", "checks", "contents", "pull-requests", "statuses")
        return dict.fromkeys(names, "read")
    return None


SHARED_OPTIONS: Final = (
    "manifests",
    "missing-values",
    "scheduler",
    "namespace-scheme",
    "config-file",
)
"""The inputs by which the same fleet has other findings or files."""


def _differing_options(steps: Sequence[_Step], actions: Actions) -> Iterator[Finding]:
    """Report options of ci and preview that schedule has not: they check another result.

    Where schedule alone gives another value than several others, the finding stands there.
    """
    for name in SHARED_OPTIONS:
        of_schedule = [step for step in steps if step.action == "schedule"]
        values = {_option(step, name, actions) for step in of_schedule}
        wanted = values.pop() if len(values) == 1 else None
        others = [
            (step, given)
            for step in steps
            if step.action in {"ci", "preview"}
            and (given := _option(step, name, actions)) is not None
            and wanted is not None
            and given != wanted
            and EXPRESSION_START not in f"{given}{wanted}"
        ]
        if others[1:] and len({given for _, given in others}) == 1 and _is_given(of_schedule, name):
            step, names = of_schedule[0], " and ".join(sorted({each.action for each, _ in others}))
            yield step.file.finding(
                f"schedule alone has {name}: {wanted}; {names} check with "
                f"{others[0][1] or 'the default'}",
                step.inputs[name][1],
                f"remove it, or write it for {names}, too{EFFECTS.get(name, '')}",
                INPUT,
            )
            continue
        for step, given in others:
            shown = [each or "the default" for each in (given, wanted)]
            yield step.file.finding(
                f"{step.action} checks with {name}: {shown[0]}, but schedule has {shown[1]}",
                step.inputs[name][1] if name in step.inputs else step.uses,
                (f"write {name}: {wanted}" if wanted else f"remove {name}")
                + f", or change {name} of schedule: the files get what schedule has",
                INPUT,
            )


EFFECTS: Final = {
    "namespace-scheme": ": it renames all namespaces, and clusters delete the old ones with all "
    "that is in them",
    "config-file": ": it renames the files of all assignments",
}
"""What follows if schedule gets another value of an option."""


def _is_given(steps: Sequence[_Step], name: str) -> bool:
    return bool(steps) and all(name in step.inputs for step in steps)


def _option(step: _Step, name: str, actions: Actions) -> str | None:
    """Return the value of an option, or its default.

    None if the action does not take it, or if its name or value has a finding of its own.
    """
    action = actions.get(step.action)
    if action is None or name not in action.inputs:
        return None
    if any(nearest(key, action.inputs) == name for key in step.inputs.keys() - action.inputs):
        return None
    value = step.value(name) or action.defaults.get(name, "")
    return value if value in action.choices.get(name, (value,)) else None


def missing_starts(
    files: Iterable[WorkflowFile], actions: Actions, present: Collection[str]
) -> list[tuple[str, Finding]]:
    """Return the names of workflow files that our actions start and that the branch lacks.

    Each has its finding, at the first step that starts it. `present` are the paths of the default
    branch, where GitHub looks for them.
    """
    by_name: dict[str, list[tuple[_Step, str]]] = {}
    steps = [step for file in files for step in _steps(file)]
    for step in steps:
        action = actions.get(step.action)
        for name in sorted(action.inputs) if action else ():
            default = action.defaults.get(name, "") if action else ""
            if name.endswith("-workflow") and step.value("start-cd") != "false":
                value = step.value(name) or default
                if value and EXPRESSION_START not in value:
                    by_name.setdefault(value, []).append((step, name))
    found: list[tuple[str, Finding]] = []
    for file, starters in by_name.items():
        other = file.removesuffix(".yaml") + ".yml"
        if {f"{FOLDER}{file}", f"{FOLDER}{other}"} & {*present}:
            continue
        step, name = starters[0]
        started = name.removesuffix("-workflow")
        same = next((each.file for each in steps if each.action == started), None)
        who = abbreviated(list(dict.fromkeys(each.action for each, _ in starters)), MAX_LISTED)
        advice = f"restore {FOLDER}{file}, or write it by kalypso init --update-workflows"
        if same and f"{FOLDER}{file}" != same.path:
            advice = f"rename it: git mv {same.path} {FOLDER}{file}; or add {name}: {same.name}"
        finding = step.file.finding(
            f"{who} cannot start {file}: the default branch has no such workflow",
            step.inputs[name][1] if name in step.inputs else step.uses,
            advice,
            NOT_STARTED,
        )
        found.append((file, finding))
    return found


def _names(files: Sequence[WorkflowFile], templates: Mapping[str, str]) -> Iterator[Finding]:
    """Report names of secrets and variables that differ from ours by a slip: they are empty.

    A name that several files have is one that people chose.
    """
    ours = {name for text in templates.values() for name in names_in(text)}
    users: dict[str, set[str]] = {}
    for file in files:
        for name in names_in(file.text):
            users.setdefault(name, set()).add(file.path)
    for name, paths in users.items():
        near = misspelled(name, ours) if name not in ours and len(paths) == 1 else ""
        for file in files if near else ():
            for _, node in texts_below(file.root):
                if name in names_in(node.value):
                    yield file.finding(
                        f"{name} is empty, unless a name so like {near} is meant",
                        node,
                        f"did you mean {near}?",
                        EXPRESSION,
                    )


ROOT_KEYS: Final = frozenset(
    {
        *("on", "name", "description", "run-name", "defaults", "env", "permissions"),
        *("concurrency", "jobs"),
    }
)
CALLING_KEYS: Final = frozenset(
    {"name", "uses", "with", "secrets", "needs", "if", "permissions", "concurrency", "strategy"}
)
JOB_KEYS: Final = frozenset(
    {
        *("needs", "if", "strategy", "name", "runs-on", "timeout-minutes", "continue-on-error"),
        *("cancel-timeout-minutes", "container", "services", "env", "environment", "permissions"),
        *("concurrency", "outputs", "defaults", "steps", "snapshot"),
    }
)
STEP_KEYS: Final = frozenset(
    {
        *("id", "if", "name", "uses", "run", "with", "env", "shell", "working-directory"),
        *("continue-on-error", "timeout-minutes"),
    }
)
"""The keys that GitHub takes; it refuses a file with others.

https://github.com/actions/languageservices, workflow-parser/src/workflow-v1.0.json
"""


def syntax_faults(file: WorkflowFile) -> Iterator[Finding]:
    """Report keys that GitHub refuses, jobs without a machine, and steps that do nothing."""
    yield from _unknown_keys(file, file.root, ROOT_KEYS, "a workflow")
    for key, job in file.jobs():
        is_call = get(job, "uses") is not None
        yield from _unknown_keys(
            file, job, CALLING_KEYS if is_call else JOB_KEYS, f"the job {key.value!r}"
        )
        yield from _unknown_runners(file, get(job, "runs-on"))
        given = {each.value for each, _ in pairs(job)}
        if not is_call and "runs-on" not in given and not nearest("runs-on", given - JOB_KEYS):
            yield file.refused(f"the job {key.value!r} has no runs-on", key, "add runs-on:")
        for step in items(get(job, "steps")):
            yield from _unknown_keys(file, step, STEP_KEYS, "a step")
            has = {each.value for each, _ in pairs(step)} & {"uses", "run"}
            if len(has) != 1 and not {each.value for each, _ in pairs(step)} - STEP_KEYS:
                message = "a step has both uses and run" if has else "a step has no uses or run"
                yield file.refused(message, step, "write one of the two")


_SYSTEMS: Final = {
    "ubuntu": ("latest", "slim", "26.04", "24.04", "22.04", "26.04-arm", "24.04-arm", "22.04-arm"),
    "windows": ("latest", "2025", "2022", "11-arm"),
    "macos": tuple(
        f"{version}{size}"
        for version in ("latest", "26", "15", "14")
        for size in ("", "-intel", "-large", "-xlarge")
    ),
}
RUNNERS: Final = (
    "self-hosted",
    *(f"{name}-{each}" for name in _SYSTEMS for each in _SYSTEMS[name]),
)
"""https://docs.github.com/en/actions/reference/runners/github-hosted-runners"""


def _unknown_runners(file: WorkflowFile, node: yaml.Node | None) -> Iterator[Finding]:
    """Report labels that differ from one of GitHub's by a slip; own runners may have any other."""
    for label in (*scalars(node), *scalars(get(node, "labels"))):
        near = misspelled(label.value.lower(), RUNNERS)
        if near and label.value.lower() not in RUNNERS:
            yield file.finding(
                f"no runner takes the job, unless an own one has the label {label.value}: GitHub "
                "cancels it after a day",
                label,
                f"did you mean {near}?",
                CANCELLED,
            )


def _unknown_keys(
    file: WorkflowFile, node: yaml.Node, known: Collection[str], noun: str
) -> Iterator[Finding]:
    for key in (key for key, _ in pairs(node) if key.value not in known):
        near = nearest(key.value, known)
        advice = f"write {near}" if near else f"remove it; known are {', '.join(sorted(known))}"
        yield file.refused(f"{noun} has no key {key.value!r}", key, advice)
