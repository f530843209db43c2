"""The inputs of the commands of an application's repositories.

Each field is an option of the command, and an input of the action that runs it.
"""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Final, Literal, Self

from pydantic import AfterValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from kalypso_actions.inputs.chain import (
    EMPTY,
    ClusterSources,
    CommitBy,
    DryRun,
    GitHubInputs,
    ShownPreviewInputs,
    VerifyOnly,
    WaitingInputs,
)
from kalypso_actions.inputs.paths import Folder, GitOpsPath, Repository, check_commit_to
from kalypso_actions.inputs.values import (
    Duration,
    EnvironmentName,
    Flag,
    Inputs,
    List,
    Option,
    Percent,
    RepositoryName,
    Secret,
    fault,
    split_list,
)
from kalypso_actions.model.application import (
    GENERATOR_NAMES,
    VARIABLE_VALUE,
    VARIABLE_VALUE_RULE,
    Compatibility,
)
from kalypso_actions.model.change_titles import TitleStyle
from kalypso_actions.model.kubernetes_names import dns_label_fault
from kalypso_actions.model.tree import MAX_REMOVAL_PERCENT

KUBERNETES_VERSION: Final = re.compile(r"v?1\.[0-9]{1,3}(\.[0-9]{1,4})?")
API_VERSION: Final = re.compile(r"[A-Za-z0-9.-]+(/[A-Za-z0-9.-]+)*")


def _value(text: str) -> str:
    """Refuse texts that could break the YAML into which they are written."""
    if not VARIABLE_VALUE.fullmatch(text):
        raise fault("value", text, VARIABLE_VALUE_RULE)
    return text


def _namespace(text: str) -> str:
    wrong = dns_label_fault(text) if text else ""
    if wrong:
        raise fault("namespace", text, wrong)
    return text


def _kubernetes_version(text: str) -> str:
    if text and not KUBERNETES_VERSION.fullmatch(text):
        raise fault("version", text, "is not a version of Kubernetes; write, for example, 1.31")
    return text


def _api_versions(versions: tuple[str, ...]) -> tuple[str, ...]:
    for version in versions:
        if not API_VERSION.fullmatch(version):
            wanted = "is not an API version; write group/version or group/version/Kind"
            raise fault("version", version, wanted)
    return versions


def _generators(names: tuple[str, ...]) -> tuple[str, ...]:
    for name in names:
        if name not in GENERATOR_NAMES or (name == "auto" and len(names) > 1):
            wanted = f"is none of {', '.join(GENERATOR_NAMES)}"
            raise fault("generator", name, "stands alone" if name in GENERATOR_NAMES else wanted)
    return tuple(dict.fromkeys(names)) or ("auto",)


def _relative(path: str) -> str:
    folder = path.strip("/")
    if path.startswith("/") or ".." in folder.split("/"):
        raise fault("path", path, "is not a folder of the source; write its path from the root")
    return "/".join(part for part in folder.split("/") if part not in {"", "."})


PLATFORM_BRANCH: Final = re.compile(
    r"(?P<repository>[\w-]+/[\w.-]+)@(?P<branch>[^:\s]+)(?::(?P<path>\S*))?"
)


def _platform_branches(given: tuple[str, ...]) -> tuple[str, ...]:
    for text in given:
        if not PLATFORM_BRANCH.fullmatch(text):
            raise fault("branch", text, "is no branch; write owner/name@branch, or with :folder")
    return given


def _expected_clusters(text: str) -> str:
    for line in filter(None, map(str.strip, text.splitlines())):
        target, equals, names = line.partition("=")
        if not (target.strip() and equals and names.strip()):
            raise fault("line", line, "lists no clusters; write target = first, second")
    return text


Value = Annotated[str, AfterValidator(_value)]
Namespace = Annotated[str, AfterValidator(_namespace)]
KubernetesVersion = Annotated[str, AfterValidator(_kubernetes_version)]
RelativePath = Annotated[str, AfterValidator(_relative)]


class AppInputs(Inputs):
    """Inputs of all commands that render an application: variables, and options for rendering."""

    as_texts = True

    environment: Annotated[
        EnvironmentName,
        Option(
            "The environment: the branch of configs and GitOps repository.", completes="environment"
        ),
    ]
    compatibility: Annotated[
        Compatibility,
        Option(
            "none, or upstream's bytes: current, or 2023 (texts of levels joined, "
            "undefined variables empty)."
        ),
    ] = "none"
    workload: Annotated[Value, Option("$WORKLOAD; default: the name of the source repository.")] = (
        ""
    )
    source_repository: Annotated[
        RepositoryName, Option("$SOURCE_REPO, as owner/name; default: that of the clone's origin.")
    ] = ""
    gitops_repository: Annotated[
        RepositoryName, Option("$GITOPS_REPO, as owner/name; default: that of the clone's origin.")
    ] = ""
    source_branch: Annotated[
        Value, Option("$SOURCE_BRANCH; default: the source's default branch, or main.")
    ] = ""
    version: Annotated[
        Value,
        Option("$VERSION; with compatibility, by default the version that the GitOps tree tracks."),
    ] = ""
    image_tag: Annotated[
        Value, Option("$IMAGE_TAG; with compatibility, by default the tracked one.")
    ] = ""
    image_name: Annotated[
        Value,
        Option(
            "$IMAGE_NAME; default: ghcr.io/<source repository>/<its name>. With 2023, "
            "the whole reference, which the GitOps tree tracks."
        ),
    ] = ""
    generator: Annotated[
        List,
        AfterValidator(_generators),
        Option(
            "auto (by the content of the source), or one or several of helm, kustomize, plain "
            "(manifests as they are), services (charts of repositories) and command, each for its "
            "targets."
        ),
    ] = ("auto",)
    generator_command: Annotated[
        str,
        Option(
            "For generator command: a command that bash runs for each target, and that "
            "writes the target's files to $KALYPSO_OUT."
        ),
    ] = ""
    path: Annotated[
        RelativePath,
        Option(
            "The folder of the chart, kustomization or manifests in the source; "
            "default: the first of helm, kustomize, manifests."
        ),
    ] = ""
    workload_path: Annotated[RelativePath, Option("The folder of the Workload in the source.")] = (
        "workload"
    )
    helm_version: Annotated[
        Value, Option("The version that helm must have, such as v3.22; default: any.")
    ] = ""
    dependencies: Annotated[
        Literal["vendored", "fetch"],
        Option(
            "Dependencies that the chart's folder lacks: vendored (an error), or fetch (by "
            "Chart.lock, which locks versions, but not content)."
        ),
    ] = "vendored"
    chart_credentials: Annotated[
        Secret,
        Option(
            "Credentials for private repositories of charts: lines of "
            "host-or-URL-prefix=user:token."
        ),
    ] = EMPTY
    release_name: Annotated[
        Namespace, Option("helm's release name; default: from the name of the target's folder.")
    ] = ""
    namespace: Annotated[
        Namespace, Option("The namespace of the objects, for helm and the checks.")
    ] = ""
    allowed_namespaces: Annotated[
        List, Option("Globs of other namespaces that objects may name.")
    ] = ()
    kube_version: Annotated[
        KubernetesVersion, Option("The version of Kubernetes for charts, such as 1.31.")
    ] = ""
    validate_manifests: Annotated[
        KubernetesVersion,
        Option(
            "Validate the manifests against the schemas of this version of Kubernetes, "
            "such as 1.31 (needs the extra validation)."
        ),
    ] = ""
    api_versions: Annotated[
        List,
        AfterValidator(_api_versions),
        Option("API versions that charts find in the cluster, as group/version/Kind."),
    ] = ()
    crds: Annotated[
        Literal["auto", "true", "false"],
        Option("Whether the chart's crds are rendered: auto (only with none), true or false."),
    ] = "auto"
    hooks: Annotated[
        Literal["true", "false"], Option("Whether helm's hooks are rendered: true or false.")
    ] = "true"
    tests: Annotated[
        Literal["auto", "true", "false"],
        Option("Whether helm's tests are rendered: auto (not with none), true or false."),
    ] = "auto"
    timeout: Annotated[Duration, Option("The time for one target's manifests.")] = timedelta(
        seconds=60
    )
    max_removal_percent: Annotated[
        Percent,
        Option(
            "Refuse to remove more of the GitOps tree's targets than this, or all. One "
            "of several may always go, unless it is 0."
        ),
    ] = MAX_REMOVAL_PERCENT
    allow_removals: Annotated[Flag, Option("Allow such a removal.")] = False
    workspace: Annotated[Value, Option("The workspace, for descriptors.")] = ""
    application: Annotated[
        Value, Option("The application, for descriptors; default: the label application.")
    ] = ""

    @model_validator(mode="after")
    def _one_generator(self) -> Self:
        if ("command" in self.generator) != bool(self.generator_command):
            raise PydanticCustomError(
                "generator", "--generator command and --generator-command need each other"
            )
        if self.path and len({*self.generator} - {"command"}) > 1:
            raise PydanticCustomError(
                "path", "--path names the folder of one generator; leave it out, or name one"
            )
        return self


class AppRenderInputs(AppInputs):
    """Inputs of `kalypso app render`."""

    source_commit: Annotated[
        Value,
        Option(
            "$SRC_COMMIT; default: the commit of the source; with compatibility, for a "
            "folder that is not a clone, the one that the GitOps tree tracks."
        ),
    ] = ""
    config_revision: Annotated[
        Value, Option("$CONFIG_REVISION; default: the commit of the configs, likewise.")
    ] = ""
    source: Annotated[
        Repository, Option("The source repository: a folder as it is, or PATH@REV, or URL[@REV].")
    ]
    configs: Annotated[
        Repository, Option("The configs repository, likewise; the default REV is the environment.")
    ]
    gitops: Annotated[
        Repository | None,
        Option(
            "The existing GitOps tree to change: a folder, or PATH[@REV] or "
            "URL[@REV] of a repository; the default REV is the environment."
        ),
    ] = None
    out: Annotated[Folder | None, Option("Write the resulting tree to this folder.")] = None
    commit_to: Annotated[
        GitOpsPath,
        Option(
            "Commit the changes to REPOSITORY@BRANCH, a repository on this machine; "
            "its tree is the existing one."
        ),
    ] = None

    @model_validator(mode="after")
    def _one_result(self) -> AppRenderInputs:
        check_commit_to(self.commit_to, {"--out": self.out})
        return self

    @model_validator(mode="after")
    def _named_image(self) -> AppRenderInputs:
        """Refuse a run that does not say what it deploys: anybody may edit tracking files."""
        given = {"--version": self.version, "--image-tag": self.image_tag}
        missing = [option for option, value in given.items() if not value]
        if missing and self.compatibility == "none":
            raise PydanticCustomError(
                "image",
                "{options} must be given: the tracking files count only with --compatibility",
                {"options": " and ".join(missing)},
            )
        return self

    @model_validator(mode="after")
    def _out_apart(self) -> AppRenderInputs:
        """Refuse an output inside an input: the next run would read it."""
        if self.out is None:
            return self
        out = self.out.resolve()
        inputs = (self.source, self.configs, self.gitops)
        read = [Path(item.place) for item in inputs if item and not item.is_url]
        for place in (item.resolve() for item in read):
            if place.exists() and out.is_relative_to(place):
                raise PydanticCustomError(
                    "out",
                    "--out {out} lies in {place}, which the command reads; choose a folder outside",
                    {"out": str(self.out), "place": str(place)},
                )
        return self


class AppChainInputs(GitHubInputs):
    """Inputs of all commands of an application's chain."""

    chain_input = "source-repository"

    source_repository: Annotated[
        RepositoryName,
        Option("The application's source, as owner/name; default: the current repository."),
    ] = ""


ReleaseBy = Annotated[
    Literal["job", "app"],
    Option(
        "Whose version records count: job (those of jobs, too, which a workflow of any branch can "
        "post), or app (only those of the App)."
    ),
]
StartEnvironments = Annotated[
    List,
    Option(
        "Where a new commit begins, upstream's START_ENVIRONMENT; default: those that no other "
        "one in .github/kalypso/environments.yaml names as next."
    ),
]
DeployWorkflow = Annotated[str, Option("The workflow file that runs app-deploy.")]
CheckWorkflow = Annotated[str, Option("The workflow file that runs app-check.")]


ConfigsRepository = Annotated[
    RepositoryName, Option("The configs, as owner/name: upstream's CONFIGS_REPO.")
]
GitOpsRepository = Annotated[
    RepositoryName, Option("The GitOps repository, as owner/name: upstream's MANIFESTS_REPO.")
]


Environments = Annotated[
    List,
    Option("The environments to look at; default: those of .github/kalypso/environments.yaml."),
]


class AppCiInputs(AppChainInputs):
    """Inputs of `kalypso app ci`."""

    version: Annotated[Value, Option("The version of the commit, such as 0.0.1-36.")]
    image_tag: Annotated[
        Value,
        Option(
            "The tag of the image that the build has pushed, best with its digest: tag@sha256:…."
        ),
    ]
    image_name: Annotated[
        Value, Option("The name of the image; default: ghcr.io/<source repository>/<its name>.")
    ] = ""
    commit: Annotated[
        str | None,
        Option("The commit of main to release: its id or a revision; default: the current one."),
    ] = None
    start_environment: StartEnvironments = ()
    start_deploy: Annotated[Flag, Option("Start deploy for the first environments.")] = True
    release_by: ReleaseBy = "job"
    deploy_workflow: DeployWorkflow = "deploy.yml"
    dry_run: DryRun = False


class AppTreeInputs(AppInputs, AppChainInputs):
    """Inputs of the commands that render an application's repositories on GitHub."""

    configs_repository: ConfigsRepository
    gitops_repository: Annotated[
        RepositoryName,
        Option(
            "The GitOps repository, as owner/name: upstream's MANIFESTS_REPO; also $GITOPS_REPO."
        ),
    ]
    source_repository: Annotated[
        RepositoryName,
        Option(
            "The application's source, as owner/name; default: the current repository; also "
            "$SOURCE_REPO."
        ),
    ] = ""


class AppDeployInputs(AppTreeInputs):
    """Inputs of `kalypso app deploy`."""

    commit: Annotated[
        str,
        Option(
            "A person's commit of main: it is deployed whatever was closed or rolled back. From "
            "others it is a hint, since the records decide."
        ),
    ] = ""
    promotion: Annotated[
        str,
        Option("Upstream's input of its dispatches; the repositories decide, so it has no effect."),
    ] = ""
    version: Annotated[
        Value, Option("The expected version: another one than the commit's record is an error.")
    ] = ""
    image_tag: Annotated[Value, Option("The expected image tag, likewise.")] = ""
    image_name: Annotated[Value, Option("The expected image name, likewise.")] = ""
    release_by: ReleaseBy = "job"
    scan: Annotated[
        str,
        Option(
            "A command that sees the rendered tree before it is proposed: $KALYPSO_TREE, and the "
            "file $KALYPSO_IMAGES with an image on each line; $KALYPSO_CHARTS is a folder with the "
            "archives of services. If it fails, nothing is proposed."
        ),
    ] = ""
    mode: Annotated[
        Literal["all", "render", "scan", "propose"],
        Option(
            "all, or one of three jobs, so that the scan runs without secrets: render keeps files "
            "for it, scan runs it, propose opens the pull request for the scanned tree."
        ),
    ] = "all"
    scan_files: Annotated[
        str, Option("The folder of these files, which is an artifact of the run.")
    ] = "kalypso-tree"
    scanned_tree: Annotated[
        str, Option("With mode propose: the output digest of the job that rendered.")
    ] = ""
    scan_result: Annotated[str, Option("With mode propose: the result of the job of the scan.")] = (
        ""
    )
    auto_merge: Annotated[
        Literal["none", "always"], Option("Merge the pull request automatically: none, always.")
    ] = "none"
    allow_rollback: Annotated[
        Flag, Option("Allow a commit that is older than that of the environment.")
    ] = False
    force: Annotated[Flag, Option("Propose again what people closed or reverted.")] = False
    adopt: Annotated[
        Flag,
        Option(
            "Record the version and image that the tracking files of upstream's workflows name as "
            "those of their commit, if it has none."
        ),
    ] = False
    labels: Annotated[List, Option("More labels for the pull requests.")] = ()
    title: Annotated[
        TitleStyle, Option("Titles of the pull requests as upstream's, or by their meaning.")
    ] = "upstream"
    commit_by: CommitBy = "auto"
    check_workflow: CheckWorkflow = "post-deployment.yml"
    dry_run: DryRun = False


class AppPreviewInputs(ShownPreviewInputs, AppTreeInputs):
    """Inputs of `kalypso app preview`."""

    environment: Annotated[
        str,
        Option(
            "Only this environment; default: all of .github/kalypso/environments.yaml.",
            completes="environment",
        ),
    ] = ""
    configs_pull_request: Annotated[
        int,
        Field(ge=0),
        Option("The number of the configs' pull request to preview; default: that of the job."),
    ] = 0
    base: Annotated[
        str, Option("The commit of the source to compare with; default: that of the pull request.")
    ] = ""
    head: Annotated[
        str, Option("The commit of the source with the change; default: the job's commit.")
    ] = ""
    release_by: ReleaseBy = "job"


class AppNotifyInputs(AppChainInputs):
    """Inputs of `kalypso app notify`."""

    source_repository: Annotated[
        RepositoryName,
        Field(min_length=1),
        Option("The application's source, as owner/name: upstream's SRC_REPO."),
    ]
    pushed: Annotated[
        Literal["gitops", "configs"],
        Option("This repository: gitops (a push starts a check), or configs (a deployment)."),
    ] = "gitops"
    workflow: Annotated[
        str,
        Option(
            "The workflow file of the source to start; default: post-deployment.yml, or with "
            "configs deploy.yml, and preview.yml for a pull request."
        ),
    ] = ""
    job_token: Annotated[
        Secret, Option("The job's own token, by which a job without a notifier is known.")
    ] = EMPTY
    dry_run: DryRun = False


class AppPollInputs(AppChainInputs):
    """Inputs of `kalypso app poll`."""

    configs_repository: ConfigsRepository
    gitops_repository: GitOpsRepository
    environments: Environments = ()
    release_by: ReleaseBy = "job"
    repair_after: Annotated[
        Duration, Option("How long to wait for a started run before starting it again.")
    ] = timedelta(minutes=10)
    deploy_workflow: DeployWorkflow = "deploy.yml"
    check_workflow: CheckWorkflow = "post-deployment.yml"
    dry_run: DryRun = False


class AppStatusInputs(AppChainInputs):
    """Inputs of `kalypso app status`."""

    configs_repository: ConfigsRepository
    gitops_repository: GitOpsRepository
    environments: Environments = ()
    release_by: ReleaseBy = "job"


class AppCheckInputs(WaitingInputs, ClusterSources, AppChainInputs):
    """Inputs of `kalypso app check`."""

    environment: Annotated[
        EnvironmentName,
        Option("The environment: the branch of the GitOps repository.", completes="environment"),
    ]
    configs_repository: ConfigsRepository
    gitops_repository: GitOpsRepository
    promoted_commit: Annotated[
        str,
        Option("Upstream's promoted_commit_id; the branch says what it has, so it has no effect."),
    ] = ""
    gitops_commit: Annotated[
        str, Option("Upstream's commit_id; the head of the branch is checked, so likewise.")
    ] = ""
    next_environment: Annotated[
        List,
        Option(
            "The next environments, upstream's NEXT_ENVIRONMENT; default: those in "
            ".github/kalypso/environments.yaml."
        ),
    ] = ()
    platform_gitops: Annotated[
        List,
        AfterValidator(_platform_branches),
        Option(
            "The branches of the platform whose reconcilers let clusters follow the GitOps "
            "repository, as owner/name@branch[:folder]; leave it out if clusters follow it "
            "directly."
        ),
    ] = ()
    expected_clusters: Annotated[
        str,
        AfterValidator(_expected_clusters),
        Option(
            "The clusters that should report by commit statuses: lines of target = names. Their "
            "contexts have the folder of the target with . for /."
        ),
    ] = ""
    release_by: ReleaseBy = "job"
    deploy_workflow: DeployWorkflow = "deploy.yml"
    check_workflow: CheckWorkflow = "post-deployment.yml"
    started_at: Annotated[
        str, Option("The time at which an earlier run began to wait, but not before the merge.")
    ] = ""
    verify_only: VerifyOnly = False
    dry_run: DryRun = False

    @property
    def clusters_of_targets(self) -> dict[str, tuple[str, ...]]:
        """The expected clusters by the folder of the target."""
        lines = [
            line.partition("=") for line in self.expected_clusters.splitlines() if line.strip()
        ]
        return {target.strip().strip("/"): split_list(names) for target, _, names in lines}
