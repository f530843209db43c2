"""Attackers have the notifier's key, may write to a single repository, or own a source.

After each story, what holds is that nothing but a release of main goes on, and that what GitHub
shows has no text of the attacker's that it would interpret.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from typing import Any, Final

import pytest
from pydantic import ValidationError

from kalypso_actions.errors import KalypsoError
from kalypso_actions.report.application_document import AppCheckDocument
from tests.commands.app.shop import CONFIGS, ENVIRONMENTS, GITOPS, SOURCE, Application

NOTIFIER: Final = "acme-notifier[bot]"
ORDER: Final = ".github/kalypso/environments.yaml"
RECORDS: Final = ("kalypso / deploy", "kalypso / check", "kalypso / tree")
TRACKING: Final = ".github/tracking"


def shown(web: Application) -> dict[str, Any]:
    """Return what clusters and people see: trees, proposals, and the states of all commits."""
    with web.acme.sandbox.lock:
        statuses = [
            (status.commit, status.context, status.description)
            for status in web.acme.sandbox.repository(SOURCE).statuses
            if not status.context.startswith(RECORDS)
        ]
    return {
        **{name: web.acme.files(name, GITOPS) for name in ENVIRONMENTS},
        "pulls": [(each["number"], each["head"]["sha"]) for each in web.acme.pulls(GITOPS)],
        "statuses": statuses,
        "deploys": starts(web),
    }


def starts(web: Application) -> list[str]:
    """Return the environments for which deploy was started."""
    return [
        each.inputs["environment"]
        for each in web.acme.dispatches()
        if (each.repository, each.workflow) == (SOURCE, "deploy.yml")
    ]


@pytest.fixture
def story(web: Application, azure: None) -> dict[str, str]:
    """Version 1 is in dev, people closed version 2, and a branch has an unreviewed commit."""
    old = web.released("1")
    web.deploy()
    web.merge_open()
    web.check(platform_gitops="", require_targets="false")
    closed = web.released("2")
    web.deploy()
    web.acme.close(web.pulls()[0]["number"], GITOPS)
    web.deploy()
    aside = web.acme.commit({"manifests/web.yaml": "a: evil\n"}, "aside", SOURCE)
    return {"old": old, "closed": closed, "aside": aside}


LIES: Final[Mapping[str, Mapping[str, str]]] = {
    "what people closed": {"commit": "closed"},
    "an unreviewed commit": {"commit": "aside"},
    "no commit": {"commit": "1" * 40},
    "another version": {"commit": "old", "version": "9"},
    "another image": {"commit": "old", "image_tag": "1@sha256:ee"},
    "another registry": {"commit": "old", "image_name": "evil.example/web"},
    "a rollback": {"commit": "old", "allow_rollback": "true"},
    "removals": {"allow_removals": "true"},
    "an adoption": {"adopt": "true"},
    "force": {"commit": "closed", "force": "true"},
    "the last environment": {"environment": "stage", "commit": "old"},
    "no environment": {"environment": "missing"},
    "another branch": {"ref": "refs/heads/aside", "commit": "aside"},
}


def test_the_key_of_the_notifier_tells_every_lie(web: Application, story: dict[str, str]) -> None:
    before = shown(web)
    for lie in LIES.values():
        given = {name: story.get(text, text) for name, text in lie.items()}
        with contextlib.suppress(KalypsoError):
            web.deploy(**{"environment": "dev", "actor": NOTIFIER, **given})
        assert shown(web) == before, lie
    waits = {"platform_gitops": "", "require_targets": "false", "actor": NOTIFIER}
    checks: list[dict[str, str]] = [
        {"gitops_commit": "1" * 40},
        {"gitops_commit": web.acme.head("stage", GITOPS) or ""},
        {"promoted_commit": story["aside"]},
        {"promoted_commit": story["closed"]},
        {"environment": "stage"},
        {"environment": "missing"},
        {"started_at": "yesterday"},
        {"started_at": "2030-01-01T00:00:00+00:00"},
        {"ref": "refs/heads/aside"},
    ]
    for lie in checks:
        with contextlib.suppress(KalypsoError):
            web.check(**{"environment": "dev", **waits, **lie})
        assert shown(web) == before, lie
    assert web.poll() == []


RECORD: Final = json.dumps({"targets": ["../..", ".github", ".", "eu"], "files": ["README.md"]})


def test_a_writer_of_the_gitops_repository_alone(web: Application, story: dict[str, str]) -> None:
    """What is pushed to a branch runs there; it goes nowhere, and the next proposal ends it."""
    goes_on = starts(web)
    manifest = "apiVersion: v1\nkind: Secret\nmetadata: {name: evil}\n"
    waits = {"platform_gitops": "", "require_targets": "false"}
    attacks: list[dict[str, str]] = [
        {"eu/gen_manifests.yaml": manifest},
        {f"{TRACKING}/Promoted_Commit_Id": f"{story['aside']}\n", "eu/a.yaml": manifest},
        {f"{TRACKING}/Promoted_Commit_Id": f"{story['closed']}\n"},
        {f"{TRACKING}/Version": "9\n", f"{TRACKING}/Image_tag": "evil\n"},
        {f"{TRACKING}/Promoted_Commit_Id": "$(id)\n::error::x\n"},
        {f"{TRACKING}/application.json": RECORD},
        {f"{TRACKING}/application.json": "[" * 5000},
    ]
    for attack in attacks:
        sound = web.acme.files("dev", GITOPS)
        web.acme.commit(attack, "dev", GITOPS)
        document = web.check(**waits).document
        assert isinstance(document, AppCheckDocument)
        assert document.meaning in {"manual", "by hand", "edited"}, attack
        assert document.promoted_to == (), attack
        assert starts(web) == goes_on, attack
        with contextlib.suppress(KalypsoError):
            web.deploy()
        if web.pulls():
            web.merge_open()
            present = web.acme.files("dev", GITOPS)
            assert "evil" not in "".join(present.values()), attack
            assert present["README.md"] == sound["README.md"], attack
        web.acme.reset("dev", None, GITOPS)
        web.acme.commit(sound, "dev", GITOPS)
    assert web.statuses(story["aside"]) == {}


NAME: Final = "eu](https://evil.example) @octocat <img src=x> `$(id)`"


@pytest.mark.parametrize(
    "files",
    [
        {".github/workflows/values.yaml": ""},
        {".github/tracking/values.yaml": ""},
        {".git/values.yaml": ""},
        {f"{NAME}/values.yaml": ""},
        {"eu/values.yaml": "a: &a [x, x]\nb: [*a, *a]\n" * 2},
        {"eu/values.yaml": "::error::x\n::add-mask::x\na: [\n"},
        {"eu/values.yaml": "name: $GITHUB_TOKEN $KALYPSO_INPUTS\n"},
        {"--post-renderer=sh/values.yaml": ""},
    ],
    ids=str,
)
def test_a_writer_of_the_configs_alone(
    web: Application, story: dict[str, str], files: dict[str, str | bytes | None]
) -> None:
    """The configuration of an environment is what its people merge: it reaches nothing else."""
    before = shown(web)
    configs = web.acme.commit(files, "dev", CONFIGS)
    document: Any = None
    with contextlib.suppress(KalypsoError):
        document = web.deploy().document
    after = shown(web)
    assert {**after, "pulls": []} == {**before, "pulls": []}
    assert document is None or document.commit == story["old"]
    tree = web.acme.files("kalypso/dev", GITOPS) if after["pulls"] else {}
    present = before["dev"]
    for path, text in tree.items():
        is_ours = path.startswith(".github/tracking/") or not path.startswith(".")
        assert is_ours or present.get(path) == text, path
        assert web.acme.token not in text
    for pull in web.acme.pulls(GITOPS):
        assert "](https://evil.example)" not in pull["body"].replace("\\]", "")
        assert "<img" not in pull["body"]
        assert " @octocat" not in pull["body"]
    assert not [line for line in web.acme.logged if line.startswith("::")]
    told = web.statuses(configs, CONFIGS).get("dev", ("", ""))
    assert told[0] in {"", "pending", "failure"}


@pytest.mark.parametrize(
    "order",
    [
        "- name: ../dev\n",
        "- name: main\n",
        "- name: kalypso/dev\n",
        "- name: dev\n  next: dev\n",
        "- name: dev\n  next: stage\n- name: stage\n  next: dev\n",
        "- name: dev\n  next: [acme/gitops@dev]\n",
        "a: 1\n",
        "[" * 5000,
    ],
)
def test_a_hostile_order_of_environments_is_told(web: Application, order: str) -> None:
    web.acme.commit({ORDER: order}, "main", SOURCE)
    commit = web.push()
    before = shown(web)
    with pytest.raises(KalypsoError):
        web.release(commit)
    assert shown(web) == before


@pytest.mark.parametrize(
    "given",
    [
        {"version": "1 evil"},
        {"version": "1\n::error::x"},
        {"version": "`$(id)`"},
        {"image_tag": "1 evil"},
        {"image_name": "ghcr.io/a b"},
        {"version": "1" * 200},
    ],
    ids=str,
)
def test_a_hostile_version_is_refused(web: Application, given: dict[str, str]) -> None:
    commit = web.push()
    with pytest.raises((KalypsoError, ValidationError)):
        web.release(commit, **given)
    assert web.statuses(commit) == {}
