"""Policies in random stories: people write them, hold, override and roll back, and Apps check."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import yaml
from hypothesis import strategies as st
from hypothesis.stateful import initialize, rule

from kalypso_actions.commands.demo.scenario_runner import InProcess
from kalypso_actions.model.promotion_policy import POLICY_FILE
from kalypso_sandbox.store import CheckRun
from kalypso_sandbox.workflow_runner.clock import Clock
from tests.chain.machine.acme import POLICY_LAYOUTS
from tests.chain.machine.entries import spec_of
from tests.chain.machine.mid_run_events import before_write
from tests.chain.machine.people import places
from tests.chain.machine.promotions import PERSON
from tests.chain.machine.rest import REPAIR_AFTER
from tests.chain.machine.scene import only_if
from tests.chain.machine.steps import Story
from tests.commands.chain.organisation import CONTROL_PLANE

HEAD: Final = "apiVersion: kalypso.io/v1alpha1\nkind: PromotionPolicy\nmetadata: {name: any}\n"
INVALID: Final = ("{", f"{HEAD}spec: {{hold: []}}\n", f"{HEAD}spec: [\n")
PARTS: Final = ("deployed", "soak", "checks", "oldest", "freeze", "nights")
HOLDERS: Final = (PERSON, "bob")
SMOKE: Final = "smoke"
TESTER: Final = "acme-ci"
RESULTS: Final = ("success", "failure")
POSTERS: Final = (TESTER, "acme-evil", "kalypso")
SOAK_HOURS: Final = 2
ROUNDS: Final = 14

STARTS: Final = {
    "March": timedelta(),
    "spring in New York": timedelta(days=6, hours=15),  # 2026-03-08 03:00 UTC
    "autumn in Sydney": timedelta(days=34, hours=1),  # 2026-04-04 13:00 UTC
}
"""Times after the opening at which stories begin: some hours before the clocks change."""

NIGHTS: Final = {
    "March": ("30 2 * * *", "4h", "Europe/Berlin"),
    "spring in New York": ("30 2 * * *", "3h", "America/New_York"),
    "autumn in Sydney": ("30 2 * * *", "2h", "Australia/Sydney"),
}


class FastClock(Clock):
    """The clock of a runner, which is ahead of the server's."""

    def __init__(self, clock: Clock, ahead: timedelta) -> None:
        super().__init__(clock.start)
        self._clock = clock
        self._ahead = ahead

    def __call__(self) -> datetime:
        return self._clock() + self._ahead

    def sleep(self, seconds: float) -> None:
        self._clock.sleep(seconds)


class PolicyStory(Story):
    """A story of environments with policies, without what has nothing to do with them."""

    close_pull_request: Any = None
    cluster: Any = None
    configure: Any = None
    delete_cluster: Any = None
    follow_elsewhere: Any = None
    register: Any = None
    slow_cluster: Any = None
    start_schedule: Any = None
    wait: Any = None
    write_tracking: Any = None

    @initialize(
        layout=st.sampled_from(sorted(POLICY_LAYOUTS)),
        start=st.sampled_from(sorted(STARTS)),
        ahead=st.sampled_from([0, 60, -60]),
        policies=st.lists(st.sets(st.sampled_from(PARTS), min_size=1, max_size=3), max_size=4),
    )
    def begin(
        self,
        layout: str,
        start: str = "March",
        ahead: int = 0,
        policies: Sequence[Set[str]] = (),
    ) -> None:
        self.open(layout)
        self.start = start
        acme, self.entries.skew = self.chain.acme, timedelta(seconds=ahead)
        acme.sandbox.create_app("acme", {"statuses": "write", "metadata": "read"}, slug=TESTER)
        self.chain.execute_by(InProcess(FastClock(acme.clock, self.entries.skew)))
        self.chain.wait(STARTS[start].total_seconds())
        self.tell(f"{start}; the runners' clock is {ahead} seconds ahead")
        for place, parts in enumerate(policies[: len(self.names)]):
            self.write_policy(-1 - place, parts)
        self.chain.forget_what_is_due()

    # Policies

    @rule(place=places, parts=st.sets(st.sampled_from(PARTS), max_size=3))
    def write_policy(self, place: int, parts: Set[str]) -> None:
        name = self.environment(place)
        self._write(name, {**self._spec(name, parts), "holds": self._policy(name).get("holds", [])})
        self.tell(f"the policy of {name} becomes: {', '.join(sorted(parts)) or 'open'}")

    @rule(place=places, text=st.sampled_from(INVALID))
    def spoil_policy(self, place: int, text: str) -> None:
        self._push(self.environment(place), text)
        self.tell(f"the policy of {self.environment(place)} becomes invalid")

    @rule(
        place=places,
        by=st.sampled_from(HOLDERS),
        hours=st.sampled_from([0, 1, 30]),
        at=st.sampled_from([-1, -1, 0, 1]),
    )
    def hold(self, place: int, by: str, hours: int, at: int) -> None:
        name = self.environment(place)
        spec, until = self._policy(name), self.chain.acme.clock() + timedelta(hours=hours)
        hold = {"reason": "incident", "by": by}
        hold |= {"until": until.isoformat()} if hours else {}
        hold |= {"at": self._commit_of_main(at)} if at >= 0 else {}
        self._write(name, {**spec, "holds": [*spec.get("holds", []), hold]})
        self.tell(f"{by} holds {name}: {hold}")

    @rule(place=places, environment=places, writes=st.integers(0, 3))
    @only_if(lambda self: self.chain.waiting)
    def hold_during_a_run(self, place: int, environment: int, writes: int) -> None:
        """Hold an environment before one of the writes of a run."""
        run = self.take(place)
        with before_write(writes, lambda: self.hold(environment, by="bob", hours=0, at=-1)):
            self.run_one(run)

    @rule(place=places, by=st.sampled_from(HOLDERS))
    def release(self, place: int, by: str) -> None:
        name = self.environment(place)
        spec = self._policy(name)
        self._write(name, {**spec, "holds": [h for h in spec.get("holds", []) if h["by"] != by]})
        self.tell(f"{by} releases {name}")

    @rule(
        older=places, by=st.sampled_from(POSTERS), state=st.sampled_from(RESULTS), run=st.booleans()
    )
    def check(self, older: int, by: str, state: str, run: bool = False) -> None:
        """Let an App post a status, or a check run; only that of one App counts."""
        (self._run_check if run else self._post)(self._commit_of_main(older), by, state)

    @rule(label=st.sampled_from(["hotfix", "hotfix", "other"]))
    def merge_labelled(self, label: str) -> None:
        """Merge a pull request to main, whose label may open a freeze."""
        self.merge_to_main("release", label)

    def proposed_by_cd(self) -> list[str]:
        """Return the environments to which the policy lets people merge what cd proposes."""
        return [
            name
            for name in super().proposed_by_cd()
            if self.entries.of_proposal(name, self.entries.moment()) != "failure"
        ]

    @rule(place=places, chain=st.booleans())
    def roll_back(self, place: int, chain: bool) -> None:
        changed = [name for name in self.names if len(self.promotions.changes[name]) > 1]
        if not changed:
            return  # the only commit is the first one
        name = changed[place % len(changed)]
        self.chain.start("rollback", environment=name, chain=str(chain).lower(), reason="bad")
        self.needs_commit = True
        self.tell(f"somebody rolls back {name}{' and all behind' * chain}")
        self.run(place=-1, times=1)

    @rule(place=places, older=places)
    def override(self, place: int, older: int) -> None:
        name, commit = self.environment(place), self._commit_of_main(older)
        if commit not in self.promotions.good:
            return
        self.promotions.wished[name].add(commit)
        inputs = {"environment": name, "promoted_commit_id": commit}
        self.chain.start("cd", **inputs, override="the shop is down")
        self.tell(f"somebody overrides the policy of {name} for {commit[:7]}")

    # Time

    @rule(count=st.sampled_from([1, 1, 2]))
    def commits_come(self, count: int) -> None:
        """Let commits come every ten minutes, and people merge everything."""
        for _ in range(count):
            self.merge_to_main("release")
            self.settle()
            self.chain.wait(600)

    @rule()
    def everything_goes_on(self) -> None:
        self.settle()

    @rule(hours=st.sampled_from([1, SOAK_HOURS, 12]))
    def hours_pass(self, hours: int) -> None:
        self.chain.wait(3600 * hours)
        self.tell(f"{hours} hours pass")

    @rule()
    @only_if(lambda self: not self.was_disturbed and not self.chain.waiting_for_approval)
    def poll_lets_in(self) -> None:
        """Check that no commit waits that the policy lets in, after poll and its starts ran."""
        self.run_everything()
        for _ in range(2):
            self.chain.wait(REPAIR_AFTER)
            self.start_poll()
            before = self.entries.moment()
            self.run_everything()
        if self.chain.waiting_for_approval:
            return
        now = self.entries.moment()
        for name in self.names:
            both = set(self.entries.eligible(name, before)) & set(self.entries.eligible(name, now))
            assert not both, f"{name} lets in {both}, but they wait"

    # The end

    def fulfil(self, commit: str) -> None:
        """Release and repair everything, and poll until main's newest commit is everywhere."""
        for name in self.names:
            files = self.chain.acme.files(name)
            spec = spec_of(files[POLICY_FILE]) if POLICY_FILE in files else {}
            if spec is None or spec.get("holds"):
                self._write(name, {**(spec or {}), "holds": []})
                self.tell(f"somebody repairs the policy of {name}, and releases {name}")
        self.settle()
        for _ in range(ROUNDS):
            if all(self._is_at_rest(commit, name) for name in self.names):
                return
            self._check_what_waits(commit)
            self.chain.wait(3600 * SOAK_HOURS + REPAIR_AFTER)
            for _ in range(2):
                self.start_poll()
                self.settle()

    def _check_what_waits(self, commit: str) -> None:
        moment = self.entries.moment()
        for name in self.names:
            for each in {status.commit for status in moment.statuses} | {commit}:
                if moment.of_chain(each, name).startswith("Waiting: "):
                    self._post(each, TESTER, "success")

    def _post(self, commit: str, by: str, state: str) -> None:
        self.chain.wait(1)
        body = {"context": SMOKE, "state": state, "description": ""}
        token = self.chain.acme.sandbox.create_token("user", login=f"{by}[bot]", owner="acme")
        self.chain.acme.ask("POST", f"{CONTROL_PLANE}/statuses/{commit}", body, token=token)
        self.tell(f"{by} posts {state} on {commit[:7]}")

    def _run_check(self, commit: str, by: str, state: str) -> None:
        repository = self.chain.acme.sandbox.repository(CONTROL_PLANE)
        self.chain.wait(1)  # the latest one counts, and its time has seconds
        conclusion: Any = state
        run = CheckRun(
            id=self.next_number(),
            commit=commit,
            name=SMOKE,
            app=by,
            conclusion=conclusion,
            started_at=self.chain.acme.clock(),
        )
        with self.chain.acme.sandbox.lock:
            repository.check_runs.append(run)
        self.tell(f"a check of {by} ends with {state} on {commit[:7]}")

    def _policy(self, name: str) -> dict[str, Any]:
        text = self.chain.acme.files(name).get(POLICY_FILE, "")
        return (spec_of(text) if text else None) or {}

    def _write(self, name: str, spec: Mapping[str, Any]) -> None:
        self._push(name, HEAD + yaml.safe_dump({"spec": dict(spec)}))

    def _push(self, name: str, text: str) -> None:
        self.chain.acme.commit({POLICY_FILE: text}, name)
        self.a_person_pushed(name, CONTROL_PLANE)

    def _spec(self, name: str, parts: Set[str]) -> dict[str, Any]:
        now = self.chain.acme.clock().astimezone(UTC)
        requires: dict[str, Any] = {}
        before = self.layout.before(name)
        if before and parts & {"deployed", "soak"}:
            requires["deployed"] = [*self.layout.before(before[0]), *before]
        if before and "soak" in parts:
            requires["soak"] = f"{SOAK_HOURS}h"
        if "checks" in parts:
            requires["checks"] = [{"name": SMOKE, "from": TESTER}]
        freezes: list[dict[str, Any]] = []
        if "freeze" in parts:
            times = {"from": now.isoformat(), "to": (now + timedelta(hours=3)).isoformat()}
            freezes.append({**times, "reason": "release day", "allow": ["hotfix"]})
        if "nights" in parts:
            cron, duration, zone = NIGHTS[self.start]
            times = {"cron": cron, "duration": duration, "timezone": zone}
            freezes.append({**times, "reason": "night"})
        queue = "oldest" if "oldest" in parts else "newest"
        return {"requires": requires, "freezes": freezes, "queue": queue}
