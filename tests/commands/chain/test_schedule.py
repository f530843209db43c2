"""`kalypso schedule` opens, keeps, updates and withdraws proposals."""

from __future__ import annotations

import json

from kalypso_actions.gitops.proposed_commit import digest_of
from kalypso_actions.report.schedule_document import PullRequestEntry, ScheduleDocument
from tests.commands.chain import documents
from tests.commands.chain.organisation import CONTROL_PLANE, GITOPS, NOON, SHOP, Organisation
from tests.commands.chain.proposals import (
    FLUX,
    OWN,
    SOURCES,
    TRACKING,
    actions,
    change_main,
    configure,
    edit_gitops,
    labels,
    messages,
    run,
    run_schedule,
    settle,
)


def test_the_first_proposal(acme: Organisation) -> None:
    base, main = acme.head("dev", GITOPS), acme.head("main") or ""
    done = run_schedule(acme)
    assert not done.failed
    (pull,) = acme.pulls()
    assert (pull["head"]["ref"], pull["base"]["ref"]) == (OWN, "dev")
    assert pull["title"] == f'dev: promote {main[:7]} "Initial commit"'
    head = acme.head(OWN, GITOPS)
    first, _, sentence, *_ = pull["body"].splitlines()
    assert first == (
        f"<!-- kalypso:v1 kind=pull-request environment=dev commit={head} "
        f"control-plane={CONTROL_PLANE} means=promotion-meaning -->"
    )
    assert (
        sentence
        == "After the merge, the clusters of 2 cluster types follow this branch to the new tree; "
        "when they comply, then stage."
    )
    assert (
        f"This pull request **promotes** [{main[:7]}]({acme.url()}/commit/{main}) of main."
        in pull["body"]
    )
    assert labels(pull) == {"kalypso", "promoted"}
    files = acme.files(OWN, GITOPS)
    assert files[TRACKING] == main  # without a newline
    assert json.loads(files[SOURCES])["environment"] == "dev"
    assert "metadata: {name: shop-web}" in files[FLUX]
    assert files[".github/workflows/check-promote.yaml"]
    commit = acme.ask("GET", f"{GITOPS}/git/commits/{head}")
    assert [parent["sha"] for parent in commit["parents"]] == [base]
    for person in (commit["author"], commit["committer"]):
        assert person["name"] == "somebody"
        assert person["email"].endswith("+somebody@users.noreply.github.com")
        assert person["date"] == f"{NOON:%Y-%m-%dT%H:%M:%SZ}"
    assert commit["message"].startswith("Kalypso Scheduler commit\n\nKalypso-Digest: v1:")
    outputs = done.document.outputs()
    assert outputs["digest"] == digest_of(commit["message"] + "\n")
    del outputs["digest"], outputs["pull-requests"]
    assert outputs == {
        "changed": "true",
        "promoted": "true",
        "degraded": "false",
        "assignments": "2",
        "pull-request-number": str(pull["number"]),
        "pull-request-url": pull["html_url"],
        "requeue-time": "",
    }
    assert done.summary.startswith("## kalypso schedule: ")
    assert "**Next:** review and merge" in done.summary
    assert acme.dispatches() == []


def test_how_far_main_is_ahead(acme: Organisation) -> None:
    promoted = acme.head("main") or ""
    assert "newest commit of main" in run_schedule(acme).summary
    change_main(acme)
    change_main(acme)
    done = run_schedule(acme)
    assert "main is 2 commits ahead |" in done.summary
    document = done.document
    assert isinstance(document, ScheduleDocument)
    assert document.main is not None
    assert (document.main.commit, document.main.ahead) == (promoted, 2)
    assert any(
        line.startswith(f'dev has main at {promoted[:7]} "') and line.endswith("2 commits ahead.")
        for line in acme.logged
    )


def test_the_pull_requests_in_the_document(acme: Organisation) -> None:
    document = run(acme)
    assert document.pull_requests == (
        PullRequestEntry(
            repository=GITOPS,
            number=1,
            title=acme.pulls()[0]["title"],
            url=f"{acme.url(GITOPS)}/pull/1",
            action="created",
        ),
    )
    assert FLUX in document.changes.added
    assert SOURCES not in document.changes.added


def test_labels_come_in_their_colours(acme: Organisation) -> None:
    acme.ask("POST", f"{GITOPS}/labels", {"name": "Promoted", "color": "abcdef"})
    run(acme, labels="team-a, fleet")
    (pull,) = acme.pulls()
    colours = {label["name"]: label["color"] for label in pull["labels"]}
    assert colours == {
        "kalypso": "5319e7",
        "Promoted": "abcdef",
        "team-a": "ededed",
        "fleet": "ededed",
    }


def test_the_same_again_writes_nothing(acme: Organisation) -> None:
    run(acme)
    acme.clock.sleep(3600)
    acme.forget()
    document = run(acme)
    assert actions(document) == [(1, "unchanged")]
    assert acme.writes() == []


def test_an_equal_tree_writes_nothing(acme: Organisation) -> None:
    """`sources.json` alone is no change, neither of a proposal nor of the branch."""
    run(acme)
    acme.commit({"README.md": "more"}, repository=SHOP)
    configure(acme, REGION="west")
    edit_gitops(acme, {"LICENSE": "MIT", "large/shop-web/notes.md": "by hand"})
    acme.forget()
    assert actions(run(acme)) == [(1, "unchanged")]
    assert acme.writes() == []
    acme.merge(1)
    acme.commit({"README.md": "still more"}, repository=SHOP)
    acme.forget()
    document = run(acme)
    assert (document.changed, actions(document)) == (False, [])
    assert acme.writes() == []


def test_a_change_brings_the_pull_request_up_to_date(acme: Organisation) -> None:
    before = run(acme)
    acme.clock.sleep(60)
    configure(acme, REGION="north")
    document = run(acme)
    assert actions(document) == [(1, "updated")]
    assert document.digest != before.digest
    (pull,) = acme.pulls("acme/gitops", "all")
    assert pull["head"]["sha"] == acme.head(OWN, GITOPS)
    assert acme.head(OWN, GITOPS) in pull["body"]
    assert "REGION: north" in acme.files(OWN, GITOPS)["large/shop-web/platform-config.yaml"]
    commit = acme.ask("GET", f"{GITOPS}/git/commits/{acme.head(OWN, GITOPS)}")
    assert [parent["sha"] for parent in commit["parents"]] == [acme.head("dev", GITOPS)]
    assert actions(run(acme)) == [(1, "unchanged")]


def test_a_changed_base_updates_the_proposal(acme: Organisation) -> None:
    run(acme)
    base = edit_gitops(acme, {FLUX: "by hand\n"})
    assert actions(run(acme)) == [(1, "updated")]
    commit = acme.ask("GET", f"{GITOPS}/git/commits/{acme.head(OWN, GITOPS)}")
    assert [parent["sha"] for parent in commit["parents"]] == [base]
    acme.merge(1)
    assert actions(run(acme)) == []


def test_an_obsolete_proposal_is_withdrawn(acme: Organisation) -> None:
    settle(acme)
    configure(acme, REGION="north")
    assert actions(run(acme)) == [(2, "created")]
    configure(acme, REGION="west")
    assert actions(run(acme)) == [(2, "withdrawn")]
    assert acme.pulls() == []
    (_, withdrawn) = acme.pulls(state="all")
    assert (withdrawn["merged_at"], labels(withdrawn)) == (None, {"kalypso", "withdrawn"})
    (comment,) = acme.comments(2)
    assert comment.startswith("<!-- kalypso:v1 kind=withdrawn environment=dev -->\n")
    assert "nothing is left to propose" in comment
    acme.forget()
    assert actions(run(acme)) == []
    assert acme.writes() == []
    # A withdrawn proposal is not rejected: it can be proposed again.
    configure(acme, REGION="north")
    assert actions(run(acme)) == [(3, "created")]
    assert labels(acme.pulls()[0]) == {"kalypso"}


def test_the_commit_of_somebody_else_on_our_branch_is_replaced_and_named(
    acme: Organisation,
) -> None:
    run(acme)
    foreign = acme.commit({FLUX: "by hand\n"}, OWN, GITOPS)
    document = run(acme)
    assert actions(document) == [(1, "updated")]
    assert messages(document) == [
        f"the commit {foreign} on kalypso/dev is not ours; ours replaces it"
    ]
    assert "by hand" not in acme.files(OWN, GITOPS)[FLUX]


def test_other_pull_requests_that_change_the_same_are_named(acme: Organisation) -> None:
    """schedule never closes the pull requests of others, such as upstream's operator."""
    base = acme.head("dev", GITOPS)
    for branch, path in (("deployment/1", FLUX), ("typo", "docs/a.md"), ("own", "new/README.md")):
        acme.reset(branch, base, GITOPS)
        acme.commit({path: "x"}, branch, GITOPS)
        acme.ask("POST", f"{GITOPS}/pulls", {"head": branch, "base": "dev", "title": branch})
    document = run(acme)
    assert actions(document) == [(4, "created")]
    assert messages(document) == ["other open pull requests change the same files: #1"]
    assert "**Other open pull requests change the same files:** #1." in acme.pulls()[-1]["body"]
    assert len(acme.pulls()) == 4


def test_the_tree_lives_below_the_path_of_the_gitops_repo(acme: Organisation) -> None:
    repo = documents.gitops_repo(acme.url(GITOPS), "dev", path="./fleet/")
    acme.commit({"gitops-repo.yaml": repo}, "dev")
    run(acme)
    files = acme.files(OWN, GITOPS)
    assert files[f"fleet/{TRACKING}"] == acme.head("main")
    assert f"fleet/{FLUX}" in files
    assert FLUX not in files
    assert actions(run(acme)) == [(1, "unchanged")]
    acme.merge(1)
    assert actions(run(acme)) == []


def test_an_ignore_file_of_the_gitops_branch_that_hides_manifests(acme: Organisation) -> None:
    """Flux deletes what a pattern hides. A pattern that hides no manifest is not told."""
    acme.commit({".sourceignore": "*.md\n*.json\n"}, "dev", GITOPS)
    assert messages(run(acme)) == []
    acme.commit({".sourceignore": "*.md\nreconciler.yaml\n"}, "dev", GITOPS)
    (warning,) = run(acme).warnings
    assert warning.where is not None
    assert (warning.code, warning.where.path, warning.where.line) == (
        "gitops-file-foreign",
        ".sourceignore",
        2,
    )
    assert "keeps drone/shop-web/reconciler.yaml and 1 other file from Flux" in warning.message


def test_another_base_branch_withdraws_what_was_proposed_to_the_old_one(
    acme: Organisation,
) -> None:
    run(acme)
    edit_gitops(acme, {"README.md": "begin"}, "dev2")
    acme.commit({"gitops-repo.yaml": documents.gitops_repo(acme.url(GITOPS), "dev2")}, "dev")
    assert actions(run(acme)) == [(2, "created"), (1, "withdrawn")]
    (pull,) = acme.pulls()
    assert (pull["base"]["ref"], pull["head"]["ref"]) == ("dev2", OWN)
    assert "Kalypso proposes to `dev2` from `kalypso/dev` now." in acme.comments(1)[0]


def test_options_reach_the_tree(acme: Organisation) -> None:
    run(acme, namespace_scheme="legacy", config_file="legacy", branch_prefix="bot-")
    files = acme.files("bot-dev", GITOPS)
    assert "name: dev-team-shop-web" in files["large/shop-web/namespace.yaml"]
    assert "large/shop-web/config.yaml" in files
    change_main(acme)
    assert actions(
        run(acme, namespace_scheme="legacy", config_file="legacy", branch_prefix="bot-")
    ) == [(1, "unchanged")]


def test_our_commit_rewritten_by_somebody_is_not_ours(acme: Organisation) -> None:
    """Somebody changed a file in the commit and kept its message with our digest."""
    run(acme)
    ours = acme.ask("GET", f"{GITOPS}/git/commits/{acme.head(OWN, GITOPS)}")
    files: dict[str, str | bytes | None] = {**acme.files(OWN, GITOPS), FLUX: "by hand\n"}
    acme.reset(OWN, acme.head("dev", GITOPS), GITOPS)
    acme.sandbox.commit(GITOPS, files, branch=OWN, message=ours["message"])
    document = run(acme, auto_merge="always")
    assert actions(document)[-1][1] == "merged"
    assert acme.files("dev", GITOPS)[FLUX] != "by hand\n"
