"""Every YAML block has valid Kalypso documents, a workflow, steps, hooks, or a cluster's objects."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from kalypso_actions.errors import Diagnostics, Problem
from kalypso_actions.fleet.parsing import parse_document
from kalypso_actions.model.application import ORDER_FILE
from kalypso_actions.planning.application.services import read_services
from kalypso_actions.promotion.application import read_order
from kalypso_actions.promotion.environments import first_environments
from kalypso_actions.sources.yaml_documents import parse_yaml
from kalypso_placement.hub import HubObjects, ocm_objects
from tests.docs.pages import ROOT, Block, Page, pages


def workflow_of(steps: str) -> str:
    """Return a workflow with one job of these steps."""
    job = {"runs-on": "ubuntu-latest", "steps": yaml.safe_load(steps)}
    return yaml.safe_dump({"on": "push", "jobs": {"one": job}}).replace("'on':", "on:")


BLOCKS: Final = [(page, block) for page in pages() for block in page.blocks("yaml", "yml")]
STEPS: Final = [(page, block) for page, block in BLOCKS if block.text.startswith("- uses:")]
WORKFLOWS: Final = [
    *((page, block) for page, block in BLOCKS if "\njobs:\n" in block.text),
    *((page, Block("yaml", workflow_of(block.text), block.line)) for page, block in STEPS),
]
HOOKS: Final = [
    (page, block) for page, block in BLOCKS if block.path.endswith("/.pre-commit-config.yaml")
]
OF_DEPENDABOT: Final = [(page, block) for page, block in BLOCKS if "\nupdates:\n" in block.text]
OF_CLUSTERS: Final = [(page, block) for page, block in BLOCKS if "/clusters/" in block.path]
"""Manifests that people apply on clusters: `test_connect_a_cluster` checks them."""

ORDERS: Final = [(page, block) for page, block in BLOCKS if block.path == ORDER_FILE]
SERVICES: Final = [(page, block) for page, block in BLOCKS if block.path.startswith("services/")]

DOCUMENTS: Final = [
    (page, block)
    for page, block in BLOCKS
    if (page, block)
    not in [*STEPS, *WORKFLOWS, *HOOKS, *OF_DEPENDABOT, *OF_CLUSTERS, *ORDERS, *SERVICES]
]

ACTION: Final = re.compile(r"kalypso-actions(/actions/[a-z-]+)?@")


def name_of(value: object) -> str:
    return f"line {value.line}" if isinstance(value, Block) else str(value)


def faults(block: Block) -> list[Problem]:
    """Return problems and warnings of a block."""
    parsed = parse_yaml("docs", "block.yaml", block.text.encode())
    diagnostics = Diagnostics([*parsed.problems], [*parsed.warnings])
    placements = HubObjects()
    placements.add(parsed.documents)
    diagnostics.problems += placements.problems
    of_ocm = [item.document for item in ocm_objects(parsed.documents)]
    for document in parsed.documents:
        if document not in of_ocm:
            parse_document(document, diagnostics)
    if not parsed.documents:
        diagnostics.problems.append(Problem("the block holds no document"))
    return [*diagnostics.problems, *diagnostics.warnings]


@pytest.mark.parametrize(("page", "block"), DOCUMENTS, ids=name_of)
def test_documents_are_what_kalypso_reads(page: Page, block: Block) -> None:
    assert faults(block) == []


@pytest.mark.parametrize(("page", "block"), ORDERS, ids=name_of)
def test_an_order_of_environments_is_read(page: Page, block: Block) -> None:
    assert first_environments((), read_order(block.text.encode(), "docs"))


@pytest.mark.parametrize(("page", "block"), SERVICES, ids=name_of)
def test_a_service_is_read(page: Page, block: Block) -> None:
    services, problems = read_services("docs", {block.path: block.text.encode()}, "none")
    assert services and not problems


@pytest.mark.parametrize(
    "text",
    [
        "apiVersion: scheduler.kalypso.io/v1alpha1\nkind: ClusterType\nmetadata: {name: a}\n",
        "",
        "a: [",
        "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n",
    ],
)
def test_an_invalid_document_is_found(text: str) -> None:
    assert faults(Block("yaml", text, 1)) != []


@pytest.mark.parametrize(("page", "block"), HOOKS, ids=name_of)
def test_pre_commit_reads_a_page_s_hooks(page: Page, block: Block, tmp_path: Path) -> None:
    config = tmp_path / "config.yaml"
    config.write_text(block.text, encoding="utf-8")
    subprocess.run([sys.executable, "-m", "pre_commit", "validate-config", config], check=True)


def test_workflows_are_as_github_describes_them(tmp_path: Path) -> None:
    files = []
    for page, block in WORKFLOWS:
        files.append(tmp_path / f"{page.path.stem}-{block.line}.yaml")
        files[-1].write_text(block.text, encoding="utf-8")
    done = subprocess.run(
        [
            *(sys.executable, "-m", "check_jsonschema"),
            *("--builtin-schema", "vendor.github-workflows"),
            *map(str, files),
        ],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(("page", "block"), WORKFLOWS, ids=name_of)
def test_workflows_give_actions_only_inputs_that_they_have(page: Page, block: Block) -> None:
    for job in yaml.safe_load(block.text)["jobs"].values():
        for step in job["steps"]:
            assert unknown_inputs(step) == set()


def test_an_input_that_does_not_exist_is_found() -> None:
    step = {"uses": "OWNER/kalypso-actions/actions/cd@v0", "with": {"enviroment": "dev"}}
    assert unknown_inputs(step) == {"enviroment"}


def unknown_inputs(step: dict[str, Any]) -> set[str]:
    """Return the unknown inputs that steps give to our actions."""
    action = ACTION.search(step.get("uses", ""))
    if action is None:
        return set()
    file = ROOT / (action[1] or "").removeprefix("/") / "action.yml"
    described = yaml.safe_load(file.read_text(encoding="utf-8"))
    return set(step.get("with", {})) - set(described["inputs"])
