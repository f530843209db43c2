"""GitHub's auto-merge of our pull requests: blocked and failing runs, and merges meanwhile."""

from __future__ import annotations

import pytest

from kalypso_actions.commands.cd import cd
from kalypso_actions.errors import KalypsoError
from kalypso_actions.inputs.chain import CdInputs
from kalypso_sandbox import Fault
from kalypso_sandbox.store import AutoMerge, BranchRule
from tests.commands.chain import documents
from tests.commands.chain.organisation import CONTROL_PLANE, EDGE, GITOPS, Organisation
from tests.commands.chain.polls import run as poll
from tests.commands.chain.polls import started
from tests.commands.chain.proposals import OWN, change_main, configure, promote, run, run_schedule

BROKEN = {"cluster-types/large.yaml": documents.cluster_type("large", reconciler="nowhere")}


@pytest.fixture(autouse=True)
def checked(acme: Organisation) -> None:
    """Let the GitOps branch of dev require a check, and allow auto-merge."""
    with acme.sandbox.lock:
        gitops = acme.sandbox.repository(GITOPS)
        gitops.rules = [BranchRule(pattern="dev", required_contexts=["tests"])]
        gitops.allow_auto_merge = True


def enabled(acme: Organisation) -> bool:
    (pull,) = acme.pulls()
    return pull["auto_merge"] is not None


def enable_as_person(acme: Organisation) -> str:
    """Enable the auto-merge of dev's pull request as a person; return the warning about it."""
    token = acme.sandbox.create_token("user", None, login="ada", owner="acme")
    with acme.sandbox.lock:
        person = acme.sandbox.store.tokens[token]
        pull = acme.sandbox.repository(GITOPS).issues[1].pull_request
        assert pull
        pull.auto_merge = AutoMerge(identity=person, method="merge")
    return "the auto-merge of #1 is off: ada enabled it for other content"


def pass_check(acme: Organisation) -> None:
    head = acme.head(OWN, GITOPS)
    acme.ask("POST", f"{GITOPS}/statuses/{head}", {"state": "success", "context": "tests"})


@pytest.mark.parametrize(
    "files",
    [
        {"base-repo.yaml": documents.base_repo("https://github.com/acme/nowhere", "a" * 40)},
        {"gitops-repo-2.yaml": documents.gitops_repo("https://git.example.com/a/b", "dev", "two")},
        {"broken.yaml": "kind: [", "base-repo.yaml": documents.base_repo("http://x/", "a" * 40)},
    ],
    ids=["base", "gitops", "documents"],
)
def test_a_run_that_fails_disables_it(acme: Organisation, files: dict[str, str | None]) -> None:
    run(acme, auto_merge="always")
    assert enabled(acme)
    before = acme.files("dev")
    acme.commit(files, "dev")
    with pytest.raises(KalypsoError):
        run(acme, auto_merge="always")
    assert not enabled(acme)
    acme.commit({path: before.get(path) for path in files}, "dev")
    run(acme, auto_merge="always")
    assert enabled(acme)


def test_poll_starts_schedule_again_after_a_run_that_failed(acme: Organisation) -> None:
    run(acme, auto_merge="always", environment="stage")
    run(acme, auto_merge="always")
    assert started(poll(acme, environments="dev")) == []
    unreadable = Fault("GET", f"/{GITOPS}*", "status", status=403, count=0)
    with acme.sandbox.faults.on(unreadable), pytest.raises(KalypsoError):
        run(acme, auto_merge="always")
    assert started(poll(acme, environments="dev")) == [("schedule.yaml", "dev", 1)]


def test_a_merge_that_cannot_be_prevented_is_logged(acme: Organisation) -> None:
    run(acme, auto_merge="always")
    acme.commit({"base-repo.yaml": documents.base_repo("https://github.com/a/b", "a" * 40)}, "dev")
    acme.sandbox.interruptions.add(
        lambda: pass_check(acme), path=f"*{GITOPS}/pulls", method="GET", after=True
    )
    with pytest.raises(KalypsoError, match="BaseRepo 'main'"):
        run(acme, auto_merge="always")
    assert any("GitHub has merged #1 during this run" in line for line in acme.logged)


def test_a_merge_while_the_refusal_is_noted(acme: Organisation) -> None:
    """GitHub no longer lists an open pull request, but schedule must not open it once more."""
    merged = acme.sandbox.interruptions.add(
        lambda: pass_check(acme), path=f"*{GITOPS}/pulls/1", method="PATCH"
    )
    run(acme, auto_merge="always")
    merged.result(0)
    assert [pull["number"] for pull in acme.pulls(state="all")] == [1]


@pytest.mark.parametrize("prefix", ["kalypso/", "bot-"])
@pytest.mark.parametrize("is_blocked", [True, False], ids=["blocked", "fails"])
def test_a_description_that_a_person_has_rewritten(
    acme: Organisation, prefix: str, is_blocked: bool
) -> None:
    """Author and head show that the pull request is ours, although the hidden line is gone."""
    run(acme, auto_merge="always", branch_prefix=prefix)
    acme.ask("PATCH", f"{GITOPS}/pulls/1", {"body": "Please look at this."})
    nowhere = documents.base_repo("https://github.com/acme/nowhere", "a" * 40)
    acme.commit(BROKEN if is_blocked else {"base-repo.yaml": nowhere}, "dev")
    if is_blocked:
        run_schedule(acme, auto_merge="always", branch_prefix=prefix)
    else:
        with pytest.raises(KalypsoError):
            run(acme, auto_merge="always", branch_prefix=prefix)
    assert not enabled(acme)


def test_a_blocked_run_that_cannot_disable_one_disables_the_others(acme: Organisation) -> None:
    acme.sandbox.create_repository(EDGE, {"README.md": "x"})
    edge = documents.gitops_repo(acme.url(EDGE), "main", "edge")
    acme.commit({"gitops-repo-edge.yaml": edge}, "dev")
    with acme.sandbox.lock:
        gitops = acme.sandbox.repository(EDGE)
        gitops.rules = [BranchRule(pattern="main", required_contexts=["tests"])]
        gitops.allow_auto_merge = True
    run(acme, auto_merge="always")
    acme.commit(BROKEN, "dev")
    refused = Fault("GET", f"/repos/{EDGE}/pulls/1", "status", status=403, count=0)
    with acme.sandbox.faults.on(refused), pytest.raises(KalypsoError):
        run_schedule(acme, auto_merge="always")
    assert not enabled(acme)


def test_schedule_warns_of_what_it_disabled_before_a_conflict(acme: Organisation) -> None:
    run(acme)
    warning = enable_as_person(acme)
    configure(acme, REGION="north")
    pushed = acme.sandbox.interruptions.add(
        lambda: acme.commit({"notes.txt": "x"}, OWN, GITOPS), path=f"*{GITOPS}*/git-receive-pack"
    )
    messages = [entry.message for entry in run(acme).warnings]
    pushed.result(0)
    assert messages.count(warning) == 1
    assert not enabled(acme)


def test_cd_warns_of_what_it_disabled_before_a_conflict(acme: Organisation) -> None:
    """A rollback disables auto-merge before the write; another run has rolled back, too."""
    older = acme.head("main") or ""
    promote(acme, change_main(acme))
    run(acme)
    warning = enable_as_person(acme)
    written = acme.sandbox.interruptions.add(
        lambda: promote(acme, older), path=f"*{CONTROL_PLANE}*/git-receive-pack"
    )
    result = acme.run(cd, CdInputs, environment="dev", commit=older, allow_rollback="true")
    written.result(0)
    assert [entry.message for entry in result.document.warnings] == [warning]
