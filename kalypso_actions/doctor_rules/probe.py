"""The probe: which writes GitHub refused, what that means for the chain, and what to change."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from kalypso_actions.doctor_rules.check import (
    ACTIONS_PAGE,
    BRANCHES_PAGE,
    CLASSIC_RULES_PAGE,
    GENERAL_PAGE,
    RULES_PAGE,
    Check,
    State,
    ok,
    warning,
)
from kalypso_actions.errors import Problem
from kalypso_actions.model.github import REFUSING, BranchRules

Action = Literal["push", "status", "open", "label", "comment", "merge", "clean up"]
Place = Literal["control plane", "GitOps repository"]

CONTROL_PLANE: Final = "control plane"
GITOPS: Final = "GitOps repository"

BRANCH_PREFIX: Final = "kalypso/probe-"
"""The workflow templates ignore pushes to `kalypso/**`."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """A write of the probe; `problem` is GitHub's refusal (None: GitHub accepted it)."""

    action: Action
    problem: Problem | None = None


@dataclass(frozen=True, slots=True)
class Use:
    """How the chain uses an action in the repositories of a place.

    `state` is the check's state if GitHub refuses the action: `ok` if the chain does not need it.
    """

    state: State
    text: str


TEXTS: Final[Mapping[Action, str]] = {
    "push": "push branches",
    "status": "post a status",
    "open": "open a pull request",
    "label": "add a label",
    "comment": "comment",
    "merge": "merge",
}

USES: Final[Mapping[Place, Mapping[Action, Use]]] = {
    CONTROL_PLANE: {
        "push": Use("problem", "cd pushes to the environment branches"),
        "status": Use("problem", "every job records the state of commits in statuses"),
        "open": Use("warning", "cd opens pull requests with mode: pull-request"),
        "label": Use("ok", "no job labels pull requests here"),
        "comment": Use("ok", "no job comments on pull requests here"),
        "merge": Use("ok", "no job merges pull requests here"),
    },
    GITOPS: {
        "push": Use("problem", "schedule pushes the branches of its proposals"),
        "status": Use("ok", "no job posts statuses here"),
        "open": Use("problem", "schedule opens pull requests"),
        "label": Use("problem", "schedule labels its pull requests"),
        "comment": Use("problem", "schedule comments on the pull requests that it closes"),
        "merge": Use("warning", "schedule merges with auto-merge; people merge otherwise"),
    },
}

BYPASS: Final = "let the identity of the jobs bypass the rule, or exempt kalypso/** from it"

ADVICE: Final = (
    (r"not permitted to create or approve pull requests", "", ACTIONS_PAGE),
    (
        r"signed|signature",
        "run cd and schedule as a GitHub App, with commit-by: auto or api: GitHub signs no commit "
        "of a personal token",
        RULES_PAGE,
    ),
    (
        r"(commits|merging|merges|rebasing) (are|is) not allowed on this repository",
        "allow a method of merging pull requests",
        GENERAL_PAGE,
    ),
    (
        r"rule violation|GH013|protected branch|Cannot (delete|force-push)|hook declined|"
        r"review|approv|status check|Changes must be made|authorized to push",
        BYPASS,
        RULES_PAGE,
    ),
)
"""Pattern of GitHub's reason, advice ("": the problem's advice), page; the first match counts."""


def probe_writes() -> str:
    """Return what the probe writes to a repository, in words."""
    return f"{_listed(TEXTS.values())}, on branches {BRANCH_PREFIX}…, and delete these"


def probe_checks(place: Place, repository: str, attempts: Sequence[Attempt]) -> Iterator[Check]:
    """Report the actions that GitHub accepted or refused, and those that the probe did not try."""
    accepted = {attempt.action for attempt in attempts if attempt.problem is None}
    names = [text for action, text in TEXTS.items() if action in accepted]
    if names:
        yield ok(repository, f"GitHub let the probe {_listed(names)}")
    for attempt in attempts:
        if attempt.problem is not None:
            yield _refusal(place, repository, attempt.action, attempt.problem)
    tried = {attempt.action for attempt in attempts}
    missing = [text for action, text in TEXTS.items() if action not in tried]
    if missing:
        yield warning(
            repository,
            f"the probe could not try to {_listed(missing, 'or')}",
            "run it again after the other change",
        )


def _refusal(place: Place, repository: str, action: Action, problem: Problem) -> Check:
    advice, page = _advice(problem)
    if action == "clean up":
        return warning(repository, problem.message, advice or "delete it yourself", page)
    use = USES[place][action]
    text = f"{problem.message} ({use.text})"
    if use.state == "ok":
        return ok(repository, text)
    return Check(repository, use.state, text, advice or "see GitHub's reason", page)


def _advice(problem: Problem) -> tuple[str, str]:
    for pattern, advice, page in ADVICE:
        if re.search(pattern, problem.message, re.IGNORECASE):
            return advice or problem.advice, page
    return problem.advice, ""


def unprobed_rules(
    place: Place, repository: str, branch: str, real: BranchRules, probed: BranchRules
) -> Check:
    """Report the rules of a real branch that the throw-away branches do not have."""
    types = [rule for rule in real.types if rule not in probed.types]
    if real.is_classic and not probed.is_classic:
        return warning(
            repository,
            f"the probe could not try the classic rule that protects {branch}",
            "see that it lets the identity of the jobs push"
            if place == CONTROL_PLANE
            else "see that it lets people, or auto-merge, merge",
            CLASSIC_RULES_PAGE,
        )
    if not types:
        return ok(repository, f"{branch} has no rules that the probe's branches lack")
    listed = ", ".join(types)
    text = f"{branch} has rules that the probe's branches lack: {listed}"
    refusing = REFUSING.intersection(types)
    if place == GITOPS:
        effect = "; merges wait for them" if refusing else ""
        return ok(repository, f"{text}{effect}")
    if not refusing:
        return ok(repository, text)
    return warning(
        repository,
        f"{text}; cd pushes to {branch}",
        "let the identity of cd bypass them, or let cd propose (mode: pull-request)",
        RULES_PAGE,
    )


def remains(repository: str, pull_request: int | None, left: Collection[str]) -> Check:
    """Report what the probe left in a repository; `left` are the names of branches and labels."""
    kept = (
        f"pull request #{pull_request} remains, because GitHub deletes none"
        if pull_request
        else "nothing remains"
    )
    if not left:
        return ok(repository, f"the probe has deleted what it made; {kept}")
    names = ", ".join(left)
    return warning(
        repository, f"the probe could not delete {names}", "delete it yourself", BRANCHES_PAGE
    )


def _listed(names: Iterable[str], conjunction: str = "and") -> str:
    *most, last = names
    return f"{', '.join(most)} {conjunction} {last}" if most else last
