"""Issues about failing assignments and unusable registrations, and preserved folders."""

from __future__ import annotations

from typing import Any

from kalypso_actions.report.schedule_document import ScheduleDocument
from kalypso_sandbox import Fault
from tests.commands.chain import documents
from tests.commands.chain.organisation import GITOPS, SHOP, Organisation
from tests.commands.chain.proposals import (
    FLUX,
    SOURCES,
    actions,
    configure,
    messages,
    run,
    run_schedule,
    settle,
)

LARGE = "Can't generate manifests for deplyment target shop-web in cluster type large in dev environment"
SHOP_UNREADABLE = "Can't read the workload registration shop in dev environment"
ISSUES = "/repos/{owner}/{repo}/issues"
BROKEN = {"cluster-types/large.yaml": documents.cluster_type("large", reconciler="nowhere")}
WHOLE = {"cluster-types/large.yaml": documents.cluster_type("large")}


def blocked(acme: Organisation, **given: Any) -> ScheduleDocument:
    """Run schedule; it ends with problems."""
    done = run_schedule(acme, **given)
    assert done.failed
    assert isinstance(done.document, ScheduleDocument)
    return done.document


def titles(acme: Organisation, state: str = "open") -> list[str]:
    return [issue["title"] for issue in acme.issues(state=state)]


def test_a_failing_assignment_blocks_and_gets_an_issue(acme: Organisation) -> None:
    acme.commit(BROKEN, "dev")
    document = blocked(acme)
    assert (document.degraded, actions(document)) == (True, [])
    assert messages(document, problems=True) == [
        "ClusterType 'large': reconciler names the Template 'nowhere', which does not exist"
    ]
    assert acme.pulls() == []
    (issue,) = acme.issues()
    assert (issue["title"], issue["labels"][0]["name"]) == (LARGE, "kalypso-failure")
    body = issue["body"]
    assert body.startswith("<!-- kalypso:v1 kind=assignment environment=dev content=")
    assert "```\nClusterType 'large': reconciler names the Template 'nowhere', which does" in body
    page = f"/blob/{acme.head('dev')}/cluster-types/large.yaml#L"
    assert "See [`cluster-types/large.yaml:" in body
    assert page in body
    assert acme.run_url in body
    acme.forget()
    blocked(acme)
    assert acme.writes() == []


def test_assignments_beyond_the_limit_share_an_issue(acme: Organisation) -> None:
    collected = "Can't generate manifests for other deployment targets in dev environment"
    drone = documents.cluster_type("drone", reconciler="nowhere")
    acme.commit({**BROKEN, "cluster-types/drone.yaml": drone}, "dev")
    blocked(acme, max_issues="0")
    assert titles(acme) == [collected]
    blocked(acme, max_issues="1")
    assert len(titles(acme)) == 2
    assert collected in titles(acme)
    acme.forget()
    blocked(acme, max_issues="1")
    assert acme.writes() == []
    blocked(acme)
    assert len(titles(acme)) == 2
    assert collected not in titles(acme)


def test_the_issue_follows_the_failure(acme: Organisation) -> None:
    acme.commit(BROKEN, "dev")
    blocked(acme)
    other = documents.cluster_type("large", reconciler="elsewhere")
    acme.commit({"cluster-types/large.yaml": other}, "dev")
    blocked(acme)
    (issue,) = acme.issues()
    assert "names the Template 'elsewhere'" in issue["body"]
    # A person closes the issue, but the assignment still fails.
    acme.close(issue["number"])
    blocked(acme)
    assert titles(acme) == [LARGE]
    acme.commit(WHOLE, "dev")
    assert actions(run(acme)) == [(2, "created")]
    assert titles(acme) == []
    (comment,) = acme.comments(issue["number"])
    assert comment.startswith("<!-- kalypso:v1 kind=settled environment=dev -->\n")
    assert acme.run_url in comment
    acme.commit(BROKEN, "dev")
    blocked(acme)
    assert titles(acme) == [LARGE]
    assert len(titles(acme, "all")) == 1


def test_the_issues_of_others_are_left_alone(acme: Organisation) -> None:
    """Issues of other environments and of people stay; one of upstream's is reused."""
    stage = LARGE.replace(" dev ", " stage ")
    theirs = [stage, LARGE.replace(" dev ", " dev.x "), f"{LARGE}!", "Can't generate manifests"]
    for title in theirs:
        acme.ask("POST", f"{GITOPS}/issues", {"title": title, "labels": ["kalypso"]})
    acme.ask("POST", f"{GITOPS}/issues", {"title": LARGE, "body": "by the operator"})
    acme.commit(BROKEN, "dev")
    blocked(acme)
    (issue,) = [candidate for candidate in acme.issues() if candidate["title"] == LARGE]
    assert "names the Template 'nowhere'" in issue["body"]
    assert {label["name"] for label in issue["labels"]} == {"kalypso", "kalypso-failure"}
    acme.commit(WHOLE, "dev")
    run(acme)
    assert titles(acme) == theirs


def test_a_failing_assignment_may_be_kept(acme: Organisation) -> None:
    settle(acme)
    acme.commit(BROKEN, "dev")
    configure(acme, REGION="north")
    before = acme.files("dev", GITOPS)
    document = run(acme, on_failure="keep")
    assert (document.degraded, actions(document)) == (True, [(2, "created")])
    assert messages(document)[0].startswith("ClusterType 'large': reconciler names the Template")
    (pull,) = acme.pulls()
    assert "**These folders stay unchanged" in pull["body"]
    assert "- `large/shop-web`" in pull["body"]
    assert titles(acme) == [LARGE]
    acme.merge(2)
    after = acme.files("dev", GITOPS)
    assert after[FLUX] == before[FLUX]
    assert "REGION: north" in after["drone/shop-web/platform-config.yaml"]
    assert "REGION: west" in after["large/shop-web/platform-config.yaml"]
    assert actions(run(acme, on_failure="keep")) == []


def break_shop(acme: Organisation) -> None:
    acme.commit({"workload/more.yaml": documents.cluster_type("mine")}, repository=SHOP)


def mend_shop(acme: Organisation) -> None:
    acme.commit({"workload/more.yaml": None}, repository=SHOP)


def test_a_registration_that_breaks_and_is_repaired(acme: Organisation) -> None:
    settle(acme)
    good = acme.head("main", SHOP) or ""
    break_shop(acme)
    url = acme.url("acme/elsewhere")
    acme.commit({"workload/shop.yaml": documents.workload("shop", url, ["dev"])}, repository=SHOP)
    configure(acme, REGION="north")
    document = run(acme)
    assert (document.degraded, actions(document)) == (True, [(2, "created")])
    assert "registration 'shop': " in messages(document)[0]
    (pull,) = acme.pulls()
    assert f"- `shop` is frozen at its last good commit {good[:7]}, with its 2 ass" in pull["body"]
    assert titles(acme) == [SHOP_UNREADABLE]
    acme.merge(2)
    files = acme.files("dev", GITOPS)
    assert "elsewhere" not in files[FLUX]
    assert good in files[SOURCES]
    acme.forget()
    run(acme)
    assert acme.writes() == []
    mend_shop(acme)
    document = run(acme)
    assert (document.degraded, actions(document)) == (False, [(4, "created")])
    assert titles(acme) == []


def test_an_unreadable_registration_keeps_its_targets_and_their_issues(acme: Organisation) -> None:
    """No folder is deleted and no issue is closed because of an unreadable repository."""
    settle(acme)
    acme.commit(BROKEN, "dev")
    blocked(acme)
    gone = documents.registration("shop", acme.url("acme/nowhere"))
    main = acme.commit({"registrations/shop.yaml": gone})
    acme.commit({"base-repo.yaml": documents.base_repo(acme.url(), main)}, "dev")
    document = run(acme)
    assert (document.degraded, document.assignments) == (True, 0)
    assert sorted(titles(acme)) == sorted([LARGE, SHOP_UNREADABLE])
    (pull,) = acme.pulls()
    assert "- `shop` is frozen: the folders of its 2 assignments stay as they are" in pull["body"]
    assert "- `large/shop-web`" in pull["body"]
    acme.merge(pull["number"])
    assert FLUX in acme.files("dev", GITOPS)
    # Without the registration, its targets and their issues go.
    main = acme.commit({"registrations/shop.yaml": None})
    acme.commit({"base-repo.yaml": documents.base_repo(acme.url(), main)}, "dev")
    run(acme)
    assert titles(acme) == []


def test_an_unusable_registration_may_block(acme: Organisation) -> None:
    settle(acme)
    break_shop(acme)
    configure(acme, REGION="north")
    document = blocked(acme, on_source_failure="block")
    assert "registration 'shop': " in messages(document, problems=True)[0]
    assert acme.pulls() == []
    assert titles(acme) == [SHOP_UNREADABLE]


def test_a_repository_without_issues(acme: Organisation) -> None:
    settle(acme)
    acme.commit(BROKEN, "dev")
    configure(acme, REGION="north")
    with acme.sandbox.faults.on(Fault("POST", ISSUES, "status", status=410)):
        document = run(acme, on_failure="keep")
    assert actions(document) == [(2, "created")]
    assert messages(document)[-1].startswith(f"the issue “{LARGE}” cannot be opened: ")


def test_refused_issues_are_a_problem_beside_the_result(
    acme: Organisation,
) -> None:
    settle(acme)
    break_shop(acme)
    configure(acme, REGION="north")
    token = acme.sandbox.create_token(
        permissions={"contents": "write", "pull_requests": "write", "statuses": "read"}
    )
    done = run_schedule(acme, token=token)
    assert done.failed
    document: Any = done.document
    assert actions(document) == [(2, "created")]
    assert "the issues cannot be listed" in messages(document, problems=True)[0]


def test_a_policy_of_the_environment_without_cluster_types(acme: Organisation) -> None:
    acme.commit({"edge.yaml": documents.policy("edge-only", size="egde")}, "dev")
    result = run_schedule(acme)
    assert [entry.code for entry in result.document.warnings] == ["policy-without-cluster-types"]
    assert not result.failed
    assert len(acme.pulls()) == 1


def test_a_policy_of_main_is_left_to_ci(acme: Organisation) -> None:
    acme.commit({"edge.yaml": documents.policy("edge-only", size="egde")})
    result = run_schedule(acme)
    assert result.document.warnings == ()
