"""The chain does not promote a commit from which people went back."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from kalypso_actions.commands.cd import cd
from kalypso_actions.commands.shared.result import CommandResult
from kalypso_actions.inputs.chain import CdInputs
from kalypso_actions.report.chain_document import CdDocument
from kalypso_actions.report.markdown import text
from tests.commands.chain.organisation import CONTROL_PLANE, Organisation
from tests.commands.chain.promotions import (
    check,
    main_commit,
    merge,
    name_in_base,
    sign_in,
    verdict,
)

STAGE = "stage environment"


def promote(acme: Organisation, commit: str, **inputs: Any) -> CommandResult:
    """Run cd for stage, as check-promote starts it for dev."""
    given = {"environment": "stage", "commit": commit, "promoted_from": "dev", **inputs}
    return acme.run(cd, CdInputs, **given)


def action(result: CommandResult) -> str:
    assert isinstance(result.document, CdDocument)
    return result.document.action


def reason(result: CommandResult) -> str:
    assert isinstance(result.document, CdDocument)
    return result.document.reason


def during(
    acme: Organisation, event: Callable[[], object], run: Callable[[str], CommandResult]
) -> CommandResult:
    """Let an event happen while a user's command, passed to `run`, is running."""
    flag = acme.folder / "running"
    wait = f"touch {flag}; while [ -e {flag} ]; do sleep 0.05; done; echo done"
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(run, wait)
        while not flag.exists():
            assert not running.done()
        event()
        flag.unlink()
        return running.result()


@pytest.fixture
def old(acme: Organisation) -> str:
    return acme.head("main") or ""


@pytest.fixture
def new(acme: Organisation, old: str) -> str:
    """Promote the commit to dev."""
    commit = main_commit(acme)
    name_in_base(acme, commit)
    return commit


def test_a_commit_that_the_environment_before_has_withdrawn(
    acme: Organisation, old: str, new: str
) -> None:
    name_in_base(acme, old)
    acme.forget()
    result = promote(acme, new)
    assert not result.failed
    assert action(result) == "superseded"
    assert reason(result) == f"base-repo.yaml of dev, which it comes from, names {old[:7]}"
    assert text(reason(result)) in result.summary
    assert acme.writes() == [f"POST /repos/{CONTROL_PLANE}/statuses/{new}"]
    assert acme.statuses(new) == {STAGE: ("pending", f"Rolled back to {old[:7]}")}


@pytest.mark.parametrize(
    ("now", "wanted"),
    [
        ("same", "written"),
        ("newer", "written"),
        ("older", "superseded"),
        ("beside", "superseded"),
        ("unknown", "superseded"),
        ("no commit", "superseded"),
        ("no file", "superseded"),
        ("no branch", "superseded"),
    ],
)
def test_the_commit_that_the_environment_before_names(
    acme: Organisation, old: str, new: str, now: str, wanted: str
) -> None:
    acme.reset("aside", old)
    named = {
        "same": new,
        "newer": main_commit(acme, "newer"),
        "older": old,
        "beside": acme.commit({"x": "1"}, "aside"),
        "unknown": "e" * 40,
        "no commit": "",
    }
    if now == "no branch":
        acme.reset("dev", None)
    elif now == "no file":
        acme.commit({"base-repo.yaml": None}, "dev")
    else:
        name_in_base(acme, named[now])
    assert action(promote(acme, new)) == wanted
    # cd does not remove a commit that stage has already.
    if wanted == "written":
        name_in_base(acme, old)
        assert action(promote(acme, new)) == "unchanged"


def test_a_commit_is_withdrawn_while_the_command_runs(
    acme: Organisation, old: str, new: str
) -> None:
    result = during(
        acme,
        lambda: name_in_base(acme, old),
        lambda wait: promote(acme, new, pre_deployment=wait),
    )
    assert action(result) == "superseded"
    assert "done" in result.summary
    assert acme.dispatches() == []


def test_an_environment_is_rolled_back_while_the_command_runs(
    acme: Organisation, old: str, new: str
) -> None:
    def back_and_forth() -> None:
        name_in_base(acme, new, "stage")
        name_in_base(acme, old, "stage")

    result = during(acme, back_and_forth, lambda wait: promote(acme, new, pre_deployment=wait))
    assert action(result) == "superseded"
    assert reason(result).startswith(f"stage was rolled back to {old[:7]}; start cd by hand")


def test_a_person_may_bring_anything(acme: Organisation, old: str, new: str) -> None:
    name_in_base(acme, new, "stage")
    name_in_base(acme, old, "stage")
    name_in_base(acme, old)
    assert action(promote(acme, new)) == "superseded"
    assert action(promote(acme, new, promoted_from="")) == "written"


def test_the_first_job_lets_it_pass(acme: Organisation, old: str, new: str) -> None:
    """The second job finds the rollback right before the write."""
    name_in_base(acme, old)
    assert not promote(acme, new, verify_only="true").failed


def test_check_promote_reads_base_repo_after_the_command(
    acme: Organisation, monkeypatch: pytest.MonkeyPatch, old: str, new: str
) -> None:
    sign_in(acme, monkeypatch)
    merged = merge(acme, new)
    result = during(
        acme,
        lambda: name_in_base(acme, old),
        lambda wait: check(acme, merged, new, post_deployment=wait),
    )
    assert verdict(result) == "superseded"
    assert acme.statuses(new)["dev environment"] == ("pending", f"Rolled back to {old[:7]}")
    assert acme.dispatches() == []


@pytest.mark.parametrize("now", ["older", "newer", "gone"])
def test_check_promote_reads_base_repo_first(
    acme: Organisation, monkeypatch: pytest.MonkeyPatch, old: str, new: str, now: str
) -> None:
    sign_in(acme, monkeypatch)
    merged = merge(acme, new)
    if now == "gone":
        acme.commit({"base-repo.yaml": None}, "dev")
    else:
        name_in_base(acme, old if now == "older" else main_commit(acme, "newer"))
    assert verdict(check(acme, merged, new)) == ("compliant" if now == "newer" else "superseded")
    # A change of configuration is not promoted.
    assert verdict(check(acme, merged)) == "compliant"


def test_an_environment_remembers_its_rollbacks_when_another_branch_is_cut_from_it(
    acme: Organisation, old: str, new: str
) -> None:
    """The other branch has the whole history of the first one."""
    name_in_base(acme, old)
    acme.reset("stage", acme.head("dev"))
    for environment in ("dev", "stage"):
        result = promote(acme, new, environment=environment, promoted_from="ci")
        assert action(result) == "superseded"
        assert reason(result).startswith(f"{environment} was rolled back to {old[:7]}")
    assert action(promote(acme, new, environment="dev", promoted_from="")) == "written"


def test_a_new_environment_with_an_older_commit_is_not_rolled_back(
    acme: Organisation, old: str, new: str
) -> None:
    acme.reset("stage", acme.head("dev"))
    name_in_base(acme, old, "stage")
    assert action(promote(acme, new)) == "written"


def test_a_claim_of_a_commit_that_dev_named_before_another_branch_was_cut(
    acme: Organisation, monkeypatch: pytest.MonkeyPatch, old: str, new: str
) -> None:
    """The common history of both branches does not count; the commit that dev names now does."""
    sign_in(acme, monkeypatch)
    merged = merge(acme, new)
    acme.reset("stage", acme.head("dev"))
    assert verdict(check(acme, merged, new)) == "compliant"
