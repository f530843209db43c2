"""Other parts of a preview besides the difference: settings, removals, findings, places."""

from __future__ import annotations

import re

import pytest

from kalypso_actions.report.markdown import plain
from kalypso_actions.report.preview_documents import PreviewDocument
from tests.commands.chain import documents
from tests.commands.chain.organisation import CONTROL_PLANE, Organisation
from tests.commands.chain.previews import CONTEXT, document, job_of, newest, propose, run, setting
from tests.commands.chain.proposals import settle


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
    assert document(run(acme, job=job)).warnings == ()
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


def test_a_document_that_nothing_uses(acme: Organisation) -> None:
    number = propose(acme, {"templates/new.yaml": documents.template("new", "a: 1\n")})
    result = run(acme)
    assert acme.statuses(document(result).head_commit) == {
        CONTEXT: ("success", "1 changed document")
    }
    (comment,) = acme.comments(number, CONTROL_PLANE)
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
