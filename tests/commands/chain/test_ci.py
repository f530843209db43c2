"""`kalypso ci`: new and old problems with a commit of main, and the start of cd."""

from __future__ import annotations

import pytest

from kalypso_actions.commands.ci import ci
from tests.breaks import breaks, turned
from tests.commands.chain import documents
from tests.commands.chain.ci_runs import cd, document, problems, run, warnings
from tests.commands.chain.organisation import (
    CONTROL_PLANE,
    GITOPS,
    SHOP,
    Job,
    Organisation,
)
from tests.commands.chain.placements import PLACEMENT, schedule_dev_by_placement

CONTEXT = "kalypso / ci"
BAD_TEMPLATE = documents.template("flux", "name: {{ .ConfigData.SIZE | atoi | div 1 0 }}\n")


def test_a_push_without_problems_starts_cd(acme: Organisation) -> None:
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
    assert acme.statuses(commit) == {
        CONTEXT: ("success", "4 assignments in 2 environments"),
        "dev environment": ("pending", "Waiting: cd"),
    }
    assert acme.dispatches() == [cd(commit)]
    assert {write.rpartition("/")[2] for write in acme.writes()} == {commit, "dispatches"}
    assert len(acme.writes()) == 3
    assert result.summary.startswith("## kalypso ci: 4 assignments in 2 environments\n")
    assert acme.run_url in str(
        [status.target_url for status in acme.sandbox.repository(CONTROL_PLANE).statuses]
    )


def test_changes_are_compared_with_the_gitops_branches(acme: Organisation) -> None:
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


@breaks(
    "a commit with problems is promoted",
    turned(ci, "not document.failed", "True"),
    case="no YAML",
)
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
    (problem,) = [
        candidate for candidate in result.document.problems if message in candidate.message
    ]
    assert problem.where
    assert problem.where.path == next(iter(files))
    assert line in {None, problem.where.line}
    assert acme.statuses(commit)[CONTEXT][0] == "failure"
    assert acme.dispatches() == []
    assert "**Next:** correct the problems" in result.summary


def test_faults_of_placements_are_reported_at_their_lines(acme: Organisation) -> None:
    schedule_dev_by_placement(acme)
    acme.commit({".github/kalypso/one.yaml": PLACEMENT.replace("name: one", "name: two")}, "dev")
    result = run(acme)
    entries = [*result.document.problems, *result.document.warnings]
    assert [(item.code, item.where and (item.where.path, item.where.line)) for item in entries] == [
        ("placement-unknown", ("policy.yaml", 3)),
        ("placement-unused", (".github/kalypso/one.yaml", 1)),
    ]


def test_an_unknown_scheduler_is_reported_once_at_its_line(acme: Organisation) -> None:
    schedule_dev_by_placement(acme)
    environment = acme.files("main")[".environments/dev.yaml"].replace(": placement", ": placment")
    acme.commit({".environments/dev.yaml": environment})
    (problem,) = run(acme).document.problems
    assert (problem.code, problem.advice) == ("scheduler-unknown", "did you mean placement?")


def test_a_fault_of_main_is_reported_once(acme: Organisation) -> None:
    acme.commit({"registrations/shop.yaml": "kind: WorkloadRegistration\nmetadata: {name: shop}\n"})
    result = run(acme)
    messages = problems(result)
    assert len(messages) == len(set(messages))
    assert not [message for message in messages if message.startswith(("dev", "stage"))]


def test_a_new_problem_in_an_environment_fails(acme: Organisation) -> None:
    acme.commit({"templates/flux.yaml": BAD_TEMPLATE})
    result = run(acme)
    messages = problems(result)
    assert [": ".join(message.split(": ")[:2]) for message in messages] == [
        "dev, stage: shop-web on drone",
        "dev, stage: shop-web on large",
    ]
    where = result.document.problems[0].where
    assert where
    assert (where.repository, where.path, where.line) == (acme.url(), "templates/flux.yaml", 8)
    checked = document(result).checked
    assert [environment.problems for environment in checked] == [2, 2]


def test_a_removed_template_fails_where_it_is_used(acme: Organisation) -> None:
    acme.commit({"templates/flux.yaml": None})
    result = run(acme)
    assert "names the Template 'flux', which does not exist" in problems(result)[0]
    where = result.document.problems[0].where
    assert where and (where.repository, where.branch) == (acme.url(), "dev")


@breaks(
    "an old problem of one environment stops the commit everywhere",
    turned(
        "kalypso_actions.commands.ci._EnvironmentCheck.result",
        "self._faults_before(after.faults)",
        "None",
    ),
)
def test_an_old_problem_of_one_environment_is_a_warning(acme: Organisation) -> None:
    """A schema of stage has failed before: the commit still goes to dev."""
    acme.commit({"schema.yaml": documents.config_schema("sizes", "SIZE")}, "stage")
    commit = acme.commit({"notes.txt": "1"})
    result = run(acme)
    assert not result.failed
    assert len(warnings(result)) == 2
    assert all(warning.startswith("stage: shop-web on ") for warning in warnings(result))
    assert acme.statuses(commit)[CONTEXT] == (
        "success",
        "4 assignments in 2 environments, 2 warnings",
    )
    assert acme.dispatches() == [cd(commit)]


def test_old_and_new_problems_are_distinguished(acme: Organisation) -> None:
    acme.commit(
        {"cluster-types/large.yaml": documents.cluster_type("large", reconciler="argo")}, "stage"
    )
    acme.commit({"templates/flux.yaml": BAD_TEMPLATE})
    result = run(acme)
    assert [": ".join(problem.split(": ")[:2]) for problem in problems(result)] == [
        "dev, stage: shop-web on drone",
        "dev: shop-web on large",
    ]
    (warning,) = warnings(result)
    assert warning.startswith("stage: ClusterType 'large': reconciler names the Template 'argo'")


@pytest.mark.parametrize(
    "files",
    [
        pytest.param({"policy.yaml": "kind: [\n"}, id="no YAML"),
        pytest.param({"base-two.yaml": documents.base_repo("x", "1" * 40)}, id="two bases"),
    ],
)
def test_a_broken_environment_branch_is_a_warning(
    acme: Organisation, files: dict[str, str]
) -> None:
    acme.commit(files, "stage")
    commit = acme.commit({"notes.txt": "1"})
    result = run(acme)
    assert not result.failed
    assert warnings(result)
    assert all(warning.startswith("stage: ") for warning in warnings(result))
    places = {
        (warning.where.repository, warning.where.branch)
        for warning in result.document.warnings
        if warning.where
    }
    assert places == {(acme.url(), "stage")}
    assert acme.dispatches() == [cd(commit)]


def test_a_document_without_effect_is_a_warning_at_its_file(acme: Organisation) -> None:
    acme.commit({"edge.yaml": documents.policy("edge-only", size="egde")}, "dev")
    commit = acme.commit({"notes.txt": "1"})
    result = run(acme)
    (warning,) = result.document.warnings
    assert warning.code == "policy-without-cluster-types"
    assert warning.where is not None
    assert warning.where.path == "edge.yaml"
    assert "1 warning" in result.summary
    assert acme.dispatches() == [cd(commit)]


def test_an_environment_that_awaits_cd_is_a_note(acme: Organisation) -> None:
    acme.commit({"base-repo.yaml": None}, "stage")
    acme.commit({"notes.txt": "1"})
    notes = run(acme).document.notes
    assert [note.code for note in notes if note.code == "base-repo-missing"]


def test_an_environment_without_a_branch_is_a_warning(acme: Organisation) -> None:
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
    """ci renders the environment with its first commit, and compares it with the previous one."""
    acme.commit({"base-repo.yaml": None}, "stage")
    acme.commit({"notes.txt": "1"})
    result = run(acme)
    assert not warnings(result)
    assert [environment.assignments for environment in document(result).checked] == [2, 2]
    assert document(result).checked[1].has == ""
    acme.commit(
        {"cluster-types/large.yaml": documents.cluster_type("large", reconciler="argo")}, "stage"
    )
    assert not run(acme).failed
    before = acme.head("main")
    acme.commit({"templates/flux.yaml": BAD_TEMPLATE})
    acme.commit({"notes.txt": "2"})
    assert all(problem.startswith("dev: ") for problem in problems(run(acme)))
    pushed = run(acme, job=Job("push", payload={"before": before}))
    assert problems(pushed)[0].startswith("dev, stage: shop-web on drone")


def test_each_repository_is_read_once(acme: Organisation) -> None:
    """The number of environments and compared commits does not matter."""
    acme.commit({"templates/flux.yaml": BAD_TEMPLATE})
    acme.forget()
    run(acme)
    fetches = [
        exchange.path.split("/")[2]
        for exchange in acme.sandbox.traffic
        if exchange.template == "git"
        and exchange.method == "POST"
        and "upload-pack" in exchange.path
    ]
    # Git reads a shop's branch once: ls-refs, its commit, its blobs.
    assert fetches.count("shop") <= 3


def test_missing_documents_and_unused_acknowledgements(acme: Organisation) -> None:
    ignored = documents.cluster_type("large").replace(
        "metadata:\n",
        "metadata:\n  annotations: {kalypso.io/ignore: template-type-wrong, "
        "kalypso.io/ignore-reason: kept for old tools}\n",
    )
    acme.commit({"gitops-repo.yaml": None, "cluster-types/large.yaml": ignored}, "dev")
    checked = run(acme).document
    assert [entry.code for entry in checked.warnings] == ["gitops-repo-missing"]
    assert "ignore-stale" in [entry.code for entry in document(run(acme)).notes]


def test_an_unusable_registration_is_a_warning(acme: Organisation) -> None:
    acme.commit({"workload/shop.yaml": "kind: Deployment\n"}, repository=SHOP)
    commit = acme.commit({"notes.txt": "1"})
    result = run(acme)
    assert not result.failed
    assert warnings(result)
    assert all(
        warning.startswith("dev, stage: registration 'shop'") for warning in warnings(result)
    )
    assert acme.dispatches() == [cd(commit)]
    assert not run(acme, on_source_failure="block").failed, "it stood before"


def test_the_commit_that_registers_an_unusable_repository_fails(acme: Organisation) -> None:
    lost = documents.registration("lost", acme.url("acme/lost"))
    acme.commit({"registrations/lost.yaml": lost})
    result = run(acme)
    assert result.failed
    (finding,) = result.document.problems
    assert finding.message.startswith("dev, stage: registration 'lost'")
    assert finding.where and finding.where.path == "registrations/lost.yaml"
    # No environment has that commit, but the next one of main is not the reason.
    acme.commit({"notes.txt": "1"})
    result = run(acme)
    assert not result.failed
    (finding,) = result.document.warnings
    assert finding.message.startswith("dev, stage: registration 'lost'")


def test_a_registration_that_invalidates_another_fails(acme: Organisation) -> None:
    """Both registrations deliver a Workload of the same name: neither is usable."""
    acme.sandbox.create_repository("acme/shop2", acme.files("main", SHOP))
    acme.commit(
        {"registrations/shop2.yaml": documents.registration("shop2", acme.url("acme/shop2"))}
    )
    result = run(acme)
    assert result.failed
    assert [problem.count("registration 'shop2': Work") for problem in problems(result)] == [0, 1]
