"""Repositories: access, branches, labels, and open pull requests of upstream."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from kalypso_actions.doctor_rules import pages
from kalypso_actions.doctor_rules.check import Check, ok, problem, warning
from kalypso_actions.model.github import PullRequest, RepositoryFacts

UPSTREAM_PREFIX: Final = "deployment/"
"""The prefix of the branches that upstream proposes from."""


def access_checks(name: str, repository: RepositoryFacts, *, by_app: bool) -> Iterator[Check]:
    """Check that the chain can write to a repository; `by_app`: jobs use the App, not the token."""
    if repository.is_archived:
        yield problem(
            name,
            "the repository is archived: nobody can write to it",
            "unarchive it",
            pages.GENERAL,
        )
    if not by_app and not repository.may_push:
        yield warning(
            name,
            "the given token may not push: no job can use it",
            "give kalypso doctor the token that the jobs have, to check it as well",
        )


def branch_check(repository: str, branch: str, *, exists: bool) -> Check:
    """Check that a GitOps branch exists."""
    if exists:
        return ok(repository, f"the branch {branch} exists")
    return problem(repository, f"there is no branch {branch}", "kalypso init creates it")


def upstream_proposals(
    repository: str, branch: str, pulls: Iterable[PullRequest]
) -> Iterator[Check]:
    """Warn of upstream's pull requests that are still open."""
    for pull in pulls:
        if pull.head_branch.startswith(UPSTREAM_PREFIX):
            yield warning(
                repository,
                f"#{pull.number} into {branch}, a pull request of upstream's, is open",
                "close it, or merge it first",
                pull.url,
            )


def label_check(repository: str, label: str, *, exists: bool) -> Check:
    """Report whether a label exists; schedule creates a missing one."""
    text = "exists" if exists else "does not exist yet: schedule creates it"
    return ok(repository, f"the label {label} {text}")
