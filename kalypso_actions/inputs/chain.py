"""The common inputs of the promotion chain's commands, as actions and on the command line.

Each field is an input of the action and an option of the command, with its alias as the name and
its description as the text of both. Secrets are not options, because other users of a machine can
read options: they come from the action's inputs or the environment.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import Field, SecretStr

from kalypso_actions.inputs.values import (
    EnvironmentName,
    Flag,
    Inputs,
    List,
    OnSourceFailure,
    RepositoryName,
    Secret,
    TreeInputs,
    Wheelhouse,
)

EMPTY = SecretStr("")


class ChainInputs(Inputs):
    """Inputs of all commands of the chain."""

    as_texts = True

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


class PlanInputs(TreeInputs, ChainInputs):
    """Inputs of the commands that render."""

    on_source_failure: OnSourceFailure = "last-good"


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
DryRun = Annotated[
    Flag,
    Field(
        description="Show what would be written, and write nothing: no command of the user runs."
    ),
]
VerifyOnly = Annotated[
    Flag, Field(description="Only verify the inputs, and write nothing but the start record.")
]


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
