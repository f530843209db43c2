"""Workflow files: whether they are there, current and enabled."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from kalypso_actions.doctor_rules.check import Check, ok, problem, warning
from kalypso_actions.doctor_rules.pages import file, workflow
from kalypso_actions.doctor_rules.template_options import is_as_offered
from kalypso_actions.model.counts import counted
from kalypso_actions.model.workflow_origins import (
    USES_OURS,
    is_upstreams_other_file,
    origin_of_workflow,
)

USED: Final = re.compile(
    r"^\s*(?:-\s+)?uses:\s*['\"]?(?P<actions>[A-Za-z0-9_-]+/[A-Za-z0-9._-]+)"
    r"(?:/actions/(?:ci|cd|schedule|check-promote|notify|poll))?@(?P<ref>[A-Za-z0-9][\w./-]*)",
    re.MULTILINE,
)
"""Repositories and references that a template can be filled in with."""

PROPOSING: Final = re.compile(
    r"^\s*(?:pull-requests:\s*write|permissions:\s*write-all)\b", re.MULTILINE
)

Templates = Callable[[str, str], Mapping[str, str]]
"""The repository of the actions and a reference in it → the files that belong here, by path."""


@dataclass(frozen=True, slots=True)
class Files:
    """The texts below `.github/workflows` of a branch, by path."""

    repository: str
    branch: str
    texts: Mapping[str, str]


def workflow_checks(
    files: Files, paths: Sequence[str], templates: Templates, disabled: Mapping[str, str]
) -> Iterator[Check]:
    """How the files of a branch stand that belong there by `paths`.

    A file is held against our template with the actions that it uses itself. `disabled` are the
    files that GitHub does not run, each with the state that it is in.
    """
    place, branch = files.repository, files.branch
    current = 0
    for path in paths:
        text = files.texts.get(path)
        if text is None:
            yield problem(place, f"{path} is missing on {branch}", "kalypso init writes it")
            continue
        if path in disabled:
            yield problem(
                place,
                f"{path} is switched off ({disabled[path]})",
                "enable the workflow",
                workflow(path),
            )
        found = _compared(files, path, text, templates)
        if found:
            yield found
        else:
            current += path not in disabled
    if current == len(paths):
        yield ok(place, f"workflows on {branch}: {counted(current, 'file')}, as in our templates")
    templates_here = dict.fromkeys(paths, "")
    for path, text in files.texts.items():
        if path not in templates_here and is_upstreams_other_file(path, text, templates_here):
            yield warning(
                place,
                f"{path} on {branch} is a file of upstream's workflows, no longer used",
                "delete it, or let kalypso init --delete-upstream-workflows do it",
                file(branch, path),
            )


def _compared(files: Files, path: str, text: str, templates: Templates) -> Check | None:
    """None where it is what our template says, or offers in its comments."""
    where = f"{path} on {files.branch}"
    if not USES_OURS.search(text):
        upstream = origin_of_workflow(text, "") == "upstream"
        whose = "upstream's" if upstream else "somebody else's: it uses none of our actions"
        advice = "kalypso init replaces it" if upstream else "kalypso init --update-workflows"
        page = file(files.branch, path)
        return problem(files.repository, f"{where} is {whose}", advice, page)
    for used in _uses(text):
        template = templates(used["actions"], used["ref"])[path]
        if origin_of_workflow(text, template) == "current" or is_as_offered(text, template):
            return None
    return warning(
        files.repository,
        f"{where} differs from our template",
        "see the difference by kalypso init --dry-run; kalypso init --update-workflows takes ours",
        file(files.branch, path),
    )


def used_actions(texts: Iterable[str]) -> set[str]:
    """The repositories (owner/name) of our actions, as the files name them."""
    return {used["actions"] for text in texts for used in _uses(text)}


def _uses(text: str) -> Iterator[re.Match[str]]:
    """Where a file uses our actions."""
    found = (USED.match(text, line.start()) for line in USES_OURS.finditer(text))
    return (one for one in found if one)


def job_may_propose(text: str) -> bool:
    """Whether a job's own token gets what it takes to open pull requests."""
    return bool(PROPOSING.search(text))
