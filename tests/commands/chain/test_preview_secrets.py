"""Content that `kalypso preview` neither shows nor reads with the App's rights."""

from __future__ import annotations

import pytest

from tests.commands.chain import documents
from tests.commands.chain.organisation import CONTROL_PLANE, SHOP, Organisation
from tests.commands.chain.previews import document, propose, run

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
