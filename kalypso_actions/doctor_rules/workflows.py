"""Workflow files: present, current, enabled."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from kalypso_actions.doctor_rules.check import Check, ok, problem, warning
from kalypso_actions.doctor_rules.pages import file, workflow
from kalypso_actions.doctor_rules.template_options import uses_only_options
from kalypso_actions.model.counts import counted
from kalypso_actions.model.workflow_origins import (
    ACTIONS,
    USES_OURS,
    is_upstreams_other_file,
    origin_of_workflow,
)
from kalypso_actions.model.workflow_placeholders import FOLDER

USED: Final = re.compile(
    r"^\s*(?:-\s+)?uses:\s*['\"]?(?P<actions>[A-Za-z0-9_-]+/[A-Za-z0-9._-]+)"
    rf"(?:/actions/(?:{ACTIONS}))?@(?P<ref>[A-Za-z0-9][\w./-]*)",
    re.MULTILINE,
)
"""Finds the repository and the reference of Kalypso's actions, to fill in templates with them."""

OPTIONAL: Final = frozenset(
    f"{FOLDER}{name}.yaml" for name in ("preview", "preview-comment", "report")
)
"""Workflows that the chain does not need: previews, and the page about the fleet."""

Templates = Callable[[str, str], Mapping[str, str]]
"""The repository of the actions and a reference → the workflow files of a branch, by path."""


@dataclass(frozen=True, slots=True)
class BranchWorkflows:
    """The files below `.github/workflows` of a branch: text by path."""

    repository: str
    branch: str
    texts: Mapping[str, str]


def workflow_checks(
    files: BranchWorkflows, paths: Sequence[str], templates: Templates, states: Mapping[str, str]
) -> Iterator[Check]:
    """Check the workflow files that a branch must have.

    Compare a file with our template, filled in with the actions that the file uses. `states` are
    GitHub's states of the workflows, by path.
    """
    place, branch = files.repository, files.branch
    current = 0
    for path in paths:
        text = files.texts.get(path)
        state = states.get(path, "")
        is_disabled = state.startswith("disabled")
        if text is None:
            missing = warning if path in OPTIONAL else problem
            yield missing(place, f"{path} is missing on {branch}", "kalypso init writes it")
            continue
        if is_disabled:
            yield problem(
                place, f"{path} is disabled ({state})", "enable the workflow", workflow(path)
            )
        difference = _difference(files, path, text, templates)
        if difference:
            yield difference
        elif not is_disabled:
            current += 1
    if current == len(paths):
        yield ok(place, f"workflows on {branch}: {counted(current, 'file')}, as in our templates")
    templates_here = dict.fromkeys(paths, "")
    for path, text in files.texts.items():
        if path not in templates_here and is_upstreams_other_file(path, text, templates_here):
            yield warning(
                place,
                f"{path} on {branch} is a workflow file of upstream that is no longer used",
                "delete it, or let kalypso init --delete-upstream-workflows do it",
                file(branch, path),
            )


def copy_checks(
    default: BranchWorkflows, files: BranchWorkflows, paths: Iterable[str]
) -> Iterator[Check]:
    """Check that the default branch has the same workflow files as another branch.

    GitHub documents that any branch with an identical file will do, but it has also looked only at
    the default branch (DataDog/datadog-agent#49532).
    """
    for path in paths:
        text = files.texts.get(path)
        if text is not None and default.texts.get(path) != text:
            yield warning(
                files.repository,
                f"{path} on {files.branch} is not the same on {default.branch}: GitHub may refuse "
                "new branches with it, as the App has no permission for workflows",
                "copy it",
                file(default.branch, path),
            )


def _difference(files: BranchWorkflows, path: str, text: str, templates: Templates) -> Check | None:
    """Report a file that neither matches our template nor uses the options in its comments."""
    where = f"{path} on {files.branch}"
    page = file(files.branch, path)
    if not USES_OURS.search(text):
        upstream = origin_of_workflow(text, "") == "upstream"
        owner = "upstream's" if upstream else "somebody else's: it uses none of our actions"
        advice = "kalypso init replaces it" if upstream else "kalypso init --update-workflows"
        return problem(files.repository, f"{where} is {owner}", advice, page)
    for reference in _references(text):
        template = templates(reference["actions"], reference["ref"])[path]
        if origin_of_workflow(text, template) == "current" or uses_only_options(text, template):
            return None
    return warning(
        files.repository,
        f"{where} differs from our template",
        "kalypso init --dry-run shows the difference; kalypso init --update-workflows takes ours",
        page,
    )


def used_actions(texts: Iterable[str]) -> set[str]:
    """Return the repositories (owner/name) of Kalypso's actions that the files use."""
    return {reference["actions"] for text in texts for reference in _references(text)}


def _references(text: str) -> Iterator[re.Match[str]]:
    matches = (USED.match(text, line.start()) for line in USES_OURS.finditer(text))
    return filter(None, matches)
