"""The runbooks, followed in the sandbox, have the effect that they describe."""

from __future__ import annotations

import re
import shlex
from itertools import pairwise
from typing import Final

import pytest

from kalypso_sandbox.azure import Cluster, Configuration
from tests.chain.conftest import OpenChain
from tests.chain.driver import Chain
from tests.chain.organisation import AZURE_CLIENT, Layout
from tests.chain.run_lines import TO_DEV
from tests.command_line import call_kalypso
from tests.commands.chain import documents
from tests.commands.chain.organisation import CONTROL_PLANE, GITOPS, SHOP
from tests.docs.pages import ROOT, Page

pytestmark = pytest.mark.slow

RUNBOOKS: Final = Page(ROOT / "docs" / "guide" / "runbooks.md")
START: Final = re.compile(r"^ *gh workflow run ((?:.*\\\n)*.*)", re.MULTILINE)
BACK: Final = re.compile(r"^kalypso rollback (\S+) --reason \"(.*)\"$", re.MULTILINE)
"""At a terminal, the command starts `rollback.yaml` with these inputs."""


def follow(chain: Chain, heading: str, **replaced: str) -> None:
    """Start the workflow of a runbook with these values instead of its examples."""
    (command,) = START.findall(RUNBOOKS.section(heading))
    workflow, *options = shlex.split(command.replace("\\\n", " "))
    fields = [after for option, after in pairwise(options) if option == "--field"]
    inputs = dict(field.split("=", 1) for field in fields)
    assert replaced.keys() <= inputs.keys()
    chain.start(workflow.removesuffix(".yaml"), **{**inputs, **replaced})


def merge_to_stage(chain: Chain) -> None:
    """Run what a runbook has started, and merge the pull request of stage."""
    chain.run_everything()
    chain.merge_pull_request("stage")
    chain.run_everything()


def roll_back(chain: Chain) -> None:
    """Start the workflow as the runbook's command does."""
    ((environment, reason),) = BACK.findall(RUNBOOKS.section("Roll back"))
    chain.start("rollback", environment=environment, reason=reason)


def test_a_commit_is_promoted_by_hand(chain: Chain) -> None:
    chain.drop_next_run("ci")
    commit = chain.merge_to_main(RELEASE="one")
    assert chain.run_everything() == []
    follow(chain, "Promote a commit", promoted_commit_id=commit)
    assert chain.run_everything() == TO_DEV[1:]
    chain.settle()
    chain.expect_everywhere(commit, RELEASE="one")
    follow(chain, "Promote a commit", promoted_commit_id=commit)
    assert chain.run_everything() == ["cd dev: unchanged", "schedule dev: unchanged"]
    chain.expect("dev", commit, RELEASE="one")


def test_a_hotfix_comes_to_stage_before_dev(chain: Chain) -> None:
    before = chain.tracks("dev")
    commit = chain.merge_to_main(RELEASE="one")
    chain.run_everything()
    follow(chain, "Hotfix", promoted_commit_id=commit)
    merge_to_stage(chain)
    chain.expect("stage", commit, RELEASE="one")
    assert (chain.tracks("dev"), chain.status(commit, "dev")) == (before, "Promoted")
    chain.settle()
    chain.expect_everywhere(commit, RELEASE="one")


def test_an_environment_is_rolled_back(chain: Chain) -> None:
    older = chain.has("stage")
    newer = chain.merge_to_main(RELEASE="one")
    chain.settle()
    roll_back(chain)
    merge_to_stage(chain)
    chain.expect("stage", older, RELEASE="zero")
    chain.expect("dev", newer, RELEASE="one")
    assert chain.status(newer, "stage") == "Deployed"
    later = chain.merge_to_main(RELEASE="two")
    chain.settle()
    chain.expect("dev", later, RELEASE="two")
    chain.expect("stage", older, RELEASE="zero")


def test_a_reverted_merge_stays_reverted_and_is_repaired(chain: Chain) -> None:
    older = chain.has("stage")
    chain.merge_to_main(RELEASE="one")
    chain.settle()
    chain.revert("stage")
    chain.run_everything()
    chain.start("schedule", environment="stage")
    chain.settle()
    assert chain.config("stage")["large/shop-web"]["RELEASE"] == "zero"
    roll_back(chain)
    chain.settle()
    chain.expect("stage", older, RELEASE="zero")


def test_a_closed_proposal_is_forced(chain: Chain) -> None:
    commit = chain.merge_to_main(RELEASE="one")
    chain.run_everything()
    chain.close_pull_request("dev")
    follow(chain, "A promotion is stuck")
    assert chain.run_everything() == ["schedule dev: created, promoted"]
    chain.settle()
    chain.expect("stage", commit, RELEASE="one")


def test_many_removals_are_allowed(open_chain: OpenChain) -> None:
    chain = open_chain(Layout(cluster_types=tuple(f"type-{number}" for number in range(7))))
    chain.acme.commit({"policy.yaml": documents.policy(size="type-0")}, "dev")
    assert chain.run_everything() == ["start-schedule: for dev", "schedule dev: failed"]
    follow(chain, "Many assignments would go")
    assert chain.run_everything() == ["schedule dev: created"]
    chain.merge_pull_request("dev")
    chain.run_everything()
    assert list(chain.config("dev")) == ["type-0/shop-web"]


def test_a_cluster_type_is_added(chain: Chain) -> None:
    text = document("Add a cluster type", "edge")
    # Acme's Template for the configuration has another name.
    files = {"cluster-types/edge.yaml": text.replace("config-map", "config")}
    follows = Configuration(repository=GITOPS, branch="dev", paths=["./edge"])
    chain.acme.sandbox.azure.put(Cluster(name="dev-edge", configurations=[follows]))
    chain.acme.commit(files, "dev")
    chain.settle()
    chain.expect("dev", chain.has("dev"), REGION="west")
    assert "edge/shop-web" in chain.config("dev")


def test_an_application_is_added(chain: Chain) -> None:
    acme = chain.acme
    workload = documents.workload("checkout", acme.url("acme/manifests"), ("dev", "stage"))
    acme.sandbox.create_repository("acme/checkout", {"workload/checkout.yaml": workload})
    text = document("Add an application", "checkout")
    text = text.replace("https://github.com", acme.sandbox.url)
    commit = acme.commit({"registrations/checkout.yaml": text})
    chain.settle()
    for name in ("dev", "stage"):
        chain.expect(name, commit, REGION="west")
        assert "large/checkout-web" in chain.config(name)


def test_an_environment_is_added(chain: Chain) -> None:
    acme = chain.acme
    urls = (f"{acme.sandbox.url}/acme/shop-manifests", ("dev", "stage", "prod"))
    acme.commit({"workload/shop.yaml": documents.workload("shop", *urls)}, repository=SHOP)
    subjects = [f"repo:{CONTROL_PLANE}:environment:{name}" for name in urls[1]]
    acme.sandbox.azure.register(*subjects, client_id=AZURE_CLIENT)
    for cluster_type in Layout().cluster_types:
        follows = Configuration(repository=GITOPS, branch="prod", paths=[f"./{cluster_type}"])
        acme.sandbox.azure.put(Cluster(name=f"prod-{cluster_type}", configurations=[follows]))

    section = RUNBOOKS.section("Add an environment")
    (command,) = re.findall(r"^ *kalypso init ((?:.*\\\n)*.*)", section, re.MULTILINE)
    arguments = shlex.split(command.replace("\\\n", " "))
    variables = {**acme.sandbox.environment(), "GH_TOKEN": acme.token}
    done = call_kalypso("init", *arguments, "--yes", variables=variables)
    assert done.returncode == 0, done.stderr
    own = acme.files("prod")
    acme.commit(
        {path: text for path, text in acme.files("stage").items() if path not in own}, "prod"
    )
    chain.run_everything()
    (pull,) = [each for each in acme.pulls(CONTROL_PLANE) if each["base"]["ref"] == "main"]
    acme.merge(pull["number"], CONTROL_PLANE)
    chain.settle()
    commit = acme.sandbox.git(CONTROL_PLANE).head("main") or ""
    for name in ("dev", "stage", "prod"):
        chain.expect(name, commit, REGION="west")


def document(heading: str, name: str) -> str:
    """Return the document of this name in a runbook."""
    section = RUNBOOKS.section(heading)
    (text,) = (
        block.text
        for block in RUNBOOKS.blocks("yaml")
        if f"\n  name: {name}\n" in block.text and f"name: {name}\n" in section
    )
    return text
