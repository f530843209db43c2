"""Changes to the files of a branch, and the consent that some of them need."""

from __future__ import annotations

import difflib
import posixpath
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from typing import Final, Literal

from kalypso_actions.errors import Location, Problem
from kalypso_actions.model.workflow_origins import (
    Origin,
    is_upstreams_other_file,
    origin_of_workflow,
)
from kalypso_actions.onboarding.setup import RepositorySetup

NO_NEWLINE: Final = "\\ No newline at end of file"

REASONS: Final[Mapping[Origin, str]] = {
    "upstream": "in place of upstream's workflow",
    "ours": "differs from the template",
    "foreign": "is somebody else's workflow",
}

NO_PATHS: Final[Mapping[str, str]] = {}

Action = Literal["add", "replace", "update", "delete"]
"""`add` a missing file; `replace` upstream's workflow with ours.

`update` a workflow that people have changed, and `delete` a file that upstream left behind: both
need consent.
"""


@dataclass(frozen=True, slots=True)
class FileChange:
    """A change to one file: its text before (None: missing) and after (None: deleted)."""

    path: str
    action: Action
    before: str | None
    after: str | None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Consent:
    """The changes that people agree to; adding and replacing need no consent."""

    update_workflows: bool = False
    delete_upstream_workflows: bool = False

    def covers(self, action: str) -> bool:
        """Whether people agree to an `Action`."""
        match action:
            case "update":
                return self.update_workflows
            case "delete":
                return self.delete_upstream_workflows
        return True


@dataclass(frozen=True, slots=True)
class BranchPlan:
    """The changes to a branch; `head` is its commit ("": the branch does not exist).

    `base_files` are the paths of base-repo.yaml: their changes get the commit of main as soon as
    it is known.
    """

    repository: RepositorySetup
    branch: str
    head: str
    changes: tuple[FileChange, ...]
    base_files: frozenset[str] = frozenset()

    @property
    def is_main(self) -> bool:
        """Whether the branch is the repository's default branch."""
        return self.branch == self.repository.main

    @property
    def starts_chain(self) -> bool:
        """Whether a push to the branch starts the promotion chain."""
        return self.is_main and self.repository.role == "control plane"

    def written(self, consent: Consent) -> tuple[FileChange, ...]:
        """Return the changes that people agree to."""
        return tuple(change for change in self.changes if consent.covers(change.action))


@dataclass(frozen=True, slots=True)
class WrittenBranch:
    """The result of a plan: the branch's new commit ("": none), or the URL of a pull request."""

    plan: BranchPlan
    commit: str = ""
    pull_request_url: str = ""


def additions(files: Mapping[str, str], paths: Iterable[str]) -> list[FileChange]:
    """Return the additions of missing `files`; existing files stay, because they are people's."""
    existing = set(paths)
    return [
        FileChange(path, "add", None, text)
        for path, text in files.items()
        if path not in existing and not _is_below_file(path, existing)
    ]


def workflow_changes(
    templates: Mapping[str, str],
    files: Mapping[str, str],
    paths: Set[str],
    former_paths: Mapping[str, str] = NO_PATHS,
) -> list[FileChange]:
    """Return the changes that turn the workflow files of a branch into the templates.

    `files` are the texts of its workflow files, and `paths` are all its paths, including links and
    submodules. A file at a former path moves if people agree, because both files would run.
    """
    changes = []
    for path, template in templates.items():
        text = files.get(path)
        if former := former_paths.get(path):
            reason = f"is named {posixpath.basename(path)} now"
            changes.append(FileChange(former, "update", files[former], None, reason))
            changes.append(FileChange(path, "update", None, template, f"was {former} before"))
            continue
        if text is None:
            is_free = path not in paths and not _is_below_file(path, paths)
            action: Action = "add" if is_free else "update"
            reason = "" if is_free else "is not a file"
            changes.append(FileChange(path, action, None, template, reason))
            continue
        origin = origin_of_workflow(text, template)
        if origin != "current":
            action = "replace" if origin == "upstream" else "update"
            changes.append(FileChange(path, action, text, template, REASONS[origin]))
    for path, text in files.items():
        if path not in templates and is_upstreams_other_file(path, text, templates):
            changes.append(FileChange(path, "delete", text, None, "upstream's, no longer used"))
    return changes


def kept_warnings(plans: Iterable[BranchPlan], consent: Consent) -> Iterator[Problem]:
    """Warn of changed workflows that stay because people have not agreed to update them."""
    for plan in plans:
        for change in plan.changes:
            if change.action == "update" and not consent.covers(change.action):
                yield Problem(
                    f"on {plan.branch}: it {change.reason}, and is left as it is",
                    Location(plan.repository.name, change.path),
                    "--update-workflows writes the template",
                )


def unified_diff(change: FileChange) -> str:
    """Return the change in Git's format."""
    before = (change.before or "").splitlines(keepends=True)
    after = (change.after or "").splitlines(keepends=True)
    lines = difflib.unified_diff(
        before,
        after,
        "/dev/null" if change.before is None else f"a/{change.path}",
        "/dev/null" if change.after is None else f"b/{change.path}",
    )
    return "".join(line if line.endswith("\n") else f"{line}\n{NO_NEWLINE}\n" for line in lines)


def _is_below_file(path: str, paths: Set[str]) -> bool:
    """Whether a parent of the path is a file, a link or a submodule."""
    parts = path.split("/")
    return any("/".join(parts[:depth]) in paths for depth in range(1, len(parts)))
