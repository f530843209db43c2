"""The decision of schedule and its writes as values, by what GitHub knows of our proposals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from kalypso_actions.commands.schedule.decision import Proposal, ScheduleDecision, decide
from kalypso_actions.commands.schedule.details import WriteDetails
from kalypso_actions.commands.schedule.reading import BranchProposals, EnvironmentSnapshot, Role
from kalypso_actions.commands.schedule.writes import (
    ScheduleRun,
    ScheduleWrites,
    auto_merge_ends,
)
from kalypso_actions.commands.shared.own_proposals import commit_to_propose
from kalypso_actions.errors import Location, Problem
from kalypso_actions.gitops.proposal_decision import OpenProposal, propose
from kalypso_actions.gitops.rejections import Restrictions
from kalypso_actions.inputs.chain import ScheduleInputs
from kalypso_actions.model.github import PullRequest
from kalypso_actions.model.own_account import Identity
from kalypso_actions.model.processes import no_progress
from kalypso_actions.model.tree import GitOpsBranch
from kalypso_actions.model.writes import (
    MergePullRequest,
    OpenPullRequest,
    Unmoved,
    Write,
    parts,
)
from kalypso_actions.planning.plan import PlanOptions, make_plan
from kalypso_actions.report.pull_request import Mark, marked
from kalypso_actions.scheduling import LabelScheduler
from tests.breaks import breaks, turned
from tests.builders import fleet, target
from tests.plans import LARGE, POLICY, reading, snapshot_of, tree

PLANE, GITOPS, US = "acme/fleet", "acme/gitops", Identity("kalypso", frozenset({"former"}))
MAIN, HEAD, OWN_HEAD = "1" * 40, "a" * 40, "b" * 40
FLEET = fleet(cluster_types=[LARGE], policies=[POLICY])


def pull(number: int = 7, author: str = "kalypso", **more: Any) -> PullRequest:
    """Return an open pull request from our branch, as schedule has written it."""
    mark = Mark("dev", OWN_HEAD, more.pop("auto", ""), control_plane=PLANE)
    text = marked("", replace(mark, means=more.pop("means", "")))
    place = (GITOPS, "kalypso/dev", OWN_HEAD, "dev", ("kalypso",))
    return PullRequest(
        number, f"https://x/{number}", "title", text, "open", False, "", *place, author, **more
    )


def decided(
    *pulls: tuple[PullRequest, Role],
    targets: Sequence[str] = ("web",),
    existing: Sequence[str] = (),
    merged: bool = False,
    own: str = "",
    restrictions: Restrictions = Restrictions(),  # noqa: B008 - frozen
    problems: Sequence[Any] = (),
    **given: Any,
) -> tuple[ScheduleDecision, ScheduleRun]:
    """Decide about one GitOps branch.

    The branch has the tree already if it is `merged`. Our branch proposes the present tree (`own`
    is "same") or another one ("other").
    """
    inputs = ScheduleInputs(environment="dev", **given)
    registration = reading(*map(target, targets))
    base = tree({"README.md": "x"})
    sources = snapshot_of(FLEET, registration, base_trees=(base,), problems=problems)
    options = PlanOptions.of(inputs)
    plan = make_plan(sources, options, LabelScheduler(), no_progress)
    if merged or existing:
        before = snapshot_of(FLEET, reading(*map(target, existing or targets)))
        made_before = make_plan(before, options, LabelScheduler(), no_progress)
        base = tree(
            {
                path: text.decode()
                for path, text in made_before.changes.files.items()
                if isinstance(text, bytes)
            }
        )
        sources = replace(sources, base_trees=(base,))
        plan = make_plan(sources, options, LabelScheduler(), no_progress)
    branch = GitOpsBranch(GITOPS, f"https://x/{GITOPS}", "dev", "", Location("g"), "main")
    own_head = OWN_HEAD if own else None
    branch = replace(branch, own_branch="kalypso/dev", own_head=own_head, head=HEAD, base_tree=base)
    proposed = propose(plan.changes, base, "dev", None)
    digest = proposed.digest if own == "same" else "v1:other"
    on_own = OpenProposal(digest, proposed.promoted_commit, parent=HEAD) if own else None
    opened = tuple(item for item, _ in pulls)
    known = BranchProposals(US, opened, pulls, on_own, restrictions)
    none: Any = None
    snapshot = EnvironmentSnapshot(none, {}, sources, (branch,), {})
    snapshot = replace(snapshot, environment=type("E", (), {"name": "dev"})())
    run = ScheduleRun(inputs, PLANE, f"https://x/{PLANE}", "ada", "https://x/run")
    return decide(snapshot, plan, (known,), inputs, PLANE), run


def made(decision: ScheduleDecision, run: ScheduleRun, **details: Any) -> tuple[Write, ...]:
    return ScheduleWrites(run, decision, WriteDetails(**details)).in_order()


def lines(writes: Sequence[Write]) -> list[str]:
    kept = (write for write in writes if not isinstance(write, Unmoved))
    return [f"{part.kind}: {part.what}" for write in kept for part in parts(write)]


PUSHED = ["push: 5 files to kalypso/dev", "post status: kalypso / tree dev: 1 tree (on ccccccc)"]
PUSHED_NEW = [f"{PUSHED[0]} (a new branch)", PUSHED[1]]
OPEN = "open pull request: dev: configuration (4 files)"
UPDATE = "update pull request: #7 dev: configuration (4 files)"
UPSTREAM = "update pull request: #7 Update manifests in dev from kalypso/dev"
CHECK = (
    "start workflow: check-promote.yaml (environment dev, commit_id {}, gitops_repository "
    "acme/gitops)"
)
OURS: tuple[PullRequest, Role] = (pull(), "ours")
REJECTED = Restrictions("#1 with the same content was closed without merging", (1,), "people")


@breaks(
    "a proposal is pushed again after a killed run",
    turned(commit_to_propose, "branch.own_head and is_pushed", "False"),
    case="after its push",
)
@breaks(
    "a stale proposal stays open",
    turned(ScheduleWrites._withdraw, 'proposal.known.of_role("stale")', "()"),
    case="stale",
)
@breaks(
    "a withdrawn proposal stays open",
    turned(ScheduleWrites._withdraw, "not proposal.is_open", "False"),
)
@breaks(
    "a proposal that people rejected is merged",
    turned(Proposal.merged_by, "self.decision.hold", "False"),
    case="held",
)
@breaks(
    "a pull request is merged before it is written",
    turned(
        ScheduleWrites.in_order, "(write for item in opened for write in self._open(item))", "()"
    ),
    case="merged at once",
)
@pytest.mark.parametrize(
    ("action", "given", "pulls", "expected"),
    [
        pytest.param("create", {}, [], [*PUSHED_NEW, OPEN], id="the first proposal"),
        pytest.param("none", {"merged": True}, [], [], id="nothing to propose"),
        pytest.param("leave", {"own": "same"}, [OURS], [], id="the same, by an earlier version"),
        pytest.param(
            "leave",
            {"own": "same"},
            [(pull(means="configuration-meaning"), "ours")],
            [],
            id="the same again",
        ),
        pytest.param(
            "leave",
            {"own": "same"},
            [(pull(means="continuation-meaning"), "ours")],
            [UPDATE],
            id="the same, but it no longer corrects a promotion",
        ),
        pytest.param(
            "leave",
            {"own": "same", "title": "upstream"},
            [(pull(means="configuration-meaning"), "ours")],
            [UPSTREAM],
            id="the title of upstream",
        ),
        pytest.param("update", {"own": "other"}, [OURS], [*PUSHED, UPDATE], id="another tree"),
        pytest.param("create", {"own": "same"}, [], [OPEN], id="a run was killed after its push"),
        pytest.param(
            "leave",
            {"own": "same"},
            [(pull(mergeable=False), "ours")],
            ["update pull request: #7: it cannot be merged into aaaaaaa"],
            id="a conflict that a new commit does not solve",
        ),
        pytest.param(
            "withdraw",
            {"merged": True, "own": "other"},
            [OURS],
            ["close pull request: #7"],
            id="nothing left to propose",
        ),
        pytest.param(
            "create",
            {},
            [(pull(3), "stale"), (pull(4, "ada"), "other"), (pull(5), "sibling")],
            [*PUSHED_NEW, OPEN, "close pull request: #3"],
            id="stale, other and sibling ones",
        ),
        pytest.param(
            "leave", {"own": "same"}, [(pull(3, "former"), "former")], [OPEN], id="a former one"
        ),
        pytest.param(
            "withdraw",
            {"own": "same", "merged": True},
            [(pull(3, "former"), "former")],
            ["close pull request: #3"],
            id="a former one with nothing left",
        ),
        pytest.param("stop", {"restrictions": REJECTED}, [], [], id="rejected"),
        pytest.param(
            "stop",
            {"restrictions": REJECTED, "own": "other"},
            [OURS],
            ["close pull request: #7"],
            id="rejected, with another tree open",
        ),
        pytest.param(
            "create",
            {"restrictions": REJECTED, "force": "true", "auto_merge": "always"},
            [],
            [*PUSHED_NEW, OPEN],
            id="forced, and held",
        ),
        pytest.param(
            "create",
            {"auto_merge": "always"},
            [],
            [
                *PUSHED_NEW,
                OPEN,
                "merge pull request: from kalypso/dev at the new commit of kalypso/dev",
                CHECK.format("the new commit of dev"),
            ],
            id="merged at once",
        ),
        pytest.param(
            "leave",
            {"own": "same", "auto_merge": "always"},
            [(pull(auto="always"), "ours")],
            ["merge pull request: #7 at bbbbbbb", CHECK.format("the new commit of dev")],
            id="left open before",
        ),
        pytest.param(
            "create", {"auto_merge": "tracking-only"}, [], [*PUSHED_NEW, OPEN], id="no promotion"
        ),
    ],
)
def test_the_writes_for_a_branch(
    action: str,
    given: dict[str, Any],
    pulls: list[tuple[PullRequest, Role]],
    expected: list[str],
) -> None:
    decision, run = decided(*pulls, **given)
    assert [item.decision.action for item in decision.proposals] == [action]
    assert lines(made(decision, run)) == expected


@breaks(
    "GitHub merges what a run has not read",
    turned(auto_merge_ends, "decision.is_blocked", "False"),
    case="blocked",
)
@pytest.mark.parametrize(
    ("given", "role", "login", "ends"),
    [
        pytest.param({"own": "other"}, "ours", "ada", True, id="other content than a person saw"),
        pytest.param({"own": "same"}, "ours", "ada", False, id="the content that a person saw"),
        pytest.param({"own": "same"}, "ours", "kalypso", True, id="no longer wanted"),
        pytest.param(
            {"own": "same", "auto_merge": "always"}, "ours", "kalypso", False, id="still wanted"
        ),
        pytest.param({"own": "same"}, "stale", "ada", True, id="a stale one"),
        pytest.param({"problems": [Problem("x")]}, "ours", "kalypso", True, id="blocked by us"),
        pytest.param({"problems": [Problem("x")]}, "ours", "former", True, id="blocked, former"),
        pytest.param({"problems": [Problem("x")]}, "ours", "ada", False, id="blocked, a person's"),
        pytest.param({"own": "same"}, "ours", "", False, id="not enabled"),
    ],
)
def test_which_auto_merges_end(given: dict[str, Any], role: Role, login: str, ends: bool) -> None:
    decision, _ = decided((pull(auto_merge_by=login), role), **given)
    assert [write.pull.number for write in auto_merge_ends(decision, PLANE)] == [7] * ends


@breaks(
    "a run with unknown inputs writes",
    turned(ScheduleDecision.writes_nothing, "self.plan.faults or self.removed", "False"),
)
@breaks(
    "allowing removals does not help",
    turned(decide, "plan.faults or inputs.allow_removals", "plan.faults"),
    case="allowed",
)
@breaks(
    "the removal guard is off",
    turned(decide, "writes and not (plan.faults or inputs.allow_removals)", "False"),
    case="refused",
)
@breaks(
    "a removal that is proposed already needs permission again",
    turned(decide, "not proposals or proposals[index].writes", "True"),
    case="proposed",
)
@pytest.mark.parametrize(
    ("left", "given", "refused"),
    [
        pytest.param(0, {}, True, id="refused"),
        pytest.param(0, {"allow_removals": True}, False, id="allowed"),
        pytest.param(5, {}, False, id="few"),
        pytest.param(0, {"own": "same"}, False, id="proposed already"),
    ],
)
def test_a_mass_removal_needs_permission(left: int, given: dict[str, Any], refused: bool) -> None:
    existing = [f"web-{number}" for number in range(10)]
    pulls = [OURS] if given.get("own") else []
    decision, run = decided(*pulls, existing=existing, targets=existing[:left], **given)
    assert (made(decision, run) == ()) == refused
    assert [problem.advice for problem in decision.problems] == [
        "if that is wanted, run schedule with allow-removals"
    ] * refused
    assert len(decision.removed) == 10 * refused


@breaks(
    "a lost check of a merge stays lost",
    turned(ScheduleWrites.in_order, "self._lost_checks()", "()"),
)
def test_lost_checks_are_started_again() -> None:
    decision, run = decided(merged=True)
    (branch,) = decision.snapshot.branches
    assert lines(made(decision, run, lost_checks=((branch, 2),))) == [CHECK.format(HEAD)]


@breaks(
    "proposals are merged though another run has moved a branch",
    turned(ScheduleWrites.in_order, "pushed or pull_requests", "False"),
)
def test_nothing_is_merged_before_all_branches_are_checked() -> None:
    writes = made(*decided(auto_merge="always"))
    merge = next(place for place, write in enumerate(writes) if isinstance(write, MergePullRequest))
    checked = [write.branch for write in writes[:merge] if isinstance(write, Unmoved)]
    assert checked == ["main", "kalypso/dev", "dev"]
    (opened,) = [write for write in writes if isinstance(write, OpenPullRequest)]
    assert opened.labels == ("kalypso",)
    assert set(opened.dropped) == {"promoted", "withdrawn"}
