"""A fleet with every kind and form is rendered completely, and compared file by file."""

from __future__ import annotations

from pathlib import Path

import pytest

from kalypso_actions import __version__
from kalypso_actions.clients.process import Programs
from kalypso_actions.commands.render import render
from kalypso_actions.commands.shared.local_context import LocalContext
from kalypso_actions.inputs.local import RenderInputs
from kalypso_actions.model.processes import no_progress
from kalypso_actions.report.render_document import RenderDocument

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
FLEET = "tests/golden/fleet"
SOURCES_FILE = "sources.json"


@pytest.fixture(autouse=True)
def _at_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    """Provenance names the folders as the command line does."""
    monkeypatch.chdir(ROOT)


def run(environment: str, out: Path, **given: object) -> RenderDocument:
    sources = {
        "control-plane": "main",
        "clinic": "apps/clinic",
        "archive": "apps/archive",
        "lost": "apps/not-there",
    }
    inputs = RenderInputs.model_validate(
        {
            "environment": environment,
            "environment_dir": f"{FLEET}/{environment}",
            "source": [
                f"https://git.example/acme/{name}={FLEET}/{path}" for name, path in sources.items()
            ],
            "out": out,
            **given,
        }
    )
    return render(inputs, LocalContext(Programs({}), no_progress))


def tree(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): path.read_text()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def expected(environment: str) -> dict[str, str]:
    files = tree(HERE / "expected" / environment)
    return {
        path: text.replace('"VERSION"', f'"{__version__}"') if path.endswith(SOURCES_FILE) else text
        for path, text in files.items()
    }


def test_dev_onto_an_existing_tree(tmp_path: Path) -> None:
    document = run("dev", tmp_path / "out", gitops=f"{FLEET}/gitops-dev")
    assert not document.problems
    assert tree(tmp_path / "out") == expected("dev")
    assert document.changes.deleted == (
        "ward/clinic-old/extra.txt",
        "ward/clinic-old/reconciler.yaml",
        "ward/clinic-web/config.yaml",
    )
    assert document.changes.modified == (
        ".github/tracking/Promoted_Commit_Id",
        "ward/clinic-web/reconciler.yaml",
    )
    assert document.changes.unchanged == ("lab/README.md", "ward/README.md")
    assert document.degraded
    assert [warning.message for warning in document.warnings] == [
        "ConfigMap 'not-for-the-platform' is not platform configuration, because it has no label "
        "platform-config",
        "Template 'argocd': Application 'archive-store': spec.syncPolicy.syncOptions.1: "
        "'{{ stays as it is in a list }}' is invalid (archive-store on lab; also for 1 other "
        "assignment)",
        "Template 'flux': Kustomization 'clinic-web': spec: the field interval is missing "
        "(clinic-web on ward; also for 1 other assignment)",
        "Template 'platform-config': ConfigMap 'platform-config': data.LOG is a map, not a text; "
        "LOG is set in configs/all.yaml:9 (clinic-web on ward; also for 1 other assignment)",
        "registration 'lost': https://git.example/acme/lost: "
        "tests/golden/fleet/apps/not-there is not a folder",
    ]


def test_dev_onto_its_own_result(tmp_path: Path) -> None:
    run("dev", tmp_path / "first", gitops=f"{FLEET}/gitops-dev")
    document = run("dev", tmp_path / "second", gitops=str(tmp_path / "first"))
    assert not (document.changes.added + document.changes.modified + document.changes.deleted)
    assert tree(tmp_path / "second") == tree(tmp_path / "first")


def test_assignments_carry_all_their_policies(tmp_path: Path) -> None:
    document = run("dev", tmp_path / "out")
    assert {
        (entry.cluster_type, entry.deployment_target): entry.policies
        for entry in document.assignments
    } == {
        ("edge", "clinic-web"): ("care-everywhere-north",),
        ("edge", "clinic-worker"): ("care-everywhere-north",),
        ("lab", "archive-store"): ("records-in-the-lab",),
        ("lab", "probe"): ("records-in-the-lab",),
        ("ward", "clinic-web"): ("care-everywhere-north", "front-on-large"),
        ("ward", "clinic-worker"): ("care-everywhere-north",),
    }


def test_stage_below_a_path(tmp_path: Path) -> None:
    document = run("stage", tmp_path / "out")
    assert not document.problems
    assert tree(tmp_path / "out") == expected("stage")


def test_an_unreadable_registration_blocks_on_request(tmp_path: Path) -> None:
    document = run("dev", tmp_path / "out", on_source_failure="block")
    assert [problem.message for problem in document.problems] == [
        "registration 'lost': https://git.example/acme/lost: "
        "tests/golden/fleet/apps/not-there is not a folder"
    ]
    assert not (tmp_path / "out").exists()
