"""What Flux, Argo CD and programs report, case by case, with the states and verdicts that are right.

The cases are data of the compatibility contract, which this repository does not contain.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from kalypso_actions.compliance import DesiredState, EnvironmentTree, Requirements, judge_clusters
from kalypso_actions.compliance.argocd_applications import ArgoServer, reports_of_applications
from kalypso_actions.compliance.commit_statuses import reports_of_statuses
from kalypso_actions.compliance.program_reports import reports_of_program
from kalypso_actions.model.cluster_reports import ClusterReport, FollowedTree
from kalypso_actions.model.github import CommitStatus

FILE = Path(__file__).parents[3] / "shared/data/cluster-reports/cases.jsonl"
NOW = datetime(2026, 11, 27, 12, 0, tzinfo=UTC)
COMMITS = {name: digit * 40 for name, digit in zip("PGHL", "1234", strict=True)}
REPOSITORY = "https://github.com/harbour/platform-gitops"


def _cases() -> list[Any]:
    if not FILE.exists():
        reason = "the data of the compatibility contract is not beside the repository"
        return [pytest.param({}, marks=pytest.mark.skip(reason=reason), id="none")]
    lines = map(_filled_in, FILE.read_text("utf-8").splitlines())
    cases = [json.loads(line) for line in lines]
    return [pytest.param(case, id=case["id"]) for case in cases if case["expected"]["verdict"]]


def _filled_in(line: str) -> str:
    def moment(match: re.Match[str]) -> str:
        return f"{NOW + timedelta(seconds=int(match[1])):%Y-%m-%dT%H:%M:%SZ}"

    line = re.sub(r"\{\{(-?\d+)s\}\}", moment, line)
    line = re.sub(r"\{\{([PGHL])\}\}", lambda match: COMMITS[match[1]], line)
    return line.replace("{{repo}}", REPOSITORY)


@pytest.mark.parametrize("case", _cases())
def test_cases(case: Mapping[str, Any]) -> None:
    desired, options = case["desired"], case["options"]
    types = desired["cluster_types"]
    tree = EnvironmentTree(
        desired["folder"],
        frozenset(types),
        frozenset(name for name, each in types.items() if each["assigned"]),
        listed={name: tuple(each["clusters"] or ()) for name, each in types.items()},
    )
    commits = [COMMITS[commit["id"]] for commit in desired["commits"] if commit["id"] != "P"]
    later = frozenset({COMMITS["L"]} & set(commits))
    state = DesiredState(frozenset(commits) - later, tree, later)
    followed = FollowedTree(REPOSITORY, desired["branch"], tuple(reversed(commits)), tree.expected)
    reports, warnings = _reports(case, followed)
    verdict = judge_clusters(
        reports,
        state,
        Requirements(
            min_compliant=int(options.get("min-compliant", 100)),
            grace=_minutes(options["grace-period"]),
            settle=_minutes(options["settle"]),
        ),
        started=datetime.fromisoformat(desired["started"]),
        now=NOW,
    )
    expected = case["expected"]
    states = {
        f"{cluster.name}/{cluster.cluster_type}": cluster.state for cluster in verdict.clusters
    }
    assert states == expected["clusters"]
    assert list(verdict.missing) == expected.get("missing", [])
    if not later:
        assert verdict.name == expected["verdict"]
    for text in expected.get("warnings", ()):
        assert any(text in warning for warning in warnings)


def _reports(
    case: Mapping[str, Any], followed: FollowedTree
) -> tuple[list[ClusterReport], list[str]]:
    reports: list[ClusterReport] = []
    warnings: list[str] = []
    if statuses := case["input"].get("statuses"):
        author = case["options"]["status-authors"]
        by_commit = {
            COMMITS[commit]: [
                CommitStatus(
                    status["context"],
                    status["state"],
                    status["description"] or "",
                    author=status["creator"]["login"],
                    created_at=datetime.fromisoformat(status["created_at"]),
                )
                for status in each
            ]
            for commit, each in statuses.items()
        }
        of_statuses, unlisted = reports_of_statuses(by_commit, followed, {author})
        reports += of_statuses
        warnings += unlisted
    if servers := case["input"].get("servers"):
        answers = [
            ArgoServer(
                url,
                answer["applications"]["items"] or (),
                {
                    cluster["server"]: cluster["name"]
                    for cluster in (answer["clusters"] or {}).get("items") or ()
                },
            )
            for url, answer in servers.items()
        ]
        of_applications, problems = reports_of_applications(answers, followed)
        reports += of_applications
        warnings += map(str, problems)
    if "stdout" in case["input"]:
        reports += reports_of_program(case["input"]["stdout"], NOW)
    return reports, warnings


def _minutes(text: str) -> timedelta:
    return timedelta(minutes=int(text.removesuffix("m")))
