"""Facts in workflow files that break the chain, with their lines: triggers, names, expressions.

    findings = workflow_faults(files, templates, "main", actions)

A file that merely differs from our template has none.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final

import yaml

from kalypso_actions.doctor_rules.workflow_nodes import (
    EXPRESSION,
    INPUT,
    INVALID,
    NOT_STARTED,
    UNPROTECTED,
    WorkflowFile,
    composed,
    get,
    items,
    pairs,
    place_of,
    scalars,
    text_of,
    texts_below,
    texts_of,
)
from kalypso_actions.doctor_rules.workflow_steps import (
    OurAction,
    missing_starts,
    step_faults,
    syntax_faults,
    used_action,
)
from kalypso_actions.doctor_rules.workflows import EXPRESSIONS, BranchWorkflows
from kalypso_actions.errors import Finding, Location
from kalypso_actions.model.counts import MAX_LISTED, abbreviated, counted
from kalypso_actions.model.nearest import nearest
from kalypso_actions.model.workflow_files import FOLDER, USES_OURS

STARTED_BY: Final = ("workflow_dispatch", "push", "workflow_run")
"""The events by which the chain goes on; a file needs the first one that its template has."""

_BESIDE_THE_CHAIN: Final = frozenset(
    f"{name}.yaml" for name in ("observe", "poll", "report", "report-pages", "rollback")
)
"""Workflows whose triggers people may choose."""

CONTEXTS: Final = frozenset(
    {
        *("github", "env", "vars", "job", "jobs", "steps", "runner", "secrets"),
        *("strategy", "matrix", "needs", "inputs"),
    }
)
"""https://docs.github.com/en/actions/reference/workflows-and-actions/contexts"""

_OTHER: Final = re.compile(r"^[^#\n]*uses:\s*['\"]?[^\s'\"]+/actions/([\w-]+)@", re.MULTILINE)
_STRING: Final = re.compile(r"'(?:[^']|'')*'")
_NAME: Final = re.compile(
    r"(?<![\w.\-])(?P<context>[A-Za-z_][\w-]*)(?!\s*\()(?:\.(?P<key>[A-Za-z_][\w-]*))?(?![\w-]*\s*\()"
)
_MEMBER: Final = re.compile(
    r"(?<![\w.\-])(?P<context>needs|steps)\.(?P<name>[A-Za-z_][\w-]*)\.(?P<key>[A-Za-z_][\w-]*)"
    r"(?:\.(?P<output>[A-Za-z_][\w-]*)|\[\s*'(?P<quoted>[^']*)'\s*\])?",
    re.IGNORECASE,
)
_MEMBERS: Final = {"needs": ("outputs", "result"), "steps": ("outputs", "outcome", "conclusion")}
_NOUNS: Final = {"inputs": "input", "needs": "job before this one", "steps": "step"}
_LITERALS: Final = frozenset({"true", "false", "null", "nan", "infinity"})


def workflow_faults(
    files: BranchWorkflows,
    templates: Mapping[str, str],
    default_branch: str,
    actions: Mapping[str, OurAction],
    *,
    names: Collection[str] = (),
    default_files: Collection[str] | None = None,
    branches: Collection[str] = (),
) -> Iterator[Finding]:
    """Yield what breaks the chain in the files of a branch that use our actions.

    `templates` are ours by path, `actions` what our actions take. `names` and `default_files` are
    the names and paths of the workflows on the default branch; None if they are unknown. `branches`
    are those of all environments, if they are known.
    """
    ours: list[WorkflowFile] = []
    for path, text in files.texts.items():
        if not path.endswith((".yaml", ".yml")) or path.rpartition("/")[0] != FOLDER[:-1]:
            continue
        for match in _OTHER.finditer(text) if path in templates else ():
            near = nearest(match[1], actions)
            if match[1] not in actions and near:
                line = text.count("\n", 0, match.start(1)) + 1
                message = f"there is no action {match[1]!r} of Kalypso"
                where = place_of(files, path, line, 0)
                yield Finding(message, where, f"did you mean {near}?", INPUT, level="warning")
        if not USES_OURS.search(text):
            continue
        try:
            root = composed(text)
        except yaml.YAMLError as error:
            mark = getattr(error, "problem_mark", None)
            where = place_of(
                files, path, mark.line + 1 if mark else 1, mark.column + 1 if mark else 1
            )
            message = f"GitHub does not run {path}: it is not valid YAML: "
            message += f"{getattr(error, 'problem', '') or error}"
            yield Finding(message, where, "correct the file", INVALID, level="warning")
            continue
        if isinstance(root, yaml.MappingNode):
            ours.append(WorkflowFile(files, path, text, root))
    known = {*names, *workflow_names(files.texts.values())}
    starts = [] if default_files is None else missing_starts(ours, actions, default_files)
    absent = {
        _name_of(templates[path])
        for path in (f"{FOLDER}{name}" for name, _ in starts)
        if path in templates
    }
    yield from (finding for _, finding in starts)
    known_branches = {default_branch, files.branch, *branches} if branches else ()
    for file in ours:
        template = templates.get(file.path)
        if template is not None:
            wanted = composed(template)
            yield from _triggers(file, wanted, default_branch)
            yield from _dispatch_inputs(file, wanted)
        else:
            yield from _other_suffix(file, templates, files.texts)
        yield from _workflow_runs(file, known, templates, absent)
        yield from _pull_requests_with_secrets(file)
        yield from _schedules(file)
        yield from _expressions(file, template, actions)
        yield from _conditions(file, known_branches)
        yield from syntax_faults(file)
    yield from step_faults(ours, actions, templates)


def misplaced_workflows(files: BranchWorkflows) -> Iterator[Finding]:
    """Report folders with workflows of Kalypso that GitHub does not run there."""
    folders: dict[str, list[str]] = {}
    for path, text in sorted(files.texts.items()):
        folder = path.rpartition("/")[0]
        if folder != FOLDER[:-1] and path.endswith((".yaml", ".yml")) and USES_OURS.search(text):
            folders.setdefault(folder, []).append(path)
    for folder, paths in folders.items():
        yield Finding(
            f"GitHub does not run {counted(len(paths), 'workflow')} of Kalypso in {folder}: it "
            f"reads the files directly in {FOLDER[:-1]}",
            place_of(files, paths[0], 1, 1),
            f"git mv {folder}/*.y*ml {FOLDER}",
            INVALID,
            level="warning",
        )


_STARTS_SCHEDULE: Final = re.compile(r"/actions/schedule@|\brun:\s*['\"]?start-schedule\b")


def unstarted_branches(
    main: BranchWorkflows, environments: Sequence[BranchWorkflows]
) -> Iterator[Finding]:
    """Report branches of environments whose pushes start no schedule, where others have that."""
    if not any("/actions/schedule@" in text for text in main.texts.values()):
        return

    def starts(files: BranchWorkflows) -> bool:
        return any(map(_STARTS_SCHEDULE.search, files.texts.values()))

    others = [files.branch for files in environments if starts(files)]
    for files in environments:
        uses_ours = any(map(USES_OURS.search, files.texts.values()))
        if not starts(files) and (uses_ours or others):
            file = f"{FOLDER}start-schedule.yaml"
            restore = f"git checkout {others[0]} -- {file}" if others else f"restore {file}"
            yield Finding(
                f"nothing starts schedule after a push to {files.branch}: the branch has no "
                "start-schedule.yaml",
                Location(files.repository, branch=files.branch),
                f"{restore}; without it, the next run of poll proposes the change",
                NOT_STARTED,
                level="warning",
            )


def workflow_names(texts: Iterable[str]) -> set[str]:
    """Return the names of workflows."""
    return {*filter(None, map(_name_of, texts))}


def _name_of(text: str) -> str:
    try:
        name = get(composed(text), "name")
    except yaml.YAMLError:
        return ""
    return str(name.value) if isinstance(name, yaml.ScalarNode) else ""


def _triggers(
    file: WorkflowFile, template: yaml.Node | None, default_branch: str
) -> Iterator[Finding]:
    """Report events that the chain needs and that do not start the workflow."""
    wanted, given = _events(template), _events(file.root)
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
    wanted = get(_events(template).get("workflow_dispatch"), "inputs")
    event = _events(file.root).get("workflow_dispatch")
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
    events = _events(composed(templates[path]))
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
        _name_of(template): _name_of(file.files.texts[path])
        for path, template in templates.items()
        if path in file.files.texts
    }
    workflows = get(_events(file.root).get("workflow_run"), "workflows")
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
_CRON: Final[Sequence[tuple[str, int, int, Sequence[str]]]] = (
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
    events = _events(file.root)
    schedule = events.get("schedule")
    if "schedule" not in events:
        return
    if not items(schedule):
        message = "schedule must be a list of cron: lines"
        where = schedule or get(file.root, "on") or file.root
        yield file.refused(message, where, "write - cron: below schedule:")
    for item in items(schedule):
        line = get(item, "cron")
        if line is None:
            yield file.refused("schedule has no cron", item, "write - cron: with five fields")
        elif fault := _fault_of_cron(text_of(line)):
            message = f"cron {text_of(line)!r}: {fault}"
            advice = "write minute, hour, day of the month, month and day of the week: 7,37 * * * *"
            yield file.refused(message, line, advice)


def _fault_of_cron(line: str) -> str:
    """Return what is wrong with a line of cron; "" for a good one."""
    fields = line.split()
    if len(fields) != len(_CRON):
        return f"it has {counted(len(fields), 'field')}, not five"
    for text, (noun, first, last, names) in zip(fields, _CRON, strict=True):
        for part in text.lower().split(","):
            span, slash, step = part.partition("/")
            ends = [] if span == "*" else span.split("-")
            numbers = [
                first + names.index(end) if end in names else int(end) if _is_number(end) else -1
                for end in ends
            ]
            is_good = len(ends) <= 2 and all(first <= number <= last for number in numbers)
            if not is_good or (slash and not (_is_number(step) and int(step))):
                return f"{text!r} is no {noun} ({first}-{last})"
            if numbers != sorted(numbers):
                return f"{part!r} ends before it begins"
    return ""


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit()


def _expressions(
    file: WorkflowFile, template: str | None, actions: Mapping[str, OurAction]
) -> Iterator[Finding]:
    """Report names in expressions that GitHub does not know: their value is empty.

    An input of our template that the file does not take is reported alone.
    """
    roots = (file.root, composed(template or ""))
    inputs = {
        key.value
        for root in roots
        for event in ("workflow_dispatch", "workflow_call")
        for key, _ in pairs(get(_events(root).get(event), "inputs"))
    }
    jobs = {key.value: key for key, _ in pairs(get(file.root, "jobs"))}
    for key, node in pairs(file.root):
        if key.value != "jobs":
            yield from _unknown_names(file, node, {"inputs": inputs})
    for _, job in pairs(get(file.root, "jobs")):
        unknown = [node for node in scalars(get(job, "needs")) if node.value not in jobs]
        for node in unknown:
            near = nearest(node.value, jobs)
            yield file.finding(
                f"GitHub does not run {file.path}: there is no job {node.value!r}",
                node,
                f"write {near}" if near else f"the jobs are {', '.join(jobs)}",
                EXPRESSION,
            )
        needed = jobs if unknown else texts_of(get(job, "needs"))
        known = {
            "inputs": inputs,
            "needs": {name: _outputs(file, name) for name in needed},
            "steps": {
                text_of(get(step, "id")): actions.get(used_action(step))
                for step in items(get(job, "steps"))
                if get(step, "id") is not None
            },
        }
        yield from _unknown_names(file, job, known)


def _outputs(file: WorkflowFile, name: str) -> list[str] | None:
    """Return the outputs of a job; None for a workflow that is called, which has its own."""
    job = next((job for key, job in file.jobs() if key.value == name), None)
    is_call = get(job, "uses") is not None
    return None if is_call else [key.value for key, _ in pairs(get(job, "outputs"))]


def _unknown_names(
    file: WorkflowFile, node: yaml.Node, known: Mapping[str, Collection[str]]
) -> Iterator[Finding]:
    for key, value in texts_below(node):
        texts = EXPRESSIONS.findall(value.value)
        if key == "if" and not texts:
            texts = [value.value]
        for text in texts:
            yield from _of_expression(file, value, text, known)


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


def _of_expression(
    file: WorkflowFile, node: yaml.Node, text: str, known: Mapping[str, Collection[str]]
) -> Iterator[Finding]:
    for match in _NAME.finditer(_STRING.sub("''", text)):
        context, key = match["context"].lower(), match["key"]
        if context in _LITERALS:
            continue
        if context not in CONTEXTS:
            near = nearest(context, CONTEXTS)
            yield file.finding(
                f"GitHub does not know {match['context']!r} in an expression",
                node,
                f"write {near}{'.' + key if key else ''}"
                if near
                else f"write one of {', '.join(sorted(CONTEXTS))}",
                EXPRESSION,
            )
        elif key and context in known and key.lower() not in map(str.lower, known[context]):
            near = nearest(key, known[context])
            names = abbreviated(sorted(known[context]), MAX_LISTED) or "none"
            yield file.finding(
                f"{context}.{key} is empty: there is no such {_NOUNS[context]}",
                node,
                f"write {context}.{near}" if near else f"known are {names}",
                EXPRESSION,
            )
    yield from _members(file, node, text, known)


def _members(
    file: WorkflowFile, node: yaml.Node, text: str, known: Mapping[str, Collection[str]]
) -> Iterator[Finding]:
    """Report values and outputs that the jobs and steps of an expression do not have."""
    for match in _MEMBER.finditer(text):
        context, name, key = match["context"].lower(), match["name"], match["key"].lower()
        of_context = known.get(context, ())
        if not isinstance(of_context, Mapping) or name not in of_context:
            continue  # an unknown name has its finding
        of_member, output = of_context[name], match["output"] or match["quoted"]
        if key not in _MEMBERS[context]:
            place, value = f"{context}.{name}", match["key"]
            values: Collection[str] = _MEMBERS[context]
        elif key == "outputs" and output and of_member is not None:
            values = of_member.outputs() if isinstance(of_member, OurAction) else of_member
            place, value = f"{context}.{name}.outputs", output
        else:
            continue
        if value.lower() not in map(str.lower, values):
            near = nearest(value, values)
            names = abbreviated(sorted(values), MAX_LISTED) or "none"
            yield file.finding(
                f"{place}.{value} is empty: there is no such value",
                node,
                f"write {place}.{near}" if near else f"known are {names}",
                EXPRESSION,
            )


def _events(root: yaml.Node | None) -> dict[str, yaml.Node | None]:
    """Return the triggers of a workflow by event, in each form of `on`."""
    on = get(root, "on")
    if isinstance(on, yaml.MappingNode):
        return {key.value: value for key, value in pairs(on)}
    return {node.value: None for node in scalars(on)}
