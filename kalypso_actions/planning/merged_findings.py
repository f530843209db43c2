"""Merge everything that is wrong with environments into one list of findings.

    findings = settled((*found, *check_fleet(view)), documents)
    of_level(findings, "error")

Every command that plans or validates makes its findings here, so that all of them say the same.
"""

from __future__ import annotations

import bisect
import dataclasses
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from kalypso_actions.errors import Finding, Location, Problem, distinct, leveled, of_level
from kalypso_actions.gitops.mass_removals import MASS_REMOVAL
from kalypso_actions.model.counts import MAX_LISTED, counted
from kalypso_actions.model.documents import Document
from kalypso_actions.model.kinds import (
    IGNORE_ANNOTATION,
    IGNORE_REASON_ANNOTATION,
    Environment,
)
from kalypso_actions.model.nearest import nearest
from kalypso_actions.model.problem_codes import problem_codes
from kalypso_actions.model.promotion_policy import POLICY_FILE
from kalypso_actions.model.tree import Snapshot
from kalypso_actions.planning.fleet_checks import FleetScope, FleetView, check_fleet
from kalypso_actions.planning.fleet_checks.documents import merge_field_faults
from kalypso_actions.planning.plan import Plan
from kalypso_actions.rendering import BROKEN_SCHEMA

_File = tuple[str, str, str]

_MISSING: Final = frozenset({"gitops-repo-missing", "base-repo-missing"})
_OF_MERGED: Final = frozenset(
    {
        *("environment-misplaced", "policy-on-main", "cluster-type-on-main", "base-repo-nested"),
        *("gitops-repo-shared", "gitops-repo-duplicate", "object-overridden"),
    }
)
"""The codes of what follows if one branch of a control plane has been merged into another."""

_ANNOTATIONS = IGNORE_ANNOTATION, IGNORE_REASON_ANNOTATION


def judged(plan: Plan, snapshot: Snapshot, view: FleetView) -> Plan:
    """Return a plan with the findings of the fleet's checks, and acknowledged warnings apart."""
    removals = [item for item in plan.findings if item.code == MASS_REMOVAL]
    others = [item for item in plan.findings if item.code != MASS_REMOVAL]
    of_fleet = (
        # A policy stops promotions, but no manifests of what has been promoted.
        replace(item, level="warning") if _is_of_policy(item) else item
        for item in check_fleet(view)
    )
    findings = settled((*others, *of_fleet), documents_of(snapshot))
    return dataclasses.replace(plan, findings=(*findings, *removals))


def _is_of_policy(finding: Finding) -> bool:
    is_in_file = finding.where is not None and finding.where.path.endswith(POLICY_FILE)
    return finding.level == "error" and is_in_file


def fleet_findings(
    found: Iterable[Finding],
    scopes: Iterable[FleetScope | None],
    environments: Mapping[str, Environment],
    snapshots: Iterable[Snapshot],
) -> tuple[Finding, ...]:
    """Add what the fleet's checks find over several environments to what is `found` already.

    `scopes` are the environments as far as they can be judged, `environments` all of the control
    plane, and `snapshots` have the documents that acknowledge warnings.
    """
    known = tuple(scope for scope in scopes if scope)
    view = FleetView(known, environments, len(known) == len(environments))
    documents = (document for snapshot in snapshots for document in documents_of(snapshot))
    return settled((*found, *check_fleet(view)), documents)


def settled(
    found: Sequence[Finding],
    documents: Iterable[Document],
    judged_repositories: Collection[str] = (),
) -> tuple[Finding, ...]:
    """Return each finding once, without the effects of another, and with acknowledged warnings.

    The warnings that `documents` acknowledge have the reason. `judged_repositories` are those whose
    warnings are all known: there, an acknowledgement of nothing is a note.
    """
    acknowledgements = Acknowledgements(documents)
    found = _without_effects_of_merges(with_broken_schemas(found))
    warnings = without_causes(of_level(found, "warning"), found)
    errors, warnings = merge_field_faults(of_level(found, "error"), warnings)
    errors = _missing_templates(errors)
    told = {(item.message, item.where) for item in errors}
    warnings = [item for item in warnings if (item.message, item.where) not in told]
    known = distinct((*warnings, *leveled(acknowledgements.problems, "warning")))
    remaining, acknowledged = acknowledgements.split(known)
    stale = leveled(acknowledgements.stale(judged_repositories), "note")
    notes = (*of_level(found, "note"), *stale)
    return (*errors, *remaining, *acknowledged, *distinct(notes))


def told_once(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return the first of the findings that differ only in their assignment, with its like.

    The assignment is the subject before the first colon: `time-server on depot: …`.
    """
    alike: dict[object, list[Finding]] = {}
    for finding in findings:
        subject, colon, cause = finding.message.partition(": ")
        is_assignment = colon and finding.scope == "assignment" and " on " in subject
        key = (cause if is_assignment else finding.message, finding.where, finding.advice)
        alike.setdefault((finding.code, finding.level, finding.reason, *key), []).append(finding)
    return tuple(_with_number(same, "assignment") for same in alike.values())


def with_broken_schemas(found: Sequence[Finding]) -> list[Finding]:
    """Return the faults of ConfigSchemas, without the failures of assignments that follow.

    The fault has the level and scope of what follows.
    """
    broken = [item for item in found if item.code == BROKEN_SCHEMA]
    faults = {item.where: item for item in broken if item.message.startswith(_OF_SCHEMA)}
    failed = {
        item.where: item
        for item in broken
        if item.level == "error" and not item.message.startswith(_OF_SCHEMA)
    }
    return [
        replace(item, level="error", scope=failed[item.where].scope)
        if item is faults.get(item.where) and item.where in failed and item.level != "error"
        else item
        for item in found
        if item.code != BROKEN_SCHEMA
        or item.where not in faults
        or item.message.startswith(_OF_SCHEMA)
    ]


_OF_SCHEMA: Final = "ConfigSchema "


def _missing_templates(errors: Iterable[Finding]) -> list[Finding]:
    """Tell once that a Template is missing for several cluster types of a branch."""
    alike: dict[object, list[Finding]] = {}
    for item in distinct(errors):
        cause = item.message.partition(": ")[2] if item.code == "template-missing" else ""
        key = (cause, *_file(item.where)[:2], item.advice) if cause else id(item)
        alike.setdefault(key, []).append(item)
    return [
        replace(
            _with_number(same, "ClusterType"),
            related=tuple(item.where for item in same[1:MAX_LISTED] if item.where),
        )
        if same[1:]
        else same[0]
        for same in alike.values()
    ]


def _with_number(same: Sequence[Finding], noun: str) -> Finding:
    """Return the first of findings, with the number of the others."""
    first, others = same[0], len(same) - 1
    if not others:
        return first
    message = f"{first.message} (the same for {counted(others, f'other {noun}')})"
    return replace(first, message=message)


def without_causes(warnings: Iterable[Finding], findings: Iterable[Finding]) -> list[Finding]:
    """Return the warnings that `findings` do not quote as causes of something missing."""
    findings = list(findings)
    missing = {item.where for item in findings if item.code == "application-missing"}
    lost = {item.where for item in findings if item.code in _MISSING}
    foreign = {_file(item.where) for item in findings if item.code == "base-repo-foreign"}
    return [
        warning
        for warning in warnings
        if not (warning.where in missing and warning.message.startswith("registration "))
        and not (warning.where in lost and warning.code == "document-ignored")
        # No commit of main is on the other branch that the BaseRepo names.
        and not (warning.code == "base-commit-foreign" and _file(warning.where) in foreign)
    ]


DUPLICATES: Final = frozenset({"object-duplicate", "paths-alike"})
"""The codes of findings about two documents, of which the newer one is the culprit."""


def at_newer(
    findings: Iterable[Finding], newer: Callable[[str, str, str], str]
) -> tuple[Finding, ...]:
    """Place the findings about two files at the file that has changed last.

    `newer` takes a branch and two paths, and returns the path that is newer, or "".
    """

    def placed(item: Finding) -> Finding:
        where = item.where
        first = item.related[0] if item.related else None
        if item.code not in DUPLICATES or where is None or first is None:
            return item
        is_of_branch = first.branch in {"", where.branch}
        if not is_of_branch or newer(where.branch, where.path, first.path) != first.path:
            return item
        message = item.message.replace(str(first), str(where), 1)
        place = replace(first, branch=where.branch, commit=where.commit)
        return replace(item, message=message, where=place, related=(where, *item.related[1:]))

    return tuple(map(placed, findings))


def _without_effects_of_merges(findings: Sequence[Finding]) -> list[Finding]:
    """Leave out what follows if one branch of a control plane has been merged into another."""
    merged = [item for item in findings if item.code == "branch-merged"]
    if not merged:
        return list(findings)
    errors = {item.message for item in merged if item.level == "error"}
    copies = {_file(where) for item in merged for where in item.related}
    branches = {_file(item.where)[:2] for item in merged}
    return [
        item
        for item in findings
        if not (item.code in _OF_MERGED and _file(item.where) in copies)
        and not (item.code == "environment-misplaced" and _file(item.where)[:2] in branches)
        # One environment has a warning, another one an error.
        and not (item in merged and item.level == "warning" and item.message in errors)
    ]


def documents_of(snapshot: Snapshot) -> Iterator[Document]:
    """Yield all documents that a run has read."""
    yield from snapshot.own.documents
    for _, reading in snapshot.bases:
        yield from reading.documents
    for registration in snapshot.registrations:
        yield from registration.documents


@dataclass(frozen=True, slots=True)
class _Acknowledgement:
    """The acknowledgement of one code at an object."""

    code: str
    reason: str
    where: Location


class Acknowledgements:
    """The annotations of documents; `problems` are the warnings about faulty ones."""

    def __init__(self, documents: Iterable[Document]) -> None:
        self.problems: list[Problem] = []
        by_file: dict[_File, dict[int, tuple[_Acknowledgement, ...]]] = {}
        for document in documents:
            given = tuple(self._of(document))
            by_file.setdefault(_file(document.where), {})[document.where.line] = given
        self._files = {
            place: sorted(starts.items())
            for place, starts in by_file.items()
            if any(starts.values())
        }
        self._used: set[_Acknowledgement] = set()

    def split(self, warnings: Iterable[Problem]) -> tuple[list[Problem], list[Problem]]:
        """Return the remaining warnings, and the acknowledged ones with their reasons."""
        remaining: list[Problem] = []
        acknowledged: list[Problem] = []
        for warning in warnings:
            given = self._covering(warning)
            self._used.update(given)
            if given:
                acknowledged.append(replace(warning, reason=given[0].reason))
            else:
                remaining.append(warning)
        return remaining, acknowledged

    def stale(self, repositories: Collection[str]) -> Iterator[Problem]:
        """Yield a note on each acknowledgement in these repositories that `split` did not need.

        An acknowledgement in a shared application may be for another control plane.
        """
        for place, starts in self._files.items():
            for _, given in starts:
                for item in given:
                    if place[0] in repositories and item not in self._used:
                        yield Problem(
                            f"{IGNORE_ANNOTATION}: this object has no warning {item.code!r}",
                            item.where,
                            "remove the acknowledgement",
                            "ignore-stale",
                        )

    def _covering(self, warning: Problem) -> list[_Acknowledgement]:
        """Return the acknowledgements at the objects of a warning."""
        places = (warning.where, *warning.related)
        around = (item for where in places if where for item in self._around(where))
        return [item for item in around if item.code == warning.code]

    def _around(self, where: Location) -> tuple[_Acknowledgement, ...]:
        """Return the acknowledgements of the document that contains a location."""
        starts = self._files.get(_file(where), [])
        position = bisect.bisect_right(starts, where.line, key=lambda start: start[0]) - 1
        return starts[position][1] if position >= 0 else ()

    def _of(self, document: Document) -> Iterator[_Acknowledgement]:
        text, reason = (_annotation(document, name) for name in _ANNOTATIONS)
        if not (text or reason):
            return
        codes = [code.strip() for code in text.split(",") if code.strip()]
        faults = [*filter(None, map(_fault, codes))]
        if not codes:
            faults.append(("it names no code", "name the code that the warning ends with"))
        if not reason:
            advice = f"add the annotation {IGNORE_REASON_ANNOTATION} with the reason"
            faults.append(("it gives no reason", advice))
        name = IGNORE_ANNOTATION if text else IGNORE_REASON_ANNOTATION
        where = document.at("metadata", "annotations", name)
        self.problems += (
            Problem(f"{IGNORE_ANNOTATION}: {fault}", where, advice, "ignore-invalid")
            for fault, advice in faults
        )
        if not faults:
            yield from (_Acknowledgement(code, reason, where) for code in codes)


def _file(where: Location | None) -> _File:
    return (where.repository, where.branch, where.path) if where else ("", "", "")


def _annotation(document: Document, name: str) -> str:
    match document.body:
        case {"metadata": {"annotations": Mapping() as annotations}}:
            text = annotations.get(name)
            return text.strip() if isinstance(text, str) else ""
    return ""


def _fault(name: str) -> tuple[str, str] | None:
    """Return the fault of a code, and advice; None if it is valid."""
    codes = problem_codes()
    code = codes.get(name)
    if code is None:
        close = nearest(name, codes)
        suggestion = f"did you mean {close}?" if close else "see docs/reference/problems.md"
        return f"{name!r} is not the code of a problem", suggestion
    if code.level == "error":
        return f"{name!r} is an error, which cannot be acknowledged", "repair it"
    return None
