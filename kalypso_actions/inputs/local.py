"""The inputs of the commands that read and write on this machine, and of init."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Final, Literal, Self

from pydantic import (
    AfterValidator,
    AliasGenerator,
    BaseModel,
    ConfigDict,
    Field,
    SecretStr,
    model_validator,
)
from pydantic.alias_generators import to_pascal
from pydantic_core import PydanticCustomError

from kalypso_actions.inputs.chain import ClusterSources, DryRun
from kalypso_actions.inputs.paths import Folder, GitOpsPath, Place, Sources, check_commit_to
from kalypso_actions.inputs.values import (
    DeliveryInputs,
    EnvironmentName,
    Inputs,
    List,
    MaskedKeys,
    OnFailure,
    OnSourceFailure,
    Option,
    OutputInputs,
    PlanningInputs,
    RepositoryName,
    Strict,
    TreeInputs,
    fault,
)
from kalypso_actions.model.kubernetes_names import dns_label_fault
from kalypso_actions.model.layout import OWN_BRANCHES

ReportedOutput = Annotated[
    Literal["text", "json", "sarif"],
    Option("The format of standard output. sarif is for code scanning and editors."),
]
Notes = Annotated[bool, Option("Show notes and acknowledged warnings.")]
Stat = Annotated[bool, Option("Show each file that differs, with its changed lines.")]
ExitCode = Annotated[bool, Option("Exit with 1 if there are differences, else with 0.")]


class PlaneInputs(DeliveryInputs):
    """The inputs about what is read; without a control plane, it is the current clone."""

    control_plane: Annotated[
        Place | None,
        Option(
            "The control plane: a path, a URL, or owner/name on GitHub, which is read "
            "with the token of KALYPSO_TOKEN, GH_TOKEN or GITHUB_TOKEN. Default: the clone that "
            "contains the current folder.",
            "REPO",
        ),
    ] = None
    source: Annotated[
        Sources,
        Option(
            "Read PATH, a git repository or a plain folder, instead of URL, without "
            "the network. Repeatable.",
            "URL[@BRANCH]=PATH",
            repeatable=True,
        ),
    ] = ()


class EnvironmentInputs(PlaneInputs, TreeInputs):
    """The inputs for planning one environment."""

    environment: Annotated[
        EnvironmentName | Literal[""],
        Option(
            "The environment, such as dev. Default: that of the clone's branch.",
            "NAME",
            argument=True,
            also_option="The same as ENVIRONMENT.",
            completes="environment",
        ),
    ] = ""
    environment_dir: Annotated[
        Folder | None, Option("Instead: the environment branch as a folder.", "DIR")
    ] = None
    base_commit: Annotated[
        str | None,
        Option("A branch, tag or commit of main, instead of the commit in base-repo.yaml.", "REV"),
    ] = None
    mask: MaskedKeys = ()

    @model_validator(mode="after")
    def _at_most_one_control_plane(self) -> Self:
        if self.control_plane is not None and self.environment_dir is not None:
            raise PydanticCustomError(
                "control_plane", "only one of --control-plane and --environment-dir is possible"
            )
        if not self.environment and (self.control_plane or self.environment_dir):
            raise PydanticCustomError("environment", "name the environment, such as dev")
        return self


class ExplainInputs(EnvironmentInputs):
    """Inputs of `kalypso explain`: the subject to explain in an environment."""

    target: Annotated[
        str,
        Option(
            "A deployment target, or a Workload for all of its targets.", "NAME", completes="target"
        ),
    ] = ""
    cluster_type: Annotated[str, Option("A cluster type.", "NAME", completes="cluster_type")] = ""
    key: Annotated[
        str,
        Option("A configuration value, such as REGION, or a part of one: hosts[0].name.", "KEY"),
    ] = ""
    file: Annotated[
        str,
        Option(
            "A file of the GitOps tree: CLUSTER_TYPE/TARGET/FILE, or FILE of a named pair.", "PATH"
        ),
    ] = ""

    @model_validator(mode="after")
    def _one_question(self) -> Self:
        if self.key and self.file:
            raise PydanticCustomError("file", "ask about a --key or a --file, not about both")
        return self


class DiffInputs(PlaneInputs, TreeInputs):
    """Inputs of `kalypso diff`.

    It compares two environments, the newer one first, or two commits of one environment.
    """

    environments: Annotated[
        tuple[EnvironmentName, ...],
        Field(max_length=2),
        Option(
            "Two environments, such as dev stage: what stage lacks of main that dev "
            "has; with --deployed, how their merged trees differ. Or one, at two commits.",
            "NEWER [OLDER]",
            argument=True,
            repeatable=True,
            completes="environment",
        ),
    ]
    from_: Annotated[
        str,
        Field(alias="from"),
        Option(
            "Of one environment: a branch, tag or commit of main, or with --deployed "
            "of the GitOps branch; also dev~1. Default: the commit of main that the environment "
            "has, or with --deployed the commit before the last merge.",
            "REV",
        ),
    ] = ""
    to: Annotated[str, Option("The other one. Default: the head of that branch.", "REV")] = ""
    deployed: Annotated[
        bool, Option("Compare the merged trees of GitOps branches, not what would be rendered.")
    ] = False
    stat: Stat = False
    exit_code: ExitCode = False
    mask: MaskedKeys = ()

    @model_validator(mode="after")
    def _two_sides(self) -> Self:
        if not self.environments:
            message = "name two environments, such as dev stage, or one and --from or --to"
            raise PydanticCustomError("environments", message)
        if len(self.environments) == 2 and (self.from_ or self.to):
            message = "--from and --to compare two commits of one environment: name only one"
            raise PydanticCustomError("from", message)
        return self


class ReportInputs(PlaneInputs, TreeInputs, ClusterSources):
    """Inputs of `kalypso report`."""

    out: Annotated[Folder, Option("The folder for the page.", "DIR")]
    title: Annotated[str, Option("The heading of the page.", "TEXT")] = ""
    clusters: Annotated[
        bool, Option("Also read the cluster reports: the clusters that do not comply, and why.")
    ] = False
    record: Annotated[
        str,
        Option(
            "Also draw what the clusters ran, by this record: owner/name[@branch], or a folder.",
            "RECORD",
        ),
    ] = ""
    mask: MaskedKeys = ()


class RenderInputs(EnvironmentInputs):
    """Inputs of `kalypso render`."""

    gitops: Annotated[
        GitOpsPath,
        Option(
            "The existing GitOps tree that changes: a git repository or a folder.", "PATH[@BRANCH]"
        ),
    ] = None
    out: Annotated[Folder | None, Option("Write the resulting tree here.", "DIR")] = None
    commit_to: Annotated[
        GitOpsPath,
        Option(
            "Commit the changes to a branch of a repository on this machine; its tree "
            "is the existing one.",
            "REPOSITORY@BRANCH",
        ),
    ] = None
    verify: Annotated[
        bool,
        Option(
            "Render the assignments with unchanged inputs too, and fail if one differs "
            "from the tree of --commit-to."
        ),
    ] = False
    on_failure: OnFailure = "block"
    on_source_failure: OnSourceFailure = "last-good"
    diff: Annotated[
        bool,
        Option(
            "Show how the tree differs from --gitops, else from the branch that the "
            "GitOpsRepo names."
        ),
    ] = False
    stat: Stat = False
    exit_code: ExitCode = False
    strict: Strict = False
    notes: Notes = False
    output: ReportedOutput = "text"  # type: ignore[assignment]

    @property
    def compares(self) -> bool:
        """Whether the result is the difference from the GitOps branch, even without `gitops`."""
        return self.diff or self.stat or self.exit_code

    @model_validator(mode="after")
    def _one_result(self) -> Self:
        check_commit_to(self.commit_to, {"--out": self.out, "--gitops": self.gitops})
        return self

    @model_validator(mode="after")
    def _out_apart(self) -> Self:
        """Refuse an output inside an input: the next run would read it as documents."""
        if self.out is None:
            return self
        read = [self.environment_dir, self.gitops and self.gitops.path, self.control_plane]
        read += [source.path for source in self.source]
        out = self.out.resolve()
        for place in (Path(item).resolve() for item in read if item):
            if place.exists() and out.is_relative_to(place):
                raise PydanticCustomError(
                    "out",
                    "--out {out} lies in {place}, which render reads; choose a folder outside",
                    {"out": str(self.out), "place": str(place)},
                )
        return self


class ValidateInputs(PlaneInputs, PlanningInputs):
    """Inputs of `kalypso validate`.

    In a control plane, it checks main and the branches of the environments. With `workload`, the
    places have the Workloads of an application team.
    """

    places: Annotated[
        tuple[Place, ...],
        Option(
            "The branches to check together. Default: those of the control plane of "
            "which the current folder is a clone, else the current folder.",
            "REPO[@BRANCH]|DIR",
            argument=True,
            repeatable=True,
        ),
    ] = ()
    workload: Annotated[
        bool,
        Option(
            "The places have an application team's Workloads: check these alone, "
            "without a control plane."
        ),
    ] = False
    watch: Annotated[bool, Option("Check again whenever a file changes, until Ctrl-C.")] = False
    strict: Strict = False
    notes: Notes = False
    output: ReportedOutput = "text"  # type: ignore[assignment]

    @model_validator(mode="after")
    def _control_plane_alone(self) -> Self:
        if self.control_plane and (self.places or self.workload):
            raise PydanticCustomError(
                "control_plane", "with --control-plane, neither places nor --workload are possible"
            )
        return self

    @model_validator(mode="after")
    def _workloads_alone(self) -> Self:
        if self.workload and self.source:
            raise PydanticCustomError(
                "source",
                "--source replaces repositories that a control plane names; with "
                "--workload, nothing names one",
            )
        return self


class SchemasInputs(OutputInputs):
    """Inputs of `kalypso schemas`."""

    out: Annotated[Path, Option("The folder for the schemas.", "DIR")]


DemoClusterReports = Literal["azure-resource-graph", "commit-statuses", "argocd"]


ACTS_OF_APPLICATION: Final = 3


class DemoInputs(Inputs):
    """Inputs of `kalypso demo`."""

    dir: Annotated[
        Folder | None, Option("The folder that keeps the results. Default: a new one.", "DIR")
    ] = None
    cluster_reports: Annotated[
        DemoClusterReports,
        Option("Where the clusters report: to Azure, by commit statuses, or in an Argo CD."),
    ] = "azure-resource-graph"
    act: Annotated[
        int | None,
        Field(ge=1, le=7),
        Option("Show this act alone; those before it are played.", "N"),
    ] = None
    application: Annotated[
        bool,
        Option(
            "Show the chain of an application instead, in 3 acts: from a source commit to its "
            "rings. It needs helm."
        ),
    ] = False

    @model_validator(mode="after")
    def _as_told(self) -> Self:
        if self.application and (self.act or 0) > ACTS_OF_APPLICATION:
            raise PydanticCustomError("act", "with --application, --act is at most 3")
        if self.application and self.cluster_reports != "azure-resource-graph":
            raise PydanticCustomError(
                "cluster_reports", "with --application, the clusters report to Azure"
            )
        return self


IN_SANDBOX: Final = "KALYPSO_SANDBOX"
"""The variable with the folder of the sandbox that a shell uses."""

SANDBOX_CLOCK: Final = "KALYPSO_SANDBOX_CLOCK"
"""The variable with the clock of that sandbox, if it runs fast: the seconds since 1970 of the
machine and of the sandbox at one moment, and the speed."""


class SandboxInputs(Inputs):
    """Inputs of `kalypso sandbox`."""

    what: Annotated[
        Literal["", "env"],
        Option(
            "env prints the variables of the sandbox in DIR, for a shell; nothing serves it.",
            "env",
            argument=True,
        ),
    ] = ""
    dir: Annotated[Folder, Option("The folder that keeps the data between runs.", "DIR")] = Path(
        "trial"
    )
    sample: Annotated[
        bool, Option("Set a sample organisation up: two environments with eight clusters.")
    ] = False
    application: Annotated[
        bool,
        Option(
            "With --sample, give an application its own chain: from a source commit to its rings. "
            "It needs helm."
        ),
    ] = False
    clone: Annotated[
        tuple[str, ...],
        Option(
            "Copy this git repository, such as a control plane or its GitOps repository, to the "
            "owner acme, with a cluster for each cluster type. Repeatable.",
            "URL|DIR",
            repeatable=True,
        ),
    ] = ()
    run: Annotated[
        bool, Option("Let events start the workflow files of the repositories, as on GitHub.")
    ] = False
    speed: Annotated[
        float | None,
        Field(gt=0, le=1000, allow_inf_nan=False),
        Option("How fast its clock runs. Default: 20 with --run, else 1.", "N"),
    ] = None
    allow_commands: Annotated[
        bool, Option("Let runs start the commands that workflow files name, on this machine.")
    ] = False
    cluster_reports: Annotated[
        DemoClusterReports, Option("Where the clusters of the sample report.")
    ] = "azure-resource-graph"
    port: Annotated[
        int,
        Field(ge=0, le=65535),
        Option("A port of 127.0.0.1; 0 for that of the last run, or any free one.", "N"),
    ] = 0
    tls: Annotated[bool, Option("Serve https, with a certificate authority of its own.")] = False
    flavour: Annotated[
        Literal["github.com", "ghes"], Option("ghes serves GitHub Enterprise Server 3.17.")
    ] = "github.com"
    repository: Annotated[
        tuple[Annotated[RepositoryName, Field(min_length=1)], ...],
        Option("Create this empty repository. Repeatable.", "OWNER/NAME", repeatable=True),
    ] = ()

    @model_validator(mode="after")
    def _of_sample(self) -> Self:
        if self.application and not self.sample:
            raise PydanticCustomError("application", "give --sample, too")
        if self.application and self.cluster_reports != "azure-resource-graph":
            raise PydanticCustomError(
                "cluster_reports", "with --application, the clusters report to Azure"
            )
        return self


class TemplateInputs(OutputInputs):
    """Inputs of `kalypso template`."""

    file: Annotated[
        Path,
        Option(
            "A YAML file with Template documents; any other file is one Go template.",
            "FILE",
            argument=True,
        ),
    ]
    values: Annotated[Path | None, Option("The data, as JSON or YAML.", "FILE")] = None
    name: Annotated[str | None, Option("The Template, if FILE has several.", "NAME")] = None


def _text_or_structure(value: object) -> object:
    """Accept strings, like values of a ConfigMap, and lists and objects in their place."""
    if not isinstance(value, str | list | dict):
        raise PydanticCustomError("string_type", "must be a text")
    return value


ConfigValue = Annotated[object, AfterValidator(_text_or_structure)]


class TemplateValues(BaseModel):
    """The content of the file of `--values`: data by the names that templates use."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        alias_generator=AliasGenerator(to_pascal),
        defer_build=True,
    )

    environment: str = "dev"
    workspace: str = "team"
    workload: str = "app"
    cluster_type: str = "large"
    deployment_target_name: str | None = None
    namespace: str | None = None
    labels: dict[str, str] | None = None
    manifests: dict[str, str] = Field(default_factory=dict)
    config_data: dict[str, ConfigValue] = Field(default_factory=dict)


ACTION: Final = re.compile(r"[A-Za-z0-9_-]+/[A-Za-z0-9._-]+@[A-Za-z0-9._/-]+")
DEFAULT_ACTION: Final = "kalypso-actions/kalypso-actions@v0"
DEFAULT_ENVIRONMENTS: Final = ("dev", "stage")


def _action(text: str) -> str:
    if text and not ACTION.fullmatch(text):
        raise fault("action", text, "is not of the form owner/name@ref")
    return text


def _environments(names: tuple[str, ...]) -> tuple[str, ...]:
    """Check environment names, which also name branches, folders and upstream's namespaces."""
    for index, name in enumerate(names):
        wrong = dns_label_fault(name)
        # Git refuses a branch whose name is the folder of other branches.
        if f"{name}/" == OWN_BRANCHES:
            wrong = "is the prefix of Kalypso's own branches"
        elif name in names[:index]:
            wrong = "is named twice"
        if wrong:
            raise fault("environment", name, wrong)
    return names


def _clusters_of_environments(pairs: tuple[str, ...]) -> tuple[str, ...]:
    """Check pairs of an environment and a cluster's name, which also names files and labels."""
    for pair in pairs:
        environment, separator, name = pair.partition("=")
        wrong = dns_label_fault(name) if separator and environment else "is no ENVIRONMENT=NAME"
        if wrong:
            raise fault("cluster", pair, wrong)
    return pairs


class OnboardingInputs(Inputs):
    """What `kalypso init` and `kalypso app init` have in common."""

    action: Annotated[
        str,
        AfterValidator(_action),
        Option(
            "The actions that the workflows use; default: those of this version, pinned to their "
            "commit.",
            "OWNER/NAME@REF",
        ),
    ] = ""
    pull_request: Annotated[
        bool,
        Option(
            "Open a pull request for each branch instead of pushing to it. Missing "
            "branches are created."
        ),
    ] = False
    update_workflows: Annotated[
        bool, Option("Also overwrite workflow files that differ from the templates.")
    ] = False
    delete_upstream_workflows: Annotated[
        bool, Option("Also delete upstream's workflow files that are no longer used.")
    ] = False
    dry_run: DryRun = False
    yes: Annotated[bool, Option("Write without asking.")] = False
    token: Annotated[SecretStr, Option("Token for GitHub's API and git.")] = SecretStr("")


SourceRepository = Annotated[
    RepositoryName,
    Field(min_length=1),
    Option("The application's source on GitHub.", "OWNER/NAME"),
]


class AppInitInputs(OnboardingInputs):
    """Inputs of `kalypso app init`."""

    source_repository: SourceRepository
    configs_repository: Annotated[
        RepositoryName,
        Option("Its configs; default: the name of the source with -configs.", "OWNER/NAME"),
    ] = ""
    gitops_repository: Annotated[
        RepositoryName,
        Option(
            "Its GitOps repository; default: the name of the source with -gitops.", "OWNER/NAME"
        ),
    ] = ""
    environments: Annotated[
        List,
        AfterValidator(_environments),
        Option(
            "The environments and rings, in the order of promotion. Default: those of the source; "
            "dev,dev-green,stage for a new one.",
            "NAMES",
        ),
    ] = ()


class AppRegisterInputs(Inputs):
    """Inputs of `kalypso app register`."""

    workspace: Annotated[
        str, Field(min_length=1), Option("The workspace of the team, which policies name.", "NAME")
    ]
    source_repository: SourceRepository
    source_branch: Annotated[str, Option("The branch with the Workload.", "NAME")] = "main"
    workload_path: Annotated[str, Option("The folder of the Workload in the source.", "PATH")] = (
        "workload"
    )
    control_plane: Annotated[
        RepositoryName, Option("The control plane, for the lines that propose it.", "OWNER/NAME")
    ] = ""


class InitInputs(OnboardingInputs):
    """Inputs of `kalypso init`.

    The two repositories are on GitHub, or clones; a clone needs no name if its origin is on GitHub.
    """

    control_plane: Annotated[
        RepositoryName, Option("The control plane on GitHub.", "OWNER/NAME")
    ] = ""
    gitops: Annotated[RepositoryName, Option("Its GitOps repository on GitHub.", "OWNER/NAME")] = ""
    control_plane_dir: Annotated[
        Folder | None,
        Option(
            "Instead: a clone of the control plane. You push the new commits yourself. "
            "--control-plane is only needed if the clone's origin is not on GitHub.",
            "DIR",
        ),
    ] = None
    gitops_dir: Annotated[Folder | None, Option("A clone of the GitOps repository.", "DIR")] = None
    environments: Annotated[
        List,
        AfterValidator(_environments),
        Option(
            "The environments, in the order of promotion. Default: those of the "
            f"control plane; {','.join(DEFAULT_ENVIRONMENTS)} for a new one.",
            "NAMES",
        ),
    ] = ()
    cluster_reports: Annotated[
        Literal["none", DemoClusterReports],
        Option(
            "Where the clusters report: to Azure, by commit statuses, or in an Argo CD; none: the "
            "promotion does not wait for them yet."
        ),
    ] = "none"
    clusters: Annotated[
        List,
        AfterValidator(_clusters_of_environments),
        Option(
            "The clusters of the sample cluster type, such as dev=berlin-1. init writes their "
            "manifests for commit statuses and Argo CD.",
            "ENVIRONMENT=NAME",
        ),
    ] = ()

    @property
    def in_clones(self) -> bool:
        """Whether init writes to clones."""
        return self.control_plane_dir is not None

    @model_validator(mode="after")
    def _two_repositories(self) -> Self:
        folders = (self.control_plane_dir, self.gitops_dir)
        if any(folders) and not all(folders):
            raise PydanticCustomError(
                "init", "--control-plane-dir and --gitops-dir are required together"
            )
        if not any(folders) and not (self.control_plane and self.gitops):
            raise PydanticCustomError(
                "init",
                "two repositories are required: --control-plane and --gitops as owner/name, or "
                "--control-plane-dir and --gitops-dir for clones of them",
            )
        if self.control_plane and self.control_plane.lower() == self.gitops.lower():
            raise PydanticCustomError(
                "init", "--gitops is the control plane itself: it must be another repository"
            )
        return self

    @model_validator(mode="after")
    def _proposes_to_github(self) -> Self:
        if self.in_clones and self.pull_request:
            raise PydanticCustomError(
                "init",
                "--pull-request needs repositories on GitHub: name them by --control-plane and "
                "--gitops, without --control-plane-dir and --gitops-dir",
            )
        return self
