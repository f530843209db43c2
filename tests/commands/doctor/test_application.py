"""`kalypso doctor` on an application's source: what app init and its tasks set up, and each gap."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from kalypso_actions.commands.app.init import app_init
from kalypso_actions.commands.doctor import doctor
from kalypso_actions.commands.registry import APPLICATION, app_permissions
from kalypso_actions.inputs.chain import DoctorInputs
from kalypso_actions.inputs.local import DEFAULT_ACTION, AppInitInputs
from kalypso_actions.model.application import ORDER_FILE
from kalypso_actions.onboarding.branches import Consent
from kalypso_actions.report.doctor_document import DoctorDocument
from kalypso_sandbox.store import BranchRule, Environment, Permissions
from tests.breaks import breaks, turned
from tests.commands.doctor.organisation import APP_KEY, NOTIFIER_KEY, lines
from tests.commands.init.repositories import WORKFLOWS, Acme, acme_in

SOURCE, CONFIGS, GITOPS = "acme/shop", "acme/shop-configs", "acme/shop-gitops"
ENVIRONMENTS: Final = ("dev", "stage")
PINNED: Final = f"{DEFAULT_ACTION.partition('@')[0]}@{'c' * 40}"


class Shop:
    """The repositories after app init and its tasks."""

    def __init__(self, acme: Acme) -> None:
        self.acme, sandbox = acme, acme.sandbox
        for name in (SOURCE, CONFIGS, GITOPS):
            sandbox.create_repository(name, default_branch="main")
        options = {"source_repository": SOURCE, "token": acme.token, "yes": True, "action": PINNED}
        inputs = AppInitInputs.model_validate({**options, "environments": ", ".join(ENVIRONMENTS)})
        app_init(inputs, acme.runtime(), lambda _: Consent(False, False))
        permissions: Permissions = {"metadata": "read"}
        permissions |= app_permissions(each.name for each in APPLICATION)
        number, self.key = sandbox.create_app("acme", permissions)
        self.number = str(number)
        with sandbox.lock:
            source = self.repository(SOURCE)
            source.variables |= {
                "KALYPSO_APP_ID": self.number,
                "CONFIGS_REPO": CONFIGS,
                "MANIFESTS_REPO": GITOPS,
            }
            for place, name in enumerate(("kalypso", *ENVIRONMENTS)):
                source.environments[name] = Environment(
                    id=place + 1,
                    name=name,
                    created_at=acme.clock(),
                    branches=["main"],
                    secrets=[APP_KEY],
                )
            for name in (CONFIGS, GITOPS):
                other = self.repository(name)
                other.variables |= {"SRC_REPO": SOURCE, "KALYPSO_NOTIFIER_APP_ID": "7"}
                other.secrets.append(NOTIFIER_KEY)

    def repository(self, name: str) -> Any:
        return self.acme.sandbox.repository(name)

    def doctor(self, *, probe: bool = False) -> DoctorDocument:
        options = {"token": self.acme.token, "control-plane": SOURCE, "probe": probe}
        app = {"app-id": self.number, "app-private-key": self.key}
        return doctor(DoctorInputs.model_validate({**options, **app}), self.acme.runtime())


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    with acme_in(tmp_path) as acme:
        yield Shop(acme)


def test_a_complete_set_up(shop: Shop) -> None:
    document = shop.doctor()
    assert lines(document, "problem", "warning") == []
    told = "\n".join(lines(document))
    assert "the App is installed with all permissions" in told
    assert "workflows on main: 5 files, as in our templates" in told
    assert "no rule keeps app-deploy from pushing to kalypso/stage" in told
    assert "the environment stage is closed to other branches" in told
    assert document.problems == ()


def test_a_probe_is_not_left_out_in_silence(shop: Shop) -> None:
    (told,) = lines(shop.doctor(probe=True), "problem", "warning")
    assert "--probe tries nothing" in told


def commit(shop: Shop, repository: str, path: str, text: str | None, branch: str = "main") -> None:
    shop.acme.sandbox.commit(repository, {path: text}, branch=branch)


def lack_key(shop: Shop) -> None:
    shop.repository(SOURCE).environments["dev"].secrets.clear()


def lack_environment(shop: Shop) -> None:
    del shop.repository(SOURCE).environments["kalypso"]


def open_environment(shop: Shop) -> None:
    shop.repository(SOURCE).environments["dev"].branches.clear()


def reviewers_of_all(shop: Shop) -> None:
    shop.repository(SOURCE).environments["kalypso"].needs_approval = True


def lack_configs(shop: Shop) -> None:
    shop.repository(SOURCE).variables["CONFIGS_REPO"] = "acme/nothing"


def key_of_repository(shop: Shop) -> None:
    shop.repository(SOURCE).secrets.append(APP_KEY)


def lack_variable(shop: Shop) -> None:
    del shop.repository(SOURCE).variables["MANIFESTS_REPO"]


def another_source(shop: Shop) -> None:
    shop.repository(CONFIGS).variables["SRC_REPO"] = "acme/other"


def lack_notifier(shop: Shop) -> None:
    shop.repository(GITOPS).secrets.clear()


def foreign_key(shop: Shop) -> None:
    shop.repository(CONFIGS).secrets += [APP_KEY, "CD_BOOTSTRAP_TOKEN"]


def lack_workflow(shop: Shop) -> None:
    commit(shop, SOURCE, f"{WORKFLOWS}/deploy.yml", None)


def lack_notify(shop: Shop) -> None:
    commit(shop, GITOPS, f"{WORKFLOWS}/notify-on-pr.yml", None, "stage")


def own_build(shop: Shop) -> None:
    commit(shop, SOURCE, f"{WORKFLOWS}/ci.yml", "on: push\njobs: {}\n")


def lack_branch(shop: Shop) -> None:
    git = shop.acme.sandbox.git(CONFIGS)
    git.update_ref("refs/heads/stage", None, git.head("stage"))


def ruled(shop: Shop) -> None:
    shop.repository(GITOPS).rules = [BranchRule(pattern="kalypso/**", restrict_pushes=True)]


def signed(shop: Shop) -> None:
    shop.repository(GITOPS).rules = [BranchRule(pattern="kalypso/**", required_signatures=True)]


GAPS: Final = [
    (lack_key, "problem acme/shop: the environment dev has no secret"),
    (lack_environment, "problem acme/shop: there is no GitHub environment kalypso"),
    (open_environment, "warning acme/shop: a workflow of every branch can use the App in the"),
    (reviewers_of_all, "warning acme/shop: every run in the environment kalypso waits"),
    (lack_configs, "problem acme/nothing: the repository cannot be read"),
    (key_of_repository, f"warning acme/shop: the secret {APP_KEY} is that of the repository"),
    (lack_variable, "problem acme/shop: the variable MANIFESTS_REPO is not set"),
    (another_source, "problem acme/shop-configs: the variable SRC_REPO is 'acme/other'"),
    (lack_notifier, "warning acme/shop-gitops: the variable KALYPSO_NOTIFIER_APP_ID or"),
    (foreign_key, f"warning acme/shop-configs: the secret {APP_KEY} is here"),
    (foreign_key, "warning acme/shop-configs: the secret CD_BOOTSTRAP_TOKEN is here"),
    (lack_workflow, f"problem acme/shop: {WORKFLOWS}/deploy.yml is missing on main"),
    (lack_notify, f"problem acme/shop-gitops: {WORKFLOWS}/notify-on-pr.yml is missing on stage"),
    (own_build, f"problem acme/shop: no job of {WORKFLOWS}/ci.yml on main uses app-ci"),
    (lack_branch, "problem acme/shop-configs: there is no branch stage"),
    (ruled, "acme/shop-gitops: rules of kalypso/dev refuse pushes"),
]


@breaks(
    "an environment that every branch may use is not told",
    turned(
        "kalypso_actions.doctor_rules.application.protection_checks", "rules.any_branch", "False"
    ),
    case="open_environment",
)
@breaks(
    "the App's key of the repository is not told",
    turned(
        "kalypso_actions.doctor_rules.application.key_checks", "APP_KEY in names.secrets", "False"
    ),
    case="key_of_repository",
)
@pytest.mark.parametrize(
    ("gap", "told"), GAPS, ids=[f"{gap.__name__} {n}" for n, (gap, _) in enumerate(GAPS)]
)
def test_each_gap_is_told_with_its_repair(shop: Shop, gap: Any, told: str) -> None:
    gap(shop)
    found = [each for each in shop.doctor().checks if each.state != "ok"]
    (check,) = (each for each in found if told in f"{each.state} {each.place}: {each.text}")
    assert check.advice


def test_a_repository_that_cannot_be_read_is_told_once(shop: Shop) -> None:
    lack_configs(shop)
    (told,) = lines(shop.doctor(), "problem", "warning")
    assert told.startswith("problem acme/nothing: the repository cannot be read")


def test_signed_commits_of_our_branch(shop: Shop) -> None:
    signed(shop)
    assert "commits on kalypso/stage must be signed" in "\n".join(lines(shop.doctor()))


@pytest.mark.parametrize(
    ("deploys", "told"),
    [
        ("", f"problem {SOURCE}: main has no Environment object"),
        ("/actions/app-deploy@", f"warning {SOURCE}: main has no {ORDER_FILE}"),
    ],
)
def test_a_deploy_workflow_of_others_makes_no_application(
    shop: Shop, deploys: str, told: str
) -> None:
    commit(shop, SOURCE, ORDER_FILE, None)
    text = f"on: push\njobs: {{}}\n# acme{deploys}v1\n"
    commit(shop, SOURCE, f"{WORKFLOWS}/deploy.yml", text)
    found = lines(shop.doctor(), "problem", "warning")
    assert [line for line in found if line.startswith(told)]
