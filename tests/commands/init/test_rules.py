"""Rules of branches, and the lines of workflow files that they need."""

from __future__ import annotations

from typing import Any

import pytest

from kalypso_sandbox.store import BranchRule
from tests.commands.init.repositories import CONTROL_PLANE, GITOPS, WORKFLOWS, Acme, outline

APP = [
    "          app-id: ${{ vars.KALYPSO_APP_ID }}\n",
    "          app-private-key: ${{ secrets.KALYPSO_APP_PRIVATE_KEY }}\n",
]
SIGNED = "          commit-by: api\n"


@pytest.mark.parametrize(
    ("repository", "rule", "cd", "schedule"),
    [
        (CONTROL_PLANE, {"pattern": "stage", "required_reviews": 1}, APP, []),
        (CONTROL_PLANE, {"pattern": "dev", "required_signatures": True}, [SIGNED], []),
        (CONTROL_PLANE, {"pattern": "feature", "required_reviews": 1}, [], []),
        (GITOPS, {"pattern": "kalypso/*", "required_signatures": True}, [], [SIGNED]),
        (GITOPS, {"pattern": "dev", "required_reviews": 1}, [], []),
    ],
)
def test_the_lines_that_rules_need_are_written(
    acme: Acme, repository: str, rule: dict[str, Any], cd: list[str], schedule: list[str]
) -> None:
    acme.create()
    acme.init()
    with acme.sandbox.lock:
        acme.sandbox.repository(repository).rules.append(BranchRule.model_validate(rule))
    acme.init(update_workflows=True)
    files = acme.files("main")
    for name, needed in (("cd", cd), ("schedule", schedule)):
        text = files[f"{WORKFLOWS}/{name}.yaml"]
        lines = [*APP, SIGNED] if name == "cd" else [SIGNED]
        assert [line for line in lines if line in text] == needed
    assert outline(acme.init()) == {}
