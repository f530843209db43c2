"""`kalypso ci`: new and old problems with a commit of main, and the start of cd."""

from __future__ import annotations

from typing import Any

import pytest

from kalypso_actions.commands.ci.command import ci
from kalypso_actions.commands.runtime.result import CommandResult
from kalypso_actions.inputs.chain import CiInputs
from kalypso_actions.report.chain_documents import CiDocument
from tests.commands.chain import documents
from tests.commands.chain.organisation import (
    CONTROL_PLANE,
    GITOPS,
    SHOP,
    Dispatch,
    Job,
    Organisation,
)

CONTEXT = "kalypso / ci"
PUSH = Job("push")
BAD_TEMPLATE = documents.template("flux", "name: {{ .ConfigData.SIZE | atoi | div 1 0 }}\n")


def run(acme: Organisation, *, job: Job = PUSH, **inputs: Any) -> CommandResult:
    return acme.run(ci, CiInputs, job=job, **inputs)


def document(result: CommandResult) -> CiDocument:
    assert isinstance(result.document, CiDocument)
    return result.document


def problems(result: CommandResult) -> list[str]:
    return [problem.message for problem in result.document.problems]


def warnings(result: CommandResult) -> list[str]:
    return [warning.message for warning in result.document.warnings]


def cd(commit: str, environment: str = "dev") -> Dispatch:
    inputs = {"promoted_commit_id": commit, "environment": environment, "promoted_from": "ci"}
    return Dispatch("cd.yaml", inputs)


def test_a_faultless_push_goes_on_its_way(acme: Organisation) -> None:
    commit = acme.commit({"notes.txt": "1"})
    acme.forget()
    result = run(acme)
    assert not result.failed
    assert result.document.outputs() == {
        "environments": '["dev"]',
        "problems": "0",
        "warnings": "0",
    }
    assert document(result).commit == commit
    assert acme.statuses(commit) == {CONTEXT: ("success", "4 assignments in 2 environments")}
    assert acme.dispatches() == [cd(commit)]
    assert {write.rpartition("/")[2] for write in acme.writes()} == {commit, "dispatches"}
    assert len(acme.writes()) == 2
    assert result.summary.startswith("## kalypso ci: 4 assignments in 2 environments\n")
    assert acme.run_url in str(
        [one.target_url for one in acme.sandbox.repository(CONTROL_PLANE).statuses]
    )


def test_what_would_change_is_told_against_the_gitops_branches(acme: Organisation) -> None:
    acme.commit(
        {"large/shop-web/namespace.yaml": "old\n", "large/shop-web/config.yaml": "x\n"},
        "dev",
        GITOPS,
    )
    acme.commit({"notes.txt": "1"})
    dev, stage = document(run(acme)).checked
    assert dev.environment == "dev"
    assert dev.assignments == stage.assignments == 2
    assert dev.changes and stage.changes
    assert dev.changes.modified == ("large/shop-web/namespace.yaml",)
    assert dev.changes.deleted == ("large/shop-web/config.yaml",)
    assert len(stage.changes.added) == 8  # two READMEs, three files of each assignment
    assert dev.has == acme.sandbox.git(CONTROL_PLANE).commit("main").parents[0]


def test_run_again_it_posts_nothing_and_starts_cd_again(acme: Organisation) -> None:
    commit = acme.commit({"notes.txt": "1"})
    run(acme)
    acme.forget()
    run(acme)
    (write,) = acme.writes()
    assert write.endswith("/cd.yaml/dispatches")
    assert acme.dispatches() == [cd(commit), cd(commit)]


@pytest.mark.parametrize(
    ("files", "message", "line"),
    [
        pytest.param({"templates/flux.yaml": "kind: [\n"}, "not valid YAML", 1, id="no YAML"),
        pytest.param(
            {"templates/flux.yaml": documents.template("flux", "{{ .Nope }\n")},
            "Template 'flux'",
            8,
            id="a template that cannot be parsed",
        ),
        pytest.param(
            {"templates/zz.yaml": documents.template("flux", "x\n")},
            "Template 'flux' is already defined in",
            1,
            id="a name twice",
        ),
        pytest.param(
            {".environments/dev.yaml": documents.environment("x", "dev", next_environment="prod")},
            "Environment 'dev' names 'prod' as next, which does not exist",
            None,
            id="a next environment that does not exist",
        ),
    ],
)
def test_faults_of_main_fail(
    acme: Organisation, files: dict[str, str], message: str, line: int | None
) -> None:
    commit = acme.commit(files)
    result = run(acme)
    assert result.failed
    (problem,) = [one for one in result.document.problems if message in one.message]
    assert problem.where
    assert problem.where.path == next(iter(files))
    assert line in {None, problem.where.line}
    assert acme.statuses(commit)[CONTEXT][0] == "failure"
    assert acme.dispatches() == []
    assert "**Next:** correct the problems" in result.summary


def test_a_fault_of_main_is_told_once(acme: Organisation) -> None:
    acme.commit({"registrations/shop.yaml": "kind: WorkloadRegistration\nmetadata: {name: shop}\n"})
    result = run(acme)
    messages = problems(result)
    assert len(messages) == len(set(messages))
    assert not [one for one in messages if one.startswith(("dev", "stage"))]


def test_what_the_commit_breaks_in_environments_fails(acme: Organisation) -> None:
    acme.commit({"templates/flux.yaml": BAD_TEMPLATE})
    result = run(acme)
    messages = problems(result)
    assert [": ".join(one.split(": ")[:2]) for one in messages] == [
        "dev, stage: shop-web on drone",
        "dev, stage: shop-web on large",
    ]
    where = result.document.problems[0].where
    assert where
    assert (where.repository, where.path, where.line) == (acme.url(), "templates/flux.yaml", 8)
    checked = document(result).checked
    assert [one.problems for one in checked] == [2, 2]


def test_a_template_that_goes_fails_where_it_is_used(acme: Organisation) -> None:
    acme.commit({"templates/flux.yaml": None})
    result = run(acme)
    assert "names the Template 'flux', which does not exist" in problems(result)[0]
    where = result.document.problems[0].where
    assert where and (where.repository, where.branch) == (acme.url(), "dev")


def test_what_stood_broken_in_one_environment_is_a_warning(acme: Organisation) -> None:
    """A schema of stage has failed before: the commit still goes to dev."""
    acme.commit({"schema.yaml": documents.config_schema("sizes", "SIZE")}, "stage")
    commit = acme.commit({"notes.txt": "1"})
    result = run(acme)
    assert not result.failed
    assert len(warnings(result)) == 2
    assert all(one.startswith("stage: shop-web on ") for one in warnings(result))
    assert acme.statuses(commit)[CONTEXT] == (
        "success",
        "4 assignments in 2 environments, 2 warnings",
    )
    assert acme.dispatches() == [cd(commit)]


def test_what_stands_and_what_is_new_are_told_apart(acme: Organisation) -> None:
    acme.commit(
        {"cluster-types/large.yaml": documents.cluster_type("large", reconciler="argo")}, "stage"
    )
    acme.commit({"templates/flux.yaml": BAD_TEMPLATE})
    result = run(acme)
    assert [": ".join(one.split(": ")[:2]) for one in problems(result)] == [
        "dev, stage: shop-web on drone",
        "dev: shop-web on large",
    ]
    (warning,) = warnings(result)
    assert warning.startswith("stage: ClusterType 'large': reconciler names the Template 'argo'")


@pytest.mark.parametrize(
    "files",
    [
        pytest.param({"policy.yaml": "kind: [\n"}, id="no YAML"),
        pytest.param({"policy.yaml": "kind: SchedulingPolicy\nmetadata: {name: x}\n"}, id="faulty"),
        pytest.param({"again.yaml": documents.policy()}, id="a name twice"),
        pytest.param({"base-two.yaml": documents.base_repo("x", "1" * 40)}, id="two bases"),
    ],
)
def test_an_environment_branch_that_is_broken_is_its_own_affair(
    acme: Organisation, files: dict[str, str]
) -> None:
    acme.commit(files, "stage")
    commit = acme.commit({"notes.txt": "1"})
    result = run(acme)
    assert not result.failed
    assert warnings(result)
    assert all(one.startswith("stage: ") for one in warnings(result))
    places = {
        (one.where.repository, one.where.branch) for one in result.document.warnings if one.where
    }
    assert places == {(acme.url(), "stage")}
    assert acme.dispatches() == [cd(commit)]


def test_what_has_no_effect_is_a_warning_at_its_file(acme: Organisation) -> None:
    acme.commit({"edge.yaml": documents.policy("edge-only", size="egde")}, "dev")
    commit = acme.commit({"notes.txt": "1"})
    result = run(acme)
    (warning,) = result.document.warnings
    assert warning.code == "policy-without-cluster-types"
    assert warning.where is not None
    assert warning.where.path == "edge.yaml"
    assert "1 warning" in result.summary
    assert acme.dispatches() == [cd(commit)]


def test_an_acknowledged_warning_is_set_apart(acme: Organisation) -> None:
    policy = documents.policy("edge-only", size="egde").replace(
        "{name: edge-only}",
        "{name: edge-only, annotations: {kalypso.io/ignore: policy-without-cluster-types, "
        "kalypso.io/ignore-reason: the clusters come in May}}",
    )
    acme.commit({"edge.yaml": policy}, "dev")
    acme.commit({"notes.txt": "1"})
    result = run(acme)
    assert warnings(result) == []
    assert [entry.code for entry in document(result).acknowledged] == [
        "policy-without-cluster-types"
    ]


def test_an_environment_that_awaits_cd_is_a_note(acme: Organisation) -> None:
    acme.commit({"base-repo.yaml": None}, "stage")
    acme.commit({"notes.txt": "1"})
    notes = run(acme).document.notes
    assert [note.code for note in notes if note.code == "base-repo-missing"]


def test_an_environment_without_a_branch_is_its_own_affair(acme: Organisation) -> None:
    acme.reset("stage", None)
    acme.commit({"notes.txt": "1"})
    result = run(acme)
    assert not result.failed
    (warning,) = warnings(result)
    assert "there is no such branch" in warning
    stage = document(result).checked[1]
    assert (stage.assignments, stage.changes) == (None, None)
    assert "not rendered" in result.summary


def test_a_gitops_branch_that_cannot_be_read_hides_only_the_changes(acme: Organisation) -> None:
    acme.reset("stage", None, GITOPS)
    acme.commit({"notes.txt": "1"})
    result = run(acme)
    assert not result.failed
    (warning,) = warnings(result)
    assert warning.startswith(f"stage: what would change in {acme.url(GITOPS)} is not known")
    stage = document(result).checked[1]
    assert (stage.assignments, stage.changes) == (2, None)


def test_an_environment_that_has_nothing_of_main_yet(acme: Organisation) -> None:
    """It is rendered with its first commit, and compared with main's commit before."""
    acme.commit({"base-repo.yaml": None}, "stage")
    acme.commit({"notes.txt": "1"})
    result = run(acme)
    assert not warnings(result)
    assert [one.assignments for one in document(result).checked] == [2, 2]
    assert document(result).checked[1].has == ""
    acme.commit(
        {"cluster-types/large.yaml": documents.cluster_type("large", reconciler="argo")}, "stage"
    )
    assert not run(acme).failed
    before = acme.head("main")
    acme.commit({"templates/flux.yaml": BAD_TEMPLATE})
    acme.commit({"notes.txt": "2"})
    assert all(one.startswith("dev: ") for one in problems(run(acme)))
    pushed = run(acme, job=Job("push", payload={"before": before}))
    assert problems(pushed)[0].startswith("dev, stage: shop-web on drone")


def test_an_unusable_registration_is_somebody_elses(acme: Organisation) -> None:
    acme.commit({"workload/shop.yaml": "kind: Deployment\n"}, repository=SHOP)
    commit = acme.commit({"notes.txt": "1"})
    result = run(acme)
    assert not result.failed
    assert warnings(result)
    assert all(one.startswith("dev, stage: registration 'shop'") for one in warnings(result))
    assert acme.dispatches() == [cd(commit)]
    assert not run(acme, on_source_failure="block").failed, "it stood before"


@pytest.mark.parametrize(("on_source_failure", "fails"), [("last-good", False), ("block", True)])
def test_a_new_registration_that_is_unusable(
    acme: Organisation, on_source_failure: str, fails: bool
) -> None:
    acme.commit({"registrations/lost.yaml": documents.registration("lost", acme.url("acme/lost"))})
    result = run(acme, on_source_failure=on_source_failure)
    assert result.failed == fails
    findings = result.document.problems if fails else result.document.warnings
    (one,) = findings
    assert one.message.startswith("dev, stage: registration 'lost'")
    assert one.where and one.where.path == "registrations/lost.yaml"


def test_a_registration_that_spoils_another_fails(acme: Organisation) -> None:
    """Both deliver a Workload of the same name: neither is usable."""
    acme.sandbox.create_repository("acme/shop2", acme.files("main", SHOP))
    acme.commit(
        {"registrations/shop2.yaml": documents.registration("shop2", acme.url("acme/shop2"))}
    )
    result = run(acme)
    assert result.failed
    assert all("registration 'shop'" in one for one in problems(result))
    assert all("registration 'shop2'" in one for one in warnings(result))


def test_a_mass_removal_is_told(acme: Organisation) -> None:
    tree = {f"large/old-{number}/reconciler.yaml": "x\n" for number in range(8)}
    acme.commit(tree, "dev", GITOPS)
    acme.commit({"notes.txt": "1"})
    result = run(acme)
    assert not result.failed
    (warning,) = warnings(result)
    assert warning.startswith("dev: 8 of 8 assignments would be removed, which is more than 30%: ")


def test_each_repository_is_read_once(acme: Organisation) -> None:
    """The number of environments and compared commits does not matter."""
    acme.commit({"templates/flux.yaml": BAD_TEMPLATE})
    acme.forget()
    run(acme)
    fetches = [
        one.path.split("/")[2]
        for one in acme.sandbox.traffic
        if one.template == "git" and one.method == "POST" and "upload-pack" in one.path
    ]
    # Git reads a shop's branch once: ls-refs, its commit, its blobs.
    assert fetches.count("shop") <= 3


def test_what_a_branch_lacks_and_what_is_acknowledged_in_vain(acme: Organisation) -> None:
    ignored = documents.cluster_type("large").replace(
        "metadata:\n",
        "metadata:\n  annotations: {kalypso.io/ignore: template-type-wrong, "
        "kalypso.io/ignore-reason: kept for old tools}\n",
    )
    acme.commit({"gitops-repo.yaml": None, "cluster-types/large.yaml": ignored}, "dev")
    checked = run(acme).document
    assert [entry.code for entry in checked.warnings] == ["gitops-repo-missing"]
    assert "ignore-stale" in [entry.code for entry in document(run(acme)).notes]
