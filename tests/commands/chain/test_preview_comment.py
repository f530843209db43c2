"""`kalypso preview-comment`: the artifact of a fork's preview is the work of a stranger."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from kalypso_actions.commands.preview_comment import MOST_BYTES, preview_comment
from kalypso_actions.commands.shared.result import CommandResult
from kalypso_actions.errors import KalypsoError
from kalypso_actions.inputs.chain import PreviewCommentInputs
from kalypso_actions.report.preview_document import PreviewCommentDocument
from tests.commands.chain.organisation import CONTROL_PLANE, SHOP, Organisation
from tests.commands.chain.previews import (
    fork_proposes,
    job_after,
    newest,
    pending_artifact,
    propose,
    run,
    setting,
)


@pytest.fixture
def acme(acme_with_permissions: Organisation) -> Organisation:
    """Acme with a public application: a fork's preview can read nothing else."""
    with acme_with_permissions.sandbox.lock:
        acme_with_permissions.sandbox.repository(SHOP).private = False
    return acme_with_permissions


def comment(acme: Organisation, file: Path, **changes: Any) -> CommandResult:
    """Run the job that the end of the newest preview starts; it comments."""
    job = job_after(acme, **changes)
    return acme.run(preview_comment, PreviewCommentInputs, job=job, file=str(file))


def outcome(result: CommandResult) -> PreviewCommentDocument:
    assert isinstance(result.document, PreviewCommentDocument)
    return result.document


def test_a_fork_gets_one_comment(acme: Organisation) -> None:
    number = fork_proposes(acme, setting("two"))
    file = pending_artifact(acme)
    assert acme.comments(number, CONTROL_PLANE) == []
    assert outcome(comment(acme, file)).action == "created"
    assert outcome(comment(acme, file)).action == "unchanged"
    (text,) = acme.comments(number, CONTROL_PLANE)
    assert text.startswith("<!-- kalypso:v1 kind=preview -->\n")
    assert "+  RELEASE: two" in text


def test_a_comment_on_other_commits_than_those_of_the_run(
    acme: Organisation, tmp_path: Path
) -> None:
    """The author of the pull request writes the artifact, and GitHub the commits of the run."""
    number = fork_proposes(acme, setting("two"))
    other = "5" * 40
    forged = json.loads(pending_artifact(acme).read_text())
    forged |= {"branch": "stage", "pullRequest": None, "headCommit": other}
    forged |= {"base": other, "head": other}
    file = tmp_path / "preview.json"
    file.write_text(json.dumps(forged))
    comment(acme, file)
    (text,) = acme.comments(number, CONTROL_PLANE)
    assert f"/commit/{newest(acme).payload['pull_request']['head']['sha']})" in text
    assert f"/commit/{other}" not in text
    assert "`main` at `5555555`" in text
    assert "**The author of the pull request can change this preview.**" in text


def test_a_run_that_has_commented(acme: Organisation) -> None:
    number = propose(acme, setting("two"))
    run(acme, out=str(acme.folder / "artifact"))
    acme.forget()
    assert outcome(comment(acme, acme.folder / "artifact" / "preview.json")).action == ""
    assert acme.writes() == []
    assert len(acme.comments(number, CONTROL_PLANE)) == 1


OTHER_RUNS: dict[str, dict[str, Any]] = {
    "another head": {"head_sha": "1" * 40},
    "another branch": {"head_branch": "other"},
    "another fork": {"head_repository": {"full_name": "eve/x", "owner": {"login": "eve"}}},
    "a fork of the same owner": {
        "head_repository": {"full_name": "mallory/x", "owner": {"login": "mallory"}}
    },
    "no pull request": {"event": "push"},
    "a deleted fork": {"head_repository": None},
}


@pytest.mark.parametrize("case", OTHER_RUNS)
def test_only_a_pull_request_with_this_head(acme: Organisation, case: str) -> None:
    number = fork_proposes(acme, setting("two"))
    file = pending_artifact(acme)
    result = outcome(comment(acme, file, **OTHER_RUNS[case]))
    assert result.reason == "no pull request, or more than one, is open with the run's head"
    assert acme.comments(number, CONTROL_PLANE) == []


def test_two_pull_requests_with_this_head(acme: Organisation) -> None:
    fork_proposes(acme, setting("two"))
    file = pending_artifact(acme)
    acme.reset("next", acme.head("main"))
    other = acme.pull("mallory:main", "next")
    assert outcome(comment(acme, file)).pull_request_number is None
    assert acme.comments(other, CONTROL_PLANE) == []


def test_a_closed_pull_request(acme: Organisation) -> None:
    number = fork_proposes(acme, setting("two"))
    file = pending_artifact(acme)
    cause = newest(acme)
    acme.close(number, CONTROL_PLANE)
    with acme.sandbox.lock:
        acme.sandbox.store.events.append(cause.model_copy())
    assert outcome(comment(acme, file)).pull_request_number is None


FORGED = {
    "no JSON": b"<html>",
    "another document": b'{"schema": "kalypso.ci/v1", "environments": [1]}',
    "no text": b"\xff\xfe",
    "deep": b"[" * 100_000,
}


@pytest.mark.parametrize("case", FORGED)
def test_a_forged_document(acme: Organisation, tmp_path: Path, case: str) -> None:
    fork_proposes(acme, setting("two"))
    file = tmp_path / "preview.json"
    file.write_bytes(FORGED[case])
    with pytest.raises(KalypsoError, match="the file is not the document of a preview"):
        comment(acme, file)


def test_a_large_document(acme: Organisation, tmp_path: Path) -> None:
    fork_proposes(acme, setting("two"))
    file = tmp_path / "preview.json"
    file.touch()
    os.truncate(file, MOST_BYTES + 1)
    with pytest.raises(KalypsoError, match=f"more than {MOST_BYTES} bytes"):
        comment(acme, file)


def test_a_change_of_a_whole_fleet(acme: Organisation, tmp_path: Path) -> None:
    number = fork_proposes(acme, setting("two"))
    preview = json.loads(pending_artifact(acme).read_text())
    changed = preview["environments"][0]["change"]["files"]
    changed += [
        {
            "path": f"store-eu-west-{place:05}/shop-frontend-web/platform-config.yaml",
            "change": "added",
            "diff": None,
        }
        for place in range(100_000)
    ]
    file = tmp_path / "preview.json"
    file.write_text(json.dumps(preview, indent=2))
    assert file.stat().st_size > 16_000_000
    assert outcome(comment(acme, file)).action == "created"
    (text,) = acme.comments(number, CONTROL_PLANE)
    assert "more, which do not fit here" in text


def test_a_link_to_a_file_of_the_machine(acme: Organisation, tmp_path: Path) -> None:
    fork_proposes(acme, setting("two"))
    file = tmp_path / "preview.json"
    file.symlink_to(pending_artifact(acme))
    with pytest.raises(KalypsoError, match="it is not a file"):
        comment(acme, file)


def test_no_artifact(acme: Organisation, tmp_path: Path) -> None:
    fork_proposes(acme, setting("two"))
    result = outcome(comment(acme, tmp_path / "preview.json"))
    assert result.reason == "the run has no artifact with a preview"


HOSTILE = (
    "</details> <img src=https://evil.example/x> [click](https://evil.example) @acme/owners #1 "
    "[Approve](//evil.example) ![x](//evil.example/p.png)"
)


def test_everything_in_it_stays_text(acme: Organisation, tmp_path: Path) -> None:
    """The test replaces each text of the document: none becomes HTML, a link or a mention."""
    number = fork_proposes(acme, setting("two"))
    genuine = json.loads(pending_artifact(acme).read_text())
    where = {
        "repository": "https://evil.example/a/b",
        "path": HOSTILE,
        "line": 1,
        "column": 1,
        "branch": HOSTILE,
        "commit": "1" * 40,
    }
    finding = {"message": HOSTILE, "where": where, "advice": HOSTILE, "code": HOSTILE}
    genuine |= {"problems": [finding], "notes": [finding], "settings": [HOSTILE]}
    genuine |= {"base": "https://evil.example/", "branch": HOSTILE}
    (environment, *_) = genuine["environments"]
    environment["environment"] = environment["failure"] = HOSTILE
    change = environment["change"]
    change["files"] = [
        {"path": HOSTILE, "change": "added", "diff": diff}
        for diff in (f"```\n{HOSTILE}\n", "", None)
    ]
    name = {"clusterType": HOSTILE, "target": HOSTILE}
    value = {"value": HOSTILE, "where": where}
    change["assignmentsAdded"] = [name]
    change["values"] = [{"key": HOSTILE, "assignments": [name], "before": value, "after": value}]
    change["withheld"] = [
        {"repository": HOSTILE, "files": 1, "values": 0, "problems": 0, "warnings": 0}
    ]
    file = tmp_path / "preview.json"
    file.write_text(json.dumps(genuine))
    comment(acme, file)
    (text,) = acme.comments(number, CONTROL_PLANE)
    # Escaped characters, and the zero-width space behind what GitHub links, stay; code is text.
    plain = re.sub(r"(?s)(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)|\\[!-/:-@\[-`{-~]|[@#:]\u200b", "", text)
    for markup in ("<img", "](https://evil", "@acme", "#1"):
        assert markup not in plain, plain
    # GitHub reads no Markdown in HTML.
    assert "](//evil" not in re.sub("<summary>.*</summary>", "", plain)
    assert plain.count("<details>") == plain.count("</details>")
    assert "evil.example/a/b/blob" not in text
