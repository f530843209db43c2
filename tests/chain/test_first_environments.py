"""A commit of main begins only in the first environments that somebody named."""

from __future__ import annotations

from tests.chain.conftest import OpenChain
from tests.chain.driver import Chain
from tests.chain.organisation import Layout
from tests.commands.chain import documents
from tests.commands.chain.organisation import CONTROL_PLANE

THREE = Layout(environments={"dev": "stage", "stage": "", "prod": ""})
"""No annotation names prod."""


def name_by_variable(chain: Chain, environment: str, next_environment: str) -> None:
    """Set the variable NEXT_ENVIRONMENT of a GitHub environment."""
    path = f"{CONTROL_PLANE}/environments/{environment}"
    chain.acme.ask("PUT", path, {})
    variable = {"name": "NEXT_ENVIRONMENT", "value": next_environment}
    chain.acme.ask("POST", f"{path}/variables", variable)


def environments(
    chain: Chain, *, first: tuple[str, ...] = (), **next_environments: str
) -> dict[str, str]:
    """Return the files of Environment objects, with their next environments."""
    return {
        f".environments/{name}.yaml": documents.environment(
            chain.acme.url(), name, next_environment=after, first=name in first
        )
        for name, after in next_environments.items()
    }


def problems(chain: Chain) -> list[str]:
    """Return the messages of the last step."""
    return [entry.message for entry in chain.done[-1].outcome.document.problems]


def test_an_environment_that_a_variable_names_is_not_a_first_one(open_chain: OpenChain) -> None:
    chain = open_chain(THREE)
    name_by_variable(chain, "stage", "prod")
    before = chain.has("prod")
    commit = chain.merge_to_main(RELEASE="one")
    assert chain.run_everything() == [
        "ci: checked, starts dev",
        "cd dev: written",
        "schedule dev: created, promoted",
    ]
    assert chain.has("prod") == before
    chain.merge_pull_request("dev")
    assert chain.run_everything()[-2:] == ["cd stage: written", "schedule stage: created, promoted"]
    assert chain.has("prod") == before
    chain.merge_pull_request("stage")
    assert chain.run_everything() == [
        "notify: tells of stage",
        "check-promote stage: compliant, starts prod",
        "cd prod: written",
        "schedule prod: created, promoted",
    ]
    chain.merge_pull_request("prod")
    assert chain.run_everything()[-1] == "check-promote prod: compliant"
    chain.expect_everywhere(commit, RELEASE="one")


def test_a_commit_goes_on_while_main_has_a_circle(chain: Chain) -> None:
    """main had the circle before; a person promotes, and the chain follows the annotations."""
    chain.merge_to_main(environments(chain, dev="stage", stage="dev"))
    commit = chain.merge_to_main(RELEASE="one")
    assert chain.run_everything() == ["ci: failed", "ci: failed"]
    chain.start("cd", environment="dev", promoted_commit_id=commit)
    assert chain.run_everything() == ["cd dev: written", "schedule dev: created, promoted"]
    chain.merge_pull_request("dev")
    assert chain.run_everything() == [
        "notify: tells of dev",
        "check-promote dev: compliant, starts stage",
        "cd stage: written",
        "schedule stage: created, promoted",
    ]
    chain.merge_pull_request("stage")
    assert chain.run_everything() == [
        "notify: tells of stage",
        "check-promote stage: compliant, starts dev",
        "cd dev: unchanged",
        "schedule dev: unchanged",
    ]
    chain.expect_everywhere(commit, RELEASE="one")
