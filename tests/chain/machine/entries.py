"""Which commits the policy of an environment lets in, seen from outside.

This module implements the rules of a PromotionPolicy a second time, from the file's text, the commit
statuses and the story's notes. It imports none of the product's rules.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from zoneinfo import ZoneInfo

import yaml

from kalypso_actions.model.promotion_policy import POLICY_FILE
from kalypso_sandbox.store import CheckRun, Status
from kalypso_sandbox.workflow_runner.runs import Run
from tests.chain.driver import COMMIT, Chain
from tests.chain.machine.promotions import PERSON, Promotions, is_rollback
from tests.commands.chain.organisation import CONTROL_PLANE, GITOPS

OURS: Final = "kalypso[bot]"
WRITTEN: Final = "Promoting Commit_Id to the environment"
OVERRIDDEN: Final = "Kalypso-Override: "
PROPOSED: Final = "kalypso/promote/"
FIELDS: Final = frozenset({"requires", "queue", "freezes", "holds"})
UNITS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86400}


@dataclass(frozen=True)
class Moment:
    """What GitHub shows at a time of the runner's clock."""

    now: datetime
    statuses: Sequence[Status]
    changes: Mapping[str, Sequence[tuple[datetime, str]]]
    """The times at which `base-repo.yaml` of each environment named each commit."""
    runs: Sequence[CheckRun] = ()

    def latest(self, commit: str, context: str) -> Status | None:
        """Return the latest status of a commit under a context."""
        every = (status for status in self.statuses if status.commit == commit)
        return next((s for s in reversed(list(every)) if s.context == context), None)

    def of_chain(self, commit: str, environment: str) -> str:
        """Return the latest description of a commit for an environment; "" for none."""
        status = self.latest(commit, f"{environment} environment")
        return (status.description or "") if status else ""

    def result(self, commit: str, name: str, app: str) -> str | None:
        """Return the latest result of a check by an App, as a status or a check run."""
        status = self.latest(commit, name)
        results = [
            (run.started_at, run.conclusion)
            for run in self.runs
            if (run.commit, run.name, run.app) == (commit, name, app)
        ]
        if status and status.author.removesuffix("[bot]") == app:
            results.append((status.created_at, status.state))  # type: ignore[arg-type]
        return max(results, key=lambda result: result[0])[1] if results else None


class Entries:
    """The policies of a story's environments, and a check of each commit that runs write."""

    skew = timedelta()
    """The time by which the clock of the runners is ahead of GitHub's."""

    def __init__(self, chain: Chain, promotions: Promotions) -> None:
        self._chain = chain
        self._promotions = promotions
        self._main = chain.acme.sandbox.git(CONTROL_PLANE)
        self._names = tuple(promotions.changes)
        self.labels: dict[str, str] = {}
        """The labels of the merged pull requests of commits of main."""
        self.runs_begin()

    def runs_begin(self) -> None:
        """Note what the runs find."""
        self._heads = {name: self._main.head(name) for name in self._names}
        self._tracked = {name: self._chain.tracks(name) for name in self._names}
        self._told = len(self._chain.acme.sandbox.repository(GITOPS).statuses)
        self._begun = self.moment()

    def runs_have_ended(self, runs: Sequence[Run]) -> None:
        """Check each commit of these runs against the policy of the commit before it."""
        ended = self.moment()
        for name in self._names:
            self._may_be_merged(name, ended)
            self._may_be_merged_by_people(name, ended)
            commit = self._main.commit(name)
            while commit.id != self._heads[name]:
                before = self._main.commit(commit.parents[0])
                if commit.message.startswith(WRITTEN):
                    is_overridden = OVERRIDDEN in commit.message
                    assert not is_overridden or _has_reason(runs), "nobody gave a reason"
                    if not is_overridden:
                        self._may_be_written(name, before.id, commit.id, runs, ended)
                commit = before

    def of_proposal(self, environment: str, moment: Moment) -> str:
        """Return the state of the policy's status on what cd proposes; "" without one."""
        head = self._main.head(f"{PROPOSED}{environment}") or ""
        status = moment.latest(head, "kalypso / policy")
        return status.state if status else ""

    def _may_be_merged(self, name: str, ended: Moment) -> None:
        """Check what the runs have told people: that the policy lets in what cd proposes."""
        head = self._main.head(f"{PROPOSED}{name}") or ""
        new = ended.statuses[len(self._begun.statuses) :]
        told = [s.state for s in new if (s.commit, s.context) == (head, "kalypso / policy")]
        if told[-1:] != ["success"] or OVERRIDDEN in self._main.commit(head).message:
            return
        heads = (self._heads[name], self._main.head(name))
        found = [
            self.refusals(name, at or "", self._base(head), moment)
            for at in heads
            for moment in (self._begun, ended)
        ]
        assert not all(found), f"{name} would get {head[:7]} in spite of its policy: {found}"

    def _may_be_merged_by_people(self, name: str, ended: Moment) -> None:
        """Check what schedule has told people of a change of the configuration alone.

        What cd has let in goes on, whatever holds now.
        """
        proposed = self._chain.acme.head(f"kalypso/{name}", GITOPS)
        new = self._chain.acme.sandbox.repository(GITOPS).statuses[self._told :]
        told = [s.state for s in new if (s.commit, s.context) == (proposed, "kalypso / policy")]
        if told[-1:] != ["success"]:
            return
        heads = (self._heads[name] or "", self._main.head(name) or "")
        named = {*map(self._base, heads), self._tracked[name], self._chain.tracks(name)}
        found = [self._closed(at, moment) for at in heads for moment in (self._begun, ended)]
        assert len(named) > 1 or not all(found), f"{name} is told to be open in spite of {found}"

    def _closed(self, head: str, moment: Moment) -> list[str]:
        """Return the holds and freezes that apply to the commit that an environment has."""
        files = self._main.files(head)
        spec = spec_of(files[POLICY_FILE].decode()) if POLICY_FILE in files else None
        freezes = (spec or {}).get("freezes") or ()
        frozen = [f"freeze: {each['reason']}" for each in freezes if is_frozen(each, moment.now)]
        return [*_holds(spec or {}, self._base(head), moment.now, ""), *frozen]

    def moment(self) -> Moment:
        """Return what GitHub shows now."""
        sandbox = self._chain.acme.sandbox
        with sandbox.lock:
            statuses = list(sandbox.repository(CONTROL_PLANE).statuses)
            runs = list(sandbox.repository(CONTROL_PLANE).check_runs)
        changes = {name: list(every) for name, every in self._promotions.changes.items()}
        return Moment(sandbox.store.now + self.skew, statuses, changes, runs)

    def eligible(self, environment: str, moment: Moment) -> list[str]:
        """Return the commits that wait for the policy of an environment, which lets them in."""
        head = self._main.head(environment) or ""
        present, waiting = self._base(head), []
        for status in moment.statuses:
            commit = status.commit
            is_newer = commit not in waiting and self._promotions.is_behind(present, commit)
            is_waiting = is_newer and _waits(moment.of_chain(commit, environment))
            if is_waiting and not self.refusals(environment, head, commit, moment):
                waiting.append(commit)
        return waiting

    def refusals(
        self, environment: str, head: str, commit: str, moment: Moment, person: str = ""
    ) -> list[str]:
        """Return why the policy at `head` of an environment's branch keeps a commit out.

        A `person` goes back to the commit, which was deployed there.
        """
        files = self._main.files(head)
        if POLICY_FILE not in files:
            return []
        spec = spec_of(files[POLICY_FILE].decode())
        if spec is None:
            return ["the policy is invalid"]
        reasons = [*_holds(spec, commit, moment.now, person)]
        if not person:
            between = self._between(self._base(head), commit)
            reasons += self._freezes(spec, (commit, *between), moment.now)
            reasons += self._requirements(spec.get("requires") or {}, commit, moment)
            if spec.get("queue") == "oldest":
                required = (spec.get("requires") or {}).get("deployed") or ()
                present = self._base(head)
                reasons += self._queue(environment, present, between, required, moment)
        return reasons

    def _may_be_written(
        self, name: str, before: str, written: str, runs: Sequence[Run], ended: Moment
    ) -> None:
        old, new = self._base(before), self._base(written)
        if old == new:
            return
        context, person = f"{name} environment", ""
        goes_back = not self._main.is_ancestor(old, new)
        if goes_back and any(
            (status.commit, status.context, status.description) == (new, context, "Deployed")
            for status in self._begun.statuses
        ):
            person = PERSON
        # The run decided at some time between its beginning and its end.
        found = [self.refusals(name, before, new, at, person) for at in (self._begun, ended)]
        assert not all(found), f"{name} got {new[:7]} in spite of its policy: {found}"
        if is_rollback(runs):
            spec = spec_of(self._main.files(written)[POLICY_FILE].decode()) or {}
            assert any(hold.get("at") == new for hold in spec["holds"]), "a rollback holds"

    def _base(self, commit: str) -> str:
        match = COMMIT.search(self._main.files(commit)["base-repo.yaml"].decode())
        return match[1] if match else ""

    def _between(self, present: str, commit: str) -> list[str]:
        """Return the commits of main between an environment's commit and another one."""
        between, each = [], self._main.commit(commit)
        while each.parents and not self._main.is_ancestor(each.parents[0], present):
            each = self._main.commit(each.parents[0])
            between.append(each.id)
        return between

    def _freezes(
        self, spec: Mapping[str, Any], entering: Sequence[str], now: datetime
    ) -> Iterator[str]:
        for freeze in spec.get("freezes") or ():
            allowed = set(freeze.get("allow") or ())
            is_allowed = all(self.labels.get(each) in allowed for each in entering)
            if is_frozen(freeze, now) and not (allowed and is_allowed):
                yield f"freeze: {freeze['reason']}"

    def _requirements(
        self, requires: Mapping[str, Any], commit: str, moment: Moment
    ) -> Iterator[str]:
        since = []
        for name in requires.get("deployed") or ():
            status = moment.latest(commit, f"{name} environment")
            if not status or status.description != "Deployed" or status.author != OURS:
                yield f"not deployed in {name}"
                continue
            since.append(status.created_at)
            now = [moment.changes[name][-1][1]]
            now += [base for at, base in moment.changes[name] if at > status.created_at]
            if not all(self._main.is_ancestor(commit, base) for base in now):
                yield f"{name} has left it"
        if requires.get("soak") and since and moment.now < max(since) + _span(requires["soak"]):
            yield "it soaks"
        for check in requires.get("checks") or ():
            if moment.result(commit, check["name"], check["from"]) != "success":
                yield f"{check['name']} has not succeeded"

    def _queue(
        self,
        environment: str,
        present: str,
        between: Sequence[str],
        required: Sequence[str],
        moment: Moment,
    ) -> Iterator[str]:
        for each in between:
            is_waiting = _waits(moment.of_chain(each, environment))
            if is_waiting and all(self._may_come(each, name, moment) for name in required):
                yield f"{each[:7]} waits before it"
        if moment.of_chain(present, environment) in {"Promoted", "Deploying"}:
            yield f"{present[:7]} is under way"

    def _may_come(self, commit: str, name: str, moment: Moment) -> bool:
        """Tell whether an environment has deployed a commit, or has not come as far yet."""
        is_deployed = moment.of_chain(commit, name) == "Deployed"
        changes = moment.changes[name]
        contained = [self._main.is_ancestor(commit, base) for _, base in changes]
        own = [place for place, (_, base) in enumerate(changes) if base == commit]
        first = own[-1] if own else contained.index(True) if True in contained else len(changes)
        if not all(contained[first:]):
            return False  # people rolled back from it
        return is_deployed or not contained[-1] or changes[-1][1] == commit


def spec_of(text: str) -> dict[str, Any] | None:
    """Return the spec of a policy; None if it is invalid, as far as stories write invalid ones."""
    try:
        spec = yaml.safe_load(text)["spec"]
    except yaml.YAMLError:
        return None
    return spec if isinstance(spec, dict) and spec.keys() <= FIELDS else None


def is_frozen(freeze: Mapping[str, Any], now: datetime) -> bool:
    """Return whether a freeze applies: by times, or each day at a minute and hour of local time."""
    if "from" in freeze:
        begins, ends = (datetime.fromisoformat(freeze[end]) for end in ("from", "to"))
        return begins <= now < ends
    minute, hour = map(int, freeze["cron"].split()[:2])
    zone, today = ZoneInfo(freeze["timezone"]), now.date()
    for days in range(-3, 3):
        local = datetime(today.year, today.month, today.day, hour, minute) + timedelta(days)
        while not _exists(local, zone):  # the clocks skip it: it begins right after
            local += timedelta(minutes=1)
        begins = local.replace(tzinfo=zone).astimezone(UTC)
        if begins <= now < begins + _span(freeze["duration"]):
            return True
    return False


def _exists(local: datetime, zone: ZoneInfo) -> bool:
    there = local.replace(tzinfo=zone)
    return there.astimezone(UTC).astimezone(zone).replace(tzinfo=None) == local


def _span(text: str) -> timedelta:
    return timedelta(seconds=int(text[:-1]) * UNITS[text[-1]])


def _holds(spec: Mapping[str, Any], commit: str, now: datetime, person: str) -> Iterator[str]:
    for hold in spec.get("holds") or ():
        is_over = "until" in hold and datetime.fromisoformat(hold["until"]) <= now
        if not is_over and hold["by"] != (person or None) and hold.get("at") != commit:
            yield f"hold by {hold['by']}"


def _waits(description: str) -> bool:
    return description.startswith("Waiting: ") and description != "Waiting: cd"


def _has_reason(runs: Sequence[Run]) -> bool:
    return any((run.event.payload.get("inputs") or {}).get("override") for run in runs)
