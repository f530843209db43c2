"""The inputs of the promotion chain's commands and of the actions, also on the command line.

Each field is an input of the action and an option of the command, with its alias as the name and
its description as the text of both. Secrets are not options, because other users of a machine can
read options: they come from the action's inputs or the environment.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Annotated, ClassVar, Final, Literal

from pydantic import AwareDatetime, Field, SecretStr

from kalypso_actions.inputs.paths import Place, Sources, is_folder
from kalypso_actions.inputs.values import (
    Commit,
    CommitId,
    Duration,
    DurationOrOff,
    EnvironmentName,
    Flag,
    Inputs,
    List,
    MaskedKeys,
    Number,
    OnFailure,
    OnSourceFailure,
    Option,
    Percent,
    RepositoryName,
    Secret,
    Split,
    Strict,
    TreeInputs,
    Wheelhouse,
)
from kalypso_actions.model.change_titles import TitleStyle
from kalypso_actions.model.kinds import RegistrationText
from kalypso_actions.model.layout import OWN_BRANCHES
from kalypso_actions.model.tree import MAX_REMOVAL_PERCENT

EMPTY = SecretStr("")


class GitHubInputs(Inputs):
    """Inputs of all commands that work on GitHub with the credentials of a chain."""

    as_texts = True

    chain_input: ClassVar[str] = ""
    """The input that names the repository of the chain, on whose commits its records stand."""

    token: Annotated[Secret, Option("Token for GitHub's API and git.")] = EMPTY
    app_id: Annotated[str, Option("Id of a GitHub App to use instead of the token.")] = ""
    app_private_key: Annotated[
        Secret, Option("The App's private key, in PEM as GitHub creates it.")
    ] = EMPTY
    git_credentials: Annotated[
        Secret, Option("Credentials for other hosts: lines of host-or-URL-prefix=user:token.")
    ] = EMPTY
    allowed_repositories: Annotated[
        List,
        Option(
            "Globs of repositories that may be registered (* matches one segment of "
            "a path, ** several); default: all repositories of the control plane's owner."
        ),
    ] = ()
    former_identities: Annotated[
        List,
        Option(
            "Logins that wrote for Kalypso before the token changed: their issues and "
            "pull requests are replaced."
        ),
    ] = ()
    trusted_dispatchers: Annotated[
        List,
        Option("Logins of bots that may start workflows as people do, such as release[bot]."),
    ] = ()
    wheelhouse: Wheelhouse = ""

    @property
    def chain_repository(self) -> str:
        """The repository of the chain, as owner/name; "" for that of the job."""
        return str(getattr(self, self.chain_input.replace("-", "_")))


class ChainInputs(GitHubInputs):
    """Inputs of all commands of the control plane's chain."""

    chain_input = "control-plane"

    control_plane: Annotated[
        RepositoryName, Option("The control plane, as owner/name; default: the current repository.")
    ] = ""


class PlanInputs(TreeInputs, ChainInputs):
    """Inputs of the commands that render."""

    on_source_failure: OnSourceFailure = "last-good"


EnvironmentInput = Annotated[
    EnvironmentName, Option("The name of the Environment object.", completes="environment")
]
CdWorkflow = Annotated[str, Option("The workflow file that runs cd.")]
ScheduleWorkflow = Annotated[str, Option("The workflow file that runs schedule.")]
CheckPromoteWorkflow = Annotated[str, Option("The workflow file that runs check-promote.")]
CommitBy = Annotated[
    Literal["auto", "git", "api"],
    Option(
        "How to commit: git; api (GitHub signs the commits of Apps and jobs); or auto "
        "(api where a rule of the branch requires signatures)."
    ),
]
DryRun = Annotated[
    Flag, Option("Show what would be written, and write nothing: no command of the user runs.")
]
VerifyOnly = Annotated[
    Flag, Option("Only verify the inputs, and write nothing but the start record.")
]


DEFAULT_CLUSTER_REPORTS: Final = "azure-resource-graph"


class ClusterSources(Inputs):
    """The sources of cluster reports, and the inputs of each source."""

    cluster_reports: Annotated[
        List,
        Option(
            "The sources of cluster reports: azure-resource-graph, commit-statuses, argocd, "
            "command, or those of other packages."
        ),
    ] = (DEFAULT_CLUSTER_REPORTS,)
    status_authors: Annotated[
        List, Option("Logins that post the statuses of clusters, such as fleet-flux[bot].")
    ] = ()
    argocd_servers: Annotated[List, Option("URLs of Argo CD's API servers.")] = ()
    argocd_tokens: Annotated[
        Secret, Option("A token for all Argo CD servers, or lines of URL=token.")
    ] = EMPTY
    argocd_selector: Annotated[
        str, Option("A label selector of the Applications that are read.")
    ] = ""
    reports_command: Annotated[
        str, Option("A command that prints the reports of clusters as JSON.")
    ] = ""
    reports_environment: Annotated[
        List, Option("Variables of the job that reports-command gets.")
    ] = ()
    azure_client_id: Annotated[
        str, Option("Client id of the identity that signs in to Azure with OIDC.")
    ] = ""
    azure_tenant_id: Annotated[str, Option("Tenant id of that identity.")] = ""
    azure_scopes: Annotated[
        List, Option("Subscriptions or management groups of the clusters.")
    ] = ()
    azure_cloud: Annotated[
        Literal["public", "usgov", "china"], Option("The Azure cloud: public, usgov or china.")
    ] = "public"
    azure_credentials: Annotated[
        Secret, Option("JSON of a service principal with a secret, instead of OIDC.")
    ] = EMPTY


SECRETS_OF_SOURCES: Final[Mapping[str, tuple[str, ...]]] = {
    "argocd-tokens": ("KALYPSO_ARGOCD_TOKENS",),
    "azure-credentials": ("AZURE_CREDENTIALS",),
}
"""The environment variables of the secrets among these inputs."""

NAMES_OF_SOURCES: Final[Mapping[str, frozenset[str]]] = {
    DEFAULT_CLUSTER_REPORTS: frozenset({"AZURE_CLIENT_ID", "AZURE_TENANT_ID", "AZURE_SCOPES"}),
    "commit-statuses": frozenset({"KALYPSO_STATUS_AUTHORS"}),
    "argocd": frozenset({"KALYPSO_ARGOCD_SERVERS", "KALYPSO_ARGOCD_TOKENS"}),
}
"""GitHub's variables and secrets that only one source needs, for `kalypso doctor`."""


class ClusterReportsInputs(ClusterSources, ChainInputs):
    """Inputs of the commands of the chain that read cluster reports."""


REVISION: Final = ": its id, abbreviated or not, a tag, or such as main~1"


class CiInputs(PlanInputs):
    """Inputs of `kalypso ci`."""

    commit: Annotated[
        str | None,
        Option(f"The commit of main to check{REVISION}; default: the current one.", "REV"),
    ] = None
    first_environments: Annotated[
        List, Option("Where CD begins; default: as annotated on the Environment objects.")
    ] = ()
    start_cd: Annotated[
        Literal["auto", "true", "false"],
        Option("Start CD: auto (on a push to main), true or false."),
    ] = "auto"
    cd_workflow: CdWorkflow = "cd.yaml"
    strict: Strict = False
    dry_run: DryRun = False


class CdInputs(ChainInputs):
    """Inputs of `kalypso cd`."""

    environment: EnvironmentInput
    commit: Annotated[str, Option(f"The commit of main to promote{REVISION}.", "REV")]
    promoted_from: Annotated[
        str, Option("The previous environment, or ci; empty: a person started this.")
    ] = ""
    mode: Annotated[
        Literal["commit", "pull-request"],
        Option("How to change base-repo.yaml: commit or pull-request."),
    ] = "commit"
    commit_by: CommitBy = "auto"
    allow_rollback: Annotated[
        Flag, Option("Allow a commit that is older than that of the environment.")
    ] = False
    override: Annotated[
        str,
        Option(
            "A person's reason to let the commit in although the environment's policy does not; "
            "it is recorded."
        ),
    ] = ""
    pre_deployment: Annotated[
        str, Option("A command to run first; if it fails, the commit is not promoted.")
    ] = ""
    schedule_workflow: ScheduleWorkflow = "schedule.yaml"
    verify_only: VerifyOnly = False
    dry_run: DryRun = False


EnvironmentArgument = Annotated[
    EnvironmentName,
    Option(
        "The environment, such as prod.",
        "ENVIRONMENT",
        argument=True,
        also_option="The same as ENVIRONMENT.",
        completes="environment",
    ),
]
"""The environment of a command for people, which needs no name of an option."""

PolicyEditMode = Annotated[
    Literal["commit", "pull-request"],
    Option("How to change the policy on the environment's branch: commit or pull-request."),
]


class ReleaseInputs(ChainInputs):
    """Inputs of `kalypso release`."""

    environment: EnvironmentArgument
    by: Annotated[str, Option("Release the holds of this login; default: your own.", "LOGIN")] = ""
    all: Annotated[Flag, Option("Release everybody's holds.")] = False
    reason: Annotated[
        str, Option("Release only the holds whose reason contains this text.", "TEXT")
    ] = ""
    mode: PolicyEditMode = "commit"
    commit_by: CommitBy = "auto"
    dry_run: DryRun = False


class HoldInputs(ChainInputs):
    """Inputs of `kalypso hold`."""

    environment: EnvironmentArgument
    reason: Annotated[str, Option("Why: everybody who waits reads it.")]
    until: Annotated[
        AwareDatetime | None,
        Option("The end, such as 2026-12-01T12:00:00Z; default: until it is released.", "TIME"),
    ] = None
    at: Annotated[
        str, Option(f"The only commit of main that enters all the same{REVISION}.", "REV")
    ] = ""
    mode: PolicyEditMode = "commit"
    commit_by: CommitBy = "auto"
    dry_run: DryRun = False


class RollbackInputs(ChainInputs):
    """Inputs of `kalypso rollback`."""

    environment: Annotated[
        EnvironmentName,
        Option(
            "The environment that goes back, such as prod.",
            "ENVIRONMENT",
            argument=True,
            also_option="The same as ENVIRONMENT.",
            completes="environment",
        ),
    ]
    to: Annotated[
        str,
        Option(
            f"The commit of main to go back to{REVISION}; default: the newest one that the "
            "environment had before, that was Deployed there, and that nobody rolled back from.",
            "REV",
        ),
    ] = ""
    chain: Annotated[
        Flag, Option("Take the commit back from the environments behind this one, too.")
    ] = False
    reason: Annotated[str, Option("Why: the hold shows it to everybody who waits.")] = ""
    commit_by: CommitBy = "auto"
    rollback_workflow: Annotated[
        str, Option("The workflow file that runs rollback, which a terminal starts.")
    ] = "rollback.yaml"
    schedule_workflow: ScheduleWorkflow = "schedule.yaml"
    verify_only: Annotated[
        Flag, Option("Only verify the inputs and decide, and write nothing.")
    ] = False
    dry_run: DryRun = False


class ScheduleInputs(PlanInputs):
    """Inputs of `kalypso schedule`."""

    environment: EnvironmentInput
    on_failure: OnFailure = "block"
    max_removal_percent: Annotated[
        Percent, Option("Refuse to remove more assignments than this (and more than 5) at once.")
    ] = MAX_REMOVAL_PERCENT
    allow_removals: Annotated[Flag, Option("Allow such a removal.")] = False
    max_issues: Annotated[
        Number,
        Option(
            "Issues for single failing assignments, and for single unusable "
            "registrations; one more issue of each kind lists the others."
        ),
    ] = 20
    auto_merge: Annotated[
        Literal["none", "tracking-only", "always"],
        Option("Pull requests to merge automatically: none, tracking-only, always."),
    ] = "none"
    force: Annotated[Flag, Option("Propose again what people closed or reverted.")] = False
    verify: Annotated[
        Flag, Option("Render the assignments with unchanged inputs too, and fail if one differs.")
    ] = False
    branch_prefix: Annotated[
        str, Field(pattern=r"^[\w./-]+$"), Option("The prefix of the branches of proposals.")
    ] = OWN_BRANCHES
    labels: Annotated[List, Option("More labels for the pull requests.")] = ()
    title: Annotated[
        TitleStyle,
        Option("Titles of the pull requests by their meaning, or those of upstream's operator."),
    ] = "meaning"
    mask: MaskedKeys = ()
    commit_by: CommitBy = "auto"
    check_promote_workflow: CheckPromoteWorkflow = "check-promote.yaml"
    dry_run: DryRun = False


class NotifyInputs(ChainInputs):
    """Inputs of `kalypso notify`."""

    control_plane: Annotated[
        RepositoryName, Field(min_length=1), Option("The control plane, as owner/name.")
    ]
    workflow: Annotated[str, Option("The workflow file there that runs check-promote.")] = (
        "check-promote.yaml"
    )
    environment: Annotated[
        str, Option("Only this environment; default: all environments of this branch.")
    ] = ""
    job_token: Annotated[
        Secret,
        Option("The job's own token, which reads this repository if the notifier cannot."),
    ] = EMPTY
    dry_run: DryRun = False


LONGEST_RUN: Final = timedelta(hours=5, minutes=30)
"""GitHub ends a hosted job after six hours. Before that, another run continues the waiting; the
post-deployment command has to end within them, too."""


class WaitingInputs(Inputs):
    """Inputs of the commands that wait for clusters."""

    timeout: Annotated[Duration, Option("How long to wait for the clusters.")] = timedelta(
        minutes=60
    )
    poll_interval: Annotated[Duration, Option("The time between two checks of the clusters.")] = (
        timedelta(seconds=15)
    )
    grace_period: Annotated[
        Duration, Option("How long a cluster must fail or be absent before it counts as failed.")
    ] = timedelta(minutes=2)
    settle: Annotated[
        Duration, Option("How long a cluster must comply if it does not report its applied commit.")
    ] = timedelta(minutes=1)
    stale_after: Annotated[
        DurationOrOff,
        Option("Clusters that do not report for this long are stale; off: no cluster is."),
    ] = None
    min_compliant: Annotated[
        Percent, Option("Share of clusters that must comply, in total and in each cluster type.")
    ] = 100
    missing: Annotated[
        Literal["fail", "warn"], Option("For a cluster type without a cluster: fail or warn.")
    ] = "fail"
    unreachable: Annotated[
        Literal["fail", "ignore"],
        Option("For clusters whose connection is lost: fail (wait for them) or ignore."),
    ] = "fail"
    require_targets: Annotated[Flag, Option("Fail if no cluster follows the branch.")] = True
    ignore_clusters: Annotated[List, Option("Globs of resource ids of clusters to ignore.")] = ()
    post_deployment: Annotated[
        str, Option("A command to run last; if it fails, the commit does not go on.")
    ] = ""


class EventInputs(Inputs):
    """When the events of a record are told."""

    behind_after: Annotated[
        Duration, Option("How long a cluster may be behind before an event tells it.")
    ] = timedelta(hours=1)
    wait_after: Annotated[
        Duration, Option("How long a commit may wait for people before an event tells it.")
    ] = timedelta(hours=24)
    webhook: Annotated[
        Secret, Option("A URL that gets the events as JSON, such as an incoming webhook of a chat.")
    ] = EMPTY


RecordPublic = Annotated[Flag, Option("Record in a repository that everybody can read.")]


class RecordInputs(EventInputs):
    """Inputs of the commands that record what they see anyway."""

    record: Annotated[
        str,
        Option(
            "Where to record what the run sees: owner/name[@branch], with the branch "
            "kalypso-observability by default; empty: nowhere."
        ),
    ] = ""
    record_public: RecordPublic = False


class CheckPromoteInputs(WaitingInputs, RecordInputs, ClusterReportsInputs):
    """Inputs of `kalypso check-promote`."""

    environment: EnvironmentInput
    promoted_commit: Annotated[
        CommitId, Option("The promoted commit; empty: the repositories say what the merge is.")
    ] = None
    gitops_commit: Annotated[Commit, Option("The merged commit of the GitOps branch.")]
    gitops_repository: Annotated[
        RepositoryName, Option("The GitOps repository, as owner/name; default: the only one.")
    ] = ""
    next_environment: Annotated[
        List, Option("The next environments; default: as annotated on the Environment.")
    ] = ()
    cd_workflow: CdWorkflow = "cd.yaml"
    started_at: Annotated[
        str, Option("The time at which an earlier run began to wait, but not before the merge.")
    ] = ""
    verify_only: VerifyOnly = False
    dry_run: Annotated[
        Flag,
        Option(
            "Look once, show what would be written, and write nothing: of the commands, "
            "reports-command alone runs."
        ),
    ] = False


class PollInputs(RecordInputs, ChainInputs):
    """Inputs of `kalypso poll`."""

    environments: Annotated[List, Option("The environments; default: all.")] = ()
    first_environments: Annotated[List, Option("The same as for ci, which starts CD there.")] = ()
    repair_after: Annotated[
        Duration, Option("How long to wait for a started run before starting it again.")
    ] = timedelta(minutes=10)
    schedule_workflow: ScheduleWorkflow = "schedule.yaml"
    cd_workflow: CdWorkflow = "cd.yaml"
    check_promote_workflow: CheckPromoteWorkflow = "check-promote.yaml"
    dry_run: DryRun = False


class StartScheduleInputs(ChainInputs):
    """Inputs of `kalypso start-schedule`."""

    branch: Annotated[str, Option("The pushed branch; default: the current one.")] = ""
    schedule_workflow: ScheduleWorkflow = "schedule.yaml"
    dry_run: DryRun = False


class ShownPreviewInputs(Inputs):
    """Where a preview is shown, and what it hides."""

    mask: MaskedKeys = ()
    comment: Annotated[Flag, Option("Comment on the pull request.")] = True
    status_context: Annotated[str, Option("The context of the commit status.")] = (
        "kalypso / preview"
    )
    out: Annotated[
        Path | None, Option("A folder for the complete preview: preview.json and preview.diff.")
    ] = None
    strict: Strict = False
    dry_run: DryRun = False


class PreviewInputs(ShownPreviewInputs, PlanInputs):
    """Inputs of `kalypso preview`."""

    base: Annotated[
        str,
        Option(
            "The commit, branch or tag to compare with; default: the base of the pull "
            "request or merge group, or where the current branch began."
        ),
    ] = ""
    head: Annotated[
        str,
        Option(
            "The commit, branch or tag with the change; default: the job's commit, "
            "which is the merge, or HEAD."
        ),
    ] = ""
    environments: Annotated[List, Option("The environments; default: all.")] = ()
    job_token: Annotated[
        Secret,
        Option(
            "The job's own token: the only one to read repositories that the change "
            "registers and its base does not."
        ),
    ] = EMPTY


class PreviewCommentInputs(ChainInputs):
    """Inputs of `kalypso preview-comment`."""

    file: Annotated[Path, Option("The preview.json of the run that started this workflow.")]
    dry_run: DryRun = False


Record = Annotated[
    str,
    Option(
        "The record: owner/name[@branch], or a folder; default: the branch "
        "kalypso-observability of the control plane."
    ),
]


class StatusInputs(ClusterReportsInputs):
    """Inputs of `kalypso status`."""

    environment: Annotated[
        List, Option("Only these environments; default: all of the control plane.")
    ] = ()
    clusters: Annotated[
        Flag,
        Option(
            "Also read the cluster reports: the number of clusters by state, and the "
            "clusters that do not comply, with the reason."
        ),
    ] = False
    watch: Annotated[Flag, Option("Look again every 15 seconds, until Ctrl-C.")] = False
    record: Record = ""


Moment = Annotated[
    str, Option("As it was then: 2026-03-01 12:00, 12:00, or 3h for three hours ago.", "TIME")
]


class RecordedInputs(ChainInputs):
    """Inputs of the commands that read the record; one in a folder is read without GitHub."""

    record: Record = ""

    @property
    def chain_repository(self) -> str:
        """The repository of the chain, or the folder of the record."""
        return self.record if is_folder(self.record) else self.control_plane


class QuestionInputs(RecordedInputs):
    """Inputs of the commands that ask the record."""

    at: Moment = ""


class HistoryInputs(QuestionInputs):
    """Inputs of `kalypso history`."""

    name: Annotated[
        str,
        Option(
            "The environment, such as prod; with a record, also a target or a cluster.",
            "NAME",
            argument=True,
            completes="environment",
        ),
    ]
    target: Annotated[
        str, Option("Only this target of the environment, or of the cluster.", "NAME")
    ] = ""
    since: Annotated[
        str,
        Option(
            "Only what it has had since this time, such as 2026-11-01T00:00:00Z or 7d; "
            "default: the newest 200 commits of an environment.",
            "TIME",
        ),
    ] = ""

    @property
    def chain_repository(self) -> str:
        """The control plane; without one, the folder of the record."""
        return self.control_plane or super().chain_repository


class WhereInputs(QuestionInputs):
    """Inputs of `kalypso where`."""

    name: Annotated[
        str,
        Option(
            "A workload, target, version, commit, cluster or cluster type.", "NAME", argument=True
        ),
    ]
    since: Annotated[str, Option("Only who has had it no longer than since this time.", "TIME")] = (
        ""
    )


class DriftInputs(QuestionInputs):
    """Inputs of `kalypso drift`."""

    fail_on: Annotated[
        List,
        Option("Exit with 1 for any difference, or for these kinds, such as failing.", "KIND"),
    ] = ()
    stale_after: Annotated[
        Duration, Option("How old the newest look at an environment may be.")
    ] = timedelta(hours=24)


class DeliveryFigureInputs(QuestionInputs):
    """Inputs of `kalypso delivery`."""

    commit: Annotated[
        str, Option("Show the way of this commit of main through the environments.", "COMMIT")
    ] = ""
    since: Annotated[
        str, Option("Only deployments since this time; default: the last 90 days.", "TIME")
    ] = ""


class HubFileInputs(RecordedInputs):
    """Inputs of `kalypso hub file`."""

    out: Annotated[Path, Option("The SQLite file; one that exists is loaded further.", "FILE")]


SchemaName = Annotated[
    str,
    Field(pattern=r"^[a-z_][a-z0-9_]{0,39}$"),
    Option("The schema of the views, one for each control plane.", "NAME"),
]
DatabasePassword = Annotated[Secret, Option("The password of the user in database-url.")]


class HubLoadInputs(RecordedInputs):
    """Inputs of `kalypso hub load`."""

    database_url: Annotated[
        Annotated[str, Field(min_length=1)],
        Option(
            "PostgreSQL, as a URI or as keywords and values of libpq, without a password.",
            "TEXT",
        ),
    ]
    database_password: DatabasePassword = EMPTY
    schema_name: Annotated[SchemaName, Field(alias="schema")] = "kalypso_hub"
    grant_to: Annotated[List, Option("Roles that may read the views.")] = ()


class HubServeInputs(RecordedInputs):
    """Inputs of `kalypso hub serve`; without a database, it reads the record."""

    database_url: Annotated[
        str,
        Option(
            "PostgreSQL that `hub load` fills, instead of the record; without a password.", "TEXT"
        ),
    ] = ""
    database_password: DatabasePassword = EMPTY
    schema_name: Annotated[SchemaName, Field(alias="schema")] = "kalypso_hub"
    listen: Annotated[
        str, Option("The address to serve; another one than loopback needs a token.", "HOST:PORT")
    ] = "127.0.0.1:8080"
    api_token: Annotated[
        Secret, Option("The token that clients send; without one, only this machine is served.")
    ] = EMPTY

    @property
    def chain_repository(self) -> str:
        """The repository of the chain, or the folder of the record; a database needs neither."""
        return "." if self.database_url else super().chain_repository


class ClustersInputs(ClusterReportsInputs):
    """Inputs of `kalypso clusters`."""

    environment: Annotated[
        List, Option("Only these environments; default: all of the control plane.")
    ] = ()


class ObserveInputs(EventInputs, ClusterReportsInputs):
    """Inputs of `kalypso observe`; the control plane may be a path or a URL."""

    control_plane: Annotated[
        str, Option("The control plane, as owner/name; default: the current repository.")
    ] = ""
    source: Annotated[
        Sources,
        Split,
        Option(
            "Read PATH, a git repository, instead of URL, without the network. The control "
            "plane may be a path or a URL, too, which needs no GitHub. Repeatable.",
            "URL[@BRANCH]=PATH",
            repeatable=True,
        ),
    ] = ()
    record: Annotated[
        str,
        Option(
            "Where to record: owner/name[@branch], or a folder; default: the branch "
            "kalypso-observability of the control plane."
        ),
    ] = ""
    record_public: RecordPublic = False
    commit_by: CommitBy = "auto"
    now: Annotated[
        AwareDatetime | None, Option("Record as at this time, such as 2026-12-01T12:00:00Z.")
    ] = None
    prune_before: Annotated[
        str,
        Option(
            "Instead of a look, shorten the record: it then answers for times after this one "
            "alone, such as 2026-03-01 or 90d.",
            "TIME",
        ),
    ] = ""
    dry_run: DryRun = False


class DoctorInputs(ClusterReportsInputs, PlanInputs):
    """Inputs of `kalypso doctor`.

    The token belongs to a person who may see the settings of both repositories. doctor also
    checks an App, and reads the clusters' reports, if it gets their inputs.
    """

    probe: Annotated[
        Flag,
        Option(
            "Also try what GitHub accepts: push throw-away branches kalypso/probe-…, "
            "open, label, comment on and merge a pull request between them, post a status. Asks "
            "first, and deletes the branches at the end."
        ),
    ] = False
    dry_run: Annotated[Flag, Option("Show what --probe would write, and write nothing.")] = False
    yes: Annotated[Flag, Option("Probe without asking.")] = False


class CheckPagesInputs(ChainInputs):
    """Inputs of `kalypso check-pages`."""

    report: Annotated[Path, Option("The report.json of the report to publish.")]


class SetUpInputs(ChainInputs):
    """Inputs of `kalypso set-up`: its own two, and those of the command that it runs."""

    run: Annotated[
        str,
        Option(
            "A command to run, without the word kalypso. Quotes work as in a shell; "
            "other syntax of a shell does not."
        ),
    ] = ""
    plugins: Annotated[
        str,
        Option(
            "A requirements file of the repository, with a hash for each package: "
            "wheels of schedulers and other plugins, also for the next actions of the job."
        ),
    ] = ""


class ValidateWorkloadInputs(Inputs):
    """Inputs of the action; it needs no token, because it reads the job's checkout."""

    path: Annotated[Place, Option("The folder that has the Workloads, or a folder above it.")] = "."
    registration_text: Annotated[
        RegistrationText,
        Option(
            "Texts that Templates should not print (line breaks, template text): "
            "strict, or any (a warning on each), as in the jobs of the platform team."
        ),
    ] = "strict"
    strict: Strict = False
    wheelhouse: Wheelhouse = ""
