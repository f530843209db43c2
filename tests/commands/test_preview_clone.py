"""preview in a clone of a control plane: the changes of the current branch."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.command_line import call_kalypso
from tests.commands.control_plane_clones import FLEET, environment, make_clone, template
from tests.git_repositories import git


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = make_clone(tmp_path)
    git(folder, "config", "user.name", "somebody")
    git(folder, "config", "user.email", "somebody@acme.example")
    monkeypatch.chdir(folder)
    return folder


def change(clone: Path, file: str, text: str, start: str) -> None:
    """Commit a change on a branch of its own."""
    git(clone, "checkout", "--quiet", "-b", "change", start)
    (clone / file).write_text(text)
    git(clone, "add", file)
    git(clone, "commit", "--quiet", "--message", "Change")


def test_the_current_branch_of_main(clone: Path) -> None:
    text = template("reconciler").replace("kind: reconciler", "kind: changed")
    change(clone, "templates.yaml", text + template("namespace", "namespace"), "origin/main")
    done = call_kalypso("preview")
    assert done.returncode == 0, done.stderr + done.stdout
    assert done.stderr.startswith("Comparing ")
    assert done.stderr.endswith(", for main.\n")
    assert done.stdout.splitlines() == [
        "dev (first)",
        "  ~ Template reconciler",
        "  ~ store/till/reconciler.yaml",
        "  arrives: this change and 2 earlier commits of main, 1 changed file",
        "",
        "stage",
        "  ~ Template reconciler",
        "  ~ store/till/reconciler.yaml",
        "  arrives: this change and 2 earlier commits of main, 1 changed file",
        "",
        "2 changed files in dev, stage",
    ]
    lines = call_kalypso("preview", "--verbose").stdout.splitlines()
    arriving = lines.index("arrives in dev: this change and 2 earlier commits of main")
    assert "+kind: changed" in lines[:arriving]
    assert "+kind: changed" in lines[arriving:]
    assert f"  {git(clone, 'rev-parse', 'HEAD~1')[:7]} change" in lines[arriving:]


def test_the_branch_of_an_environment(clone: Path) -> None:
    change(clone, "fleet.yaml", FLEET.replace("name: till", "name: desk"), "origin/dev")
    document = json.loads(call_kalypso("preview", "--base", "dev", "--json").stdout)
    (environment,) = document["environments"]
    assert (document["branch"], environment["environment"]) == ("dev", "dev")
    assert (document["assignmentsAdded"], document["assignmentsRemoved"]) == (1, 1)
    assert environment["arrival"] is None


def test_later_commits_of_the_base_are_no_part_of_the_change(clone: Path) -> None:
    change(clone, "notes.txt", "1", "origin/main~1")
    document = json.loads(call_kalypso("preview", "--base", "origin/main", "--json").stdout)
    assert document["base"] == git(clone, "rev-parse", "origin/main~1")
    exact = json.loads(call_kalypso("preview", "--base", "v2", "--json").stdout)
    assert exact["base"] == git(clone, "rev-parse", "v2")


def test_two_commits(clone: Path) -> None:
    done = call_kalypso("preview", "--base", "v2", "--head", "origin/main", "--out", "../preview")
    assert done.returncode == 0, done.stderr
    head = git(clone, "rev-parse", "origin/main")
    document = json.loads((clone.parent / "preview" / "preview.json").read_text())
    assert (document["head"], document["filesChanged"]) == (head, 0)


def test_a_new_problem_is_exit_code_1(clone: Path) -> None:
    change(clone, "broken.yaml", "kind: [ClusterType\n", "origin/main")
    done = call_kalypso("preview")
    assert done.returncode == 1
    assert "problem broken.yaml:1" in done.stdout
    assert "1 new problem" in done.stdout


def test_a_layer_that_never_counts_has_a_line(clone: Path) -> None:
    config = (
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {}, labels: {{platform-config: 'true'}}}}\n"
        "data: {{REGION: {}}}\n"
    )
    text = config.format("a", "east") + "---\n" + config.format("b", "west")
    change(clone, "config.yaml", text, "origin/main")
    done = call_kalypso("preview")
    assert done.returncode == 0, done.stdout
    assert "note config.yaml:4" in done.stdout
    assert "ConfigMap 'a': REGION never counts" in done.stdout


def test_no_lines_of_files_below_messages(clone: Path) -> None:
    text = template("reconciler").replace("manifests:", "password: LEAKone, password: LEAKtwo, m:")
    change(clone, "templates.yaml", text, "origin/main")
    done = call_kalypso("preview")
    assert "templates.yaml:4" in done.stdout
    assert "LEAK" not in done.stdout + done.stderr


def test_outside_of_a_clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = call_kalypso("preview")
    assert done.returncode == 2
    assert "the current folder is not a clone of a control plane" in done.stderr


def test_a_problem_of_a_document_and_of_environments_counts_once(clone: Path) -> None:
    """The environments read main by the URL of the clone's origin."""
    text = template("reconciler").replace("kind: reconciler", "kind: {{ .Nope")
    change(clone, "templates.yaml", text + template("namespace", "namespace"), "origin/main")
    document = json.loads(call_kalypso("preview", "--json").stdout)
    assert [problem["message"] for problem in document["problems"]] == [
        "Template 'reconciler' is invalid: unclosed action"
    ]


def test_a_place_on_another_branch_than_the_changed_one(clone: Path) -> None:
    change(clone, "templates.yaml", template("namespace", "namespace"), "origin/main")
    done = call_kalypso("preview")
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("problem")]
    assert line.startswith("problem fleet.yaml:4:20 (branch dev): dev, stage: ClusterType")


def test_an_environment_without_a_branch_is_placed_at_its_object(clone: Path) -> None:
    git(clone, "checkout", "--quiet", "-b", "change", "origin/main")
    (clone / ".environments" / "prod.yaml").write_text(environment("prod"))
    git(clone, "add", ".environments")
    git(clone, "commit", "--quiet", "--message", "Change")
    assert "problem .environments/prod.yaml:4:" in call_kalypso("preview").stdout


def test_head_is_the_commit_that_is_checked_out(clone: Path) -> None:
    change(clone, "templates.yaml", template("namespace", "namespace"), "origin/main")
    head = git(clone, "rev-parse", "HEAD")
    document = json.loads(
        call_kalypso("preview", "--base", "main~1", "--head", "HEAD", "--json").stdout
    )
    assert document["head"] == head
    assert document["base"] == git(clone, "rev-parse", "origin/main~1")


def test_uncommitted_changes_are_noted(clone: Path) -> None:
    git(clone, "checkout", "--quiet", "-b", "change", "origin/main")
    (clone / "templates.yaml").write_text(template("reconciler"))
    done = call_kalypso("preview")
    assert "note: uncommitted changes are not compared: templates.yaml" in done.stdout
    assert "uncommitted" not in call_kalypso("preview", "--head", "origin/main~1").stdout


def test_an_input_that_is_on_is_switched_off_by_its_value(clone: Path) -> None:
    assert call_kalypso("preview", "--comment", "false").returncode == 0
    wrong = call_kalypso("preview", "--comment", "perhaps")
    assert wrong.returncode == 2
    assert "comment" in wrong.stderr


def test_placements_depend_on_what_is_assigned(clone: Path) -> None:
    """The preview therefore reads the GitOps branches; if one is missing, a note says so."""
    change(clone, "notes.txt", "1", "origin/main")
    unread = "what would change in"
    assert unread not in call_kalypso("preview").stdout
    assert unread in call_kalypso("preview", "--scheduler", "placement").stdout
    refused = call_kalypso("diff", "dev", "stage", "--scheduler", "placement")
    assert (refused.returncode, unread in refused.stderr) == (1, True)
