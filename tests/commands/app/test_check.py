"""Stories of an application's clusters: promotion, configuration, rollback, edits, assignments."""

from __future__ import annotations

from datetime import timedelta

import pytest

from kalypso_actions.commands.app.check import CheckWrites
from kalypso_actions.errors import KalypsoError, UsageError
from kalypso_actions.promotion.application import meaning_of_head
from kalypso_actions.report.application_document import AppCheckDocument
from tests.breaks import breaks, turned
from tests.commands.app.shop import CONFIGS, GITOPS, MANIFEST, RECONCILER, Application
from tests.commands.chain.organisation import GITOPS as PLATFORM
from tests.commands.chain.organisation import Dispatch

SOURCE = "acme/web"
LONG = timedelta(minutes=10)
ARGOCD = """\
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {{name: web-{target}, namespace: argocd}}
spec: {{source: {{repoURL: "{url}", targetRevision: {branch}, path: "{path}"}}}}
"""


def checked(web: Application, environment: str = "dev", **given: str) -> AppCheckDocument:
    document = web.check(environment, **given).document
    assert isinstance(document, AppCheckDocument)
    return document


def ends(document: AppCheckDocument) -> tuple[str, str, dict[str, int]]:
    """Return what was merged, the verdict, and the number of clusters of each state."""
    return document.meaning, document.verdict, dict(document.clusters)


def deploys(web: Application) -> list[str]:
    """Return the environments for which deploy was started."""
    return [
        each.inputs["environment"]
        for each in web.acme.dispatches()
        if (each.repository, each.workflow) == (SOURCE, "deploy.yml")
    ]


@breaks(
    "deploy starts after the commit is told to be deployed",
    turned(
        CheckWrites.after,
        "(*starts, *(self._on_source(deployed) if check.is_promotion else ()), "
        "*self._configured(gitops_commit), "
        "*(self._others(ApplicationState.SUPERSEDED) if check.is_promotion else ()), *record)",
        "(*self._on_source(deployed), *record)",
    ),
)
def test_a_promotion_goes_on_when_the_clusters_run_it(running: Application) -> None:
    web = running
    commit = web.released("1")
    before = deploys(web)
    web.deploy()
    merge = web.merge_open()
    began = web.acme.clock()
    document = checked(web, verify_only="true")
    assert (document.meaning, document.promoted, document.verdict) == ("promotion", True, "")
    assert web.statuses(commit)["dev"] == ("pending", "Promoted 1")
    assert web.statuses(commit)["kalypso / check dev"][1] == f"Received: {merge}"
    document = checked(web)
    assert ends(document) == ("promotion", "compliant", {"compliant": 2})
    assert {row.cluster_type for row in document.rows} == {"eu", "us"}
    waited = (web.acme.clock() - began).total_seconds()
    assert waited >= 50, "a delay and the apply"
    assert web.statuses(commit)["dev"] == ("success", f"Deployed 1: {merge}")
    assert document.promoted_to == ("dev-red",)
    assert [*before, "dev-red"] == deploys(web)
    configs = web.acme.head("dev", CONFIGS) or ""
    assert web.statuses(configs, CONFIGS)["dev"] == ("success", f"Configured: {merge}")
    # A doubled start tells the same, and starts nothing.
    assert ends(checked(web))[0] == "manual"
    assert [*before, "dev-red"] == deploys(web)


def test_clusters_that_fail_stop_a_promotion(running: Application) -> None:
    web = running
    failure = {"kustomization": "web-eu", "message": "it crashes", "text": "web:2@"}
    web.acme.cluster("dev", "drone", delay=30, behaviour="fail", failure=failure)
    first = web.deployed("1")
    assert web.statuses(first)["dev"][0] == "success"
    second = web.released("2")
    web.deploy()
    web.merge_open()
    started = deploys(web)
    result = web.check()
    assert result.failed
    status = ("failure", "Failed to deploy: dev-drone: HealthCheckFailed: it crashes")
    assert web.statuses(second)["dev"] == status
    assert deploys(web) == started
    # A person repairs the cluster and runs the job again.
    web.acme.sandbox.azure.change("dev-drone", behaviour="follow")
    assert ends(checked(web)) == ("continuation", "compliant", {"compliant": 2})
    assert web.statuses(second)["dev"][0] == "success"


def test_a_configuration_is_told_on_its_own_commit(running: Application) -> None:
    web = running
    commit = web.deployed("1")
    status, started = web.statuses(commit)["dev"], deploys(web)
    configs = web.acme.commit({"asia/values.yaml": ""}, "dev", CONFIGS)
    web.deploy()
    merge = web.merge_open()
    assert ends(checked(web)) == ("configuration", "compliant", {"compliant": 2})
    assert web.statuses(configs, CONFIGS)["dev"] == ("success", f"Configured: {merge}")
    assert web.statuses(commit)["dev"] == status
    assert deploys(web) == started


@breaks(
    "a revert is told as a configuration of the older commit",
    turned(meaning_of_head, "state is not None and facts.is_older", "False"),
)
@pytest.mark.parametrize("by", ["deploy", "revert"])
def test_a_rollback_holds(running: Application, by: str) -> None:
    web = running
    first = web.deployed("1")
    before = web.acme.files("dev", GITOPS)
    second = web.deployed("2")
    assert web.statuses(second)["dev"][0] == "success"
    started = deploys(web)
    if by == "revert":
        now = web.acme.files("dev", GITOPS)
        web.acme.commit({path: before.get(path) for path in {**before, **now}}, "dev", GITOPS)
    else:
        web.deploy(commit=first, allow_rollback="true", actor="octocat")
        web.merge_open()
    told = web.statuses(first)["dev"]
    assert ends(checked(web)) == ("rollback", "compliant", {"compliant": 2})
    assert web.statuses(second)["dev"] == ("pending", f"Rolled back to {first[:7]}")
    assert web.statuses(first)["dev"] == told
    assert deploys(web) == started


@breaks(
    "an edit by hand takes the status of a deployed commit",
    turned(
        meaning_of_head,
        "'manual' if is_deployed and not facts.is_new_configuration else 'edited'",
        "'edited'",
    ),
)
@pytest.mark.parametrize("meaning", ["edited", "manual", "by hand", "by hand, untracked"])
def test_what_people_write_does_not_go_on(running: Application, meaning: str) -> None:
    web = running
    if meaning.startswith("by hand"):
        commit = web.released("1")
        files: dict[str, str | bytes | None] = {
            ".github/tracking/Promoted_Commit_Id": f"{commit}\n",
            "eu/gen_manifests.yaml": "a: 1\n",
        }
        if meaning.endswith("untracked"):
            del files[".github/tracking/Promoted_Commit_Id"]
        web.acme.commit(files, "dev", GITOPS)
    elif meaning == "manual":
        commit = web.deployed("1")
        web.acme.commit({"eu/gen_manifests.yaml": "a: 1\n"}, "dev", GITOPS)
    else:
        commit = web.released("1")
        web.deploy()
        web.merge_open()
        web.acme.commit({"eu/gen_manifests.yaml": "a: 1\n"}, "dev", GITOPS)
    started = deploys(web)
    result = web.check()
    assert isinstance(result.document, AppCheckDocument)
    assert result.document.meaning == meaning.partition(",")[0]
    assert deploys(web) == started
    assert result.failed is (meaning == "edited")
    if meaning == "edited":
        text = "Merged with changes by others: run deploy"
        assert web.statuses(commit)["dev"] == ("failure", text)
    assert result.document.all_findings


@breaks(
    "a promotion that changes no manifest is not proposed",
    turned(
        "kalypso_actions.commands.app.deploy._proposed",
        "is_promotion or not only_tracks(changes, '')",
        "not only_tracks(changes, '')",
    ),
)
def test_a_promotion_without_another_manifest_goes_on(running: Application) -> None:
    """Upstream opens no pull request, and the commit stays pending."""
    web = running
    web.push({"manifests/web.yaml": MANIFEST.replace(":$IMAGE_TAG", "")})
    web.deployed("1")
    before = web.acme.files("dev", GITOPS)
    commit = web.deployed("2")
    after = web.acme.files("dev", GITOPS)
    changed = {path for path in after if after[path] != before.get(path)}
    assert all(path.startswith(".github/tracking/") for path in changed)
    assert web.statuses(commit)["dev"][0] == "success"
    assert deploys(web)[-1] == "dev-red"


def test_a_newer_merge_ends_the_wait(running: Application, monkeypatch: pytest.MonkeyPatch) -> None:
    web = running
    web.acme.cluster("dev", "drone", behaviour="stall")
    first = web.released("1")
    web.deploy()
    web.merge_open()
    second = web.released("2")
    web.deploy()
    sleep = web.acme.clock.sleep
    merged: list[str] = []

    def merge_meanwhile(seconds: float) -> None:
        sleep(seconds)
        if not merged:
            merged.append(web.merge_open())

    monkeypatch.setattr(web.acme.clock, "sleep", merge_meanwhile)
    assert ends(checked(web))[1] == "superseded"
    assert web.statuses(first)["dev"] == ("pending", f"Superseded by {second[:7]}")


@breaks(
    "without an assignment the check passes at once",
    turned(
        "kalypso_actions.commands.app.check.WatchedApplication.tree_of",
        "assigned or self._targets",
        "assigned",
    ),
)
@pytest.mark.parametrize(
    ("reconcilers", "given", "verdict", "warning"),
    [
        pytest.param({}, {}, "none-targeted", "", id="nobody assigns it"),
        pytest.param({"eu": ARGOCD}, {}, "none-targeted", "without a Kustomization", id="Argo CD"),
        pytest.param(
            {"eu": ARGOCD},
            {"require_targets": "false"},
            "compliant",
            "without a Kustomization",
            id="Argo CD, and no clusters are required",
        ),
        pytest.param(
            {"eu": RECONCILER, "us": ARGOCD}, {}, "compliant", "without a Kustomization", id="both"
        ),
        pytest.param(
            {"eu": RECONCILER.replace("branch: {branch}", "branch: dev-red")},
            {},
            "none-targeted",
            "",
            id="another ring",
        ),
    ],
)
def test_the_platform_decides_what_is_awaited(
    web: Application,
    azure: None,
    reconcilers: dict[str, str],
    given: dict[str, str],
    verdict: str,
    warning: str,
) -> None:
    web.acme.cluster("dev", "drone")
    for target, text in reconcilers.items():
        web.assign("drone", target, text=text)
    web.released("1")
    web.deploy()
    web.merge_open()
    document = checked(web, **given)
    assert document.verdict == verdict
    assert (warning in " ".join(each.message for each in document.warnings)) is True
    assert not warning or document.warnings


@breaks(
    "a Kustomization beside its GitRepository's file is overlooked",
    turned(
        "kalypso_actions.commands.app.platform.PlatformBranch.read",
        "cluster_type_folder(path) in lonely",
        "False",
    ),
)
def test_a_reconciler_may_stand_in_two_files(web: Application, azure: None) -> None:
    web.acme.cluster("dev", "drone", delay=30, settle=20)
    source, kustomization = RECONCILER.split("---\n")
    web.assign("drone", "eu", text=source)
    text = kustomization.format(target="eu", path="eu")
    web.acme.commit({"drone/others/reconciler.yaml": text}, "dev", PLATFORM)
    web.released("1")
    web.deploy()
    web.merge_open()
    document = checked(web)
    assert (document.verdict, document.warnings) == ("compliant", ())
    assert {row.cluster_type for row in document.rows} == {"eu"}


def test_a_file_beside_a_lonely_source_must_be_readable(web: Application, azure: None) -> None:
    web.assign("drone", "eu", text=RECONCILER.split("---\n")[0])
    web.acme.commit({"drone/others/reconciler.yaml": "a: [\n"}, "dev", PLATFORM)
    web.released("1")
    web.deploy()
    web.merge_open()
    with pytest.raises(KalypsoError, match="not valid YAML"):
        checked(web)


@pytest.mark.parametrize("first", ["dev", "dev-red"])
def test_a_join_is_reached_from_each_side(web: Application, azure: None, first: str) -> None:
    """The environment stage follows two others: the second one finds the same commit proposed."""
    order = "- name: dev\n  next: stage\n- name: dev-red\n  next: stage\n- name: stage\n"
    web.acme.commit({".github/kalypso/environments.yaml": order}, "main", SOURCE)
    web.released("1")
    second = "dev-red" if first == "dev" else "dev"
    for name in (first, second):
        web.deploy(name)
        web.merge_open(name)
        document = checked(web, name, platform_gitops="", require_targets="false")
        assert document.promoted_to == ("stage",)
        web.deploy("stage")
        assert len(web.pulls("stage")) == 1


def test_an_assignment_without_a_cluster_is_missing(running: Application) -> None:
    web = running
    web.acme.sandbox.azure.delete("dev-large")
    web.released("1")
    web.deploy()
    web.merge_open()
    document = checked(web, timeout="5m")
    assert (document.verdict, document.missing) == ("timed-out", ("us",))


def test_nested_targets_are_told_apart(running: Application) -> None:
    """The folder `eu` holds no target any more, but `eu/north` and `eu/south` are two."""
    web = running
    files = {"eu/north/values.yaml": "", "eu/south/values.yaml": ""}
    web.acme.commit(files, "dev", CONFIGS)
    web.assign("drone", "eu/north")
    web.acme.commit({"drone/web-eu/reconciler.yaml": None}, "dev", PLATFORM)
    web.released("1")
    web.deploy()
    web.merge_open()
    document = checked(web)
    assert document.verdict == "compliant"
    assert {row.cluster_type for row in document.rows} == {"eu/north", "us"}


def test_a_dry_run_writes_nothing(running: Application) -> None:
    web = running
    web.released("1")
    web.deploy()
    web.merge_open()
    web.acme.clock.sleep(100)
    before = web.acme.writes()
    document = checked(web, dry_run="true")
    assert document.verdict == "compliant"
    assert [write.kind for write in document.writes].count("start workflow") == 1
    assert web.acme.writes() == before


def test_clusters_that_post_statuses_are_listed(web: Application) -> None:
    commit = web.released("1")
    web.deploy()
    web.merge_open()
    given = {
        "platform_gitops": "",
        "cluster_reports": "commit-statuses",
        "status_authors": "web-flux[bot]",
    }
    with pytest.raises(UsageError, match="expected-clusters is needed"):
        web.check(**given)
    assert web.statuses(commit)["dev"] == ("pending", "Promoted 1")
    document = checked(web, **given, expected_clusters="eu = berlin", timeout="3m")
    assert document.verdict == "timed-out"
    assert [(row.id, row.cluster_type) for row in document.rows] == [("berlin", "eu")]


def test_a_platform_that_cannot_be_read_is_no_success(running: Application) -> None:
    web = running
    web.released("1")
    web.deploy()
    web.merge_open()
    with pytest.raises(KalypsoError, match="has no branch 'gone'"):
        web.check(platform_gitops=f"{PLATFORM}@gone")
    web.acme.commit({"drone/web-eu/reconciler.yaml": "acme/web-gitops: ["}, "dev", PLATFORM)
    with pytest.raises(KalypsoError):
        web.check()


def test_the_wait_goes_on_in_another_run(
    running: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    web = running
    monkeypatch.setattr("kalypso_actions.commands.shared.watch.LONGEST_RUN", LONG)
    web.acme.cluster("dev", "drone", behaviour="stall")
    commit = web.released("1")
    web.deploy()
    merge = web.merge_open()
    document = checked(web, timeout="8h")
    assert document.verdict == ""
    (start,) = [each for each in web.acme.dispatches() if each.workflow == "post-deployment.yml"]
    assert start == Dispatch(
        "post-deployment.yml",
        {
            "environment": "dev",
            "promoted_commit_id": commit,
            "commit_id": merge,
            "started_at": start.inputs["started_at"],
        },
        SOURCE,
    )
    document = checked(web, timeout="15m", started_at=start.inputs["started_at"])
    assert document.verdict == "timed-out"


FORK = """\
- name: dev
  next: [dev-red, stage]
- name: dev-red
  next: stage
- name: stage
"""


def test_a_commit_that_comes_by_two_ways_is_proposed_once(running: Application) -> None:
    web = running
    web.push({".github/kalypso/environments.yaml": FORK})
    web.released("1")
    before = len(deploys(web))
    web.deploy()
    web.merge_open()
    assert checked(web).promoted_to == ("dev-red", "stage")
    assert deploys(web)[before:] == ["dev-red", "stage"]
    for name in ("dev-red", "stage"):
        web.deploy(name)
    web.merge_open("dev-red")
    own = {"platform_gitops": f"{PLATFORM}@dev", "require_targets": "false"}
    assert checked(web, "dev-red", **own).promoted_to == ("stage",)
    head = web.acme.head("kalypso/stage", GITOPS)
    web.deploy("stage")
    (pull,) = web.pulls("stage")
    assert pull["title"] == "Deploy to 'stage' '1'"
    assert web.acme.head("kalypso/stage", GITOPS) == head
