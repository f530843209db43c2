"""The commands of the promotion chain, on the command line and behind actions.

An action has the name of its command; the action at the root runs start-schedule. A command is
imported when it is called, because each step of a job waits for its imports.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, Final, Literal

if TYPE_CHECKING:
    from kalypso_actions.commands.shared.context import CommandContext
    from kalypso_actions.commands.shared.result import CommandResult
    from kalypso_actions.inputs.chain import GitHubInputs
    from kalypso_actions.report.chain_document import ChainDocument


Place = Literal[
    "control plane",
    "GitOps repositories",
    "registered repositories",
    "source",
    "configs",
    "GitOps repository",
]
Level = Literal["read", "write"]

CONTROL_PLANE: Final = "control plane"
GITOPS: Final = "GitOps repositories"
REGISTERED: Final = "registered repositories"
"""Repositories of applications, and repositories that BaseRepo objects name."""
SOURCE: Final = "source"
CONFIGS: Final = "configs"
GITOPS_OF_APPLICATION: Final = "GitOps repository"
"""The repositories of an application."""

OF_JOBS_ALONE: Final = frozenset({"id-token"})
"""Permissions that jobs can have and Apps cannot."""


@dataclass(frozen=True, slots=True)
class Permission:
    """One permission in the repositories of one place.

    `name` is as in `permissions:` of a workflow; write includes read. `only` is the condition under
    which a run needs the permission ("": any run may need it), `reason` is its use.
    """

    place: Place
    name: str
    level: Level
    reason: str
    only: str = ""


READS_MAIN: Final = Permission(
    CONTROL_PLANE, "contents", "read", "reads main and the environment branches"
)
READS_GITOPS: Final = Permission(GITOPS, "contents", "read", "reads the GitOps branches")
READS_WORKLOADS: Final = Permission(REGISTERED, "contents", "read", "reads the registered folders")

POLICY: Final = (
    Permission(
        CONTROL_PLANE, "checks", "read", "reads the checks that a policy requires", "a policy"
    ),
    Permission(
        CONTROL_PLANE,
        "pull-requests",
        "read",
        "reads the labels that a freeze lets in",
        "a policy",
    ),
)
"""What a PromotionPolicy may ask about a commit; without it, the commit waits."""

RECORD: Final = (
    Permission(CONTROL_PLANE, "contents", "write", "writes the record", "record"),
    Permission(
        GITOPS, "pull-requests", "read", "records when proposals were opened and merged", "record"
    ),
)
"""What a run needs that records what it sees."""

RECORDS: Final = Permission(
    CONTROL_PLANE, "statuses", "write", "records that the run has begun; else poll may repeat it"
)


def highest(rows: Iterable[Permission]) -> dict[str, Level]:
    """Return the highest level of each permission, by name."""
    levels: dict[str, Level] = {}
    for row in rows:
        if levels.get(row.name) != "write":
            levels[row.name] = row.level
    return levels


OF_APPLICATION: Final = "app-"
"""The beginning of the names of an application's commands."""


@dataclass(frozen=True, slots=True)
class ChainCommand:
    """A command by its name, such as `check-promote`, with the first paragraph of its help.

    Its parts are named after it: `CheckPromoteInputs`, `CheckPromoteDocument`, and the function
    `check_promote` in the module or package `check_promote`. The command `app-deploy` of an
    application has the function `app_deploy` in `app.deploy`.

    `permissions` are those that its token needs, `verify_only` those that it needs with the input
    `verify-only`. The lists are complete, except that any token may read public repositories and
    metadata. A job's own token (`github.token`) works only in the job's repository: `permissions:`
    of the workflow grants it the rows of that repository. A GitHub App works in all repositories
    where it is installed, and gets the highest level of all rows.

    `icon` is that of its action in GitHub's marketplace; "" if it has no action. `examples` end its
    help, which says what exit code 1 means (`failure`). `documents` is the module with the model of
    its result, by default `report.chain_document`.
    """

    name: str
    summary: str
    permissions: tuple[Permission, ...]
    examples: tuple[str, ...] = ()
    failure: str = "problems"
    verify_only: tuple[Permission, ...] = ()
    documents: str = ""
    icon: str = ""

    @property
    def model(self) -> type[GitHubInputs]:
        """The model of its inputs."""
        place = "inputs.app" if self.is_of_application else "inputs.chain"
        model: type[GitHubInputs] = self._resolve(f"{place}:{self._class}Inputs")
        return model

    @property
    def is_of_application(self) -> bool:
        """Whether it belongs to an application's chain, and people write it `kalypso app …`."""
        return self.name.startswith(OF_APPLICATION)

    @property
    def words(self) -> str:
        """The words by which people start it: `check-promote`, or `app deploy`."""
        return self.name.replace("-", " ", 1) if self.is_of_application else self.name

    @property
    def document(self) -> type[ChainDocument]:
        """The model of its result."""
        own = "application_document" if self.is_of_application else "chain_document"
        place = self.documents or f"report.{own}"
        document: type[ChainDocument] = self._resolve(f"{place}:{self._class}Document")
        return document

    @property
    def function(self) -> Callable[[Any, CommandContext], CommandResult]:
        """The function that runs it with its inputs."""
        function: Callable[[Any, CommandContext], CommandResult]
        module = self._module.replace("_", ".", 1) if self.is_of_application else self._module
        function = self._resolve(f"commands.{module}:{self._module}")
        return function

    @property
    def _module(self) -> str:
        return self.name.replace("-", "_")

    @property
    def _class(self) -> str:
        return self.name.title().replace("-", "")

    def _resolve(self, place: str) -> Any:
        return resolve_name(f"kalypso_actions.{place}")


CHAIN: Final = (
    ChainCommand(
        "ci",
        "Check a commit of main in every environment, and start cd for the first ones.",
        examples=("kalypso ci --control-plane acme/control-plane --commit 4c1f0d2",),
        failure="problems, or with --strict warnings",
        icon="check-circle",
        permissions=(
            READS_MAIN,
            Permission(
                CONTROL_PLANE,
                "statuses",
                "write",
                "posts the status `kalypso / ci`; else a warning",
            ),
            Permission(
                CONTROL_PLANE,
                "actions",
                "write",
                "starts `cd.yaml`",
                "on a push to main, or start-cd",
            ),
            Permission(GITOPS, "contents", "read", "reports what would change; else a warning"),
            READS_WORKLOADS,
        ),
    ),
    ChainCommand(
        "cd",
        "Promote a commit of main to an environment, and start schedule for it.",
        examples=(
            "kalypso cd --control-plane acme/control-plane --environment dev --commit 4c1f0d2",
        ),
        icon="git-commit",
        permissions=(
            Permission(CONTROL_PLANE, "contents", "write", "writes `base-repo.yaml` to a branch"),
            Permission(CONTROL_PLANE, "statuses", "write", "posts the state of the commit"),
            Permission(
                CONTROL_PLANE,
                "actions",
                "write",
                "starts `schedule.yaml`",
                "the branch has the commit",
            ),
            Permission(
                CONTROL_PLANE,
                "pull-requests",
                "write",
                "proposes the commit to the branch",
                "mode: pull-request",
            ),
            Permission(
                GITOPS,
                "contents",
                "write",
                "turns off auto-merge; else a warning, and schedule does it",
                "a rollback by an App",
            ),
            Permission(
                GITOPS,
                "pull-requests",
                "write",
                "turns off auto-merge; else a warning, and schedule does it",
                "a rollback by an App",
            ),
            *POLICY,
        ),
        verify_only=(READS_MAIN, RECORDS, *POLICY),
    ),
    ChainCommand(
        "rollback",
        "Bring an environment back to its last good commit, and hold it there.",
        examples=(
            "kalypso rollback --environment prod",
            "kalypso rollback --environment stage --chain --reason incident-4711 --dry-run",
        ),
        failure="an environment that cannot go back, or at a terminal a run that fails",
        icon="rotate-ccw",
        permissions=(
            Permission(
                CONTROL_PLANE,
                "contents",
                "write",
                "writes `base-repo.yaml` and the hold to the branches",
            ),
            Permission(CONTROL_PLANE, "statuses", "write", "posts the state of the commits"),
            Permission(
                CONTROL_PLANE,
                "actions",
                "write",
                "starts `schedule.yaml`; at a terminal, `rollback.yaml`",
            ),
            Permission(
                GITOPS,
                "contents",
                "write",
                "turns off auto-merge; else a warning, and schedule does it",
                "a run by an App",
            ),
            Permission(
                GITOPS,
                "pull-requests",
                "write",
                "turns off auto-merge; else a warning, and schedule does it",
                "a run by an App",
            ),
        ),
        verify_only=(
            READS_MAIN,
            Permission(CONTROL_PLANE, "statuses", "read", "reads which commits were deployed"),
        ),
        documents="report.rollback_document",
    ),
    ChainCommand(
        "schedule",
        "Render an environment and propose its tree: one pull request for each GitOpsRepo.",
        examples=("kalypso schedule --control-plane acme/control-plane --environment dev",),
        icon="git-pull-request",
        permissions=(
            READS_MAIN,
            Permission(
                CONTROL_PLANE,
                "statuses",
                "write",
                "reads whether the commit is deployed; records its inputs for poll",
            ),
            Permission(
                CONTROL_PLANE,
                "actions",
                "write",
                "starts `check-promote.yaml`",
                "auto-merge, or its start after a merge was lost",
            ),
            Permission(
                GITOPS,
                "contents",
                "write",
                "pushes the branch of the proposal; merges, with auto-merge",
            ),
            Permission(GITOPS, "pull-requests", "write", "proposes the tree, with labels"),
            Permission(
                GITOPS, "issues", "write", "opens and closes issues about failing assignments"
            ),
            Permission(
                GITOPS,
                "statuses",
                "write",
                "posts `kalypso / policy`; else its text alone says what holds",
                "an environment with a policy",
            ),
            READS_WORKLOADS,
        ),
        documents="report.schedule_document",
    ),
    ChainCommand(
        "notify",
        "Tell the control plane of a push to a GitOps branch, and whether it is a promotion.",
        examples=("kalypso notify --control-plane acme/control-plane --environment dev",),
        icon="bell",
        permissions=(
            READS_GITOPS,
            READS_MAIN,
            Permission(
                CONTROL_PLANE,
                "statuses",
                "write",
                "reads whether the commit is deployed; records the start for poll",
            ),
            Permission(CONTROL_PLANE, "actions", "write", "starts `check-promote.yaml`"),
        ),
    ),
    ChainCommand(
        "check-promote",
        "Wait until the clusters of an environment comply with a merge, then promote its commit.",
        examples=(
            "kalypso check-promote --control-plane acme/control-plane --environment dev"
            " --gitops-commit COMMIT --promoted-commit COMMIT",
        ),
        failure="problems, or clusters that do not comply",
        icon="fast-forward",
        permissions=(
            READS_MAIN,
            Permission(CONTROL_PLANE, "statuses", "write", "posts the state of the commit"),
            Permission(
                CONTROL_PLANE, "actions", "write", "starts `cd.yaml`, or itself after some hours"
            ),
            Permission(
                CONTROL_PLANE,
                "id-token",
                "write",
                "signs in to Azure",
                "with OIDC: azure-client-id",
            ),
            READS_GITOPS,
            *RECORD,
        ),
        verify_only=(READS_MAIN, READS_GITOPS, RECORDS),
        documents="report.check_promote_document",
    ),
    ChainCommand(
        "poll",
        "Start schedule where the inputs of an environment have changed, and repeat lost starts.",
        examples=("kalypso poll --control-plane acme/control-plane --environments dev,stage",),
        icon="refresh-cw",
        permissions=(
            READS_MAIN,
            Permission(
                CONTROL_PLANE, "statuses", "write", "reads and writes the records of starts"
            ),
            Permission(
                CONTROL_PLANE, "actions", "write", "starts `schedule.yaml`; repeats lost starts"
            ),
            READS_GITOPS,
            Permission(GITOPS, "pull-requests", "read", "reads the proposals"),
            READS_WORKLOADS,
            *POLICY,
            RECORD[0],
        ),
    ),
    ChainCommand(
        "observe",
        "Record what each environment should run, and what its clusters run.",
        examples=(
            "kalypso observe --control-plane acme/control-plane",
            "kalypso observe --control-plane ../control-plane --record ../record",
        ),
        failure="a source of cluster reports that does not answer",
        icon="activity",
        permissions=(
            Permission(
                CONTROL_PLANE, "contents", "write", "reads the environments, writes the record"
            ),
            Permission(CONTROL_PLANE, "statuses", "read", "records the states of commits"),
            Permission(
                CONTROL_PLANE,
                "id-token",
                "write",
                "signs in to Azure",
                "with OIDC: azure-client-id",
            ),
            READS_GITOPS,
            Permission(
                GITOPS, "pull-requests", "read", "records when proposals were opened and merged"
            ),
            READS_WORKLOADS,
        ),
        documents="report.observe_document",
    ),
    ChainCommand(
        "start-schedule",
        "Start schedule for every environment that a branch of the control plane belongs to.",
        examples=("kalypso start-schedule --control-plane acme/control-plane --branch dev",),
        permissions=(
            READS_MAIN,
            Permission(
                CONTROL_PLANE, "statuses", "write", "records the start; else poll may repeat it"
            ),
            Permission(CONTROL_PLANE, "actions", "write", "starts `schedule.yaml`"),
        ),
    ),
    ChainCommand(
        "preview",
        "Compare the environments before and after a change, and show the difference.",
        examples=(
            "kalypso preview",
            "kalypso preview --base main --head my-change --verbose",
        ),
        failure="new problems, or with --strict new warnings",
        icon="eye",
        permissions=(
            READS_MAIN,
            Permission(
                CONTROL_PLANE,
                "pull-requests",
                "write",
                "comments on the pull request; else a warning",
            ),
            Permission(
                CONTROL_PLANE,
                "statuses",
                "write",
                "posts the status `kalypso / preview`; else a warning",
            ),
            Permission(GITOPS, "contents", "read", "finds removals in the trees; else it counts"),
            READS_WORKLOADS,
        ),
        documents="report.preview_document",
    ),
    ChainCommand(
        "preview-comment",
        "Comment on the pull request of a preview whose token could not.",
        icon="message-square",
        permissions=(
            Permission(
                CONTROL_PLANE, "pull-requests", "write", "finds the pull request, and comments"
            ),
        ),
        documents="report.preview_document",
    ),
)

COMMANDS: Final[Mapping[str, ChainCommand]] = {command.name: command for command in CHAIN}

APPLICATION: Final = (
    ChainCommand(
        "app-ci",
        "Record the version and image of a commit, and start its deployment.",
        examples=("kalypso app ci --version 0.0.1-36 --image-tag 0.0.1-36 --dry-run",),
        icon="package",
        permissions=(
            Permission(SOURCE, "contents", "read", "reads main and the order of environments"),
            Permission(SOURCE, "statuses", "write", "posts the version, and the start for poll"),
            Permission(SOURCE, "actions", "write", "starts `deploy.yml`"),
        ),
    ),
    ChainCommand(
        "app-deploy",
        "Render an application for an environment, and propose the tree as one pull request.",
        examples=(
            "kalypso app deploy --environment dev --configs-repository acme/shop-configs "
            "--gitops-repository acme/shop-gitops --dry-run",
        ),
        failure="problems, or a command that refuses the tree",
        icon="git-pull-request",
        permissions=(
            Permission(SOURCE, "contents", "read", "reads main, the chart and the Workload"),
            Permission(SOURCE, "statuses", "write", "reads versions; posts the commit's state"),
            Permission(
                SOURCE, "actions", "write", "starts `post-deployment.yml`", "auto-merge: always"
            ),
            Permission(CONFIGS, "contents", "read", "reads the configuration"),
            Permission(CONFIGS, "statuses", "write", "posts the state of a configuration"),
            Permission(
                GITOPS_OF_APPLICATION,
                "contents",
                "write",
                "pushes the branch of the proposal; merges, with auto-merge",
            ),
            Permission(
                GITOPS_OF_APPLICATION, "pull-requests", "write", "proposes the tree, with labels"
            ),
        ),
    ),
    ChainCommand(
        "app-preview",
        "Compare an application's trees before and after a pull request, and show the difference.",
        examples=(
            "kalypso app preview --configs-repository acme/shop-configs "
            "--gitops-repository acme/shop-gitops --base main --head 4c1f0d2 --dry-run",
        ),
        failure="new problems, or with --strict new warnings",
        icon="eye",
        permissions=(
            Permission(SOURCE, "contents", "read", "reads both commits of the source"),
            Permission(SOURCE, "pull-requests", "write", "comments; else a warning"),
            Permission(SOURCE, "statuses", "write", "posts `kalypso / preview`; else a warning"),
            Permission(CONFIGS, "contents", "read", "reads the configuration"),
            Permission(CONFIGS, "pull-requests", "write", "comments on its pull requests"),
            Permission(CONFIGS, "statuses", "write", "posts `kalypso / preview` there"),
            Permission(GITOPS_OF_APPLICATION, "contents", "read", "reads the present trees"),
        ),
    ),
    ChainCommand(
        "app-notify",
        "Tell an application's source of a push to its GitOps repository or its configs.",
        examples=("kalypso app notify --source-repository acme/shop --pushed configs",),
        icon="bell",
        permissions=(
            Permission(SOURCE, "actions", "write", "starts `post-deployment.yml` or `deploy.yml`"),
        ),
    ),
    ChainCommand(
        "app-poll",
        "Start an application's deployments and checks that are due, and repeat lost starts.",
        examples=(
            "kalypso app poll --configs-repository acme/shop-configs "
            "--gitops-repository acme/shop-gitops --dry-run",
        ),
        icon="refresh-cw",
        permissions=(
            Permission(SOURCE, "contents", "read", "reads main and the order of environments"),
            Permission(SOURCE, "statuses", "write", "reads and writes the records of starts"),
            Permission(SOURCE, "actions", "write", "starts deployments and checks"),
            Permission(CONFIGS, "contents", "read", "reads the heads of the configs"),
            Permission(CONFIGS, "statuses", "read", "reads the state of a configuration"),
            Permission(GITOPS_OF_APPLICATION, "contents", "read", "reads the trees"),
            Permission(GITOPS_OF_APPLICATION, "pull-requests", "read", "reads the proposals"),
        ),
    ),
    ChainCommand(
        "app-check",
        "Wait until the clusters run what was merged, then deploy it to the next environments.",
        examples=(
            "kalypso app check --environment dev --configs-repository acme/shop-configs "
            "--gitops-repository acme/shop-gitops --platform-gitops acme/gitops@dev --dry-run",
        ),
        failure="clusters that fail, do not comply in time, or do not exist",
        icon="check-circle",
        permissions=(
            Permission(SOURCE, "contents", "read", "reads main and the order of environments"),
            Permission(SOURCE, "statuses", "write", "reads versions; posts the commit's state"),
            Permission(SOURCE, "actions", "write", "starts `deploy.yml`, or itself to go on"),
            Permission(SOURCE, "id-token", "write", "signs in to Azure", "Azure reports clusters"),
            Permission(CONFIGS, "contents", "read", "reads the head of the configuration"),
            Permission(CONFIGS, "statuses", "write", "posts the state of a configuration"),
            Permission(GITOPS_OF_APPLICATION, "contents", "read", "reads what was merged"),
            Permission(GITOPS_OF_APPLICATION, "pull-requests", "read", "reads the open proposal"),
        ),
        verify_only=(
            Permission(SOURCE, "contents", "read", "reads main and the order of environments"),
            Permission(SOURCE, "statuses", "write", "reads versions; records that the run began"),
            Permission(CONFIGS, "contents", "read", "reads the head of the configuration"),
            Permission(CONFIGS, "statuses", "read", "reads the state of a configuration"),
            Permission(GITOPS_OF_APPLICATION, "contents", "read", "reads what was merged"),
            Permission(GITOPS_OF_APPLICATION, "pull-requests", "read", "reads the open proposal"),
        ),
    ),
)
"""The commands of an application's chain, in the order in which a commit meets them."""

ACTIONS: Final[Mapping[str, ChainCommand]] = {
    **COMMANDS,
    **{command.name: command for command in APPLICATION},
}
"""All commands that run as actions, by the name of the action."""


def app_permissions(commands: Iterable[str] = COMMANDS) -> dict[str, Level]:
    """Return the permissions of a GitHub App for these commands, by the names of GitHub's API.

    Raises KeyError for an unknown command.
    """
    rows = (row for command in commands for row in ACTIONS[command].permissions)
    # An App of before works without them, until people write a policy.
    of_apps = (row for row in rows if row not in POLICY)
    levels = highest(row for row in of_apps if row.name not in OF_JOBS_ALONE)
    return {name.replace("-", "_"): level for name, level in sorted(levels.items())}
