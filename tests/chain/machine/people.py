"""The actions of people in random stories."""

from __future__ import annotations

import json

from hypothesis import strategies as st
from hypothesis.stateful import rule

from kalypso_actions.model.layout import PROMOTED_COMMIT_FILE, SOURCES_FILE
from tests.chain.machine import acme
from tests.chain.machine.acme import BAD
from tests.chain.machine.content import digest
from tests.chain.machine.scene import Scene, only_if
from tests.commands.chain.organisation import CONTROL_PLANE, GITOPS

places = st.integers(0, 3)
"""The index of an environment, run or commit, modulo their number."""

CLOSERS = ("a person", "a bot", "the deletion of its branch")


class People(Scene):
    """Commits, merges, reverts, approvals, and starts of workflows."""

    @rule(change=st.sampled_from(acme.MAIN_CHANGES))
    def merge_to_main(self, change: str, label: str = "") -> None:
        commit = acme.change_main(self.chain, change, self.next_number(), label)
        self.entries.labels[commit] = label
        if change != "document":  # the commit changes nothing else
            self.is_broken = change == "broken"
        if change in {"broken", "unbearable"}:
            self.needs_commit = True
        if change == "release":  # the commit repairs everything
            self.needs_commit = False
        if not self.is_broken:
            self.promotions.good.add(commit)
        self.tell(f"{commit[:7]} comes to main: {change}{', labelled ' * bool(label)}{label}")

    @rule(place=places, change=st.sampled_from(acme.CONFIGURATIONS))
    def configure(self, place: int, change: str) -> None:
        self.configure_environment(self.environment(place), change)

    def configure_environment(self, environment: str, change: str) -> None:
        acme.configure(self.chain, environment, change, self.next_number())
        self.content[environment].people_wish()
        self.misconfigured.discard(environment)
        if change != "region":
            self.misconfigured.add(environment)
        self.tell(f"the configuration of {environment} becomes: {change}")

    @rule(workload=st.sampled_from(acme.WORKLOADS))
    def register(self, workload: str) -> None:
        acme.register(self.chain, self.layout, workload, self.next_number())
        for content in self.content.values():
            content.people_wish()
        self.tell(f"the registered workload becomes: {workload}")

    @rule(place=places)
    def merge_pull_request(self, place: int) -> None:
        environment = self.environment(place)
        if self.chain.pull_requests(environment):
            self.merge_proposal(environment)
        elif environment in self.proposed_by_cd():
            self.merge_cd(environment)

    @rule(place=places, closer=st.sampled_from(CLOSERS))
    def close_pull_request(self, place: int, closer: str) -> None:
        environment = self.environment(place)
        if not self.chain.pull_requests(environment):
            return
        pull = self.chain.open_pull_request(environment)
        if closer == "a person":
            self.needs_commit = True
            self.content[environment].people_closed(
                digest(self.safety.tree(GITOPS, pull["head"]["sha"]))
            )
            self.chain.close_pull_request(environment)
        elif closer == "a bot":
            self.chain.close_as_bot(environment)
        else:
            branch = pull["head"]["ref"]
            self.chain.acme.ask("DELETE", f"{GITOPS}/git/refs/heads/{branch}")
        self.tell(f"#{pull['number']} into {environment} is closed by {closer}")

    @rule(place=places, back=places)
    def revert(self, place: int, back: int) -> None:
        """Revert one of the last commits of a GitOps branch: a merge, or another revert."""
        environment = self.environment(place)
        since = self.commits_since_the_beginning(environment)
        changes = self.chain.undoing(environment, back % since) if since else {}
        if changes:
            self.change_by_hand(environment, changes, f"reverts commit {back} before the head")

    @rule(place=places, older=places, with_sources=st.booleans())
    def write_tracking(self, place: int, older: int, with_sources: bool) -> None:
        """Let only the tracking files name another commit of main."""
        environment, commit = self.environment(place), self._commit_of_main(older)
        files: dict[str, str | bytes | None] = {PROMOTED_COMMIT_FILE: commit}
        if with_sources:
            sources = json.loads(self.safety.files(GITOPS, environment)[SOURCES_FILE])
            sources["baseRepos"]["main"]["commit"] = commit
            files[SOURCES_FILE] = json.dumps(sources, indent=2, sort_keys=True) + "\n"
        self.promotions.written[environment].add(commit)
        what = "sources.json and the tracking file" if with_sources else "the tracking file"
        self.change_by_hand(environment, files, f"writes {commit[:7]} into {what}")

    @rule(place=places, older=places)
    def write_base_repo(self, place: int, older: int) -> None:
        """Write `base-repo.yaml` as a person, who can promote and roll back by it."""
        environment, commit = self.environment(place), self._commit_of_main(older)
        text = self.chain.acme.files(environment)["base-repo.yaml"]
        text = text.replace(self.promotions.names(environment), commit)
        self.chain.acme.commit({"base-repo.yaml": text}, environment)
        self.promotions.a_person_wrote(environment)
        self.content[environment].base_repo_changed()
        self.needs_commit = True
        self.tell(f"somebody writes {commit[:7]} into base-repo.yaml of {environment}")

    @rule(place=places, older=places, claim=st.booleans())
    def start_cd(self, place: int, older: int, claim: bool) -> None:
        """Start cd as a person, who may claim that the commit comes from the environment before."""
        environment, commit = self.environment(place), self._commit_of_main(older)
        if commit not in self.promotions.good:
            return
        inputs = {"environment": environment, "promoted_commit_id": commit}
        before = self.layout.before(environment)
        if claim and before:
            inputs["promoted_from"] = before[0]
            self.promotions.claimed[environment].add(commit)
        else:
            self.promotions.wished[environment].add(commit)
            inputs["allow_rollback"] = "true"
            self.needs_commit = True
        self.chain.start("cd", **inputs)
        self.tell(f"somebody starts cd {environment} with {commit[:7]}{' as promoted' * claim}")

    @rule(place=places, force=st.booleans())
    def start_schedule(self, place: int, force: bool) -> None:
        environment = self.environment(place)
        if force:
            self.content[environment].people_wish()
        self.chain.start("schedule", environment=environment, force=str(force).lower())
        self.tell(f"somebody starts schedule {environment}{', forced' * force}")

    @rule()
    def start_poll(self) -> None:
        self.chain.start("poll")
        self.tell("the clock starts poll")

    @rule(seconds=st.sampled_from([60, 900, 3 * 86400]))
    def wait(self, seconds: int) -> None:
        self.chain.wait(seconds)
        self.tell(f"{seconds} seconds pass")

    # Approvals

    @rule(place=places)
    def require_approval(self, place: int) -> None:
        self.chain.requires_approval(self.environment(place))
        self.tell(f"jobs in {self.environment(place)} are to be approved")

    @rule(place=places, approved=st.sampled_from([True, True, False]))
    @only_if(lambda self: self.chain.waiting_for_approval)
    def decide(self, place: int, approved: bool) -> None:
        waiting = self.chain.waiting_for_approval
        name = waiting[place % len(waiting)]
        if approved:
            self.chain.approve(name)
        else:
            self.chain.refuse(name)
            self.needs_commit = True
        self.tell(f"somebody {'approves' if approved else 'refuses'} {name}")

    # Clusters

    @rule(place=places, bears=st.sampled_from(["everything good", "nothing"]))
    def cluster(self, place: int, bears: str) -> None:
        text = "" if bears == "nothing" else BAD
        self.chain.break_cluster(self.environment(place), "large", text)
        self.tell(f"the cluster of {self.environment(place)} bears {bears}")

    @rule(place=places, minutes=st.integers(0, 5))
    def slow_cluster(self, place: int, minutes: int) -> None:
        self.chain.slow_cluster(self.environment(place), "large", 60 * minutes)
        self.tell(f"the cluster of {self.environment(place)} syncs after {minutes} minutes")

    @rule(place=places)
    def follow_elsewhere(self, place: int) -> None:
        acme.follow_elsewhere(self.chain, self.environment(place))
        self.tell(f"a cluster of {self.environment(place)} follows ./monitoring, and fails")

    @rule(place=places)
    def delete_cluster(self, place: int) -> None:
        acme.delete_cluster(self.chain, self.environment(place))
        self.tell(f"a cluster of {self.environment(place)} is deleted, but not from its reports")

    def _commit_of_main(self, older: int) -> str:
        """Return one of the last commits of main; the oldest if there are fewer."""
        git = self.chain.acme.sandbox.git(CONTROL_PLANE)
        commit = git.commit("main")
        for _ in range(older):
            if commit.parents:
                commit = git.commit(commit.parents[0])
        return commit.id
