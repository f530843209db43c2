"""Control planes of a few documents, each a mutation of one without faults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from textwrap import dedent
from typing import Final, Literal

from kalypso_actions.errors import Finding, Problem, of_level
from kalypso_actions.fleet.parsing import promotion_policy
from kalypso_actions.model.documents import Document, Reading, Revision
from kalypso_actions.model.kinds import RepositoryPath
from kalypso_actions.model.layout import PLACEMENTS_FOLDER
from kalypso_actions.model.promotion_policy import POLICY_FILE
from kalypso_actions.planning.fleet_checks.branches import RegisteredReading
from kalypso_actions.planning.plan import PlanOptions
from kalypso_actions.planning.validation import validate_control_plane
from kalypso_actions.sources.yaml_documents import parse_yaml

API: Final = "apiVersion: scheduler.kalypso.io/v1alpha1\n"
COMMIT: Final = "abcdef0123" * 4
APP: Final = RepositoryPath("https://git.test/app", "main", ".")

Files = dict[str, str]
Plane = dict[str, Files]


def sound() -> Plane:
    """Return the files of main, dev, stage and a registered repository, without findings."""
    return {
        "main": {
            "dev.yaml": environment("dev", "stage", first=True),
            "stage.yaml": environment("stage"),
            "templates.yaml": "".join(
                template(name, kind)
                for name, kind in (
                    ("flux", "reconciler"),
                    ("space", "namespace"),
                    ("map", "config"),
                )
            ),
            "registration.yaml": REGISTRATION,
        },
        "dev": fleet("dev"),
        "stage": fleet("stage"),
        "app": {"workload.yaml": WORKLOAD},
    }


def environment(name: str, next_environment: str = "", *, first: bool = False) -> str:
    annotations = f'kalypso.io/next-environment: "{next_environment}", ' if next_environment else ""
    if first:
        annotations += 'kalypso.io/first-environment: "true"'
    return (
        f"{API}kind: Environment\nmetadata: {{name: {name}, annotations: {{{annotations}}}}}\n"
        f"spec: {{controlPlane: {{repo: https://git.test/plane, branch: {name}, path: .}}}}\n"
    )


def template(name: str, kind: str) -> str:
    return (
        f"---\n{API}kind: Template\nmetadata:\n"
        f"  annotations: {{kalypso.io/manifests: any}}\n  name: {name}\nspec:\n  type: {kind}\n"
        "  manifests:\n    - 'namespace: {{ .Namespace }}'\n"
    )


def fleet(name: str) -> Files:
    return {
        "base-repo.yaml": f"{API}kind: BaseRepo\nmetadata:\n  name: main\n"
        f"spec: {{repo: https://git.test/plane, branch: main, path: ., commit: {COMMIT}}}\n",
        "gitops-repo.yaml": f"{API}kind: GitOpsRepo\nmetadata: {{name: {name}}}\n"
        f"spec: {{repo: https://git.test/gitops, branch: {name}, path: .}}\n",
        "edge.yaml": dedent("""\
            apiVersion: scheduler.kalypso.io/v1alpha1
            kind: ClusterType
            metadata:
              name: edge
              labels:
                size: edge
                region: west
            spec:
              reconciler: flux
              namespaceService: space
              configType: map
            """),
        "policy.yaml": dedent("""\
            apiVersion: scheduler.kalypso.io/v1alpha1
            kind: SchedulingPolicy
            metadata:
              name: tests
            spec:
              deploymentTargetSelector:
                workspace: team
                labelSelector:
                  matchLabels:
                    purpose: test
              clusterTypeSelector:
                labelSelector:
                  matchLabels:
                    size: edge
            """),
        "config.yaml": dedent("""\
            apiVersion: v1
            kind: ConfigMap
            metadata:
              name: region
              labels:
                platform-config: "true"
                region: west
            data:
              REGION: West
            """),
        "schema.yaml": dedent("""\
            apiVersion: scheduler.kalypso.io/v1alpha1
            kind: ConfigSchema
            metadata:
              name: region
              labels:
                cluster-type: edge
            spec:
              schema: '{"type": "object"}'
            """),
    }


REGISTRATION: Final = dedent("""\
    apiVersion: scheduler.kalypso.io/v1alpha1
    kind: WorkloadRegistration
    metadata:
      name: app
    spec:
      workload: {repo: https://git.test/app, branch: main, path: .}
      workspace: team
    """)

WORKLOAD: Final = dedent("""\
    apiVersion: scheduler.kalypso.io/v1alpha1
    kind: Workload
    metadata:
      name: boards
    spec:
      deploymentTargets:
        - name: test
          environment: dev
          labels:
            purpose: test
          manifests: {repo: r}
        - name: trial
          environment: stage
          labels:
            purpose: test
          manifests: {repo: r}
    """)


def edited(plane: Plane, place: str, old: str, new: str) -> Plane:
    """Replace a text, which occurs once, in a file `branch/name` of a control plane."""
    branch, _, file = place.partition("/")
    text = plane[branch][file]
    assert text.count(old) == 1, (place, old)
    return {**plane, branch: {**plane[branch], file: text.replace(old, new)}}


@dataclass
class Found:
    """The findings of validate, by level."""

    problems: list[Finding]
    warnings: list[Finding]
    notes: list[Finding]
    acknowledged: list[Finding]


def findings(
    plane: Mapping[str, Files],
    *,
    app_fault: str = "",
    with_app: bool = True,
    missing_values: Literal["warn", "error"] = "warn",
    main_commit: str = "",
    scheduler: str = "",
    now: datetime | None = None,
) -> Found:
    """Validate the branches, with the registered repository unless it is not `with_app`."""
    readings = [reading(name, files) for name, files in plane.items() if name != "app"]
    app = reading("app", plane["app"]) if with_app and not app_fault else None
    registered = {APP: RegisteredReading(app, Problem(app_fault) if app_fault else None)}
    options = PlanOptions(missing_values=missing_values, scheduler=scheduler)
    found = validate_control_plane(readings, registered, options, now, main_commit)
    return Found(
        problems=[*of_level(found, "error")],
        warnings=[*of_level(found, "warning")],
        notes=[*of_level(found, "note")],
        acknowledged=[item for item in found if item.reason],
    )


def reading(branch: str, files: Files) -> Reading:
    documents: list[Document] = []
    placements: list[Document] = []
    policies: list[Document] = []
    problems: list[Problem] = []
    for path, text in files.items():
        parsed = parse_yaml(branch, path, text.encode())
        is_of_chain = path.startswith(PLACEMENTS_FOLDER)
        of_kind = placements if is_of_chain else documents
        (policies if path == POLICY_FILE else of_kind).extend(parsed.documents)
        problems += parsed.problems
    revision = Revision("https://git.test/plane", branch, "c" * 40, ".", None)
    return Reading(
        revision,
        tuple(documents),
        tuple(problems),
        placements=tuple(placements),
        policies=tuple(policies),
        policy=promotion_policy(policies, ()),
    )


def shown(problems: list[Problem]) -> list[tuple[str, str]]:
    """Return the code of each problem, and its branch, file and line."""
    return [
        (problem.code, f"{where.repository}/{where.path}:{where.line}" if where else "")
        for problem in problems
        for where in (problem.where,)
    ]
