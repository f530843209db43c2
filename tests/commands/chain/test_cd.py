"""`kalypso cd` in the mode `commit`: its writes, statuses and starts."""

from __future__ import annotations

import shutil
from collections.abc import Callable

import pytest

from kalypso_actions.commands.cd.read_back import changes_for
from kalypso_actions.errors import KalypsoError, UsageError
from kalypso_actions.report.chain_document import CdDocument
from kalypso_sandbox.store import BranchRule
from tests.breaks import breaks, turned
from tests.commands.chain import documents
from tests.commands.chain.cd_runs import DEV, SCHEDULE, change_main, document, has, run
from tests.commands.chain.organisation import CONTROL_PLANE, Organisation


def test_a_commit_is_written_reported_and_scheduled(acme: Organisation) -> None:
    old, new = acme.head("main"), change_main(acme)
    assert old
    result = run(acme, new, promoted_from="ci")
    assert not result.failed
    assert document(result) == CdDocument(
        environment="dev",
        commit=new,
        action="written",
        changed=True,
        environment_commit=acme.head("dev") or "",
    )
    assert result.document.outputs()["environment-commit"] == acme.head("dev")
    assert acme.files("dev")["base-repo.yaml"] == documents.base_repo(acme.url(), new)
    assert acme.statuses(new) == {DEV: ("pending", "Promoted")}
    assert acme.statuses(old) == {DEV: ("pending", f"Superseded by {new[:7]}")}
    assert acme.status_links(new) == acme.status_links(old) == {acme.run_url}
    assert acme.dispatches() == [SCHEDULE]
    assert result.summary.startswith(f"## kalypso cd: dev has {new[:7]} now\n")
    assert f"/commit/{old}" in result.summary


def test_the_commit_is_upstreams(acme: Organisation) -> None:
    before, begun = acme.head("dev"), acme.clock()
    run(acme, change_main(acme))
    made = acme.sandbox.git(CONTROL_PLANE).commit("dev")
    assert made.parents == (before,)
    assert made.message == "Promoting Commit_Id to the environment\n"
    assert made.author.name == "somebody"
    assert made.author.email.endswith("+somebody@users.noreply.github.com")
    assert begun <= made.author.date <= acme.clock()


def test_a_deployed_commit_stays_deployed(acme: Organisation) -> None:
    old, new = acme.head("main"), change_main(acme)
    assert old
    acme.status(old, DEV, "Deployed", "success")
    run(acme, new)
    assert acme.statuses(old) == {DEV: ("success", "Deployed")}
    # A version before posted it as pending.
    for state in ("success", "pending"):
        acme.status(new, DEV, "Deployed", state)
        run(acme, new)
        assert acme.statuses(new) == {DEV: (state, "Deployed")}


def test_other_content_stays(acme: Organisation) -> None:
    text = "# ours\n" + documents.base_repo(acme.url(), "1" * 40).replace(
        "path: .", "path: ./ # all"
    )
    more = text + "---\n" + documents.config_map("more", SIZE="1")
    acme.commit({"base-repo.yaml": None, "base/main.yaml": more}, "dev")
    new = change_main(acme)
    run(acme, new)
    assert acme.files("dev")["base/main.yaml"] == more.replace("1" * 40, new)
    assert "base-repo.yaml" not in acme.files("dev")


@pytest.mark.parametrize(
    "files",
    [
        pytest.param({"config.yaml": "a: [\n"}, id="no YAML"),
        pytest.param({"config.yaml": "just: words\n"}, id="no Kubernetes document"),
        pytest.param({"policy.yaml": "kind: SchedulingPolicy\nmetadata: {name: x}\n"}, id="faulty"),
    ],
)
def test_faults_of_other_documents_do_not_stop_it(
    acme: Organisation, files: dict[str, str]
) -> None:
    old, new = acme.head("main"), change_main(acme)
    acme.commit(files, "dev")
    assert document(run(acme, new)).action == "written"
    assert has(acme) == new
    assert old
    assert document(run(acme, old, promoted_from="ci")).action == "superseded"


KUSTOMIZATION = "kind: Kustomization\napiVersion: kustomize.config.k8s.io/v1beta1\n"


@pytest.mark.parametrize("is_new", [True, False])
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("resources: [config.yaml]\n", "resources: [config.yaml, base-repo.yaml]\n"),
        ("resources:\n- config.yaml\n", "resources:\n- config.yaml\n- base-repo.yaml\n"),
        (
            "resources:\n  - config.yaml # ours\n# end\n",
            "resources:\n  - config.yaml # ours\n  - base-repo.yaml\n# end\n",
        ),
        ("resources: # all\n- config.yaml", "resources: # all\n- config.yaml\n- base-repo.yaml\n"),
        ("", "resources:\n- base-repo.yaml\n"),
        ("resources: [] # none\n", "resources: [base-repo.yaml] # none\n"),
        ("resources: # none\n", "resources: [base-repo.yaml] # none\n"),
    ],
)
def test_a_kustomization_that_does_not_list_the_file_gets_it(
    acme: Organisation, before: str, after: str, is_new: bool
) -> None:
    files: dict[str, str | bytes | None] = {"kustomization.yaml": KUSTOMIZATION + before}
    acme.commit(files | ({"base-repo.yaml": None} if is_new else {}), "dev")
    new = change_main(acme)
    result = document(run(acme, new))
    assert (result.action, result.warnings) == ("written", ())
    assert acme.files("dev")["kustomization.yaml"] == KUSTOMIZATION + after
    assert has(acme) == new
    assert document(run(acme, new)).action == "unchanged"


@breaks(
    "cd writes a commit that no run reads",
    turned(changes_for, "commits == [commit]", "True"),
    case="ignored",
)
@pytest.mark.parametrize(
    ("files", "path", "line", "message"),
    [
        pytest.param(
            {".sourceignore": "# ours\nbase-*.yaml\n"},
            ".sourceignore",
            2,
            "this pattern ignores it",
            id="ignored",
        ),
        pytest.param(
            {"kustomization.yaml": f"{KUSTOMIZATION}resources: [base-repo.yaml]\nnamePrefix: x-\n"},
            "kustomization.yaml",
            0,
            "schedule would not read the BaseRepo 'main' of base-repo.yaml",
            id="built with another name",
            marks=pytest.mark.skipif(
                not shutil.which("kustomize"), reason="kustomize is not installed"
            ),
        ),
    ],
)
def test_a_branch_from_which_no_run_would_read_the_commit(
    acme: Organisation, files: dict[str, str], path: str, line: int, message: str
) -> None:
    for gone in ({}, {"base-repo.yaml": None}):
        acme.commit({**files, **gone}, "dev")
        before, new = acme.head("dev"), change_main(acme)
        for mode in ("commit", "pull-request"):
            with pytest.raises(KalypsoError, match=message) as refused:
                run(acme, new, mode=mode)
            where = refused.value.problem.where
            assert where
            assert (where.path, where.line or 0) == (path, line)
        assert acme.head("dev") == before
        assert acme.statuses(new) == {}


def test_a_file_that_would_be_broken_by_the_edit(acme: Organisation) -> None:
    """base-repo.yaml is a text, to which no document can be added; nobody has read it so far."""
    files: dict[str, str | bytes | None] = {"base-repo.yaml": "../other/base-repo.yaml"}
    acme.commit(files | {"kustomization.yaml": f"{KUSTOMIZATION}resources: [config.yaml]\n"}, "dev")
    before, new = acme.head("dev"), change_main(acme)
    with pytest.raises(KalypsoError) as refused:
        run(acme, new)
    assert str(refused.value.problem.where).endswith("base-repo.yaml:1")
    assert acme.head("dev") == before


def test_a_branch_that_cannot_be_read_yet(acme: Organisation) -> None:
    acme.commit({"kustomization.yaml": "resources: [\n", "base-repo.yaml": None}, "dev")
    new = change_main(acme)
    result = document(run(acme, new))
    assert result.action == "written"
    (warning,) = result.warnings
    assert warning.message.startswith("it is not known whether schedule reads base-repo.yaml: ")
    assert warning.where
    assert warning.where.path == "kustomization.yaml"


def test_a_commit_in_an_item_of_a_list(acme: Organisation) -> None:
    head = "apiVersion: v1\nkind: List\nitems:\n"
    item = documents.base_repo(acme.url(), "1" * 40).rstrip().replace("\n", "\n  ")
    text = f"{head}- {item}\n- apiVersion: v1\n  kind: Secret\n  metadata: {{name: x}}\n"
    acme.commit({"base-repo.yaml": text}, "dev")
    new = change_main(acme)
    assert document(run(acme, new)).action == "written"
    assert acme.files("dev")["base-repo.yaml"] == text.replace("1" * 40, new)


@pytest.mark.parametrize("path", ["envs/dev", "./envs/dev/"])
def test_an_environment_in_a_folder(acme: Organisation, path: str) -> None:
    text = documents.environment(acme.url(), "dev").replace("path: .", f"path: {path}")
    new = acme.commit({".environments/dev.yaml": text})
    run(acme, new)
    assert has(acme, path="envs/dev/base-repo.yaml") == new
    assert has(acme) != new


@pytest.mark.parametrize("commit", ["", "e" * 40, "HEAD"])
def test_a_commit_that_main_never_had_is_replaced(acme: Organisation, commit: str) -> None:
    acme.commit({"base-repo.yaml": documents.base_repo(acme.url(), commit)}, "dev")
    old = acme.head("main")
    assert old
    change_main(acme)
    assert document(run(acme, old, promoted_from="ci")).action == "written"
    assert has(acme) == old
    assert acme.statuses("e" * 40) == {}


def test_an_older_commit_is_superseded(acme: Organisation) -> None:
    middle, new = change_main(acme, "1"), change_main(acme, "2")
    run(acme, new)
    acme.forget()
    result = run(acme, middle, promoted_from="ci")
    assert not result.failed
    assert document(result).action == "superseded"
    assert result.document.outputs()["environment-commit"] == ""
    assert has(acme) == new
    assert acme.statuses(middle) == {DEV: ("pending", f"Superseded by {new[:7]}")}
    assert acme.writes() == [f"POST /repos/{CONTROL_PLANE}/statuses/{middle}"]
    assert acme.dispatches() == [SCHEDULE]
    assert f"{middle[:7]} is superseded in dev" in result.summary


def test_a_person_must_allow_a_rollback(acme: Organisation) -> None:
    old, new = acme.head("main"), change_main(acme)
    assert old
    run(acme, new)
    with pytest.raises(UsageError, match="is older than") as refused:
        run(acme, old)
    assert "allow-rollback" in refused.value.problem.advice
    assert has(acme) == new
    result = run(acme, old, allow_rollback="true")
    assert document(result).action == "written"
    assert has(acme) == old
    assert acme.statuses(old) == {DEV: ("pending", "Promoted")}
    assert acme.statuses(new) == {DEV: ("pending", f"Rolled back to {old[:7]}")}


def test_a_commit_beside_the_current_one(acme: Organisation) -> None:
    """A merge brought both to main; neither descends from the other."""
    acme.reset("side", acme.head("main"))
    side, trunk = acme.commit({"side.txt": "1"}, "side"), change_main(acme)
    acme.merge(acme.pull("side"), CONTROL_PLANE)
    run(acme, trunk)
    assert document(run(acme, side, promoted_from="ci")).action == "superseded"
    with pytest.raises(UsageError, match="is not a descendant of"):
        run(acme, side)
    assert document(run(acme, side, allow_rollback="true")).action == "written"
    assert acme.statuses(trunk) == {DEV: ("pending", f"Rolled back to {side[:7]}")}


Prepare = Callable[[Organisation], dict[str, str]]


def no_branch(acme: Organisation) -> dict[str, str]:
    acme.reset("dev", None)
    return {}


def on_main(acme: Organisation) -> dict[str, str]:
    text = documents.environment(acme.url(), "dev").replace("branch: dev", "branch: main")
    return {"commit": acme.commit({".environments/dev.yaml": text})}


def two_files(acme: Organisation) -> dict[str, str]:
    acme.commit({"again.yaml": documents.base_repo(acme.url(), "1" * 40)}, "dev")
    return {}


def broken_file(acme: Organisation) -> dict[str, str]:
    acme.commit({"base-repo.yaml": "kind: [\n"}, "dev")
    return {}


def latin_file(acme: Organisation) -> dict[str, str]:
    acme.commit({"base-repo.yaml": b"# \xe4\n"}, "dev")
    return {}


@pytest.mark.parametrize(
    ("prepare", "message", "advice"),
    [
        (lambda _: {"environment": "prod"}, "no Environment 'prod' on main", "dev, stage"),
        (lambda _: {"commit": "e" * 40}, "is not on main", "promote a commit of main"),
        (
            lambda acme: {"commit": acme.head("dev")},
            "is not on main",
            "merge other commits to it first",
        ),
        (no_branch, "environment 'dev' has no branch 'dev' yet", "create it"),
        (on_main, "environment 'dev' lies on main", "give it a branch of its own"),
        (two_files, "the BaseRepo 'main' is already defined in", "remove one of the two"),
        (broken_file, "it is not valid YAML", "correct or delete the file"),
        (latin_file, "it is not UTF-8", "save it as UTF-8"),
        (
            lambda _: {"schedule_workflow": "plan.yaml"},
            "the workflow plan.yaml cannot be",
            "commit",
        ),
    ],
)
def test_impossible_requests_are_refused(
    acme: Organisation, prepare: Prepare, message: str, advice: str
) -> None:
    inputs = {"commit": change_main(acme), **prepare(acme)}
    with pytest.raises(KalypsoError, match=message) as error:
        run(acme, **inputs)
    assert advice in error.value.problem.advice
    assert acme.dispatches() == []


def test_a_protected_branch(acme: Organisation) -> None:
    with acme.sandbox.lock:
        acme.sandbox.repository(CONTROL_PLANE).rules.append(
            BranchRule(pattern="dev", required_reviews=1)
        )
    new = change_main(acme)
    with pytest.raises(KalypsoError, match="the branch 'dev' cannot be pushed") as error:
        run(acme, new)
    assert error.value.problem.advice.endswith("; or use mode: pull-request")
    assert acme.statuses(new) == {}
