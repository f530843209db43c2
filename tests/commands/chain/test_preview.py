"""`kalypso preview` on pull requests of the control plane."""

from __future__ import annotations

import pytest

from kalypso_actions.commands.preview import command
from kalypso_actions.errors import KalypsoError, UsageError
from kalypso_actions.report.preview_documents import PreviewDocument
from tests.commands.chain import documents
from tests.commands.chain.organisation import CONTROL_PLANE, Job, Organisation
from tests.commands.chain.previews import CONTEXT, document, job_of, newest, propose, run, setting


def test_a_pull_request_to_main(acme: Organisation) -> None:
    number = propose(acme, setting("two"))
    result = run(acme)
    shown = document(result)
    assert not result.failed
    assert result.document.outputs() == {
        "assignments-added": "0",
        "assignments-removed": "0",
        "files-changed": "4",
        "problems": "0",
    }
    assert [item.environment for item in shown.environments] == ["dev", "stage"]
    assert acme.statuses(shown.head_commit) == {
        CONTEXT: ("success", "4 changed files in dev, stage")
    }
    (comment,) = acme.comments(number, CONTROL_PLANE)
    assert comment.startswith("<!-- kalypso:v1 kind=preview -->\n### Kalypso preview: ")
    assert "+  RELEASE: two" in comment


def test_the_second_run_updates_the_comment(acme: Organisation) -> None:
    number = propose(acme, setting("two"))
    run(acme)
    acme.commit(setting("three"), "change")
    run(acme)
    (comment,) = acme.comments(number, CONTROL_PLANE)
    assert "RELEASE: three" in comment
    assert "RELEASE: two" not in comment
    acme.forget()
    run(acme)
    assert acme.writes() == []


def test_a_pull_request_that_not_all_of_github_knows_yet(acme: Organisation) -> None:
    acme.sandbox.store.lag = 5.0
    number = propose(acme, setting("two"))
    result = run(acme, token=acme.sandbox.create_token("actions", owner="acme"))
    assert (document(result).comment, result.document.warnings) == ("written", ())
    assert len(acme.comments(number, CONTROL_PLANE)) == 1


def test_an_outdated_run_does_not_comment(acme: Organisation) -> None:
    number = propose(acme, setting("two"))
    outdated = newest(acme)
    acme.commit(setting("three"), "change")
    run(acme, job=job_of(outdated))
    assert acme.comments(number, CONTROL_PLANE) == []


def test_new_problems_fail(acme: Organisation) -> None:
    """The problem of the base is only counted."""
    acme.commit(
        {"cluster-types/large.yaml": documents.cluster_type("large", reconciler="no")}, "dev"
    )
    number = propose(acme, {"broken.yaml": "kind: [ClusterType\n"})
    result = run(acme)
    shown = document(result)
    assert result.failed
    assert [problem.where.path for problem in shown.problems if problem.where] == ["broken.yaml"]
    assert shown.problems_known
    state, text = acme.statuses(shown.head_commit)[CONTEXT]
    assert (state, text) == ("failure", "1 new problem")
    assert all(item.blocked for item in shown.environments)
    (comment,) = acme.comments(number, CONTROL_PLANE)
    assert comment.count("| **blocked by problems** |") == 2


def test_problems_of_one_environment_block_others_on_main(acme: Organisation) -> None:
    """ci promotes no commit with new problems anywhere; known ones stop their environment."""
    broken = {"cluster-types/large.yaml": documents.cluster_type("large", reconciler="no")}
    acme.commit(broken, "stage")
    propose(acme, setting("two"))
    assert [item.blocked for item in document(run(acme)).environments] == [False, True]
    propose(acme, {"templates/flux.yaml": documents.template("flux", "{{ fail .X }}")}, head="two")
    assert [item.blocked for item in document(run(acme)).environments] == [True, True]


def test_known_problems_of_the_branch_do_not_fail(acme: Organisation) -> None:
    """Known problems only block the arriving commits."""
    acme.commit({"broken.yaml": "kind: [ClusterType\n"})
    number = propose(acme, setting("two"))
    result = run(acme)
    assert not result.failed
    assert document(result).problems_known
    (comment,) = acme.comments(number, CONTROL_PLANE)
    assert "**Nothing arrives before the problems are fixed**, in `dev`, `stage`." in comment


def test_a_pull_request_to_an_environment(acme: Organisation) -> None:
    changes = {"config.yaml": documents.config_map("common", SIZE="9")}
    number = propose(acme, changes, base="dev")
    result = run(acme)
    shown = document(result)
    assert shown.branch == "dev"
    (environment,) = shown.environments
    assert (environment.environment, environment.arrival) == ("dev", None)
    assert environment.change.files
    (comment,) = acme.comments(number, CONTROL_PLANE)
    assert "| with the merge |" in comment


def test_what_arrives_in_an_environment_with_an_older_commit(acme: Organisation) -> None:
    """Both environments have the first commit of main."""
    acme.commit(setting("one"))
    number = propose(acme, {"notes.txt": "nothing of Kalypso"})
    dev, stage = document(run(acme)).environments
    (comment,) = acme.comments(number, CONTROL_PLANE)
    assert (
        "<b>What arrives in <code>dev</code></b>: this change and 1 earlier commit of main"
        in comment
    )
    assert "| ConfigMap `base` | added | [`release.yaml:1`](" in comment
    assert dev.change.files == stage.change.files == ()
    assert dev.arrival
    assert dev.arrival.is_first
    assert dev.arrival.comparison
    assert dev.arrival.commits == 1
    (commit,) = dev.arrival.newest
    assert f"- `{commit.commit[:7]}` " in comment
    assert [file.change for file in dev.arrival.comparison.files] == ["modified", "modified"]
    assert stage.arrival
    assert stage.arrival.after == ("dev",)


def test_a_plugin_that_only_the_head_names_does_not_run(acme: Organisation) -> None:
    """The head may choose another one of Kalypso's own schedulers."""
    path = next(path for path in acme.files("main") if path.endswith("dev.yaml"))
    text = acme.files("main")[path]

    def shown_with(name: str, head: str) -> PreviewDocument:
        annotation = f"  annotations:\n    kalypso.io/scheduler: {name}\n"
        propose(acme, {path: text.replace("  annotations:\n", annotation)}, head=head)
        return document(run(acme))

    (note,) = shown_with("evil", "plugin").notes
    assert "not compared: the scheduler 'evil', which only the change names" in note.message
    assert note.where
    assert (note.where.path, note.advice.partition(";")[0]) == (path, "it is planned by labels")
    assert shown_with("placement", "own").notes == ()


def test_a_branch_without_environments(acme: Organisation) -> None:
    """People open pull requests to branches of their own, too."""
    acme.reset("feature", acme.head("main"))
    number = propose(acme, setting("two"), base="feature")
    result = run(acme)
    assert document(result).environments == ()
    assert acme.comments(number, CONTROL_PLANE) == []
    assert acme.statuses(document(result).head_commit) == {
        CONTEXT: ("success", "feature belongs to no environment")
    }


def test_a_new_and_a_removed_environment(acme: Organisation) -> None:
    acme.reset("test", acme.head("dev"))
    files = {
        ".environments/test.yaml": documents.environment(acme.url(), "test"),
        **{path: None for path in acme.files("main") if path.endswith("stage.yaml")},
    }
    number = propose(acme, files)
    environments = {item.environment: item for item in document(run(acme)).environments}
    assert {file.change for file in environments["test"].change.files} == {"added"}
    assert len(environments["stage"].change.assignments_removed) == 2
    assert (environments["test"].added, environments["stage"].removed) == (True, True)
    assert environments["test"].change.documents == environments["stage"].change.documents == ()
    (comment,) = acme.comments(number, CONTROL_PLANE)
    assert "| `test` (added) |" in comment
    assert "| `stage` (removed) |" in comment
    assert "**nothing deletes the files** of its GitOps branch" in comment
    assert environments["stage"].arrival is None


def test_commits_by_name_without_a_pull_request(acme: Organisation) -> None:
    """A dispatch compares two branches, and writes nothing."""
    propose(acme, setting("two"))
    acme.forget()
    result = run(acme, job=Job(), base="main", head="change")
    assert document(result).files_changed == 4
    assert acme.writes() == []
    with pytest.raises(UsageError, match="no base is named"):
        run(acme, job=Job())


def test_a_merge_group(acme: Organisation) -> None:
    """The status is the group's, and nobody comments."""
    number = propose(acme, setting("two"))
    group = newest(acme).commit
    base, head = acme.head("main") or "", "gh-readonly-queue/main/pr-1"
    acme.reset(head, group)
    payload = {
        "action": "checks_requested",
        "merge_group": {
            "base_ref": "refs/heads/main",
            "base_sha": base,
            "head_ref": f"refs/heads/{head}",
            "head_sha": group,
        },
    }
    run(acme, job=Job("merge_group", f"refs/heads/{head}", group, payload=payload))
    assert acme.statuses(group) == {CONTEXT: ("success", "4 changed files in dev, stage")}
    assert acme.comments(number, CONTROL_PLANE) == []


def test_a_comparison_that_fails_replaces_the_result_of_the_older_head(acme: Organisation) -> None:
    number = propose(acme, setting("two"))
    run(acme)
    acme.commit(setting("three"), "change")
    folder = acme.folder / "artifact"
    with pytest.raises(UsageError):
        run(acme, environments="nowhere", out=str(folder))
    message = "there is no Environment 'nowhere' on this branch, before or after the change"
    (comment,) = acme.comments(number, CONTROL_PLANE)
    assert "RELEASE: two" not in comment
    assert "nothing was compared" in comment
    (state,) = acme.statuses(newest(acme).payload["pull_request"]["head"]["sha"]).values()
    assert state == ("failure", f"nothing was compared: {message}")
    shown = PreviewDocument.model_validate_json((folder / "preview.json").read_bytes())
    assert (shown.compared, [problem.message for problem in shown.problems]) == (False, [message])


def test_a_fault_after_the_comparison_has_a_status(
    acme: Organisation, monkeypatch: pytest.MonkeyPatch
) -> None:
    propose(acme, setting("two"))

    def fail(*_: object) -> None:
        raise KalypsoError("the visibility cannot be read")

    monkeypatch.setattr(command, "_hidden", fail)
    with pytest.raises(KalypsoError):
        run(acme)
    (state,) = acme.statuses(newest(acme).payload["pull_request"]["head"]["sha"]).values()
    assert state == ("failure", "nothing was compared: the visibility cannot be read")


def test_the_comment_of_another_bot_is_deleted(acme: Organisation) -> None:
    """A person pushes to a pull request of Dependabot: the jobs' token has commented before."""
    number = propose(acme, setting("two"))
    run(acme, token=acme.sandbox.create_token("actions", owner="acme"))
    acme.commit(setting("three"), "change")
    run(acme)
    (comment,) = acme.comments(number, CONTROL_PLANE)
    assert "RELEASE: three" in comment
