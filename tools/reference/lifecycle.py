"""The lifecycle of a commit of main in one environment: events, and the writes of each.

The states are those of `promotion.statuses`. The reference shows this table and its diagram, and
the random stories of `tests/chain` check every change of state against it. A state is visible from
outside: in commit statuses, `base-repo.yaml`, the tracking file and pull requests.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final, Literal

from kalypso_actions.promotion.start_records import Command, Kind
from kalypso_actions.promotion.statuses import State


class Actor(Enum):
    """A cause of events, or a writer."""

    CI = "ci"
    CD = "cd"
    SCHEDULE = "schedule"
    START_SCHEDULE = "start-schedule"
    NOTIFY = "notify"
    CHECK_PROMOTE = "check-promote"
    POLL = "poll"
    PEOPLE = "people"
    CLUSTERS = "clusters"
    GITHUB = "GitHub"


class Event(Enum):
    """An event, and its cause."""

    COMMIT_COMES = ("a commit comes to main", Actor.PEOPLE)
    CI_PASSES = ("`ci` finds no fault", Actor.CI)
    NEXT_STARTED = ("the environment before has deployed it", Actor.CHECK_PROMOTE)
    CD_BEGINS = ("the first job of `cd` begins", Actor.CD)
    APPROVED = ("a reviewer approves a job", Actor.PEOPLE)
    REFUSED = ("a reviewer refuses a job", Actor.PEOPLE)
    CD_STARTED_BY_HAND = ("a person starts `cd`", Actor.PEOPLE)
    CD_HELD = ("`cd` finds a hold in the environment's policy", Actor.CD)
    CD_WAITS = ("`cd` finds that the environment's policy keeps the commit out", Actor.CD)
    CD_WRITES = ("`cd` writes `base-repo.yaml`, or finds the commit there", Actor.CD)
    CD_PROPOSES = ("`cd` opens a pull request (`mode: pull-request`)", Actor.CD)
    CD_COMMAND_FAILS = ("the `pre-deployment` command fails", Actor.CD)
    CD_FINDS_NEWER = ("a newer commit comes to the environment", Actor.CD)
    CD_GOES_BACK = ("the environment goes back, or has gone back, to an older commit", Actor.CD)
    CD_PULL_REQUEST_MERGED = ("the pull request of `cd` is merged", Actor.PEOPLE)
    CD_PULL_REQUEST_CLOSED = ("the pull request of `cd` is closed", Actor.PEOPLE)
    BASE_NAMES_IT = ("a person writes the commit into `base-repo.yaml`", Actor.PEOPLE)
    BASE_NAMES_NEWER = ("a person brings a newer commit to `base-repo.yaml`", Actor.PEOPLE)
    BASE_GOES_BACK = ("a person sets `base-repo.yaml` back", Actor.PEOPLE)
    INPUTS_CHANGE = ("an environment's branch or a registered folder changes", Actor.PEOPLE)
    SCHEDULE_STARTED_BY_HAND = ("a person starts `schedule`", Actor.PEOPLE)
    BRANCH_PUSHED = ("`start-schedule` runs after a push", Actor.START_SCHEDULE)
    SCHEDULE_PROPOSES = ("`schedule` proposes the tree", Actor.SCHEDULE)
    SCHEDULE_PROPOSES_AGAIN = ("`schedule` has `force`, or other content", Actor.SCHEDULE)
    SCHEDULE_STOPS = ("`schedule` finds that people rejected the same content", Actor.SCHEDULE)
    SCHEDULE_FINDS_NOTHING = ("`schedule` finds nothing to propose", Actor.SCHEDULE)
    SCHEDULE_BLOCKED = ("`schedule` cannot render the environment", Actor.SCHEDULE)
    SCHEDULE_MERGES = ("`schedule` merges (`auto-merge`)", Actor.SCHEDULE)
    PULL_REQUEST_MERGED = ("Kalypso's pull request is merged", Actor.PEOPLE)
    PULL_REQUEST_CLOSED = ("Kalypso's pull request is closed", Actor.PEOPLE)
    PULL_REQUEST_CONFLICTS = ("Kalypso's pull request can no longer be merged", Actor.GITHUB)
    MERGE_REVERTED = ("the merge is reverted", Actor.PEOPLE)
    TRACKING_WRITTEN = ("a person writes the tracking file", Actor.PEOPLE)
    NOTIFY_TELLS = ("`notify` runs after a push to the GitOps branch", Actor.NOTIFY)
    CHECK_BEGINS = ("the first job of `check-promote` begins", Actor.CHECK_PROMOTE)
    CHECK_REFUSES = ("the repositories contradict a start of `check-promote`", Actor.CHECK_PROMOTE)
    CHECK_LOOKS = ("`check-promote` reads the clusters' reports", Actor.CHECK_PROMOTE)
    CHECK_LOOKS_AGAIN = ("`check-promote` runs for a later merge", Actor.CHECK_PROMOTE)
    CHECK_COUNTS = ("another number of clusters complies", Actor.CHECK_PROMOTE)
    CHECK_FINDS_NEWER = ("a branch names a newer commit", Actor.CHECK_PROMOTE)
    CHECK_GOES_BACK = ("a branch, or `base-repo.yaml`, has gone back", Actor.CHECK_PROMOTE)
    CHECK_COMMAND_FAILS = ("the `post-deployment` command fails", Actor.CHECK_PROMOTE)
    CLUSTERS_COMPLY = ("enough clusters comply", Actor.CLUSTERS)
    CLUSTERS_FAIL = ("too many clusters fail", Actor.CLUSTERS)
    CLUSTERS_TIME_OUT = ("`timeout` passes", Actor.CLUSTERS)
    START_LOST = ("a start leads to no run", Actor.GITHUB)
    RUN_KILLED = ("a run is killed", Actor.GITHUB)
    RUN_ENDS = ("a run is cancelled, or ends with an error", Actor.GITHUB)
    RUN_REPEATED = ("a person runs an old run again", Actor.PEOPLE)
    POLL_DUE = ("the clock starts `poll`", Actor.GITHUB)
    POLL_REPEATS = ("`poll` finds a start overdue, or changed inputs", Actor.POLL)
    POLL_GIVES_UP = ("three starts led to no run", Actor.POLL)
    POLL_SETTLES = ("`poll` finds that a start is no longer needed", Actor.POLL)

    def __init__(self, text: str, actor: Actor) -> None:
        self.text = text
        self.actor = actor


@dataclass(frozen=True, slots=True)
class Write:
    """A write: a status or a record by its description, or another thing by its name."""

    kind: Literal["status", "record", "file", "pull request", "start"]
    name: str

    @property
    def text(self) -> str:
        """The write for people, in Markdown."""
        if self.kind in {"file", "pull request"}:
            return self.name
        return f"{self.kind} `{self.name}`"


def status(state: State) -> Write:
    """Return the status `<environment> environment` on the promoted commit."""
    return Write("status", state.description)


def record(command: Command, kind: Kind) -> Write:
    """Return the start record `kalypso / <command> <environment>` (see `start_records`)."""
    return Write("record", f"{command}: {kind.capitalize()}")


def start(command: Command) -> tuple[Write, Write]:
    """Return the two writes that start a workflow: first the record, then the dispatch."""
    return record(command, "starting"), Write("start", f"{command}.yaml")


ANY: Final = tuple(State)
NOT_DEPLOYED: Final = tuple(state for state in State if state is not State.DEPLOYED)
NOT_STARTED: Final = (State.ABSENT, State.STARTING, State.GIVEN_UP, State.RECEIVED)
FROM_RECEIVED: Final = (State.RECEIVED, *(state for state in State if state is not State.RECEIVED))
"""Any state: `cd` may also run again, and a person may start it."""

IN_BASE: Final = (State.PROMOTED, State.OFFERED, State.CLOSED, State.MERGED)
"""`base-repo.yaml` names the commit; the GitOps repository tells these states apart."""


@dataclass(frozen=True, slots=True)
class Transition:
    """The effect of an event on a commit in one of the states `before`.

    after        the new state; empty if the state stays; several if the repositories decide
    repaired_by  the repair of a lost run of the event, or of the lost run that GitHub starts for it
    label        the text in the diagram, which draws a line from the first state of `before` to
                 the first one of `after`; transitions without a label are not drawn
    writer       the writer, if it is not the cause of the event
    """

    before: tuple[State, ...]
    event: Event
    after: tuple[State, ...]
    writes: tuple[Write, ...]
    repaired_by: str
    label: str = ""
    writer: Actor | None = None

    @property
    def actor(self) -> Actor:
        """The writer."""
        return self.writer or self.event.actor


BY_RECORD: Final = "`poll`, by the record of the start"
BY_DIGEST: Final = "`poll`, by the digest of the inputs of `schedule`"
BY_POLICY: Final = "`poll`, as soon as the policy may let it in"
BY_COMMIT: Final = "a person, who runs the job again; or a newer commit"
BY_MERGE: Final = "a person, who runs the job again; or the next merge"
BY_PERSON: Final = "a person, who starts it again"
BY_NEXT_POLL: Final = "the next `poll`"
BY_NEXT_COUNT: Final = "the record of the next minute"
NO_RUN: Final = "no run follows"

_CD, _SCHEDULE = start("cd"), start("schedule")
_CD_SHOWN = (status(State.STARTING), *_CD)
_CHECK = start("check-promote")
_BASE = Write("file", "`base-repo.yaml`")
_TRACKING = Write("file", "the GitOps branch with its tracking file")
_CD_PULL = Write("pull request", "a pull request to the environment's branch")
_PULL = Write("pull request", "Kalypso's pull request to the GitOps branch")
_DONE = record("schedule", "scheduled")
_S, _E, _T = State, Event, Transition  # a row of the table has two lines at most

# fmt: off
TRANSITIONS: Final = (
    # The start
    _T((_S.ABSENT,), _E.COMMIT_COMES, (), (), BY_COMMIT),
    _T((*NOT_STARTED, _S.SUPERSEDED), _E.CI_PASSES, (_S.STARTING,), _CD_SHOWN, BY_COMMIT,
       "ci, or check-promote before"),
    _T((*NOT_STARTED, _S.SUPERSEDED), _E.NEXT_STARTED, (_S.STARTING,), _CD_SHOWN, BY_MERGE),
    _T((_S.STARTING, _S.GIVEN_UP), _E.CD_BEGINS, (_S.RECEIVED,),
       (record("cd", "received"),), BY_RECORD, "first job of cd"),
    _T((_S.STARTING,), _E.POLL_GIVES_UP, (_S.GIVEN_UP,), (record("cd", "given up"),),
       BY_NEXT_POLL, "three starts lost"),
    _T((_S.STARTING,), _E.POLL_SETTLES, (_S.SUPERSEDED,),
       (record("cd", "not needed"), status(_S.SUPERSEDED)), BY_NEXT_POLL),
    _T(ANY, _E.CD_STARTED_BY_HAND, (), (Write("start", "cd.yaml"),), BY_PERSON),
    _T((_S.RECEIVED, _S.MERGED), _E.APPROVED, (), (), BY_COMMIT),
    _T((_S.RECEIVED, _S.MERGED), _E.REFUSED, (), (), NO_RUN),
    # The environment's branch
    _T(FROM_RECEIVED, _E.CD_HELD, (_S.HELD,), (status(_S.HELD),), BY_POLICY, "a hold"),
    _T(FROM_RECEIVED, _E.CD_WAITS, (_S.WAITING,), (status(_S.WAITING),), BY_POLICY, "the policy"),
    _T(FROM_RECEIVED, _E.CD_WRITES, IN_BASE, (_BASE, status(_S.PROMOTED), *_SCHEDULE),
       "a person, who runs the job again; `poll`, as soon as the file is written", "cd writes"),
    _T(FROM_RECEIVED, _E.CD_PROPOSES, (_S.PROPOSED,), (_CD_PULL, status(_S.PROPOSED)), BY_COMMIT,
       "cd proposes"),
    _T(ANY, _E.CD_COMMAND_FAILS, (_S.FAILED,), (status(_S.FAILED),), BY_COMMIT),
    _T(NOT_DEPLOYED, _E.CD_FINDS_NEWER, (_S.SUPERSEDED,), (status(_S.SUPERSEDED),), BY_COMMIT,
       "a newer commit comes"),
    _T(NOT_DEPLOYED, _E.CD_GOES_BACK, (_S.ROLLED_BACK,), (status(_S.ROLLED_BACK),), BY_COMMIT,
       "an older commit returns"),
    _T((_S.HELD, _S.WAITING), _E.CD_WRITES, IN_BASE, (_BASE, status(_S.PROMOTED), *_SCHEDULE),
       BY_POLICY, "the policy lets it in"),
    _T((_S.PROPOSED,), _E.CD_PULL_REQUEST_MERGED, IN_BASE, (_BASE,), BY_DIGEST, "merged"),
    _T((_S.PROPOSED,), _E.CD_PULL_REQUEST_CLOSED, (_S.CLOSED,), (), NO_RUN),
    _T((*NOT_STARTED, _S.HELD, _S.WAITING, _S.PROPOSED, _S.CLOSED, _S.SUPERSEDED, _S.ROLLED_BACK),
       _E.BASE_NAMES_IT, IN_BASE, (_BASE,), BY_DIGEST),
    _T((_S.HELD, _S.WAITING, _S.PROPOSED, *IN_BASE), _E.BASE_NAMES_NEWER, (_S.SUPERSEDED,),
       (_BASE,), BY_DIGEST),
    _T((_S.PROPOSED, *IN_BASE), _E.BASE_GOES_BACK, (_S.ROLLED_BACK,), (_BASE,), BY_DIGEST),
    # The GitOps branch
    _T(ANY, _E.INPUTS_CHANGE, (), (), BY_DIGEST),
    _T(ANY, _E.SCHEDULE_STARTED_BY_HAND, (), (Write("start", "schedule.yaml"),), BY_PERSON),
    _T(ANY, _E.BRANCH_PUSHED, (), _SCHEDULE, BY_DIGEST),
    _T((_S.PROMOTED,), _E.SCHEDULE_PROPOSES, (_S.OFFERED,), (_PULL, _DONE), BY_RECORD,
       "schedule proposes"),
    _T((_S.CLOSED,), _E.SCHEDULE_PROPOSES_AGAIN, (_S.OFFERED,), (_PULL, _DONE), BY_RECORD,
       "force, or other content"),
    _T((_S.PROMOTED, _S.OFFERED, _S.CLOSED), _E.SCHEDULE_STOPS, (_S.CLOSED,), (_PULL, _DONE),
       BY_RECORD),
    _T(ANY, _E.SCHEDULE_FINDS_NOTHING, (), (_DONE, *_CHECK), BY_RECORD),
    _T(ANY, _E.SCHEDULE_BLOCKED, (), (record("schedule", "blocked"),), BY_RECORD),
    _T((_S.OFFERED,), _E.SCHEDULE_MERGES, (_S.MERGED,), (_TRACKING, *_CHECK, _DONE), BY_DIGEST),
    _T((_S.OFFERED,), _E.PULL_REQUEST_MERGED, (_S.MERGED,), (_TRACKING,), BY_DIGEST, "merged"),
    _T((_S.OFFERED,), _E.PULL_REQUEST_CLOSED, (_S.CLOSED,), (), NO_RUN, "closed"),
    _T((_S.OFFERED,), _E.PULL_REQUEST_CONFLICTS, (), (),
       "`poll`, by the pull request's state: it starts `schedule`"),
    _T((_S.MERGED,), _E.MERGE_REVERTED, (_S.CLOSED,), (_TRACKING,), BY_DIGEST),
    _T(IN_BASE, _E.TRACKING_WRITTEN, IN_BASE, (_TRACKING,), BY_DIGEST),
    # The clusters
    _T(ANY, _E.NOTIFY_TELLS, (), _CHECK, BY_RECORD),
    _T(ANY, _E.CHECK_BEGINS, (), (record("check-promote", "received"),), BY_RECORD),
    _T(ANY, _E.CHECK_REFUSES, (), (record("check-promote", "refused"),), BY_RECORD),
    _T((_S.MERGED,), _E.CHECK_LOOKS, (_S.DEPLOYING,), (status(_S.DEPLOYING),), BY_MERGE,
       "check-promote"),
    _T((_S.FAILED, _S.SUPERSEDED, _S.ROLLED_BACK), _E.CHECK_LOOKS_AGAIN, (_S.DEPLOYING,),
       (status(_S.DEPLOYING),), BY_MERGE, "a correction is merged"),
    _T((_S.DEPLOYING,), _E.CHECK_COUNTS, (), (record("check-promote", "received"),), BY_NEXT_COUNT),
    _T((_S.DEPLOYING,), _E.CLUSTERS_COMPLY, (_S.DEPLOYED,), (*_CD, status(_S.DEPLOYED)),
       BY_MERGE, "clusters comply", Actor.CHECK_PROMOTE),
    _T((_S.DEPLOYING,), _E.CLUSTERS_FAIL, (_S.FAILED,), (status(_S.FAILED),), BY_MERGE,
       "clusters fail", Actor.CHECK_PROMOTE),
    _T((_S.DEPLOYING,), _E.CLUSTERS_TIME_OUT, (_S.FAILED,), (status(_S.FAILED),), BY_MERGE,
       "", Actor.CHECK_PROMOTE),
    _T((_S.DEPLOYING,), _E.CHECK_COMMAND_FAILS, (_S.FAILED,), (status(_S.FAILED),), BY_MERGE),
    _T(NOT_DEPLOYED, _E.CHECK_FINDS_NEWER, (_S.SUPERSEDED,), (status(_S.SUPERSEDED),),
       "the run of the newer commit"),
    _T(NOT_DEPLOYED, _E.CHECK_GOES_BACK, (_S.ROLLED_BACK,), (status(_S.ROLLED_BACK),),
       "the run of the older commit"),
    # Runs
    _T(ANY, _E.START_LOST, (), (), BY_RECORD),
    _T(ANY, _E.RUN_KILLED, (), (), "see the event of the run"),
    _T((_S.DEPLOYING,), _E.RUN_ENDS, (_S.FAILED,), (status(_S.FAILED),), BY_MERGE,
       "", Actor.CHECK_PROMOTE),
    _T(ANY, _E.RUN_ENDS, (), (), BY_COMMIT),
    _T(ANY, _E.RUN_REPEATED, (), (), BY_PERSON),
    _T(ANY, _E.POLL_DUE, (), (), BY_NEXT_POLL),
    _T(ANY, _E.POLL_REPEATS, (), (*_CD, *_SCHEDULE, *_CHECK), BY_NEXT_POLL),
    _T(ANY, _E.POLL_GIVES_UP, (),
       (record("schedule", "given up"), record("check-promote", "given up")), BY_NEXT_POLL),
    _T(ANY, _E.POLL_SETTLES, (), (record("check-promote", "not needed"),), BY_NEXT_POLL),
)
# fmt: on
