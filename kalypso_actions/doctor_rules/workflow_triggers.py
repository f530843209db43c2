"""What keeps a workflow of the chain from starting: triggers, their filters, crons, conditions.

findings = trigger_faults(file, templates, "main", names, absent, branches)
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final

import yaml

from kalypso_actions.doctor_rules.workflow_nodes import (
    INPUT,
    NOT_STARTED,
    UNPROTECTED,
    WorkflowFile,
    composed,
    events_of,
    get,
    items,
    name_of,
    pairs,
    scalars,
    text_of,
    texts_below,
    texts_of,
)
from kalypso_actions.errors import Finding
from kalypso_actions.model.counts import MAX_LISTED, abbreviated, counted
from kalypso_actions.model.nearest import nearest

STARTED_BY: Final = ("workflow_dispatch", "push", "workflow_run")
"""The events by which the chain goes on; a file needs the first one that its template has."""

_BESIDE_THE_CHAIN: Final = frozenset(
    f"{name}.yaml" for name in ("observe", "poll", "report", "report-pages", "rollback")
)
"""Workflows whose triggers people may choose."""


def trigger_faults(
    file: WorkflowFile,
    templates: Mapping[str, str],
    default_branch: str,
    names: Collection[str],
    absent: Collection[str],
    branches: Collection[str],
) -> Iterator[Finding]:
    """Yield what keeps a workflow from starting.

    `names` are those of all workflows; those `absent` have a finding. `branches` are those of the
    control plane, if they are known.
    """
    template = templates.get(file.path)
    if template is not None:
        wanted = composed(template)
        yield from _triggers(file, wanted, default_branch)
        yield from _dispatch_inputs(file, wanted)
    else:
        yield from _other_suffix(file, templates, file.files.texts)
    yield from _workflow_runs(file, names, templates, absent)
    yield from _pull_requests_with_secrets(file)
    yield from _schedules(file)
    yield from _conditions(file, branches)


def _triggers(
    file: WorkflowFile, template: yaml.Node | None, default_branch: str
) -> Iterator[Finding]:
    """Report events that the chain needs and that do not start the workflow."""
    wanted, given = events_of(template), events_of(file.root)
    event = next((name for name in STARTED_BY if name in wanted), "")
    on = get(file.root, "on") or file.root
    if event and event not in given and file.name not in _BESIDE_THE_CHAIN:
        yield file.finding(
            f"nothing starts {file.path}: it has no trigger {event}",
            on,
            f"add {event} below on:, as in our template",
            NOT_STARTED,
        )
    for name in wanted.keys() & given.keys() & {"push", "pull_request"}:
        of_default = get(wanted[name], "branches") is not None
        branch = default_branch if of_default else file.files.branch
        node = _excluding(given[name], branch)
        if node is not None and (of_default or name == "push"):
            yield file.finding(
                f"no {name} to {branch} starts {file.path}: its filter leaves {branch} out",
                node,
                f"write branches: [{branch}]" if of_default else f"let the filter match {branch}",
                NOT_STARTED,
            )
        yield from _changes(file, name, given[name])


_MOST_PATHS: Final = 3


def _changes(file: WorkflowFile, event: str, given: yaml.Node | None) -> Iterator[Finding]:
    """Report filters of paths that leave documents out, and of types without a new commit."""
    only, ignored = get(given, "paths"), get(given, "paths-ignore")
    patterns, node = texts_of(only or ignored), only or ignored
    left_out = [path for path in file.files.documents if _matches(patterns, path) == (only is None)]
    if node is not None and left_out:
        listed = abbreviated(sorted({*left_out}), _MOST_PATHS)
        yield file.finding(
            f"no {event} that changes only {listed} starts {file.path}: its filter of paths leaves "
            "that out",
            node,
            f"remove {'paths' if only else 'paths-ignore'}:, as in our template",
            NOT_STARTED,
        )
    types = get(given, "types") if event == "pull_request" else None
    lacking = [name for name in ("opened", "synchronize") if name not in texts_of(types)]
    if types is not None and lacking:
        yield file.finding(
            f"{file.path} does not run for every commit of a pull request: types leaves "
            f"{' and '.join(lacking)} out",
            types,
            f"add {', '.join(lacking)} to types:, or remove types:",
            NOT_STARTED,
        )


def _excluding(event: yaml.Node | None, branch: str) -> yaml.Node | None:
    """Return the filter of an event that leaves a branch out; None without one."""
    only, ignored = get(event, "branches"), get(event, "branches-ignore")
    if only is not None:
        return None if _matches(texts_of(only), branch) else only
    if ignored is not None:
        return ignored if _matches(texts_of(ignored), branch) else None
    # With a filter of tags alone, no push to a branch starts the workflow.
    return get(event, "tags") or get(event, "tags-ignore")


def _matches(patterns: Iterable[str], branch: str) -> bool:
    """Whether GitHub's filter has a branch: the last pattern that matches decides."""
    found = False
    for pattern in patterns:
        is_negative = pattern.startswith("!")
        if _pattern(pattern.removeprefix("!")).fullmatch(branch):
            found = not is_negative
    return found


def _pattern(text: str) -> re.Pattern[str]:
    """Return a glob of GitHub's filters as a regular expression."""
    parts = re.findall(r"\*\*/?|\*|\[[^\]]*\]|[?+]|\\.|.", text)
    known = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "?", "+": "+"}
    expression = "".join(
        known.get(part) or (part if part.startswith(("[", "\\")) else re.escape(part))
        for part in parts
    )
    try:
        return re.compile(expression)
    except re.error:
        return re.compile(re.escape(text))


def _dispatch_inputs(file: WorkflowFile, template: yaml.Node | None) -> Iterator[Finding]:
    """Report inputs that the chain gives, and that the workflow does not take, or that it lacks."""
    wanted = get(events_of(template).get("workflow_dispatch"), "inputs")
    event = events_of(file.root).get("workflow_dispatch")
    if wanted is None or event is None:
        return
    given = dict(pairs(get(event, "inputs")))
    known = {key.value for key, _ in pairs(wanted)}
    names = {key.value: key for key in given}
    for key, value in pairs(wanted):
        if text_of(get(value, "required")) == "true" and key.value not in names:
            near = nearest(key.value, names.keys() - known)
            yield file.finding(
                f"{file.path} does not take the input {key.value}, with which it is started: "
                "GitHub refuses the start",
                names[near] if near else (get(event, "inputs") or file.root),
                f"rename {near} to {key.value}" if near else f"add the input {key.value}",
                INPUT,
            )
    for key, value in given.items():
        is_required = text_of(get(value, "required")) == "true" and get(value, "default") is None
        if is_required and key.value not in known and not nearest(key.value, known):
            yield file.finding(
                f"{file.path} requires the input {key.value}, which nothing gives: GitHub refuses "
                "the start",
                key,
                "give it a default, or remove required: true",
                INPUT,
            )


def _other_suffix(
    file: WorkflowFile, templates: Mapping[str, str], texts: Mapping[str, str]
) -> Iterator[Finding]:
    """Report a file that is started by its name, and has the other suffix."""
    stem, _, suffix = file.path.rpartition(".")
    path = f"{stem}.{'yml' if suffix == 'yaml' else 'yaml'}"
    if path not in templates or path in texts:
        return
    is_named = any(re.search(rf"[\s'\"]{re.escape(file.name)}\b", text) for text in texts.values())
    events = events_of(composed(templates[path]))
    if "workflow_dispatch" in events and not is_named:
        yield file.finding(
            f"nothing starts {file.path}: the chain starts {path.rpartition('/')[2]}",
            file.root,
            f"rename it: git mv {file.path} {path}",
            NOT_STARTED,
        )


def _workflow_runs(
    file: WorkflowFile,
    names: Collection[str],
    templates: Mapping[str, str],
    absent: Collection[str],
) -> Iterator[Finding]:
    """Report the names of workflows that no file has; those `absent` have a finding."""
    present = {
        name_of(template): name_of(file.files.texts[path])
        for path, template in templates.items()
        if path in file.files.texts
    }
    workflows = get(events_of(file.root).get("workflow_run"), "workflows")
    for node in scalars(workflows):
        if node.value not in {*names, *absent}:
            near = present.get(node.value) or nearest(node.value, names)
            known = abbreviated(sorted(names), MAX_LISTED)
            yield file.finding(
                f"workflow_run never starts {file.path}: no workflow has the name {node.value!r}",
                node,
                f"write {near}" if near else f"write the name of a workflow: {known}",
                NOT_STARTED,
            )


def _pull_requests_with_secrets(file: WorkflowFile) -> Iterator[Finding]:
    """Report `pull_request_target`: it judges main, with rights that a fork must not have.

    https://docs.github.com/en/actions/reference/workflows-and-actions/events-that-trigger-workflows
    """
    name = "pull_request_target"
    on = get(file.root, "on")
    nodes = [key for key, _ in pairs(on)] or scalars(on)
    for node in (node for node in nodes if node.value == name):
        yield file.finding(
            f"{name} runs {file.path} with the secrets for the pull requests of forks, too, and "
            "with the files of the branch that they go to, not with their change",
            node,
            "write pull_request, as in our template",
            UNPROTECTED,
        )


_MONTHS: Final = [
    "jan",
    "feb",
    "mar",
    "apr",
    "may",
    "jun",
    "jul",
    "aug",
    "sep",
    "oct",
    "nov",
    "dec",
]
_DAYS: Final = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
_CronField = tuple[str, int, int, Sequence[str]]
_CRON: Final[Sequence[_CronField]] = (
    ("minute", 0, 59, ()),
    ("hour", 0, 23, ()),
    ("day of the month", 1, 31, ()),
    ("month", 1, 12, _MONTHS),
    ("day of the week", 0, 6, _DAYS),
)
"""The fields of a cron line: their nouns, first and last numbers, and names.

https://docs.github.com/en/actions/reference/workflows-and-actions/events-that-trigger-workflows#schedule
"""


def _schedules(file: WorkflowFile) -> Iterator[Finding]:
    """Report lines of cron that GitHub refuses."""
    events = events_of(file.root)
    schedule = events.get("schedule")
    if "schedule" not in events:
        return
    if not items(schedule):
        message = "schedule must be a list of cron: lines"
        where = schedule or get(file.root, "on") or file.root
        yield file.refused(message, where, "write - cron: below schedule:")
    lines, has_fault = [], False
    for item in items(schedule):
        line = get(item, "cron")
        if line is None:
            yield file.refused("schedule has no cron", item, "write - cron: with five fields")
            continue
        lines.append(line)
        if fault := _fault_of_cron(text_of(line)):
            has_fault = True
            message = f"cron {text_of(line)!r}: {fault}"
            advice = "write minute, hour, day of the month, month and day of the week: 7,37 * * * *"
            yield file.refused(message, line, advice)
    if not has_fault:
        yield from _rare_runs(file, lines)


def _rare_runs(file: WorkflowFile, lines: Sequence[yaml.Node]) -> Iterator[Finding]:
    """Report steps of cron that are longer than their span, and a poll that hardly ever runs."""
    is_told = False
    for line in lines:
        fields = zip(text_of(line).lower().split(), _CRON, strict=True)
        for part, field in ((part, field) for text, field in fields for part in text.split(",")):
            span, _, step = part.partition("/")
            values = _values_of_cron(span, field)
            if int(step or 0) > len(values) > 1:
                is_told = True
                minutes = f"*/{step} * * * *" if field[0] == "hour" and int(step) < 60 else ""
                yield file.finding(
                    f"cron {text_of(line)!r}: {part} is the {field[0]} {values[0]} alone",
                    line,
                    f"for every {step} minutes, write {minutes}" if minutes else "correct the step",
                    NOT_STARTED,
                )
    if lines and not is_told and _POLLS.search(file.text) and sum(map(_weekly, lines)) <= 7:
        yield file.finding(
            "poll runs once a day at most, so that a lost start, or a change in a registered "
            "repository, waits so long",
            lines[0],
            "write 7,37 * * * *, as in our template",
            NOT_STARTED,
        )


_POLLS: Final = re.compile(r"/actions/poll@")


def _weekly(line: yaml.Node) -> float:
    """Return how often a line of cron runs in a week, on average."""
    counts = [
        len({number for part in text.split(",") for number in _values_of_cron(part, field)})
        for text, field in zip(text_of(line).lower().split(), _CRON, strict=True)
    ]
    minutes, hours, days, months, weekdays = counts
    return minutes * hours * weekdays * (days / 31) * (months / 12)


def _values_of_cron(part: str, field: _CronField) -> range:
    """Return the numbers of a part of a field of cron, which is good."""
    _, first, last, _ = field
    span, _, step = part.partition("/")
    ends = _ends_of_cron(span, field) or [first, last]
    end = last if step and len(ends) == 1 else ends[-1]
    return range(ends[0], end + 1, int(step or 1))


def _ends_of_cron(span: str, field: _CronField) -> list[int]:
    """Return the number or the two ends of a span, -1 for one that is none; [] for `*`."""
    _, first, _, names = field
    return [
        first + names.index(end) if end in names else int(end) if _is_number(end) else -1
        for end in (span.split("-") if span != "*" else ())
    ]


def _fault_of_cron(line: str) -> str:
    """Return what is wrong with a line of cron; "" for a good one."""
    fields = line.split()
    if len(fields) != len(_CRON):
        return f"it has {counted(len(fields), 'field')}, not five"
    for text, field in zip(fields, _CRON, strict=True):
        noun, first, last, _ = field
        for part in text.lower().split(","):
            span, slash, step = part.partition("/")
            numbers = _ends_of_cron(span, field)
            is_good = len(numbers) <= 2 and all(first <= number <= last for number in numbers)
            if not is_good or (slash and not (_is_number(step) and int(step))):
                return f"{text!r} is no {noun} ({first}-{last})"
            if numbers != sorted(numbers):
                return f"{part!r} ends before it begins"
    return ""


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit()


_BRANCH: Final = r"github\.(?P<{0}>ref|ref_name|base_ref|event\.pull_request\.base\.ref)"
_NAMED: Final = r"'(?P<{0}>[^']*)'"
_IS_BRANCH: Final = re.compile(
    rf"{_BRANCH.format('of')}\s*==\s*{_NAMED.format('name')}"
    rf"|{_NAMED.format('first')}\s*==\s*{_BRANCH.format('second')}(?![\w.])",
    re.IGNORECASE,
)
_MAY_BE_TRUE: Final = re.compile(r"\|\||!\s*\(")
"""A condition that can hold although a part of it is false: it has alternatives or a negation."""
_HEADS: Final = "refs/heads/"


def _conditions(file: WorkflowFile, branches: Collection[str]) -> Iterator[Finding]:
    """Report conditions that ask for another branch than these; nothing if no branch is known.

    People may start a file on any branch, but the chain starts it on these.
    """
    for key, node in texts_below(get(file.root, "jobs") or file.root) if branches else ():
        match = _IS_BRANCH.search(node.value) if key == "if" else None
        if match is None or _MAY_BE_TRUE.search(node.value):
            continue
        context, value = match["of"] or match["second"], match["name"] or match["first"] or ""
        before = _HEADS if context.lower() == "ref" else ""
        known = [f"{before}{name}" for name in sorted(branches)]
        if value.lower() not in map(str.lower, known) and not value.startswith("refs/tags/"):
            near = nearest(value.removeprefix(_HEADS), branches)
            yield file.finding(
                f"the condition is never true: github.{context} is never {value!r}",
                node,
                f"write '{before}{near}'"
                if near
                else f"known are {abbreviated(known, MAX_LISTED)}",
                NOT_STARTED,
            )
