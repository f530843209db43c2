"""The owner of an existing workflow file."""

from __future__ import annotations

import pytest

from kalypso_actions.model.workflow_files import (
    UPSTREAM,
    is_upstreams_other_file,
    origin_of_workflow,
)
from kalypso_actions.onboarding.files import for_branch, proposes

TEMPLATE = "jobs:\n  ci:\n    steps:\n      - uses: a/kalypso-actions/actions/ci@v0\n"
CI = ".github/workflows/ci.yaml"


@pytest.mark.parametrize(
    ("text", "owner"),
    [
        (TEMPLATE, "current"),
        (TEMPLATE.replace("\n", "\r\n"), "current"),
        (TEMPLATE + "# ours\n", "ours"),
        (TEMPLATE.replace("@v0", "@v1"), "ours"),
        ("      - uses: 'acme/mirror/actions/check-promote@main'\n", "ours"),
        ("      - uses: acme/kalypso-actions@v0\n", "ours"),
        ("        uses: acme/kalypso-actions@v0\n        with: {run: start-schedule}\n", "ours"),
        ("  # promoted_commit_id\n  - uses: a/b/actions/cd@v1\n", "ours"),
        ("  gh workflow run cd.yml -f promoted_commit_id=$GITHUB_SHA\n", "upstream"),
        ('echo "Promoted_Commit_Id: $COMMIT_ID"\n', "upstream"),
        ("name: checkpromote\n", "upstream"),
        ("gh pr list --label promoted\n", "upstream"),
        (".github/workflows/utils/update-status.sh pending\n", "upstream"),
        ("name: lint\n", "foreign"),
        ("      - uses: actions/checkout@v4\n", "foreign"),
        ("      - uses: acme/tools/actions/lint@v4\n", "foreign"),
        ("# uses: a/kalypso-actions/actions/ci@v0\n", "foreign"),
        ("", "foreign"),
    ],
)
def test_whose_a_file_is(text: str, owner: str) -> None:
    assert origin_of_workflow(text, TEMPLATE) == owner


@pytest.mark.parametrize(
    ("path", "text", "is_upstreams"),
    [
        (".github/workflows/utils/create-pr.sh", "anything", True),
        (".github/workflows/transform.yaml", "anything", True),
        (".github/workflows/ci.yml", "promoted_commit_id", True),
        (".github/workflows/ci.yml", "name: lint", False),
        (".github/workflows/ci.yml", TEMPLATE, False),
        (".github/workflows/other.yml", "promoted_commit_id", False),
        (".github/workflows/utils/ours.sh", "promoted_commit_id", False),
        (".github/workflows/lint.yaml", "promoted_commit_id", False),
    ],
)
def test_remaining_files_of_upstream(path: str, text: str, *, is_upstreams: bool) -> None:
    assert is_upstreams_other_file(path, text, {CI: TEMPLATE}) is is_upstreams


def test_no_file_of_ours_counts_as_upstreams() -> None:
    names = ("ci", "cd", "schedule", "check-promote", "poll")
    assert not UPSTREAM & {f".github/workflows/{name}.yaml" for name in names}


@pytest.mark.parametrize(
    ("branch", "written"), [("main", "main"), ("trunk", "trunk"), ("on", '"on"'), ("a,b", '"a,b"')]
)
def test_the_default_branch_is_written_where_a_template_names_it(branch: str, written: str) -> None:
    files = {CI: "on:\n  push:\n    branches: [main]\n"}
    assert for_branch(files, branch) == {CI: f"on:\n  push:\n    branches: [{written}]\n"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("          mode: pull-request\n", True),
        ("          mode: 'pull-request' # reviewed\n", True),
        ("          # mode: pull-request\n", False),
        ("          mode: commit\n", False),
        ("          mode: pull-request\n          app-private-key: x\n", False),
        ("", False),
    ],
)
def test_which_cd_proposes_by_the_jobs_own_token(text: str, *, expected: bool) -> None:
    assert proposes(text) is expected
