"""Stories of an application's proposals: promotion, configuration, closing, reverting, editing."""

from __future__ import annotations

import pytest

from kalypso_actions.commands.app.deploy import DeployWrites
from kalypso_actions.commands.app.environment import ApplicationMoment
from kalypso_actions.errors import UsageError
from kalypso_actions.model.own_account import JOBS
from kalypso_actions.promotion.application import desired_commit
from tests.breaks import breaks, turned
from tests.commands.app.shop import CONFIGS, GITOPS, SOURCE, Application
from tests.commands.chain.killing import is_killed


def actions(web: Application, *environments: str) -> list[str]:
    """Return what deploy does now in environments."""
    return [web.deployment(each).action for each in environments]


def test_a_commit_is_promoted_by_one_pull_request(web: Application) -> None:
    first = web.released("1")
    document = web.deployment()
    (pull,) = web.pulls()
    assert pull["title"] == "Deploy to 'dev' '1'"
    assert sorted(label["name"] for label in pull["labels"]) == ["kalypso", "promoted"]
    assert pull["head"]["ref"] == "kalypso/dev"
    assert "**promotes** `1`" in pull["body"]
    assert document.outputs()["pull-request-url"] == pull["html_url"]
    statuses = web.statuses(first)
    assert statuses["dev"] == ("pending", "Promoted 1")
    assert statuses["kalypso / version"] == ("success", f"1 1@sha256:{'a' * 8}")
    assert statuses["kalypso / deploy dev"][1].startswith("Scheduled: ")
    web.merge_open()
    assert web.tracking("dev", "Promoted_Commit_Id") == first
    assert web.tracking("dev", "Version") == "1"
    assert (
        "acme/web/web:1@sha256:aaaaaaaa" in web.acme.files("dev", GITOPS)["eu/gen_manifests.yaml"]
    )
    assert actions(web, "dev", "stage") == ["none", "nothing"]
    # A newer commit replaces the older one in the same pull request.
    second = web.released("2")
    web.deploy()
    third = web.released("3")
    web.deploy()
    (pull,) = web.pulls()
    assert pull["title"] == "Deploy to 'dev' '3'"
    assert "which has `1`" in pull["body"]
    assert web.statuses(second)["dev"] == ("pending", f"Superseded by {third[:7]}")
    assert web.statuses(third)["dev"] == ("pending", "Promoted 3")
    # A doubled or late start changes nothing.
    before = web.acme.writes()
    assert actions(web, "dev", "dev") == ["leave", "leave"]
    assert web.deployment(commit=second).action == "leave"
    assert web.acme.writes() == before


@breaks(
    "a change that no manifest shows is proposed",
    turned(
        "kalypso_actions.commands.app.deploy._proposed",
        "is_promotion or not only_tracks(changes, '')",
        "True",
    ),
)
@breaks(
    "a configuration takes the status of the commit",
    turned(DeployWrites._on_commit, "self.deployment.is_promotion", "True"),
)
def test_a_configuration_stays_in_its_environment(web: Application) -> None:
    commit = web.released("1")
    web.deploy()
    web.merge_open()
    # A change that no manifest shows proposes nothing.
    web.acme.commit({"README.md": "about"}, "dev", CONFIGS)
    assert actions(web, "dev") == ["none"]
    configs = web.acme.commit({"asia/values.yaml": ""}, "dev", CONFIGS)
    assert actions(web, "dev") == ["create"]
    (pull,) = web.pulls()
    assert [label["name"] for label in pull["labels"]] == ["kalypso"]
    assert "changes the **configuration**" in pull["body"]
    assert web.statuses(configs, CONFIGS)["dev"] == ("pending", "Promoted")
    assert web.statuses(commit)["dev"] == ("pending", "Promoted 1")
    web.acme.close(pull["number"], GITOPS)
    assert actions(web, "dev", "dev") == ["stop", "stop"]
    web.acme.commit({"africa/values.yaml": ""}, "dev", CONFIGS)
    assert actions(web, "dev") == ["create"]
    web.merge_open()
    assert web.tracking("dev", "Version") == "1"
    assert "africa/gen_manifests.yaml" in web.acme.files("dev", GITOPS)


@breaks(
    "a configuration takes the tracked commit, and not the proposed one",
    turned(
        desired_commit,
        "facts.allow_rollback or not newest or not main.contains(newest, asked)",
        "True",
    ),
)
def test_a_configuration_joins_an_open_promotion(web: Application) -> None:
    """Upstream would deploy the older version again."""
    web.released("1")
    web.deploy()
    web.merge_open()
    commit = web.released("2")
    web.deploy()
    web.acme.commit({"asia/values.yaml": ""}, "dev", CONFIGS)
    # Upstream's starter names the tracked commit, and a person's token starts it.
    tracked = web.tracking("dev", "Promoted_Commit_Id")
    assert web.deployment(actor="somebody", commit=tracked, promotion="n").commit == commit
    (pull,) = web.pulls()
    assert pull["title"] == "Deploy to 'dev' '2'"
    assert "promoted" in {label["name"] for label in pull["labels"]}
    web.merge_open()
    assert "asia/gen_manifests.yaml" in web.acme.files("dev", GITOPS)


@breaks(
    "the label of a promotion is missing on a configuration's pull request",
    turned(
        DeployWrites._open,
        "[PROMOTED] if deployment.is_promotion else []",
        "[PROMOTED] if deployment.is_promotion and not pull else []",
    ),
)
def test_a_promotion_joins_an_open_configuration(web: Application) -> None:
    """Upstream's pull request would stay without the label, and the commit would not go on."""
    web.released("1")
    web.deploy()
    web.merge_open()
    web.acme.commit({"asia/values.yaml": ""}, "dev", CONFIGS)
    web.deploy()
    (configuration,) = web.pulls()
    commit = web.released("2")
    web.deploy()
    (pull,) = web.pulls()
    assert pull["number"] == configuration["number"]
    assert "promoted" in {label["name"] for label in pull["labels"]}
    assert web.statuses(commit)["dev"] == ("pending", "Promoted 2")


def test_what_people_close_stays_out_until_a_person_names_it(web: Application) -> None:
    web.released("1")
    web.deploy()
    web.merge_open()
    second = web.released("2")
    web.deploy()
    (pull,) = web.pulls()
    web.acme.close(pull["number"], GITOPS)
    assert actions(web, "dev") == ["none"]
    assert web.pulls() == []
    # Not even a configuration brings it.
    web.acme.commit({"asia/values.yaml": ""}, "dev", CONFIGS)
    assert web.deployment().version == "1"
    assert web.deployment(commit=second).version == "1"
    assert web.deployment(commit=second, actor="octocat").version == "2"
    # Later runs keep what the person has started.
    assert web.deployment().version == "2"
    web.acme.close(web.pulls()[0]["number"], GITOPS)
    web.released("3")
    assert web.deployment().version == "3"


@breaks(
    "the merge of a configuration brings back what people closed",
    turned(ApplicationMoment.earlier, "since is None", "True"),
)
def test_a_configuration_does_not_bring_back_what_people_closed(web: Application) -> None:
    web.released("1")
    web.deploy()
    web.merge_open()
    web.acme.clock.sleep(60)
    web.released("2")
    web.deploy()
    web.acme.close(web.pulls()[0]["number"], GITOPS)
    web.acme.commit({"asia/values.yaml": ""}, "dev", CONFIGS)
    web.deploy()
    web.acme.clock.sleep(60)
    web.merge_open()
    assert actions(web, "dev") == ["none"]
    assert web.poll() == []
    web.acme.clock.sleep(60)
    web.released("3")
    assert web.deployment().version == "3"


def test_a_reverted_merge_holds_until_a_newer_commit(web: Application) -> None:
    first = web.released("1")
    web.deploy()
    web.merge_open()
    before = web.acme.files("dev", GITOPS)
    second = web.released("2")
    web.deploy()
    web.merge_open()
    after = web.acme.files("dev", GITOPS)
    web.acme.commit(
        {path: before.get(path) for path in before.keys() | after.keys()}, "dev", GITOPS
    )
    assert web.tracking("dev", "Promoted_Commit_Id") == first
    web.release(second, "2")  # the build runs again
    assert web.deployment().version == "1"
    assert web.pulls() == []
    web.acme.commit({"asia/values.yaml": ""}, "dev", CONFIGS)
    assert web.deployment().version == "1"
    web.released("3")
    assert web.deployment().version == "3"


def test_the_first_merge_is_reverted(web: Application) -> None:
    before = web.acme.files("dev", GITOPS)
    web.released("1")
    web.deploy()
    web.merge_open()
    after = web.acme.files("dev", GITOPS)
    web.acme.commit(
        {path: before.get(path) for path in before.keys() | after.keys()}, "dev", GITOPS
    )
    assert actions(web, "dev") == ["nothing"]
    # A ring that was cut from the branch, without what it tracks, may have the commit.
    web.acme.reset("stage", web.acme.head("dev", GITOPS), GITOPS)
    commit = web.released("2")
    web.release(commit, "2", start_environment="stage")
    assert web.deployment("stage").version == "2"
    assert web.deployment().version == "2"


@breaks(
    "an older commit overtakes",
    turned(
        desired_commit,
        "facts.tracked in main and asked != facts.tracked and main.contains(facts.tracked, asked)",
        "False",
    ),
)
def test_an_older_commit_needs_a_person_and_a_word(web: Application) -> None:
    first = web.released("1")
    web.deploy()
    web.merge_open()
    web.released("2")
    web.deploy()
    web.merge_open()
    with pytest.raises(UsageError, match="is older than"):
        web.deploy(actor="octocat", commit=first)
    with pytest.raises(UsageError, match="only a person may give allow-rollback"):
        web.deploy(commit=first, allow_rollback="true")
    assert web.deployment(actor="octocat", commit=first, allow_rollback="true").version == "1"
    assert "**goes back** to `1`" in web.pulls()[0]["body"]
    assert web.deployment().version == "1"


def test_a_new_ring_takes_what_its_branch_inherits(web: Application) -> None:
    commit = web.released("1")
    web.deploy()
    web.merge_open()
    inherited = web.acme.files("dev", GITOPS)
    kept = {path: text for path, text in inherited.items() if path.startswith(".github/")}
    web.acme.commit({**kept, "README.md": None}, "stage", GITOPS)
    document = web.deployment("stage")
    assert (document.commit, document.promoted) == (commit, False)
    (pull,) = web.pulls("stage")
    assert [label["name"] for label in pull["labels"]] == ["kalypso"]
    assert "stage" not in web.statuses(commit)
    web.merge_open("stage")
    assert "environment: stage" in web.acme.files("stage", GITOPS)["eu/gen_manifests.yaml"]


def test_a_set_up_of_upstream_is_adopted_by_its_releases(web: Application) -> None:
    """Its tracking files are believed by nobody, so the commits get their versions first."""
    old = web.push()
    tracked = {
        "Promoted_Commit_Id": old,
        "Config_Commit_Id": "0" * 40,
        "Version": "0.1",
        "Image_tag": "0.1",
    }
    files = {f".github/tracking/{name}": f"{text}\n" for name, text in tracked.items()}
    stale = {"old/gen_manifests.yaml": "", "eu/gen_manifests.yaml": ""}
    web.acme.commit({**files, **stale}, "dev", GITOPS)
    with pytest.raises(
        UsageError, match=r"no status 'kalypso / version' .* names version and image"
    ):
        web.deploy()
    web.release(old, "0.1", start_deploy="false")
    # A promotion that people close leaves the environment with what it has.
    web.released("1")
    assert web.deployment().version == "1"
    web.acme.close(web.pulls()[0]["number"], GITOPS)
    document = web.deployment()
    assert (document.version, document.promoted) == ("0.1", False)
    web.merge_open()
    assert "old/gen_manifests.yaml" not in web.acme.files("dev", GITOPS)


def test_a_tracking_file_by_hand_brings_nothing(web: Application) -> None:
    """Whoever may write in the GitOps repository alone promotes nothing."""
    web.released("1")
    web.deploy()
    web.merge_open()
    second = web.released("2")
    web.acme.commit({".github/tracking/Promoted_Commit_Id": second}, "dev", GITOPS)
    web.deploy()
    third = web.push()
    web.release(third, "3", start_deploy="false")
    web.acme.commit({".github/tracking/Promoted_Commit_Id": third}, "dev", GITOPS)
    assert web.deployment().version == "2"
    # Nor does our own branch.
    (pull,) = web.pulls()
    web.acme.commit({".github/tracking/Promoted_Commit_Id": third}, pull["head"]["ref"], GITOPS)
    assert web.deployment().version == "2"
    assert "dev" not in web.statuses(third)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"version": "2"}, "not with version '2'"),
        ({"image_tag": "evil"}, "not with image-tag 'evil'"),
        ({"image_name": "ghcr.io/eve/web"}, "not with image-name"),
    ],
)
def test_inputs_must_be_those_of_the_record(
    web: Application, given: dict[str, str], message: str
) -> None:
    commit = web.released("1")
    with pytest.raises(UsageError, match=message):
        web.deploy(commit=commit, **given)
    assert web.pulls() == []
    web.deploy(commit=commit, version="1")
    assert len(web.pulls()) == 1


def test_a_version_by_others_neither_counts_nor_hides_ours(web: Application) -> None:
    commit = web.released("1")
    body = {"context": "kalypso / version", "description": "6 evil", "state": "success"}
    for login in ("eve", "other[bot]"):
        token = web.acme.sandbox.create_token("user", None, login=login, owner="acme")
        web.acme.ask("POST", f"{SOURCE}/statuses/{commit}", body, token=token)
    assert web.deployment().version == "1"
    job = web.acme.sandbox.create_token("user", None, login=JOBS, owner="acme")
    web.acme.ask("POST", f"{SOURCE}/statuses/{commit}", body, token=job)
    with pytest.raises(UsageError, match="contradicting records"):
        web.deploy()


def test_with_the_app_only_its_versions_count(web: Application) -> None:
    number, key = web.acme.sandbox.create_app("acme")
    app = {"app_id": str(number), "app_private_key": key, "release_by": "app"}
    job = web.acme.sandbox.create_token("user", None, login=JOBS, owner="acme")
    commit = web.push()
    web.release(commit, token=job)
    with pytest.raises(UsageError, match="no status 'kalypso / version' of the App"):
        web.deploy(**app)
    web.release(commit, "1", **app)
    assert web.deployment(**app).version == "1"


def test_a_refused_tree_is_told_and_repaired_by_its_configuration(web: Application) -> None:
    web.released("1")
    web.deploy()
    web.merge_open()
    commit = web.released("2")
    result = web.deploy(scan="grep -q evil $KALYPSO_IMAGES || exit 3")
    assert result.failed
    assert web.statuses(commit)["dev"] == (
        "failure",
        "Failed to deploy: the scan command ended with exit code 3",
    )
    assert web.statuses(commit)["kalypso / deploy dev"][1].startswith("Blocked: ")
    assert web.pulls() == []
    assert web.deployment().version == "1"
    web.acme.commit({"asia/values.yaml": ""}, "dev", CONFIGS)
    scan = 'test "$(cat $KALYPSO_IMAGES)" = "ghcr.io/acme/web/web:2@sha256:aaaaaaaa" '
    scan += "&& test -f $KALYPSO_TREE/asia/gen_manifests.yaml"
    assert web.deployment(scan=scan).version == "2"
    assert web.statuses(commit)["dev"] == ("pending", "Promoted 2")


def test_a_mass_removal_needs_a_person(web: Application) -> None:
    web.released("1")
    web.deploy()
    web.merge_open()
    gone = dict.fromkeys(("eu/values.yaml", "us/values.yaml"))
    configs = web.acme.commit({**gone, "asia/values.yaml": ""}, "dev", CONFIGS)
    result = web.deploy()
    assert result.failed
    assert web.statuses(configs, CONFIGS)["dev"][0] == "failure"
    assert web.pulls() == []
    web.deploy(actor="octocat", allow_removals="true")
    web.merge_open()
    assert "eu/gen_manifests.yaml" not in web.acme.files("dev", GITOPS)


def test_a_branch_that_moves_under_the_proposal_is_followed(web: Application) -> None:
    web.released("1")
    web.deploy()
    web.merge_open()
    web.released("2")
    web.deploy()
    manifest = web.acme.files("dev", GITOPS)["eu/gen_manifests.yaml"]
    web.acme.commit({"eu/gen_manifests.yaml": manifest + "# by hand\n"}, "dev", GITOPS)
    document = web.deployment()
    assert document.action == "update"
    assert any("edited" in entry.message for entry in document.warnings)
    web.merge_open()
    assert "by hand" not in web.acme.files("dev", GITOPS)["eu/gen_manifests.yaml"]


def test_auto_merge_merges_and_starts_the_check(web: Application) -> None:
    commit = web.released("1")
    web.deploy(auto_merge="always")
    assert web.pulls() == []
    assert web.tracking("dev", "Promoted_Commit_Id") == commit
    started = web.acme.dispatches()[-1]
    assert (started.workflow, started.repository) == ("post-deployment.yml", SOURCE)
    assert started.inputs == {
        "environment": "dev",
        "promoted_commit_id": commit,
        "commit_id": web.acme.head("dev", GITOPS),
    }
    assert web.statuses(commit)["kalypso / check dev"][1].startswith("Starting, attempt 1: ")


def test_killed_anywhere_and_run_again(web: Application) -> None:
    web.released("1")
    web.deploy()
    web.merge_open()
    commit = web.released("2")
    writes = 0
    while is_killed(writes, web.deploy):
        writes += 1
        assert writes < 20
    assert writes >= 3
    (pull,) = web.pulls()
    assert pull["title"] == "Deploy to 'dev' '2'"
    assert web.statuses(commit)["dev"] == ("pending", "Promoted 2")
    assert web.statuses(commit)["kalypso / tree dev"][1].startswith("Written: ")
    before = web.acme.writes()
    web.deploy()
    assert web.acme.writes() == before


def test_a_dry_run_writes_nothing(web: Application) -> None:
    web.released("1")
    before = web.acme.writes()
    document = web.deployment(dry_run="true")
    assert [(entry.kind, entry.repository) for entry in document.writes] == [
        ("push", GITOPS),
        ("post status", SOURCE),
        ("open pull request", GITOPS),
        ("post status", SOURCE),
        ("post status", SOURCE),
    ]
    assert web.acme.writes() == before


def test_a_rollback_of_a_person_stays_until_a_newer_commit_comes(web: Application) -> None:
    old = web.released("1")
    web.released("2")
    web.deploy()
    web.merge_open()
    web.deploy(commit=old, actor="ada", allow_rollback="true")
    web.acme.commit({"new/values.yaml": ""}, "dev", CONFIGS)
    web.deploy()
    (pull,) = web.pulls()
    assert pull["title"] == "Deploy to 'dev' '1'"
    assert "new/gen_manifests.yaml" in web.acme.files("kalypso/dev", GITOPS)
    web.released("3")
    web.deploy()
    (pull,) = web.pulls()
    assert pull["title"] == "Deploy to 'dev' '3'"


def test_a_person_s_older_choice_is_not_replaced_by_the_next_look(web: Application) -> None:
    web.deployed("1")
    older, newer = web.released("2"), web.released("3")
    web.deploy()
    web.deploy(commit=older, actor="ada", allow_rollback="true")
    assert web.statuses(newer)["dev"][1] == f"Superseded by {older[:7]}"
    web.deploy()
    (pull,) = web.pulls()
    assert pull["title"] == "Deploy to 'dev' '2'"


def tracked(commit: str, **files: str) -> dict[str, str | None]:
    """Return the tracking files that upstream's workflow has written."""
    names = {"Promoted_Commit_Id": commit, "Version": "0.0.1-7", **files}
    return {f".github/tracking/{name}": f"{text}\n" for name, text in names.items()}


@pytest.mark.parametrize(
    ("files", "release"),
    [
        ({"Image_tag": "0.0.1-7"}, "0.0.1-7 0.0.1-7"),
        ({"Image_name": "ghcr.io/acme/web:1.2"}, "0.0.1-7 1.2 ghcr.io/acme/web"),
    ],
)
def test_what_upstream_has_deployed_is_adopted(
    web: Application, files: dict[str, str], release: str
) -> None:
    commit = web.push()
    web.acme.commit(tracked(commit, **files), "dev", GITOPS)
    with pytest.raises(UsageError, match="of the chain names version and image"):
        web.deploy(actor="ada")
    web.deploy(actor="ada", adopt="true")
    assert web.statuses(commit)["kalypso / version"] == ("success", release)
    (pull,) = web.pulls()
    assert {label["name"] for label in pull["labels"]} == {"kalypso"}
    assert ".github/tracking/application.json" in web.acme.files("kalypso/dev", GITOPS)
    before = web.acme.writes()
    web.deploy(actor="ada", adopt="true")
    assert web.acme.writes() == before


@pytest.mark.parametrize(
    ("version", "actor", "message"),
    [
        ("1 2", "ada", "cannot be used: '1 2'"),
        ("", "ada", "there is no version"),
        ("1", JOBS, "give adopt"),
    ],
)
def test_what_is_not_adopted(web: Application, version: str, actor: str, message: str) -> None:
    commit = web.push()
    web.acme.commit(tracked(commit, Version=version), "dev", GITOPS)
    with pytest.raises(UsageError, match=message):
        web.deploy(actor=actor, adopt="true")
    assert web.statuses(commit) == {}
