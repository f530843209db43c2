"""Branches as they are → what is written to each, and what waits for consent."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from typing import Final, Literal

from kalypso_actions.model.workflow_origins import is_upstreams_other_file, origin_of_workflow
from kalypso_actions.onboarding.setup import RepositorySetup

NO_NEWLINE: Final = "\\ No newline at end of file"

Action = Literal["add", "replace", "update", "delete"]
"""`add` what is not there, `replace` upstream's workflow by ours: both are what init is for.

`update` a workflow that people have changed and `delete` what is left of upstream's wait for
consent.
"""


@dataclass(frozen=True, slots=True)
class FileChange:
    """One file: its text now (None: there is none) and after (None: deleted)."""

    path: str
    action: Action
    before: str | None
    after: str | None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Consent:
    """What people agree to besides adding and replacing."""

    update_workflows: bool = False
    delete_upstream_workflows: bool = False

    def covers(self, action: str) -> bool:
        """Whether what is done with a file (`Action`) is done."""
        match action:
            case "update":
                return self.update_workflows
            case "delete":
                return self.delete_upstream_workflows
        return True


@dataclass(frozen=True, slots=True)
class BranchPlan:
    """What a branch shall get; `head` is where it stands ("": there is no such branch).

    `base_files` are the paths of base-repo.yaml: into those among the changes the commit of main
    comes when it is known.
    """

    repository: RepositorySetup
    branch: str
    head: str
    changes: tuple[FileChange, ...]
    base_files: frozenset[str] = frozenset()

    @property
    def is_main(self) -> bool:
        """Whether it is the repository's default branch."""
        return self.branch == self.repository.main

    def written(self, consent: Consent) -> tuple[FileChange, ...]:
        """The changes that are written."""
        return tuple(change for change in self.changes if consent.covers(change.action))


def additions(wanted: Mapping[str, str], paths: Iterable[str]) -> list[FileChange]:
    """What of `wanted` is not there yet; a path that exists is people's, whatever it holds."""
    taken = set(paths)
    return [
        FileChange(path, "add", None, text)
        for path, text in wanted.items()
        if path not in taken and not _in_the_way(path, taken)
    ]


def workflow_changes(
    templates: Mapping[str, str], files: Mapping[str, str], paths: Set[str]
) -> list[FileChange]:
    """The workflow files of a branch become the templates, as far as that is ours to do.

    `files` are the texts of its workflow files, `paths` all that it has: links and submodules, too.
    """
    changes = []
    for path, template in templates.items():
        text = files.get(path)
        if text is None:
            is_free = path not in paths and not _in_the_way(path, paths)
            action: Action = "add" if is_free else "update"
            reason = "" if is_free else "is no file"
            changes.append(FileChange(path, action, None, template, reason))
            continue
        match origin_of_workflow(text, template):
            case "upstream":
                changes.append(
                    FileChange(path, "replace", text, template, "in place of upstream's workflow")
                )
            case "ours":
                changes.append(
                    FileChange(path, "update", text, template, "differs from the template")
                )
            case "foreign":
                changes.append(
                    FileChange(path, "update", text, template, "is a workflow of somebody else")
                )
    for path, text in files.items():
        if path not in templates and is_upstreams_other_file(path, text, templates):
            changes.append(FileChange(path, "delete", text, None, "upstream's, no longer used"))
    return changes


def unified_diff(change: FileChange) -> str:
    """What changes in a file, line by line."""
    before = (change.before or "").splitlines(keepends=True)
    after = (change.after or "").splitlines(keepends=True)
    lines = difflib.unified_diff(
        before,
        after,
        "/dev/null" if change.before is None else f"a/{change.path}",
        "/dev/null" if change.after is None else f"b/{change.path}",
    )
    return "".join(line if line.endswith("\n") else f"{line}\n{NO_NEWLINE}\n" for line in lines)


def _in_the_way(path: str, taken: Set[str]) -> bool:
    """Whether a folder of the path is a file."""
    parts = path.split("/")
    return any("/".join(parts[:end]) in taken for end in range(1, len(parts)))
