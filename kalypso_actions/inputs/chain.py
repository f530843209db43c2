"""The inputs of the commands of the promotion chain, as actions and on the command line.

Each field is an input of the action and an option of the command, with its alias as the name and
its description as the text of both. Secrets are not options, because other users of a machine can
read options: they come from the action's inputs or the environment.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Final, Literal

from pydantic import ConfigDict, Field, SecretStr

from kalypso_actions.inputs.values import (
    Commit,
    CommitId,
    ConfigFile,
    Duration,
    DurationOrOff,
    EnvironmentName,
    Flag,
    Inputs,
    List,
    MaskedKeys,
    Minute,
    MissingValues,
    NamespaceScheme,
    Number,
    OnFailure,
    OnSourceFailure,
    Percent,
    RegistrationText,
    RepositoryName,
    Secret,
    Wheelhouse,
    kebab,
)
from kalypso_actions.model.layout import OWN_BRANCHES
from kalypso_actions.model.tree import MAX_REMOVAL_PERCENT

EMPTY = SecretStr("")


class ChainInputs(Inputs):
    """Inputs of all commands of the chain."""

    model_config = ConfigDict(alias_generator=kebab, validate_by_name=True)

    token: Annotated[Secret, Field(description="Token for GitHub's API and git.")] = EMPTY
    app_id: Annotated[str, Field(description="Id of a GitHub App to use instead of the token.")] = (
        ""
    )
    app_private_key: Annotated[
        Secret, Field(description="The App's private key, in PEM as GitHub creates it.")
    ] = EMPTY
    control_plane: Annotated[
        RepositoryName,
        Field(description="The control plane, as owner/name; default: the current repository."),
    ] = ""
    git_credentials: Annotated[
        Secret,
        Field(description="Credentials for other hosts: lines of host-or-URL-prefix=user:token."),
    ] = EMPTY
    allowed_repositories: Annotated[
        List,
        Field(
            description="Globs of repositories that may be registered (* matches one segment of "
            "a path, ** several); default: all repositories of the control plane's owner."
        ),
    ] = ()
    former_identities: Annotated[
        List,
        Field(
            description="Logins that wrote for Kalypso before the token changed: their issues and "
            "pull requests are replaced."
        ),
    ] = ()
    wheelhouse: Wheelhouse = ""


class PlanInputs(ChainInputs):
    """Inputs of the commands that render."""

    namespace_scheme: Annotated[
        NamespaceScheme,
        Field(description="Namespaces: current, or legacy (<environment>-<workspace>-<target>)."),
    ] = "current"
    config_file: Annotated[
        ConfigFile, Field(description="current, or legacy (config.yaml for platform-config.yaml).")
    ] = "current"
    on_source_failure: Annotated[
        OnSourceFailure,
        Field(
            description="For an unusable registered repository: use its last-good commit, or block."
        ),
    ] = "last-good"
    missing_values: Annotated[
        MissingValues,
        Field(description="For <no value> in a rendered file: warn, or error."),
    ] = "warn"
    scheduler: Annotated[
        str,
        Field(
            description="labels, placement, or the entry point of a plugin; default: as annotated "
            "on the Environment, or else labels."
        ),
    ] = ""
    now: Annotated[
        Minute | None,
        Field(
            description="The time at which Placements are decided, such as 2026-03-01T12:00:00Z, "
            "in whole minutes; default: the start of the run."
        ),
    ] = None
    registration_text: Annotated[
        RegistrationText,
        Field(
            description="Texts of registered repositories that Templates should not print (line "
            "breaks, template text): strict, or any (a warning on each)."
        ),
    ] = "strict"


EnvironmentInput = Annotated[
    EnvironmentName, Field(description="The name of the Environment object.")
]
CdWorkflow = Annotated[str, Field(description="The workflow file that runs cd.")]
ScheduleWorkflow = Annotated[str, Field(description="The workflow file that runs schedule.")]
CheckPromoteWorkflow = Annotated[
    str, Field(description="The workflow file that runs check-promote.")
]
CommitBy = Annotated[
    Literal["auto", "git", "api"],
    Field(
        description="How to commit: git; api (GitHub signs the commits of Apps and jobs); or auto "
        "(api where a rule of the branch requires signatures)."
    ),
]
VerifyOnly = Annotated[
    Flag, Field(description="Only verify the inputs, and write nothing but the start record.")
]


class CiInputs(PlanInputs):
    """Inputs of `kalypso ci`."""

    commit: Annotated[
        CommitId, Field(description="The commit of main to check; default: the current one.")
    ] = None
    first_environments: Annotated[
        List,
        Field(description="Where CD begins; default: as annotated on the Environment objects."),
    ] = ()
    start_cd: Annotated[
        Literal["auto", "true", "false"],
        Field(description="Start CD: auto (on a push to main), true or false."),
    ] = "auto"
    cd_workflow: CdWorkflow = "cd.yaml"


class CdInputs(ChainInputs):
    """Inputs of `kalypso cd`."""

    environment: EnvironmentInput
    commit: Annotated[Commit, Field(description="The commit of main to promote.")]
    promoted_from: Annotated[
        str, Field(description="The previous environment, or ci; empty: a person started this.")
    ] = ""
    mode: Annotated[
        Literal["commit", "pull-request"],
        Field(description="How to change base-repo.yaml: commit or pull-request."),
    ] = "commit"
    commit_by: CommitBy = "auto"
    allow_rollback: Annotated[
        Flag, Field(description="Allow a commit that is older than that of the environment.")
    ] = False
    pre_deployment: Annotated[
        str, Field(description="A command to run first; if it fails, the commit is not promoted.")
    ] = ""
    schedule_workflow: ScheduleWorkflow = "schedule.yaml"
    verify_only: VerifyOnly = False


class ScheduleInputs(PlanInputs):
    """Inputs of `kalypso schedule`."""

    environment: EnvironmentInput
    on_failure: Annotated[
        OnFailure,
        Field(description="For a failing assignment: block all, or keep its folder as it is."),
    ] = "block"
    max_removal_percent: Annotated[
        Percent,
        Field(description="Refuse to remove more assignments than this (and more than 5) at once."),
    ] = MAX_REMOVAL_PERCENT
    allow_removals: Annotated[Flag, Field(description="Allow such a removal.")] = False
    max_issues: Annotated[
        Number,
        Field(
            description="Issues for single failing assignments; one more issue lists the others."
        ),
    ] = 20
    auto_merge: Annotated[
        Literal["none", "tracking-only", "always"],
        Field(description="Pull requests to merge automatically: none, tracking-only, always."),
    ] = "none"
    force: Annotated[Flag, Field(description="Propose again what people closed or reverted.")] = (
        False
    )
    verify: Annotated[
        Flag,
        Field(
            description="Render the assignments with unchanged inputs too, and fail if one differs."
        ),
    ] = False
    branch_prefix: Annotated[
        str, Field(description="The prefix of the branches of proposals.", pattern=r"^[\w./-]+$")
    ] = OWN_BRANCHES
    labels: Annotated[List, Field(description="More labels for the pull requests.")] = ()
    mask: MaskedKeys = ()
    commit_by: CommitBy = "auto"
    check_promote_workflow: CheckPromoteWorkflow = "check-promote.yaml"


class NotifyInputs(ChainInputs):
    """Inputs of `kalypso notify`."""

    control_plane: Annotated[
        RepositoryName, Field(description="The control plane, as owner/name.", min_length=1)
    ]
    workflow: Annotated[
        str, Field(description="The workflow file there that runs check-promote.")
    ] = "check-promote.yaml"
    environment: Annotated[
        str, Field(description="Only this environment; default: all environments of this branch.")
    ] = ""


DEFAULT_CLUSTER_REPORTS: Final = "azure-resource-graph"


class ClusterReportsInputs(ChainInputs):
    """The source of cluster reports, and the inputs of each source."""

    cluster_reports: Annotated[
        str, Field(description="The source of cluster reports, by its name.")
    ] = DEFAULT_CLUSTER_REPORTS
    azure_client_id: Annotated[
        str, Field(description="Client id of the identity that signs in to Azure with OIDC.")
    ] = ""
    azure_tenant_id: Annotated[str, Field(description="Tenant id of that identity.")] = ""
    azure_scopes: Annotated[
        List, Field(description="Subscriptions or management groups of the clusters.")
    ] = ()
    azure_cloud: Annotated[
        Literal["public", "usgov", "china"],
        Field(description="The Azure cloud: public, usgov or china."),
    ] = "public"
    azure_credentials: Annotated[
        Secret, Field(description="JSON of a service principal with a secret, instead of OIDC.")
    ] = EMPTY


class CheckPromoteInputs(ClusterReportsInputs):
    """Inputs of `kalypso check-promote`."""

    environment: EnvironmentInput
    promoted_commit: Annotated[
        CommitId, Field(description="The promoted commit; empty for a configuration change.")
    ] = None
    gitops_commit: Annotated[Commit, Field(description="The merged commit of the GitOps branch.")]
    gitops_repository: Annotated[
        RepositoryName,
        Field(description="The GitOps repository, as owner/name; default: the only one."),
    ] = ""
    next_environment: Annotated[
        List, Field(description="The next environments; default: as annotated on the Environment.")
    ] = ()
    timeout: Annotated[Duration, Field(description="How long to wait for the clusters.")] = (
        timedelta(minutes=60)
    )
    poll_interval: Annotated[
        Duration, Field(description="The time between two checks of the clusters.")
    ] = timedelta(seconds=15)
    grace_period: Annotated[
        Duration,
        Field(description="How long a cluster must fail or be absent before it counts as failed."),
    ] = timedelta(minutes=2)
    settle: Annotated[
        Duration,
        Field(
            description="How long a cluster must comply if it does not report its applied commit."
        ),
    ] = timedelta(minutes=1)
    stale_after: Annotated[
        DurationOrOff,
        Field(
            description="Clusters that do not report for this long are stale; off: no cluster is."
        ),
    ] = None
    min_compliant: Annotated[
        Percent,
        Field(description="Share of clusters that must comply, in total and in each cluster type."),
    ] = 100
    missing: Annotated[
        Literal["fail", "warn"],
        Field(description="For a cluster type without a cluster: fail or warn."),
    ] = "fail"
    unreachable: Annotated[
        Literal["fail", "ignore"],
        Field(description="For clusters whose connection is lost: fail (wait for them) or ignore."),
    ] = "fail"
    require_targets: Annotated[
        Flag, Field(description="Fail if no cluster follows the branch.")
    ] = True
    ignore_clusters: Annotated[
        List, Field(description="Globs of resource ids of clusters to ignore.")
    ] = ()
    post_deployment: Annotated[
        str, Field(description="A command to run last; if it fails, the commit does not go on.")
    ] = ""
    cd_workflow: CdWorkflow = "cd.yaml"
    started_at: Annotated[
        str,
        Field(
            description="The time at which an earlier run began to wait, but not before the merge."
        ),
    ] = ""
    verify_only: VerifyOnly = False


class PollInputs(ChainInputs):
    """Inputs of `kalypso poll`."""

    environments: Annotated[List, Field(description="The environments; default: all.")] = ()
    first_environments: Annotated[
        List, Field(description="The same as for ci, which starts CD there.")
    ] = ()
    repair_after: Annotated[
        Duration, Field(description="How long to wait for a started run before starting it again.")
    ] = timedelta(minutes=10)
    schedule_workflow: ScheduleWorkflow = "schedule.yaml"
    cd_workflow: CdWorkflow = "cd.yaml"
    check_promote_workflow: CheckPromoteWorkflow = "check-promote.yaml"


class StartScheduleInputs(ChainInputs):
    """Inputs of `kalypso start-schedule`."""

    branch: Annotated[str, Field(description="The pushed branch; default: the current one.")] = ""
    schedule_workflow: ScheduleWorkflow = "schedule.yaml"
