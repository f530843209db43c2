"""Pages of reports, as files, for the browser."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from kalypso_actions.commands.report import drawing, observed_document, page_parts
from kalypso_actions.comparison import Mask
from kalypso_actions.errors import Location, Problem
from kalypso_actions.model.history import HistoryCommit
from kalypso_actions.model.kinds import Fleet
from kalypso_actions.observations.timeline import DrawnTime
from kalypso_actions.planning.fleet_report import MergedTree, ReportCollection
from kalypso_actions.report.documents import ProblemEntry
from kalypso_actions.report.observed_document import ObservedDocument
from kalypso_actions.report.report_document import report_page
from kalypso_actions.report.status_document import (
    ClusterStateEntry,
    CommitViewEntry,
    EnvironmentStatusEntry,
    ProposalEntry,
    StateEntry,
    StatusDocument,
    WaitEntry,
)
from tests.builders import cluster_type, config_map, fleet, policy, selector, target, template
from tests.observations.test_record import AT
from tests.observations.told import Look, told
from tests.plans import plan

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
HOSTILE = "<img src=x onerror=alert(1)>"
TITLE = "Fleet </script><script>alert(1)</script>"
PAGE = "https://github.test/acme/gitops"
SCRIPT = "javascript:alert(1)"
UNKNOWN = StatusDocument(problems=ProblemEntry.all_of([Problem("no token is given")]))


def environment(name: str, size: int, targets: int) -> Fleet:
    """Return an environment of `size` cluster types and `targets`; `type-0` lacks a Template."""
    return fleet(
        environment=name,
        cluster_types=[
            cluster_type(f"type-{n}", **({} if n else {"config_type": "absent"}), size="large")
            for n in range(size)
        ],
        targets=[
            target(f"t{n}", workload="app", workspace=f"team-{n % 7}", environment=name)
            for n in range(targets)
        ],
        policies=[policy("all", targets=selector(workload="app"))],
        config_maps=[
            config_map(
                "all", {"URL": f"https://{name}.test", "NOTE": HOSTILE, "TOKEN": "t0ps3cret"}
            ),
            config_map("large", {"URL": f"https://large.{name}.test"}, size="large"),
        ],
        templates=(
            template("reconciler", "kind: {{.Environment}}\nnote: {{.ConfigData.NOTE}}"),
            template("namespace", "name: {{.Namespace}}"),
            template("config", "token: {{.ConfigData.TOKEN}}"),
        ),
    )


def merged(name: str) -> MergedTree:
    """Return a GitOps branch with two commits that changed app-t1 on type-1."""
    commits = [
        HistoryCommit(str(n) * 40, (), NOON - timedelta(days=n), f"{HOSTILE} {n}\n\n.", {}, "Ana")
        for n in (1, 2)
    ]
    return MergedTree(PAGE, name, "", "1" * 40, {"type-1/app-t1": tuple(commits)})


def pipeline(*names: str) -> StatusDocument:
    """Return GitHub's part of the report; the first environment waits, with forbidden links."""
    commit = CommitViewEntry(
        commit="c" * 40, subject=HOSTILE, author="Ana", committed_at=NOON - timedelta(hours=3)
    )
    proposal = ProposalEntry(
        repository="acme/gitops",
        number=7,
        title=HOSTILE,
        url=f"{PAGE}/pull/7",
        author="ana",
        created_at=NOON,
    )
    failed = ClusterStateEntry(
        id="c", name=HOSTILE, cluster_type="drone", state="failed", reason=HOSTILE
    )
    wait = WaitEntry(waits_for="people", text="merge acme/gitops#7", url=SCRIPT)
    states = {
        "text": "Deploying 4/8",
        "state": "pending",
        "at": NOON - timedelta(minutes=5),
        "url": SCRIPT,
    }
    environments = [
        EnvironmentStatusEntry(
            environment=name,
            branch=name,
            commit=commit,
            ahead=2,
            state=StateEntry.model_validate(states),
            next_environments=(),
            assignments=1,
            failing=0,
            degraded=0,
            pull_requests=(proposal,) if name == names[0] else (),
            waits=(wait,) if name == names[0] else (),
            clusters={"compliant": 3, "failed": 1} if name == names[0] else None,
            not_compliant=(failed,) if name == names[0] else None,
        )
        for name in names
    ]
    return StatusDocument(
        control_plane="acme/control-plane",
        at=NOON,
        main=commit,
        ci="success",
        waits=(WaitEntry(waits_for="people", text="merge acme/control-plane#8", url=SCRIPT),),
        environments=tuple(environments),
    )


def past() -> ObservedDocument:
    """Return the record of a week: type-1 of dev fails on one cluster, and recovers."""
    hours = 60
    kinds = {"dev": ("type-0", "type-1", "type-2"), "stage": ("type-0", "type-1")}
    looks = []
    for name, types in kinds.items():
        late = 0 if name == "dev" else 6 * hours
        for each in types:
            clusters = [f"{name}-{each}-{number}" for number in range(1, 4)]
            for day, content in enumerate("abcdef"):
                begin = day * 24 * hours + late
                wanted = {each: content, "app-t1": f"1.{day}"}
                had = chr(ord(content) - 1) if day else content
                version = f"1.{max(day - 1, 0)}"

                def all_have(
                    platform: str, application: str, names: Sequence[str] = clusters
                ) -> dict[str, str]:
                    return dict.fromkeys(names, f"{platform}, app-t1 {application}")

                rolling = {
                    **all_have(f"{had} success", f"{version} success"),
                    clusters[0]: f"{content} in_progress, app-t1 {version} success",
                }
                done = all_have(f"{content} success", f"1.{day} success")
                looks += [
                    Look(begin, wanted, rolling, name, each),
                    Look(begin + 30, wanted, done, name, each),
                ]
                if (name, each, content) == ("dev", "type-1", "d"):
                    failed = f"{content} failure, app-t1 1.{day} failure"
                    broken = {**done, clusters[1]: failed}
                    looks += [
                        Look(begin + 40, wanted, broken, name, each),
                        Look(begin + 6 * hours, wanted, done, name, each),
                    ]
                if (name, each, content) == ("stage", "type-1", "f"):
                    looks.append(
                        Look(
                            begin + 8 * hours,
                            wanted,
                            {
                                clusters[0]: f"{content} failure, app-t1 1.{day} success",
                                clusters[1]: f"{content} unreachable, app-t1 1.{day} success",
                            },
                            name,
                            each,
                        )
                    )
    looks.sort(key=lambda look: look.minutes)
    end = AT + timedelta(days=5, hours=15)
    window = DrawnTime(int((AT - timedelta(days=2)).timestamp()), int(end.timestamp()))
    names = {(name, "github.com/acme/shop", name, "app-t1"): "app-t1" for name in kinds}
    return observed_document(told(*looks), window, names)


def written(
    folder: Path,
    *fleets: Fleet,
    shown: StatusDocument = UNKNOWN,
    observed: ObservedDocument | None = None,
) -> str:
    """Write the page of a report, and return its URL."""
    report = ReportCollection(Mask())
    for each in fleets:
        problem = Problem(HOSTILE, Location("test", "a.yaml", 3), "change it", "code")
        made = plan(each, problems=[problem])
        report.add(made, "labels", merged=[merged(each.environment)])
    document = report.document(TITLE, NOON, shown).model_copy(update={"observed": observed})
    page = report_page(TITLE, document.to_json(), page_parts(), drawing(document))
    (folder / "index.html").write_text(page, encoding="utf-8")
    return (folder / "index.html").as_uri()
