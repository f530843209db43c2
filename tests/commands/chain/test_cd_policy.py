"""`kalypso cd` and the PromotionPolicy of the environment's branch."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from kalypso_actions.commands.cd import reading
from kalypso_actions.commands.cd.read_back import changes_for
from kalypso_actions.commands.cd.reading import CdReading
from kalypso_actions.commands.cd.writes import CdWrites
from kalypso_actions.commands.shared import policy_entry
from kalypso_actions.commands.shared.environment_branch import rolled_back_from
from kalypso_actions.commands.shared.policy_entry import read_verdict
from kalypso_actions.model.own_account import Identity
from kalypso_sandbox.store import CheckRun, Permissions
from tests.breaks import breaks, returning, turned
from tests.commands.chain import documents
from tests.commands.chain.cd_runs import DEV, SCHEDULE, change_main, document, has, run
from tests.commands.chain.organisation import CONTROL_PLANE, Organisation

POLICY = ".github/kalypso/promotion.yaml"
HELD = "holds: [{reason: incident 42, by: alice}]"
HEAD = "apiVersion: kalypso.io/v1alpha1\nkind: PromotionPolicy\nmetadata: {name: dev}\n"


def policy(acme: Organisation, spec: str, branch: str = "dev") -> str:
    text = f"{HEAD}spec: {{{spec}}}\n" if spec else HEAD
    return acme.commit({POLICY: text}, branch)


def waits(acme: Organisation, commit: str, **inputs: Any) -> str:
    """Run cd, which must write nothing but statuses; return what the commit waits for ("": written)."""
    before = acme.head("dev")
    done = document(run(acme, commit, **{"promoted_from": "ci", **inputs}))
    if done.action == "written":
        assert has(acme) == commit
        return ""
    assert done.action == "waiting"
    assert (acme.head("dev"), acme.dispatches()) == (before, [])
    assert done.outputs()["waiting-for"] == done.waiting_for
    return done.waiting_for


@breaks("cd writes in spite of a hold", returning(CdReading.waits, False), case="hold")
@breaks(
    "an invalid policy lets everything in",
    turned(read_verdict, "unreadable(reading.problems)", "PolicyVerdict()"),
    case="invalid",
)
@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        (HELD, "hold by alice: incident 42"),
        ("holds: [{reason: incident, by: alice, until: 2020-01-01T00:00:00Z}]", ""),
        ("freezes: [{from: 2020-01-01T00:00:00Z, to: 2050-01-01T00:00:00Z, reason: year end}]", "freeze until 2050-01-01 00:00 UTC: year end"),
        ("requires: {}", ""),
        ("hold: []", "promotion.yaml is invalid (line 4): PromotionPolicy 'dev': unknown field spec.hold"),
        ("", "promotion.yaml is invalid (line 1): PromotionPolicy 'dev': spec is missing"),
    ],
    ids=["hold", "over", "freeze", "empty", "invalid", "no spec"],
)  # fmt: skip
def test_what_a_policy_keeps_out(acme: Organisation, spec: str, reason: str) -> None:
    policy(acme, spec)
    new = change_main(acme)
    assert waits(acme, new) == reason
    description = f"Waiting: {reason}" if reason else "Promoted"
    assert acme.statuses(new)[DEV] == ("pending", description)


def test_a_broken_file_of_the_policy_does_not_break_the_branch(acme: Organisation) -> None:
    acme.commit({POLICY: "{"}, "dev")
    reason = waits(acme, change_main(acme))
    assert reason.startswith("promotion.yaml is invalid (line 1): not valid YAML")


def test_every_reason_is_in_the_summary(acme: Organisation) -> None:
    policy(acme, HELD + ", requires: {checks: [{name: smoke, from: acme-ci}]}")
    new = change_main(acme)
    result = run(acme, new, promoted_from="ci")
    assert not result.failed
    assert result.summary.startswith(f"## kalypso cd: {new[:7]} waits for dev")
    reasons = "\n- hold by alice\\: incident 42\n- check smoke by acme\\-ci is missing\n"
    assert reasons in result.summary


def test_the_first_job_tells_before_reviewers_are_asked(acme: Organisation) -> None:
    policy(acme, HELD)
    new = change_main(acme)
    result = run(acme, new, promoted_from="ci", verify_only="true")
    assert not result.failed
    assert document(result).outputs()["waiting-for"] == "hold by alice: incident 42"
    assert acme.statuses(new) == {DEV: ("pending", "Waiting: hold by alice: incident 42")}
    policy(acme, "holds: []")
    assert document(run(acme, new, promoted_from="ci", verify_only="true")).waiting_for == ""


@breaks(
    "the first job lets a commit wait that never comes",
    returning(reading._rollback, None),
)
def test_what_people_rolled_back_does_not_wait(acme: Organisation) -> None:
    old, new = acme.head("main") or "", change_main(acme)
    run(acme, new, promoted_from="ci")
    run(acme, old, allow_rollback="true")
    policy(acme, HELD)
    done = document(run(acme, new, promoted_from="ci", verify_only="true"))
    assert done.waiting_for == ""
    assert document(run(acme, new, promoted_from="ci")).action == "superseded"


def test_a_hold_that_comes_before_the_push_is_read_again(
    acme: Organisation, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy(acme, "holds: []")
    new, real = change_main(acme), changes_for

    def held_meanwhile(*given: Any) -> Any:
        changes = real(*given)
        if HELD not in acme.files("dev")[POLICY]:
            policy(acme, HELD)
        return changes

    monkeypatch.setattr(reading, "changes_for", held_meanwhile)
    old = has(acme)
    done = document(run(acme, new, promoted_from="ci"))
    assert (done.action, done.waiting_for) == ("waiting", "hold by alice: incident 42")
    assert has(acme) == old


@breaks(
    "a person need not obey",
    turned(
        reading.with_verdict,
        "bool(inputs.override) and not verdict.is_fulfilled",
        "not inputs.promoted_from",
    ),
    case="obeys",
)
@breaks(
    "nobody reads who passed over a policy",
    turned(CdWrites._statuses, "facts.overridden", "False"),
    case="overrides",
)
@pytest.mark.parametrize(
    ("inputs", "written"),
    [({}, False), ({"override": "the fix of incident 42"}, True)],
    ids=["obeys", "overrides"],
)
def test_a_person_obeys_or_gives_a_reason(
    acme: Organisation, inputs: dict[str, str], *, written: bool
) -> None:
    policy(acme, HELD)
    new = change_main(acme)
    result = run(acme, new, **inputs)
    assert (document(result).action == "written") is written
    if written:
        message = acme.sandbox.git(CONTROL_PLANE).commit(acme.head("dev") or "").message
        assert message.rstrip().endswith("Kalypso-Override: somebody: the fix of incident 42")
        assert acme.statuses(new)["kalypso / policy dev"] == (
            "success",
            "Overridden by somebody: the fix of incident 42",
        )
        assert "the fix of incident 42" in result.summary
        assert "\n- hold by alice\\: incident 42\n" in result.summary
        assert acme.dispatches() == [SCHEDULE]


def deployed(acme: Organisation, commit: str, environment: str = "dev") -> None:
    acme.status(commit, f"{environment} environment", "Deployed", "success")


@breaks(
    "a rollback waits for the end of a freeze",
    turned(
        read_verdict,
        "goes_back and was_deployed(context, commit, table.context(name), any_app=True)",
        "False",
    ),
    case="freeze",
)
@pytest.mark.parametrize(
    ("spec", "was_there", "reason"),
    [
        ("freezes: [{from: 2020-01-01T00:00:00Z, to: 2050-01-01T00:00:00Z, reason: x}]", True, ""),
        ("freezes: [{from: 2020-01-01T00:00:00Z, to: 2050-01-01T00:00:00Z, reason: x}]", False, "freeze until 2050-01-01 00:00 UTC: x"),
        ("requires: {checks: [{name: smoke, from: acme-ci}]}, queue: oldest", True, ""),
        (HELD, True, "hold by alice: incident 42"),
        ("holds: [{reason: x, by: Somebody}]", True, ""),
    ],
    ids=["freeze", "never there", "requires", "another's hold", "own hold"],
)  # fmt: skip
def test_a_rollback(acme: Organisation, spec: str, reason: str, *, was_there: bool) -> None:
    old = acme.head("main") or ""
    if was_there:
        deployed(acme, old)
    run(acme, change_main(acme), promoted_from="ci")
    acme.sandbox.repository(CONTROL_PLANE).runs.clear()
    policy(acme, spec)
    found = document(run(acme, old, allow_rollback="true"))
    assert found.waiting_for == reason
    assert has(acme) == (old if not reason else has(acme))
    assert (found.action == "written") is not bool(reason)


JOIN = "requires: {deployed: [eu, us], soak: 2h}"
APP = "kalypso[bot]"


@pytest.fixture
def joined(acme: Organisation) -> Organisation:
    """Acme whose dev requires that eu and us, which have main's head, deployed the commit."""
    policy(acme, JOIN)
    for name in ("eu", "us"):
        acme.commit({f".environments/{name}.yaml": documents.environment(acme.url(), name)})
    base = {"base-repo.yaml": documents.base_repo(acme.url(), change_main(acme))}
    for name in ("eu", "us"):
        acme.commit(base, name)
    return acme


def post(acme: Organisation, commit: str, environment: str, login: str, text: str) -> None:
    """Post a status as an account."""
    kind: Any = "user"
    token = acme.sandbox.create_token(kind, None, login=login, owner="acme")
    body = {"context": f"{environment} environment", "description": text, "state": "success"}
    acme.ask("POST", f"{CONTROL_PLANE}/statuses/{commit}", body, token=token)


@breaks(
    "somebody's status counts as Deployed",
    returning(Identity.is_own, True),
    case="another App",
)
@breaks(
    "an environment that was rolled back counts as deployed",
    returning(rolled_back_from, False),
    case="gone on",
)
@pytest.mark.parametrize(
    ("login", "then", "reason"),
    [
        (APP, "", ""),
        ("other[bot]", "", "Deployed in us is by other[bot], not by kalypso[bot]"),
        ("github-actions[bot]", "", "Deployed in us is by github-actions[bot], not by kalypso[bot]"),
        ("", "", "not Deployed in us"),
        (APP, "back", "us was rolled back from the commit"),
        (APP, "back and on", "us was rolled back from the commit"),
        (APP, "on", ""),
        (APP, "back and again", ""),
    ],
    ids=["App", "another App", "job", "missing", "rolled back", "gone on", "descendant", "again"],
)  # fmt: skip
def test_a_join(
    joined: Organisation, app: dict[str, str], login: str, then: str, reason: str
) -> None:
    commit = joined.head("main") or ""
    old = has(joined)
    post(joined, commit, "eu", APP, "Deployed")
    if login:
        post(joined, commit, "us", login, "Deployed")
    later = change_main(joined, "later") if "on" in then else commit
    for step in filter(None, then.split(" and ")):
        named = {"back": old, "on": later, "again": commit}[step]
        joined.commit({"base-repo.yaml": documents.base_repo(joined.url(), named)}, "us")
    joined.clock.sleep(3 * 3600)
    assert waits(joined, commit, **app) == reason


NEVER = "kalypso_actions.commands.shared.policy_entry.first_of_queue"


@breaks(
    "what a required environment has passed over blocks the queue",
    turned(NEVER, "is_reached and commit != ancestry.head", "False"),
    case="passed over",
)
@breaks(
    "what a required environment went back from blocks the queue",
    turned(NEVER, "left or not is_reached", "False"),
    case="went back",
)
@breaks(
    "what is still to come blocks nobody",
    turned(NEVER, "is_reached and commit != ancestry.head", "is_reached"),
    case="still to come",
)
@pytest.mark.parametrize(
    ("deployed_in", "us", "reason"),
    [
        (("eu",), ("later",), ""),
        (("eu", "us"), ("old", "later"), ""),
        (("eu",), (), "not Deployed in us; {} enters first"),
    ],
    ids=["passed over", "went back", "still to come"],
)
def test_what_enters_no_more_blocks_no_queue(
    joined: Organisation,
    app: dict[str, str],
    deployed_in: tuple[str, ...],
    us: tuple[str, ...],
    reason: str,
) -> None:
    policy(joined, f"{HELD}, queue: oldest, {JOIN}")
    first, old = joined.head("main") or "", has(joined)
    for name in deployed_in:
        post(joined, first, name, APP, "Deployed")
    assert waits(joined, first, **app).startswith("hold by alice")
    later = change_main(joined, "later")
    for name, commits in {"eu": ("later",), "us": us}.items():
        for commit in commits:
            named = {"old": old, "later": later}[commit]
            joined.commit({"base-repo.yaml": documents.base_repo(joined.url(), named)}, name)
        if commits:
            post(joined, later, name, APP, "Deployed")
    policy(joined, f"queue: oldest, {JOIN}")
    joined.clock.sleep(3 * 3600)
    assert waits(joined, later, **app) == reason.format(first[:7])


def test_a_soak_begins_with_the_last_environment(joined: Organisation, app: dict[str, str]) -> None:
    commit = joined.head("main") or ""
    post(joined, commit, "eu", APP, "Deployed")
    joined.clock.sleep(3600)
    post(joined, commit, "us", APP, "Deployed")
    joined.clock.sleep(3600)
    now = joined.clock()
    until = now + timedelta(hours=1)
    assert waits(joined, commit, **app).startswith("soak until ")
    assert f"{until:%H:%M} UTC" in dict(joined.status_history(commit))[DEV] or until.second
    joined.clock.sleep(3600)
    assert waits(joined, commit, **app) == ""


@breaks(
    "a join counts by the token of a job",
    turned(policy_entry._EntryReading._deployment, "identity.login == JOBS", "False"),
)
def test_a_join_needs_the_app(joined: Organisation) -> None:
    commit = joined.head("main") or ""
    for name in ("eu", "us"):
        post(joined, commit, name, APP, "Deployed")
    joined.clock.sleep(3 * 3600)
    token = joined.sandbox.create_token("actions", None, repositories=[CONTROL_PLANE])
    missing = "`requires` needs the App: add `app-id` and `app-private-key` to cd.yaml"
    assert waits(joined, commit, token=token).startswith(missing)


@breaks(
    "a status by anybody counts as a check",
    turned(policy_entry._EntryReading._check, "status and check.is_by(status.author)", "status"),
    case="another status",
)
@breaks(
    "the first result of a check counts",
    turned(policy_entry._EntryReading._check, "max(found)[1]", "min(found)[1]"),
    case="latest",
)
@breaks(
    "a failed check counts",
    turned(policy_entry._EntryReading._check, "latest == 'success'", "latest"),
    case="failed",
)
@breaks(
    "a check by anybody counts",
    turned(policy_entry._EntryReading._check, "run.name == check.name and run.app.lower() == check.source.lower()", "run.name == check.name"),
    case="another App",
)  # fmt: skip
@pytest.mark.parametrize(
    ("runs", "status", "reason"),
    [
        ([("acme-ci", "success")], "", ""),
        ([("acme-ci", "failure"), ("acme-ci", "success")], "", ""),
        ([("acme-ci", "success"), ("acme-ci", None)], "", "check smoke: pending"),
        ([("acme-ci", "failure")], "", "check smoke: failure"),
        ([("other", "success")], "", "check smoke by acme-ci is missing"),
        ([], "acme-ci[bot]", ""),
        ([], "somebody", "check smoke by acme-ci is missing"),
        ([("acme-ci", "failure")], "acme-ci[bot]", ""),
        ([], "", "check smoke by acme-ci is missing"),
    ],
    ids=["success", "repaired", "runs again", "failed", "another App", "status", "another status", "latest", "missing"],
)  # fmt: skip
def test_a_required_check(
    acme: Organisation, runs: list[tuple[str, Any]], status: str, reason: str
) -> None:
    policy(acme, "requires: {checks: [{name: smoke, from: acme-ci}]}")
    new = change_main(acme)
    repository = acme.sandbox.repository(CONTROL_PLANE)
    for number, (slug, conclusion) in enumerate(runs):
        acme.clock.sleep(1)
        known = CheckRun(
            id=number + 1, commit=new, name="smoke", app=slug, conclusion=conclusion,
            started_at=acme.clock(),
        )  # fmt: skip
        repository.check_runs.append(known)
    acme.clock.sleep(1)
    if status:
        token = acme.sandbox.create_token("user", None, login=status, owner="acme")
        body = {"context": "smoke", "state": "success"}
        acme.ask("POST", f"{CONTROL_PLANE}/statuses/{new}", body, token=token)
    assert waits(acme, new) == reason


FREEZE = (
    "freezes: [{from: 2020-01-01T00:00:00Z, to: 2050-01-01T00:00:00Z, reason: x, allow: [hotfix]}]"
)
CLOSED = "freeze until 2050-01-01 00:00 UTC: x"


def merged(acme: Organisation, number: int, label: str) -> str:
    """Merge a pull request to main, with a label; return the merge."""
    branch = f"fix-{number}"
    acme.reset(branch, acme.head("main"))
    acme.commit({f"fix-{number}.txt": "x"}, branch)
    pull = acme.pull(branch)
    if label:
        acme.ask("POST", f"{CONTROL_PLANE}/issues/{pull}/labels", {"labels": [label]})
    return acme.merge(pull, CONTROL_PLANE)


@breaks(
    "the labels of one commit open a freeze",
    turned(policy_entry._EntryReading.labels, "entering[start:start + PAGE]", "entering[:1]"),
    case="older without",
)
@pytest.mark.parametrize(
    ("labels", "direct", "reason"),
    [
        (["hotfix"], False, ""),
        (["hotfix", "hotfix"], False, ""),
        (["", "hotfix"], False, CLOSED),
        (["hotfix", "other"], False, CLOSED),
        (["hotfix"], True, CLOSED),
    ],
    ids=["one", "two", "older without", "newest with another", "pushed"],
)
def test_labels_open_a_freeze(
    acme: Organisation, labels: list[str], reason: str, *, direct: bool
) -> None:
    policy(acme, FREEZE)
    if direct:
        change_main(acme)
    for number, label in enumerate(labels):
        new = merged(acme, number, label)
    assert waits(acme, new) == reason


LEVELS: Permissions = {"contents": "write", "statuses": "write", "actions": "write"}


@pytest.mark.parametrize(
    ("spec", "line"),
    [
        ("requires: {checks: [{name: smoke, from: acme-ci}]}", "check smoke cannot be read: add `checks: read` to cd.yaml"),
        (FREEZE, f"labels cannot be read: add `pull-requests: read` to cd.yaml; {CLOSED}"),
    ],
    ids=["checks", "labels"],
)  # fmt: skip
def test_a_missing_permission_is_named(acme: Organisation, spec: str, line: str) -> None:
    policy(acme, spec)
    new = change_main(acme)
    token = acme.sandbox.create_token("actions", LEVELS, repositories=[CONTROL_PLANE])
    assert waits(acme, new, token=token) == line


@breaks(
    "older commits wait for ever",
    turned(reading.with_verdict, "table.is_outside(own.get(key))", "False"),
)
def test_what_enters_supersedes_every_older_commit_that_waits(acme: Organisation) -> None:
    policy(acme, HELD)
    first, second, third = (change_main(acme, str(number)) for number in range(3))
    for commit in (first, second):
        assert waits(acme, commit)
    policy(acme, "holds: []")
    assert waits(acme, third) == ""
    for commit in (first, second):
        assert acme.statuses(commit)[DEV] == ("pending", f"Superseded by {third[:7]}")


@breaks(
    "an older commit waits for ever for a run of cd that was lost",
    turned(
        reading.with_verdict, "table.is_outside(own.get(key))", "table.is_waiting(own.get(key))"
    ),
)
def test_what_enters_supersedes_an_older_commit_whose_cd_was_lost(acme: Organisation) -> None:
    older, newer = (change_main(acme, str(number)) for number in range(2))
    acme.status(older, DEV, "Waiting: cd")
    assert waits(acme, newer) == ""
    assert acme.statuses(older)[DEV] == ("pending", f"Superseded by {newer[:7]}")


@breaks(
    "a commit enters while another one is under way",
    turned(policy_entry._EntryReading._queue, "table.is_underway(latest)", "False"),
)
@breaks(
    "an older commit that waits is passed over",
    turned(policy_entry._EntryReading._queue, "table.is_waiting(each[1].get(key))", "False"),
)
def test_the_oldest_enters_first(acme: Organisation) -> None:
    policy(acme, HELD + ", queue: oldest")
    first, second = (change_main(acme, str(number)) for number in range(2))
    for commit in (first, second):
        assert waits(acme, commit).startswith("hold by alice: incident 42")
    policy(acme, "queue: oldest")
    assert waits(acme, second) == f"{first[:7]} enters first"
    assert waits(acme, first) == ""
    acme.sandbox.repository(CONTROL_PLANE).runs.clear()
    assert waits(acme, second) == f"{first[:7]} is not Deployed yet"
    deployed(acme, first)
    assert waits(acme, second) == ""


def test_a_pull_request_shows_what_holds(acme: Organisation) -> None:
    policy(acme, HELD)
    new = change_main(acme)
    given = {"promoted_from": "ci", "mode": "pull-request"}
    assert document(run(acme, new, **given)).action == "waiting"
    assert acme.pulls(CONTROL_PLANE) == []
    policy(acme, "holds: []")
    assert document(run(acme, new, **given)).action == "proposed"
    head = acme.head("kalypso/promote/dev") or ""
    assert acme.statuses(head) == {
        "kalypso / policy": ("success", "The environment's policy lets it in")
    }
    policy(acme, HELD)
    assert document(run(acme, new, **given)).action == "waiting"
    assert acme.statuses(head) == {
        "kalypso / policy": ("failure", "Waiting: hold by alice: incident 42")
    }
