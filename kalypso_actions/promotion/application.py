"""The records and decisions of an application's chain, as tables over values.

An application is promoted from main of its source repository. All records stand on commits of the
source; the status of a configuration change stands on the commit of the configs, too. They are
commit statuses, and `start_records` has the form of starts and of written trees:

    context                 text
    kalypso / version       <version> <image tag>[ <image name>]: see `version_records`
    kalypso / deploy <env>  a start of deploy, its subject the origin; then `Scheduled: <digest>`,
                            or `Blocked: <digest>` if rendering or the scan refused the commit
    kalypso / check <env>   a start of check; its subject is the commit of the GitOps branch
    kalypso / tree <env>    the ids of the trees that deploy has proposed
    <env>                   the state of the commit in the environment: see `ApplicationState`

What an environment should have follows from the present state alone: `desired_commit`. What a merge
means follows from it, too: `meaning_of_head`. Triggers only say when to look.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import Enum
from typing import Final, Literal

import yaml

from kalypso_actions.errors import KalypsoError, Location, Problem, UsageError
from kalypso_actions.model.application import NO_ENVIRONMENTS, ORDER_FILE
from kalypso_actions.model.github import CommitStatus, StatusState
from kalypso_actions.model.history import Ancestry
from kalypso_actions.model.kinds import (
    FIRST_ENVIRONMENT_ANNOTATION,
    NEXT_ENVIRONMENT_ANNOTATION,
    Environment,
    RepositoryPath,
)
from kalypso_actions.model.kubernetes_names import object_name_fault
from kalypso_actions.model.yaml_edits import text_of, value_of
from kalypso_actions.promotion.cd_decision import comes_back
from kalypso_actions.promotion.environments import environment_circles, next_environments
from kalypso_actions.promotion.lost_starts import MOST_ATTEMPTS, Repair, overdue
from kalypso_actions.promotion.start_records import PREFIX, StartRecord
from kalypso_actions.promotion.statuses import cut
from kalypso_actions.promotion.version_records import Release


def deploy_context(environment: str) -> str:
    """Return the context of deploy's starts and results, on the commit that the run proposes."""
    return f"{PREFIX}deploy {environment}"


def check_context(environment: str) -> str:
    """Return the context of check's starts, on the promoted commit."""
    return f"{PREFIX}check {environment}"


class ApplicationState(Enum):
    """The state of a commit in an environment; its status has the environment's name as context.

    Each has the state of the status, and the form of its description: "…" stands for any text.
    Upstream's versions omit some of these texts, so a beginning decides.
    """

    PROMOTED = ("pending", "Promoted…", "a pull request brings it to the GitOps branch")
    DEPLOYING = ("pending", "Deploying", "merged; the clusters are awaited")
    DEPLOYED = ("success", "Deployed…", "the clusters complied")
    CONFIGURED = ("success", "Configured: …", "the clusters complied with its configuration")
    FAILED = ("failure", "Failed to deploy…", "clusters, a command, or the manifests refused it")
    EDITED = ("failure", "Merged with changes by others: run deploy", "merged, but not as proposed")
    SUPERSEDED = ("pending", "Superseded by …", "a newer commit came first")
    ROLLED_BACK = ("pending", "Rolled back to …", "an older commit came back")

    def __init__(self, status: StatusState, description: str, meaning: str) -> None:
        self.status = status
        self.description = description
        self.meaning = meaning


def status_of(
    environment: str, state: ApplicationState, text: str = "", url: str = ""
) -> CommitStatus:
    """Return the status of a state, with the text that its description has in place of "…"."""
    description = cut(state.description.replace("…", text))
    return CommitStatus(environment, state.status, description, url)


def promoted(environment: str, version: str = "", url: str = "") -> CommitStatus:
    """Return the status of a commit that the pull request at `url` brings to the environment.

    On a commit of the configs, it has no version.
    """
    return status_of(environment, ApplicationState.PROMOTED, f" {version}" if version else "", url)


def deployed(environment: str, version: str, gitops_commit: str) -> CommitStatus:
    """Return the status of a commit with which the clusters comply."""
    text = f"{version}: {gitops_commit}"
    return status_of(environment, ApplicationState.DEPLOYED, f" {text}")


def failed(environment: str, reason: str) -> CommitStatus:
    """Return the status of a failure, with its reason cut to the length of a description."""
    return status_of(environment, ApplicationState.FAILED, f": {reason}")


def state_of(status: CommitStatus | None) -> ApplicationState | None:
    """Return the state that a status describes; None without one, or for another description."""
    if status is None:
        return None
    for state in ApplicationState:
        beginning, dots, _ = state.description.partition("…")
        text = status.description
        if text.startswith(beginning) if dots else text == state.description:
            return state
    return None


def is_current(status: CommitStatus | None) -> bool:
    """Whether the commit was merged into the environment and is Deploying or Deployed there."""
    return state_of(status) in {ApplicationState.DEPLOYING, ApplicationState.DEPLOYED}


@dataclass(frozen=True, slots=True)
class DeployFacts:
    """What decides which commit an environment should have.

    `main` is the ancestry of the source's main. `tracked` is the commit that the GitOps branch
    tracks and Kalypso proposed, `proposed` that of our open pull request ("" for none). `started`
    are those of main's newest commits with a start of deploy that has not ended. `left` are the
    commits that people rolled the environment back from. `out` are the commits whose pull requests
    people closed, and those that rendering or the scan refused. `asked` is the commit that a person
    names ("" for none). `goes_back`: the proposal is the rollback that a person has asked for.
    """

    main: Ancestry
    tracked: str = ""
    proposed: str = ""
    started: Collection[str] = ()
    left: Collection[str] = ()
    out: Collection[str] = ()
    asked: str = ""
    allow_rollback: bool = False
    goes_back: bool = False


def desired_commit(facts: DeployFacts) -> str:
    """Return the commit that an environment should have; "" for none.

    It is the newest by ancestry of what the environment has, what is proposed to it, and what was
    started for it. A person's rollback stays proposed until a commit is started that is newer than
    the one that the environment has. Only a person brings back what people closed or rolled back,
    and with `allow_rollback` an older commit. Raises UsageError for a person's commit that is not
    on main, or is older than the tracked one without that permission.
    """
    main, asked = facts.main, facts.asked
    candidates = [
        commit
        for commit in dict.fromkeys((facts.proposed, *facts.started))
        if commit in main
        and (
            commit == facts.proposed  # a person has brought it back
            or not (commit in facts.out or comes_back(commit, facts.left, main))
        )
    ]
    if facts.tracked in main:  # a closed pull request does not take away what the branch has
        candidates.append(facts.tracked)
    newest = _newest(candidates, main)
    if facts.goes_back and newest == facts.tracked and facts.proposed in main:
        newest = facts.proposed
    if not asked or asked == newest:
        return newest
    if asked not in main:
        raise UsageError(
            f"the commit {asked[:7]} is not on the source's main branch",
            advice="deploy commits of main only",
        )
    if facts.allow_rollback or not newest or not main.contains(newest, asked):
        return asked
    if facts.tracked in main and asked != facts.tracked and main.contains(facts.tracked, asked):
        raise UsageError(
            f"the commit {asked[:7]} is older than {facts.tracked[:7]}, which the environment has",
            advice="to go back on purpose, set allow-rollback",
        )
    return newest  # a start for the tracked commit must not take a newer proposal back


def _newest(commits: Iterable[str], main: Ancestry) -> str:
    """Return the newest commit by ancestry; of unrelated ones, the first in the order of main."""
    candidates = set(commits)
    return next(
        (
            commit
            for commit in main.parents
            if commit in candidates
            and not any(other != commit and main.contains(other, commit) for other in candidates)
        ),
        "",
    )


LENGTH: Final = 16
"""Hexadecimal digits of a digest; the description of a status is short."""
DIGEST: Final = re.compile(rf"[0-9a-f]{{{LENGTH}}}")


def deploy_digest(commit: str, release: Release, configs: str) -> str:
    """Return the digest of what decides a proposal, and moves; `configs` is the configs' head.

    Code and options are not part of it: they are in workflow files, which people change and start.
    """
    text = json.dumps([commit, release.description, configs])
    return hashlib.sha256(text.encode()).hexdigest()[:LENGTH]


def refused(record: StartRecord | None, digest: str) -> bool:
    """Whether rendering or the scan refused a commit whose inputs are still the same.

    A change of the configuration may repair what was refused, so it counts as new.
    """
    return record is not None and record.kind == "blocked" and record.subject == digest


def deploy_due(
    record: StartRecord | None, digest: str, *, now: datetime, repair_after: timedelta
) -> Repair | None:
    """Return the start of deploy that an environment needs; None if it has these inputs.

    `record` is that of deploy on the commit that the environment should have, `digest` that of its
    present inputs. A start that poll makes for new inputs has their digest as subject, so that
    three lost ones end only until the inputs change again.
    """
    if record is None:
        return Repair(1)
    match record.kind:
        case "starting":
            return overdue(record, now=now, repair_after=repair_after)
        case "received":
            return None
        case "given up" if not DIGEST.fullmatch(record.subject):
            return None
    return Repair(1) if record.subject != digest else None


def check_due(
    record: StartRecord | None,
    gitops_commit: str,
    *,
    merged_at: datetime,
    is_open: bool,
    made: Callable[[], int],
    now: datetime,
    repair_after: timedelta,
) -> Repair | None:
    """Return the start of check that the head of a GitOps branch needs; None if it has a verdict.

    `record` is that of check on the commit that the head tracks. `is_open`: a check has begun to
    wait for the clusters, and told no verdict. `made` counts the starts so far for this head, and
    is called if a run may have been killed. The caller makes sure that no run is in progress.
    """
    if record is None or record.subject != gitops_commit:
        return Repair(1) if now - merged_at >= repair_after else None
    if record.kind == "starting":
        return overdue(record, now=now, repair_after=repair_after)
    is_recent = record.since is not None and now - record.since < repair_after
    if record.kind != "received" or not is_open or is_recent:
        return None
    attempts = made()
    return Repair(attempts + 1 if attempts < MOST_ATTEMPTS else 0)


HeadKind = Literal[
    "promotion",
    "continuation",
    "configuration",
    "rollback",
    "edited",
    "manual",
    "by hand",
]
"""What the head of a GitOps branch means.

promotion      a commit came: wait for the clusters, then go on
continuation   its promotion was not finished
configuration  the configs changed: wait for the clusters, nothing goes on
rollback       an older commit came back: nothing goes on until a newer one, or a person
edited         people changed what Kalypso proposed: nothing goes on
manual         people changed manifests of a commit that is deployed
by hand        the tracking file names a commit that Kalypso did not propose here
"""


@dataclass(frozen=True, slots=True)
class HeadFacts:
    """The head of a GitOps branch, and the records on the commit that it tracks.

    `is_on_main` says whether the source's main has this commit. `tree` is the id of the branch's
    tree, `proposed_trees` are those that our `kalypso / tree <env>` on the commit lists. `latest`
    is the commit's status for the environment. `is_older`: the newest other commit that is
    Deploying or Deployed here contains the tracked one. `is_new_configuration`: the tree names a
    commit of the configs that no status says is Configured here.
    """

    is_on_main: bool
    tree: str
    proposed_trees: Collection[str]
    latest: CommitStatus | None
    is_older: bool = False
    is_new_configuration: bool = False


def meaning_of_head(facts: HeadFacts) -> HeadKind:
    """Return what the head of a GitOps branch means, whatever has moved it."""
    state = state_of(facts.latest)
    is_ours = facts.tree in facts.proposed_trees
    is_deployed = state is ApplicationState.DEPLOYED
    if not (facts.is_on_main and facts.proposed_trees):
        return "by hand"
    if state is not None and facts.is_older:
        return "rollback"
    if not is_ours:
        # The status of a deployed commit stays; its configuration is told on the configs commit.
        return "manual" if is_deployed and not facts.is_new_configuration else "edited"
    if state is None:
        return "configuration"
    if is_deployed:
        return "configuration" if facts.is_new_configuration else "manual"
    return "promotion" if state is ApplicationState.PROMOTED else "continuation"


ORDER_ADVICE: Final = "write a list of `- name: dev`, each with `next: [stage]` if others follow"


def read_order(content: bytes | None, url: str) -> dict[str, Environment]:
    """Return the environments of an application by name, in the order of the file.

    Those that no other one names are the first. Without the file there are none: then the inputs
    `start-environment` and `next-environment` say the order. `url` is that of the source. Raises
    KalypsoError with all problems of the file.
    """
    if content is None:
        return {}
    where = Location(url, ORDER_FILE)
    try:
        document = yaml.compose(content.decode("utf-8"), Loader=yaml.SafeLoader)
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        message = f"it is not valid YAML: {error}"
        raise KalypsoError(message, where, ORDER_ADVICE, "yaml-invalid") from error
    items = document.value if isinstance(document, yaml.SequenceNode) else []
    rows: list[tuple[str, str, Location, Location]] = []
    problems = [] if items else [Problem("it is no list of environments", where, ORDER_ADVICE)]
    for item in items:
        at = replace(where, line=item.start_mark.line + 1)
        name, following = text_of(value_of(item, "name")), value_of(item, "next")
        next_names = [text_of(following)]
        if isinstance(following, yaml.SequenceNode):
            next_names = [text_of(each) for each in following.value]
        is_text = all(next_names) or following is None
        if not (name and is_text):
            problems.append(Problem("this is no environment with a name", at, ORDER_ADVICE))
            continue
        problems += _name_problems(name, [known for known, *_ in rows], at)
        line = following.start_mark.line if following else item.start_mark.line
        rows.append((name, ",".join(filter(None, next_names)), at, replace(where, line=line + 1)))
    environments = _ordered(rows, url)
    for name in environments:
        try:
            next_environments((), name, environments)
        except KalypsoError as error:
            problems += error.problems
    problems += environment_circles(environments)
    if problems:
        raise KalypsoError.of(problems)
    return environments


def _name_problems(name: str, known: Collection[str], at: Location) -> Iterator[Problem]:
    if fault := object_name_fault(name):
        advice = "name an environment as its branch"
        yield Problem(f"the environment's name {name!r} {fault}", at, advice)
    if name in NO_ENVIRONMENTS:
        advice = "give the environment a branch of another name"
        yield Problem(f"the branch {name!r} cannot be an environment", at, advice)
    if name in known:
        yield Problem(f"the environment {name!r} is listed twice", at, ORDER_ADVICE)


def _ordered(
    rows: Iterable[tuple[str, str, Location, Location]], url: str
) -> dict[str, Environment]:
    rows = list(rows)
    followers = {each for name, names, *_ in rows for each in names.split(",") if each != name}
    return {
        name: Environment(
            name,
            RepositoryPath(url, name, "."),
            {NEXT_ENVIRONMENT_ANNOTATION: names}
            | ({} if name in followers else {FIRST_ENVIRONMENT_ANNOTATION: "true"}),
            where,
            next_where,
        )
        for name, names, where, next_where in rows
    }
