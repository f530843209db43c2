"""The writes of cd as values, by what it has read."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from kalypso_actions.commands.cd.reading import CdReading
from kalypso_actions.commands.cd.writes import CdWrites
from kalypso_actions.commands.shared.environment_branch import EnvironmentBranch, PromotionProposal
from kalypso_actions.commands.shared.hook import HookRun
from kalypso_actions.errors import Location
from kalypso_actions.inputs.chain import CdInputs
from kalypso_actions.model.github import Relation
from kalypso_actions.model.kinds import Environment, RepositoryPath
from kalypso_actions.model.writes import PostStatus, Write, parts
from kalypso_actions.promotion.cd_decision import Advance, rollback_of
from tests.breaks import breaks, turned

PLANE, HEAD, OWN_HEAD = "acme/fleet", "a" * 40, "b" * 40
OLD, NEW, NEWER = "1" * 40, "2" * 40, "3" * 40


def branch(proposed: str | None = None, *, pull: Any = None, **more: Any) -> EnvironmentBranch:
    """Return the branch of dev, which names OLD; our branch may propose another commit."""
    place = RepositoryPath("https://x/acme/fleet", "dev", ".")
    dev = Environment("dev", place, {}, Location(""), Location(""))
    proposal = PromotionProposal(pull, proposed, None, outdated=False) if proposed else None
    own_head = OWN_HEAD if proposed else ""
    where = Location("https://x/acme/fleet", "base-repo.yaml")
    given = {"promoted_commit": OLD, "own_head": own_head, "proposal": proposal, **more}
    return EnvironmentBranch(dev, "https://x/acme/fleet", HEAD, where=where, **given)


def made(**given: str) -> CdWrites:
    inputs: dict[str, Any] = {"environment": "dev", "commit": NEW, **given}
    return CdWrites(CdInputs(**inputs), PLANE)


def lines(writes: tuple[Write, ...]) -> list[str]:
    made = [f"{part.kind}: {part.what}" for write in writes for part in parts(write)]
    return [line.replace(", unless that is Deployed)", ")") for line in made]


READ = CdReading(branch(), OLD, Advance("write"), changes={"base-repo.yaml": b"x"})
AHEAD = replace(READ, replaced=OLD, relation="ahead")
SAME = CdReading(branch(promoted_commit=NEW), NEW, Advance("unchanged"))
PULL: Any = SimpleNamespace(number=7, url="https://x/7")
TO_OWN = "push: 1 file to kalypso/promote/dev: base-repo.yaml"
OPEN = "open pull request: dev: promote {}"


def status(text: str, commit: str = NEW) -> str:
    return f"post status: dev environment: {text} (on {commit[:7]})"


SUPERSEDED = status("Superseded by 2222222", OLD)


@breaks(
    "a commit that takes another one back supersedes it",
    turned(CdWrites._ended, "takes_back(relation)", "False"),
    case="goes back",
)
@breaks(
    "the commit that is replaced keeps its status",
    turned(CdWrites._statuses, "facts.relation", "None"),
    case="newer",
)
@breaks(
    "a proposal is pushed anew by every run",
    turned(CdWrites._branch_writes, "not branch.brings(commit)", "True"),
    case="proposed already",
)
@breaks(
    "an empty proposal stays open",
    turned(CdWrites._withdraw_empty, "proposal.promoted_commit == branch.promoted_commit", "False"),
)
@pytest.mark.parametrize(
    ("mode", "facts", "expected"),
    [
        pytest.param(
            "commit",
            AHEAD,
            ["push: 1 file to dev: base-repo.yaml", status("Promoted"), SUPERSEDED],
            id="newer",
        ),
        pytest.param(
            "commit",
            replace(AHEAD, relation="behind"),
            [
                "push: 1 file to dev: base-repo.yaml",
                status("Promoted"),
                status("Rolled back to 2222222", OLD),
            ],
            id="goes back",
        ),
        pytest.param(
            "commit",
            replace(AHEAD, relation=None),
            ["push: 1 file to dev: base-repo.yaml", status("Promoted")],
            id="the commit before is gone",
        ),
        pytest.param("commit", SAME, [status("Promoted")], id="unchanged"),
        pytest.param(
            "pull-request",
            replace(SAME, branch=branch(NEW, pull=PULL, promoted_commit=NEW)),
            ["close pull request: #7", status("Promoted")],
            id="nothing left to merge",
        ),
        pytest.param(
            "commit",
            CdReading(branch(promoted_commit=NEWER), NEWER, Advance("superseded")),
            [status("Superseded by 3333333")],
            id="older",
        ),
        pytest.param(
            "pull-request",
            CdReading(branch(NEWER), NEWER, Advance("superseded")),
            [OPEN.format("3333333"), status("Superseded by 3333333")],
            id="older than a proposal without its pull request",
        ),
        pytest.param(
            "commit",
            replace(READ, rollback=rollback_of("dev", NEW, OLD)),
            [status("Rolled back to 1111111")],
            id="rolled back before",
        ),
        pytest.param(
            "pull-request",
            AHEAD,
            [
                "push: 1 file to kalypso/promote/dev (a new branch): base-repo.yaml",
                OPEN.format("2222222"),
                status("Waiting for #…"),
                SUPERSEDED,
            ],
            id="proposed",
        ),
        pytest.param(
            "pull-request",
            replace(AHEAD, branch=branch(NEW)),
            [OPEN.format("2222222"), status("Waiting for #…"), SUPERSEDED],
            id="proposed already",
        ),
        pytest.param(
            "pull-request",
            replace(READ, branch=branch(NEWER)),
            [TO_OWN, OPEN.format("2222222"), status("Waiting for #…")],
            id="instead of another proposal",
        ),
        pytest.param("pull-request", replace(READ, rejected=PULL), [], id="rejected"),
    ],
)
def test_the_writes_of_a_promotion(mode: str, facts: CdReading, expected: list[str]) -> None:
    assert lines(made(mode=mode).promotion(facts)) == expected


@breaks(
    "cd revokes Deployed",
    turned(CdWrites._post, "keeps_deployed", "False"),
)
def test_only_a_new_promotion_replaces_deployed() -> None:
    behind = CdReading(branch(promoted_commit=NEWER), NEWER, Advance("superseded"))
    posts = [
        write.keeps_deployed
        for facts in (AHEAD, SAME, behind)
        for write in made().promotion(facts)
        if isinstance(write, PostStatus)
    ]
    assert posts == [False, True, True, True]


@pytest.mark.parametrize(
    ("promoted_from", "facts", "expected"),
    [
        ("ci", READ, ["attempt 1: inputs not read yet (on the new commit of dev)"]),
        ("ci", SAME, ["attempt 1: inputs not read yet (on aaaaaaa)"]),
        ("", SAME, ["attempt 1 with force: inputs not read yet (on aaaaaaa)"]),
        ("ci", replace(READ, advance=Advance("superseded")), []),
    ],
)
def test_the_start_of_schedule(promoted_from: str, facts: CdReading, expected: list[str]) -> None:
    assert made(mode="pull-request").start(READ) == ()
    records = lines(made(promoted_from=promoted_from).start(facts))[::2]
    assert [record.partition("Starting, ")[2] for record in records] == expected


@breaks(
    "an overtaken run leaves its status",
    turned(CdWrites.replacement, "self._ended(self.inputs.commit, newer, relation)", "()"),
)
@pytest.mark.parametrize(
    ("now", "relation", "expected"),
    [
        (branch(promoted_commit=NEW), None, []),
        (branch(promoted_commit=NEWER), "ahead", [status("Superseded by 3333333")]),
        (branch(), "behind", [status("Rolled back to 1111111")]),
        (branch(), None, []),
        (branch(NEW), None, [OPEN.format("2222222")]),
        (branch(NEWER), "ahead", [OPEN.format("3333333"), status("Superseded by 3333333")]),
    ],
)
def test_the_writes_after_another_run(
    now: EnvironmentBranch, relation: Relation | None, expected: list[str]
) -> None:
    assert lines(made().replacement(now, relation)) == expected


def test_the_writes_after_a_failed_command() -> None:
    reason = "Failed to deploy: the pre-deployment command ended with exit code 3"
    assert lines(made().failure(HookRun("pre-deployment", "", 3))) == [status(reason)]
