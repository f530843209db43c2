"""Facts in workflow files that break the chain, with their lines.

    findings = workflow_faults(files, templates, "main", actions)

A file that merely differs from our template has none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final

import yaml

from kalypso_actions.doctor_rules.workflow_nodes import (
    EXPRESSION,
    INPUT,
    INVALID,
    NOT_STARTED,
    SECRET,
    VERSIONS,
    WorkflowFile,
    composed,
    events_of,
    get,
    items,
    name_of,
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
from kalypso_actions.doctor_rules.workflow_triggers import trigger_faults
from kalypso_actions.doctor_rules.workflows import (
    EXPRESSIONS,
    BranchWorkflows,
    is_same_version,
    references_in,
    shown_reference,
)
from kalypso_actions.errors import Finding, Location
from kalypso_actions.model.counts import MAX_LISTED, abbreviated, counted
from kalypso_actions.model.nearest import nearest
from kalypso_actions.model.workflow_files import FOLDER, USES_OURS

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
    is_secret: Callable[[str, str], bool] = lambda _key, _text: False,
) -> Iterator[Finding]:
    """Yield what breaks the chain in the files of a branch that use our actions.

    `templates` are ours by path, `actions` what our actions take. `names` and `default_files` are
    the names and paths of the workflows on the default branch; None if they are unknown. `branches`
    are those of all environments, if they are known. `is_secret` judges a key and its text.
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
        yield from _secrets(files, path, is_secret)
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
        name_of(templates[path])
        for path in (f"{FOLDER}{name}" for name, _ in starts)
        if path in templates
    }
    yield from (finding for _, finding in starts)
    known_branches = {default_branch, files.branch, *branches} if branches else ()
    for file in ours:
        template = templates.get(file.path)
        yield from trigger_faults(file, templates, default_branch, known, absent, known_branches)
        yield from _expressions(file, template, actions)
        yield from syntax_faults(file)
    yield from step_faults(ours, actions, templates)


_KEY_AND_TEXT: Final = re.compile(
    r"\s*(?:#\s*|-\s+)*(?:(?P<key>[\w.-]+)(?::\s|=)\s*)?(?P<quote>['\"]?)(?P<text>.*?)(?P=quote)(?:\s+#.*)?"
)
_LONGEST_LINE: Final = 1000
"""The pattern takes the square of a line's length, and others write the line."""


def _secrets(
    files: BranchWorkflows, path: str, is_secret: Callable[[str, str], bool]
) -> Iterator[Finding]:
    """Report lines with a secret, also in comments; never show it."""
    for number, line in enumerate(files.texts[path].splitlines(), 1):
        match = _KEY_AND_TEXT.fullmatch(line[:_LONGEST_LINE])
        if match and is_secret(match["key"] or "", match["text"]):
            yield Finding(
                f"{path} has a secret in plain text: all who may read the repository have it",
                place_of(files, path, number, 1),
                "revoke it, store a new one as a secret of the repository, and write "
                "${{ secrets.NAME }}",
                SECRET,
                level="warning",
            )


def differing_versions(branches: Iterable[BranchWorkflows]) -> Iterator[Finding]:
    """Report our actions that some workflow files use at another version than most of main's.

    `branches` are those of a control plane, main first. A tag such as v1 and a version of it do not
    differ.
    """
    uses: dict[tuple[str, str], list[tuple[BranchWorkflows, str, int]]] = {}
    for files in branches:
        for path, text in sorted(files.texts.items()):
            for match in references_in(text) if path.startswith(FOLDER) else ():
                place = files, path, text.count("\n", 0, match.start("actions")) + 1
                uses.setdefault((match["actions"], match["ref"]), []).append(place)
    if len(uses) < 2:
        return
    of_main = next(iter(uses.values()))[0][0]
    common = max(uses, key=lambda used: sum(files is of_main for files, _, _ in uses[used]))
    for used, places in uses.items():
        if used[0] == common[0] and is_same_version(used[1], common[1]):
            continue
        names = dict.fromkeys(
            path.removeprefix(FOLDER) + ("" if files is of_main else f" of {files.branch}")
            for files, path, _ in places
        )
        yield Finding(
            f"{shown_reference(*used)} in {abbreviated(list(names), MAX_LISTED)}, but most files "
            f"have {shown_reference(*common)}: the actions of a control plane rely on each other's "
            "statuses and records",
            place_of(*places[0], 1),
            "kalypso init --update-workflows brings all files to one version",
            VERSIONS,
            level="warning",
        )


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
    return {*filter(None, map(name_of, texts))}


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
        for key, _ in pairs(get(events_of(root).get(event), "inputs"))
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
