"""The first files of a new control plane, with names filled in.

The files are in `kalypso_actions/starter`. Words in capitals stand for names: CONTROL_PLANE_URL,
GITOPS_URL, GITOPS_MAIN, ENVIRONMENT, BRANCH, NEXT; for clusters also CLUSTER, CLUSTER_TYPE,
APPLICATION, GITOPS_BRANCH. The folder `application` is for an application's repositories, with
APPLICATION_NAME, CONFIGS_URL, GITOPS_URL, ENVIRONMENT and PLATFORM.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import yaml

from kalypso_actions.model.kinds import NEXT_ENVIRONMENT_ANNOTATION
from kalypso_actions.model.workflow_files import FOLDER
from kalypso_actions.model.yaml_edits import at_line_end, end_of, newline_of, text_of, value_of
from kalypso_actions.onboarding.setup import EnvironmentSetup, Setup

MAIN: Final = "control-plane/main/"
OBJECTS: Final = "control-plane/environments/"
ENVIRONMENT: Final = "control-plane/environment/"
GITOPS_MAIN: Final = "gitops/main/"
GITOPS_ENVIRONMENT: Final = "gitops/environment/"
APPLICATION: Final = "application/"

GITOPS_REPO: Final = "gitops-repo.yaml"
TARGET: Final = "    - name: ENVIRONMENT\n"
"""The start of the section that the sample workload repeats for each environment."""

PLAIN: Final = re.compile(r"[A-Za-z][A-Za-z0-9_./:-]*(?<!:)")
YAML_WORDS: Final = frozenset({"true", "false", "yes", "no", "on", "off", "y", "n", "null"})
"""Words that YAML 1.1 reads as booleans or null."""

PLACES: Final = {
    (True, True): "first-",
    (False, True): "",
    (False, False): "last-",
    (True, False): "only-",
}
"""The prefix of an Environment object's file, by `is_first` and by whether a next one exists."""

AZURE: Final = "azure-resource-graph"
ARGOCD: Final = "argocd"
REPORTING: Final = frozenset({"commit-statuses", ARGOCD})
"""The sources of cluster reports that are not Azure."""

HUB_TEMPLATE: Final = "argocd-hub"
"""The Template for clusters that an Argo CD elsewhere manages."""

CLUSTERS: Final = "clusters/"
CLUSTER_TYPE: Final = "standard"
"""The sample cluster type."""

ANNOTATIONS: Final = re.compile(r"  annotations:\n(?:    .*\n)+")

TEMPLATE_NAMES: Final = frozenset({"flux", "namespace", "config-map"})
"""The Templates of the sample cluster type."""


@dataclass(frozen=True, slots=True)
class StarterFiles:
    """The texts of the package's folder `starter`, by path."""

    texts: Mapping[str, str]

    def of_main(self, setup: Setup) -> dict[str, str]:
        """Return the first files of a new main branch, except its Environment objects."""
        return self._filled(MAIN, _names(setup))

    def environment_object(self, setup: Setup, environment: EnvironmentSetup) -> tuple[str, str]:
        """Return the path and text of an Environment object."""
        place = PLACES[environment.is_first, bool(environment.next_environment)]
        text = self.texts[f"{OBJECTS}{place}environment.yaml"]
        names = {**_names(setup), **_names_of(environment)}
        return f".environments/{environment.name}.yaml", _fill(text, names)

    def of_environment(
        self, setup: Setup, environment: EnvironmentSetup, *, with_samples: bool
    ) -> dict[str, str]:
        """Return a new environment's first files; without samples, only the required ones."""
        names = {**_names(setup), **_names_of(environment)}
        files = self._filled(ENVIRONMENT, names)
        sample = f"cluster-types/{CLUSTER_TYPE}.yaml"
        if sample in files:
            files[sample] = _with_reports(files[sample], setup, environment)
        if not with_samples:
            files = {GITOPS_REPO: files[GITOPS_REPO]}
        return {posixpath.normpath(f"{environment.path}/{path}"): files[path] for path in files}

    def of_clusters(self, setup: Setup, environment: EnvironmentSetup) -> dict[str, str]:
        """Return what the clusters of an environment need to report.

        With commit statuses, each cluster has a file; an Argo CD has one for all clusters.
        """
        text = self.texts.get(f"{CLUSTERS}{setup.cluster_reports}.yaml", "")
        clusters = environment.clusters if text else ()
        files = (CLUSTER_TYPE,) if clusters and setup.cluster_reports == ARGOCD else clusters
        names = {
            **_names(setup),
            "CLUSTER_TYPE": CLUSTER_TYPE,
            "ENVIRONMENT-CLUSTER_TYPE": f"{environment.name}-{CLUSTER_TYPE}",
            "APPLICATION": f"kalypso-{environment.name}-{CLUSTER_TYPE}",
        }
        return {
            f"clusters/{environment.name}/{name}.yaml": _fill(
                text, {**names, "CLUSTER": name, "GITOPS_BRANCH": branch}
            )
            for name in files
            for branch in environment.gitops_branches[:1]
        }

    def of_source(self, setup: Setup) -> dict[str, str]:
        """Return the Template for an Argo CD that manages the clusters, if they report in one."""
        text = self.texts.get(f"{CLUSTERS}{setup.cluster_reports}-template.yaml", "")
        return {f"templates/{HUB_TEMPLATE}.yaml": _fill(text, _names(setup))} if text else {}

    def of_gitops_main(self, setup: Setup) -> dict[str, str]:
        """Return the first files of a new GitOps repository's main: a sample workload."""
        environments = [_names_of(environment) for environment in setup.environments]
        return self._with_targets(GITOPS_MAIN, _names(setup), environments)

    def of_application(
        self,
        repository: str,
        names: Mapping[str, str],
        environments: Sequence[Mapping[str, str]] = (),
    ) -> dict[str, str]:
        """Return the first files of an application's repository, with names filled in."""
        return self._with_targets(f"{APPLICATION}{repository}/", names, environments)

    def _with_targets(
        self, folder: str, names: Mapping[str, str], environments: Sequence[Mapping[str, str]]
    ) -> dict[str, str]:
        """Return the files of a folder; the sample workload has a target for each environment."""
        files = {}
        for path, text in self._texts(folder).items():
            head, begin, target = text.partition(TARGET)
            targets = (_fill(begin + target, environment) for environment in environments)
            files[path] = _fill(head + ("".join(targets) if begin else ""), names)
        return files

    def of_gitops_environment(self, setup: Setup) -> dict[str, str]:
        """Return the first files of a new GitOps branch."""
        return self._filled(GITOPS_ENVIRONMENT, _names(setup))

    def _filled(self, folder: str, names: Mapping[str, str]) -> dict[str, str]:
        return {path: _fill(text, names) for path, text in self._texts(folder).items()}

    def _texts(self, folder: str) -> dict[str, str]:
        return {
            path.removeprefix(folder): text
            for path, text in self.texts.items()
            if path.startswith(folder)
        }


def _with_reports(text: str, setup: Setup, environment: EnvironmentSetup) -> str:
    """Let the sample cluster type say which clusters report, and how they are reached."""
    if setup.cluster_reports == ARGOCD:
        text = text.replace("reconciler: flux\n", f"reconciler: {HUB_TEMPLATE}\n")
    if environment.clusters:
        listed = json.dumps(", ".join(environment.clusters))
        comment, line = "The promotion waits for each of these clusters.", f"clusters: {listed}"
    elif setup.cluster_reports == AZURE:
        return ANNOTATIONS.sub("", text)
    elif setup.cluster_reports in REPORTING:
        comment = (
            "No promotion waits for clusters yet: replace this line by the annotation clusters."
        )
        line = "compliance: none"
    else:
        return text
    lines = f"  annotations:\n    # {comment}\n    kalypso.io/{line}\n"
    return ANNOTATIONS.sub(lambda _: lines, text)


def _names(setup: Setup) -> dict[str, str]:
    return {
        "CONTROL_PLANE_URL": setup.control_plane.url,
        "GITOPS_URL": setup.gitops.url,
        "GITOPS_MAIN": setup.gitops.main,
    }


def _names_of(environment: EnvironmentSetup) -> dict[str, str]:
    return {
        "ENVIRONMENT": environment.name,
        "BRANCH": environment.branch,
        "NEXT": environment.next_environment,
    }


def _fill(text: str, names: Mapping[str, str]) -> str:
    """Replace the words in capitals by names."""
    words = re.compile(rf"\b({'|'.join(names)})\b")
    return words.sub(lambda word: scalar(names[word[1]]), text)


def scalar(name: str) -> str:
    """Write a name in YAML, quoted unless YAML reads the plain name as the same string."""
    is_plain = PLAIN.fullmatch(name) and name.lower() not in YAML_WORDS
    return name if is_plain else json.dumps(name)


def with_next_environment(text: str, environment: str, names: str) -> str | None:
    """Return a file in which the Environment object names these as next; None if it cannot be.

    Comments, order and all other fields stay as they are.
    """
    try:
        documents = list(yaml.compose_all(text, Loader=yaml.SafeLoader))
    except yaml.YAMLError:
        return None
    of_it = [
        metadata
        for document in documents
        if text_of(value_of(document, "kind")) == "Environment"
        and text_of(value_of(metadata := value_of(document, "metadata"), "name")) == environment
        and isinstance(metadata, yaml.MappingNode)
    ]
    if len(of_it) != 1:
        return None
    annotations = value_of(of_it[0], "annotations")
    old = value_of(annotations, NEXT_ENVIRONMENT_ANNOTATION)
    entry = f"{NEXT_ENVIRONMENT_ANNOTATION}: {scalar(names)}"
    if isinstance(old, yaml.ScalarNode):
        start, end = old.start_mark.index, old.end_mark.index
        edited = f"{text[:start]}{' ' if start == end else ''}{scalar(names)}{text[end:]}"
    elif isinstance(annotations, yaml.MappingNode) and annotations.value:
        edited = _with_entry(text, annotations, (entry,))
    elif annotations is None:
        edited = _with_entry(text, of_it[0], ("annotations:", f"  {entry}"))
    else:
        return None
    before, after = (_without_next(each, environment) for each in (text, edited))
    same = before is not None and before == after
    return edited if same else None


def _with_entry(text: str, mapping: yaml.MappingNode, lines: Sequence[str]) -> str:
    """Add an entry at the end of a mapping."""
    if mapping.flow_style:
        end = mapping.end_mark.index - 1
        key, *values = lines
        value = f" {{{values[0].strip()}}}" if values else ""
        return f"{text[:end].rstrip()}, {key}{value}{text[end:]}"
    newline, indent = newline_of(text), " " * mapping.start_mark.column
    head, rest = at_line_end(text, end_of(mapping), newline)
    return head + "".join(f"{indent}{line}{newline}" for line in lines) + rest


def _without_next(text: str, environment: str) -> object:
    """Return the documents of a file without the annotation of an Environment; None if unclear."""
    try:
        documents = list(yaml.load_all(text, Loader=yaml.BaseLoader))
    except yaml.YAMLError:
        return None
    for document in documents:
        match document:
            case {"kind": "Environment", "metadata": {"name": str(name), **metadata}}:
                if name == environment:
                    annotations = metadata.get("annotations")
                    kept = dict(annotations) if isinstance(annotations, dict) else {}
                    kept.pop(NEXT_ENVIRONMENT_ANNOTATION, None)
                    document["metadata"] = {**metadata, "annotations": kept}
    return documents


SCHEDULE_FILE: Final = f"{FOLDER}schedule.yaml"
CD_FILE: Final = f"{FOLDER}cd.yaml"
START_SCHEDULE_FILE: Final = f"{FOLDER}start-schedule.yaml"
CHECK_PROMOTE_FILE: Final = f"{FOLDER}check-promote.yaml"
OBSERVE_FILE: Final = f"{FOLDER}observe.yaml"
MAIN_TRIGGER: Final = re.compile(r"(?<=branches: \[)main(?=\])|(?<=branches-ignore: \[)main(?=,)")
"""The main branch, in the triggers of a template."""

FORMER_PATHS: Final = {START_SCHEDULE_FILE: f"{FOLDER}schedule.yaml"}
"""The former paths of templates for an environment's branch: main has another schedule.yaml."""

STARTS_SCHEDULE: Final = re.compile(r"^\s*run:\s*['\"]?start-schedule\b", re.MULTILINE)

MODE: Final = re.compile(r"^\s*mode:\s*['\"]?pull-request\b", re.MULTILINE)
TOKEN: Final = re.compile(r"^\s*token:", re.MULTILINE)
APP: Final = re.compile(r"^\s*app-private-key:", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class WorkflowFiles:
    """Our filled-in workflow files, by path, for each kind of branch.

    `main` is for the control plane's main branch, and `environment` for an environment's branch
    there. `gitops` is for all branches of the GitOps repository, including main: a credential
    without the permission `workflows` may only push workflow files that the repository already has,
    and GitHub may look for those only on the default branch.
    """

    main: Mapping[str, str]
    environment: Mapping[str, str]
    gitops: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class RuleNeeds:
    """The requirements of branch rules that workflows must meet.

    `cd_by_app`: cd pushes as the App, since no ruleset can let a job's token bypass it. `cd_signs`
    and `schedule_signs`: GitHub makes and signs the commits of these jobs.
    """

    cd_by_app: bool = False
    cd_signs: bool = False
    schedule_signs: bool = False


def for_branch(files: Mapping[str, str], branch: str) -> dict[str, str]:
    """Name the main branch in the control plane's workflow files."""
    return {path: MAIN_TRIGGER.sub(scalar(branch), text) for path, text in files.items()}


def former_paths(texts: Mapping[str, str]) -> dict[str, str]:
    """Return the former path of each of our workflow files that still has one, by its new path."""
    return {
        path: former
        for path, former in FORMER_PATHS.items()
        if path not in texts and STARTS_SCHEDULE.search(texts.get(former, ""))
    }


def under_present_paths(texts: Mapping[str, str]) -> dict[str, str]:
    """Return the workflow files of a branch by their present paths instead of the former ones."""
    present = dict(texts)
    for path, former in former_paths(texts).items():
        present[path] = present.pop(former)
    return present


def for_rules(files: Mapping[str, str], needs: RuleNeeds) -> dict[str, str]:
    """Adapt the workflow files of the control plane's main branch to the branch rules."""
    by_app = ("app-id", "app-private-key") if needs.cd_by_app else ()
    names = {
        CD_FILE: (*by_app, *(("commit-by",) if needs.cd_signs else ())),
        SCHEDULE_FILE: ("commit-by",) if needs.schedule_signs else (),
    }
    return {path: _with_offered(text, names.get(path, ())) for path, text in files.items()}


def runs_by_job(text: str) -> bool:
    """Whether a workflow file uses its job's token, without the App or another token."""
    return bool(text) and not APP.search(text) and not TOKEN.search(text)


def proposes(text: str) -> bool:
    """Whether a workflow file opens pull requests with its job's token."""
    return bool(MODE.search(text)) and runs_by_job(text)


def _with_offered(text: str, names: Iterable[str]) -> str:
    """Uncomment the named inputs, which a template offers in comments."""
    for name in names:
        text = re.sub(rf"(?m)^( *)# ({name}: )", r"\1\2", text)
    return text
