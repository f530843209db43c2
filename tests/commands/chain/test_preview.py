"""`kalypso preview` on pull requests of the control plane."""

from __future__ import annotations

import dataclasses
import re

import pytest

from kalypso_actions.commands import preview as command
from kalypso_actions.commands.preview.reading import ChangedBranch, PreviewRequest
from kalypso_actions.errors import KalypsoError, Problem, UsageError
from kalypso_actions.inputs.chain import PreviewInputs
from kalypso_actions.model.promotion_policy import POLICY_FILE
from kalypso_actions.model.writes import parts
from kalypso_actions.report.documents import ProblemEntry
from kalypso_actions.report.markdown import plain
from kalypso_actions.report.preview_document import PreviewDocument, PreviewFacts
from tests.commands.chain import documents
from tests.commands.chain.organisation import CONTROL_PLANE, SHOP, Job, Organisation
from tests.commands.chain.previews import CONTEXT, document, job_of, newest, propose, run, setting
from tests.commands.chain.proposals import settle


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
    assert "**its files stay there until people delete them**" in comment
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


REQUEST = PreviewRequest(
    ChangedBranch("", "main", "", "main", "", ""), "b" * 40, pull_request=7, head_commit="b" * 40
)
CHANGED = PreviewDocument(problems=ProblemEntry.all_of([Problem("a fault")]), branch="main")


@pytest.mark.parametrize(
    ("request_", "document_", "inputs", "kinds"),
    [
        (REQUEST, CHANGED, {}, ["post status", "write comment"]),
        (REQUEST, CHANGED, {"comment": "false"}, ["post status"]),
        (REQUEST, CHANGED, {"status-context": ""}, ["write comment"]),
        (REQUEST, PreviewDocument(branch="feature"), {}, ["post status"]),
        (dataclasses.replace(REQUEST, pull_request=None), CHANGED, {}, ["post status"]),
        (PreviewRequest(REQUEST.change), CHANGED, {}, []),
    ],
)
def test_the_writes(
    request_: PreviewRequest,
    document_: PreviewDocument,
    inputs: dict[str, str],
    kinds: list[str],
) -> None:
    given = PreviewInputs.model_validate(inputs)
    facts = PreviewFacts("https://github.com/acme/control-plane")
    writes = command.preview_writes(given, CONTROL_PLANE, request_, document_, facts)
    assert [part.kind for write in writes for part in parts(write)] == kinds


def test_settings_of_the_head_are_reported(acme: Organisation) -> None:
    path = ".github/workflows/ci.yaml"
    number = propose(acme, {path: "on: push\njobs: {}\n"})
    assert document(run(acme)).settings == (path,)
    (comment,) = acme.comments(number, CONTROL_PLANE)
    assert "This change alters `.github/workflows/ci.yaml`." in comment


def test_an_artifact(acme: Organisation) -> None:
    propose(acme, setting("two"))
    folder = acme.folder / "artifact"
    run(acme, out=str(folder))
    shown = PreviewDocument.model_validate_json((folder / "preview.json").read_bytes())
    assert shown.comment == "written"
    assert "+  RELEASE: two" in (folder / "preview.diff").read_text()


def test_a_mass_removal_is_announced(acme: Organisation) -> None:
    """The preview counts the assignments that are in the GitOps branch."""
    names = ("a", "b", "c", "d")
    acme.commit({f"{name}.yaml": documents.cluster_type(name) for name in names}, "dev")
    removed: dict[str, str | bytes | None] = {"policy.yaml": None}
    number = propose(acme, removed, base="dev")
    job = job_of(newest(acme))
    warnings = document(run(acme, job=job)).warnings
    assert [item.code for item in warnings] == ["target-unselected"]
    settle(acme)
    run(acme, job=job)
    (comment,) = acme.comments(number, CONTROL_PLANE)
    assert "6 of 6 assignments would be removed" in plain(comment)


def test_an_environment_whose_last_deployment_failed(acme: Organisation) -> None:
    """The arriving commits may not be the cause, and no commit goes on from there."""
    promoted = acme.head("main") or ""
    acme.status(promoted, "dev environment", "Failed to deploy: 2 @clusters", "failure")
    acme.status(promoted, "stage environment", "Deployed", "success")
    number = propose(acme, setting("two"))
    assert [item.failure != "" for item in document(run(acme)).environments] == [True, False]
    (comment,) = acme.comments(number, CONTROL_PLANE)
    assert "**The last deployment in dev failed**: Failed to deploy" in plain(comment)
    assert "@clusters" not in comment


@pytest.mark.parametrize("branch", ["main", "dev"])
def test_what_keeps_commits_out_is_said(acme: Organisation, branch: str) -> None:
    policy = "apiVersion: kalypso.io/v1alpha1\nkind: PromotionPolicy\nmetadata: {name: dev}\n"
    policy += "spec: {holds: [{reason: 'see @alice', by: bob}]}\n"
    acme.commit({POLICY_FILE: policy}, "dev")
    files = setting("two") if branch == "main" else {"notes.txt": "new"}
    number = propose(acme, files, base=branch)
    held = [item.waiting_for for item in document(run(acme)).environments]
    assert held == ["hold by bob: see @alice", ""][: len(held)]
    (comment,) = acme.comments(number, CONTROL_PLANE)
    assert "; waits: hold by bob: see" in plain(comment)
    assert "@alice" not in comment


def test_the_summary_has_the_findings_that_the_comment_lacks(acme: Organisation) -> None:
    """GitHub takes ten annotations of a step."""
    faults = {f"faults/{number}.yaml": "kind: [ClusterType\n" for number in range(70)}
    number = propose(acme, faults)
    summary = run(acme).summary
    (comment,) = acme.comments(number, CONTROL_PLANE)
    assert "… and 40 more" in comment
    assert "[the complete preview is an artifact of the run](" in comment
    assert all(f"`{path}:1`" in summary for path in faults)
    assert comment.count(":1`](") == 30


@pytest.mark.slow
def test_three_thousand_changed_files(acme: Organisation) -> None:
    """The comment is cut between sections, and a link leads to the artifact."""
    names = [f"edge-{number:04}" for number in range(1498)]
    acme.commit({"edge.yaml": "---\n".join(map(documents.cluster_type, names))}, "dev")
    template = documents.template("flux", "name: {{ .ConfigData.RELEASE }}\n")
    number = propose(acme, {**setting("two"), "templates/flux.yaml": template})
    folder = acme.folder / "artifact"
    result = run(acme, out=str(folder))
    assert document(result).files_changed == 3004
    (comment,) = acme.comments(number, CONTROL_PLANE)
    assert len(comment.encode()) < 60_000
    assert comment.count("<details>") == comment.count("</details>")
    assert comment.count("```diff") * 2 == comment.count("```")
    assert f"]({acme.run_url}#artifacts)._" in comment
    assert (folder / "preview.diff").read_text().count("\n+++ ") == 3004
    assert len(result.summary.encode()) < 1_000_000


def test_a_hostile_name_stays_text(acme: Organisation) -> None:
    """A key may be any text."""
    key = '"</details><img src=x onerror=alert(1)> | `@acme/owners` [x](https://evil.example)"'
    number = propose(acme, {"release.yaml": documents.config_map("base", **{key: "1"})})
    run(acme)
    (comment,) = acme.comments(number, CONTROL_PLANE)
    assert "onerror" in comment
    (row,) = [line for line in comment.split("\n") if "onerror" in line and line.startswith("| ")][
        :1
    ]
    assert row.count(" | ") == 4
    assert "<img" not in re.sub(r"``.*?``", "", row)


def test_what_is_new_and_runs_nowhere(acme: Organisation) -> None:
    files = {
        "policy.yaml": documents.policy(size="large"),
        "cluster-types/medium.yaml": documents.cluster_type("medium"),
    }
    number = propose(acme, files, base="dev")
    (environment,) = document(run(acme)).environments
    assert environment.idle == ("ClusterType medium: nothing runs on it",)
    (comment,) = acme.comments(number, CONTROL_PLANE)
    assert "**What is new here has no assignment:**\n\n- ClusterType medium" in plain(comment)


def test_faults_of_the_base_do_not_make_known_findings_new(acme: Organisation) -> None:
    acme.commit({"broken.yaml": "kind: [ClusterType\n"})
    acme.commit({"again.yaml": documents.policy("again")}, "dev")
    number = propose(acme, {"broken.yaml": None})
    shown = document(run(acme))
    assert (shown.problems, shown.warnings) == ((), ())
    assert [note.message for note in shown.notes] == [
        f"{name}: the fleet is not checked: faults of the base hide what it had before"
        for name in ("dev", "stage")
    ]
    (comment,) = acme.comments(number, CONTROL_PLANE)
    assert "**Not everything was compared:**" in comment


def test_environments_that_a_preview_does_not_look_at(acme: Organisation) -> None:
    propose(acme, setting("two"))
    (note,) = document(run(acme, environments="dev")).notes
    assert note.code == "environment-unjudged"
    assert note.message == "what main has for 'stage' is not judged: the branch was not read"
    acme.reset("stage", None)
    propose(acme, {"notes.txt": "new"}, base="dev", head="other")
    (note,) = document(run(acme)).notes
    assert note.code == "environment-unjudged"


def test_a_registration_whose_application_runs_nowhere(acme: Organisation) -> None:
    """It looks fine in the very pull request that registers it."""
    narrow = documents.policy().replace("{}", "{matchLabels: {workload: shop}}", 1)
    acme.commit({"policy.yaml": narrow}, "dev")
    url = acme.url("acme/extra")
    workload = documents.workload("extra", url, ("dev",))
    acme.sandbox.create_repository("acme/extra", {"workload/app.yaml": workload})
    propose(acme, {"registrations/extra.yaml": documents.registration("extra", url)})
    shown = document(run(acme, job_token=acme.token))
    assert [item.code for item in shown.warnings] == ["target-unselected"]
    dev, _ = shown.environments
    assert dev.idle == ("extra registers 1 target: it runs on no cluster type",)


def test_a_document_that_nothing_uses(acme: Organisation) -> None:
    number = propose(acme, {"templates/new.yaml": documents.template("new", "a: 1\n")})
    result = run(acme)
    assert acme.statuses(document(result).head_commit) == {
        CONTEXT: ("success", "1 changed document")
    }
    (comment,) = acme.comments(number, CONTROL_PLANE)
    assert "| Document | Change | Place |" in comment
    assert "| Template `new` | added | [`templates/new.yaml:1`](" in comment


def test_the_place_of_a_value_is_a_link_and_names_its_branch(acme: Organisation) -> None:
    number = propose(acme, setting("two"))
    shown = document(run(acme))
    (comment,) = acme.comments(number, CONTROL_PLANE)
    assert (
        f"[`release.yaml:7`]({acme.url()}/blob/{shown.head}/release.yaml#L7) on `main`" in comment
    )


def test_a_new_cluster_type_of_an_environment_warns_of_nothing(acme: Organisation) -> None:
    """The cluster type uses Templates of main, which the pull request does not change."""
    propose(acme, {"edge.yaml": documents.cluster_type("edge")}, base="dev")
    shown = document(run(acme))
    assert (shown.problems, shown.warnings) == ((), ())


SECRET = "hunter2-and-more"


def shown(acme: Organisation, number: int) -> str:
    """Run the preview, and return everything that it shows anywhere."""
    folder = acme.folder / "artifact"
    result = run(acme, out=str(folder))
    artifact = [file.read_text() for file in folder.iterdir()]
    comments = acme.comments(number, CONTROL_PLANE)
    statuses = acme.statuses(document(result).head_commit)
    parts = [*artifact, *comments, str(statuses), result.summary, result.document.to_json()]
    return "\n".join([*parts, *acme.logged])


@pytest.mark.parametrize("key", ["DB_PASSWORD", "apiToken", "client-secret", "connectionString"])
def test_a_planted_secret(acme: Organisation, key: str) -> None:
    number = propose(acme, {"release.yaml": documents.config_map("base", **{key: SECRET})})
    text = shown(acme, number)
    assert "***" in text
    assert SECRET not in text


def test_only_a_secret_changes(acme: Organisation) -> None:
    acme.commit({"release.yaml": documents.config_map("base", DB_PASSWORD="former")})
    number = propose(acme, {"release.yaml": documents.config_map("base", DB_PASSWORD=SECRET)})
    text = shown(acme, number)
    assert "Only masked values differ." in text
    assert SECRET not in text
    assert "former" not in text


def test_a_key_of_the_input_mask(acme: Organisation) -> None:
    number = propose(acme, {"release.yaml": documents.config_map("base", WELCOME=SECRET)})
    assert SECRET in shown(acme, number)
    run(acme, mask="welc*")
    (comment,) = acme.comments(number, CONTROL_PLANE)
    assert SECRET not in comment


def change_visibility(acme: Organisation, repository: str, visibility: str) -> None:
    with acme.sandbox.lock:
        changed = acme.sandbox.repository(repository)
        changed.private = visibility != "public"
        changed.internal = visibility == "internal"


@pytest.mark.parametrize(
    ("control_plane", "shop", "is_shown"),
    [
        ("public", "private", False),
        ("public", "internal", False),
        ("internal", "private", False),
        ("internal", "internal", True),
        ("private", "private", True),
        ("public", "public", True),
    ],
)
def test_a_less_visible_repository_is_counted(
    acme: Organisation, control_plane: str, shop: str, is_shown: bool
) -> None:
    """A Template prints the labels of the shop's targets."""
    change_visibility(acme, CONTROL_PLANE, control_plane)
    change_visibility(acme, SHOP, shop)
    template = documents.template("flux", "shop: {{ .Workload }} of {{ .Workspace }}\n")
    number = propose(acme, {"templates/flux.yaml": template})
    text = shown(acme, number)
    assert ("shop: shop" in text) == is_shown
    assert ("Not shown: " in text) != is_shown


@pytest.mark.parametrize("visibility", ["private", "public"])
def test_the_targets_of_a_less_visible_repository_are_counted(
    acme: Organisation, visibility: str
) -> None:
    change_visibility(acme, CONTROL_PLANE, "public")
    change_visibility(acme, SHOP, visibility)
    added = {"cluster-types/extra.yaml": documents.cluster_type("extra")}
    text = shown(acme, propose(acme, added, base="dev"))
    assert ("extra/shop-web" in text) == (visibility == "public")
    assert ("Not shown: 1 assignment, 3 files" in text) == (visibility == "private")


def test_repositories_that_only_the_head_registers_are_read_by_the_job(
    acme_with_permissions: Organisation,
) -> None:
    """The App could read the private repository; the job's own token cannot."""
    acme = acme_with_permissions
    workload = documents.workload("hidden", acme.url("acme/hidden"), ("dev", "stage"))
    acme.sandbox.create_repository("acme/hidden", {"workload/app.yaml": workload})
    job_token = acme.sandbox.create_token(
        "actions", {"contents": "read"}, owner="acme", repositories=[CONTROL_PLANE]
    )
    url = acme.url("acme/hidden")
    propose(acme, {"registrations/hidden.yaml": documents.registration("hidden", url)})
    result = document(run(acme, job_token=job_token))
    assert result.assignments_added == 0
    assert [note.message for note in result.notes if "not compared" in note.message]
    # Once it is registered, a preview reads it.
    acme.merge(result.pull_request or 0, CONTROL_PLANE)
    propose(acme, {"release.yaml": documents.config_map("base", RELEASE="two")}, head="next")
    assert document(run(acme, job_token=job_token)).notes == ()


def test_a_secret_in_the_address_of_a_repository(acme: Organisation) -> None:
    url = acme.url("acme/monitoring").replace("://", f"://joe:{SECRET}-one@") + f"?token={SECRET}"
    number = propose(acme, {"registrations/lost.yaml": documents.registration("lost", url)})
    assert SECRET not in shown(acme, number)
