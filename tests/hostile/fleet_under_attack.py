"""A small fleet with two applications: `calm` is an ordinary one, `evil` attacks."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from textwrap import indent

from kalypso_actions.clients.process import Programs
from kalypso_actions.commands.render import render
from kalypso_actions.commands.shared.local_context import LocalContext
from kalypso_actions.inputs.local import RenderInputs
from kalypso_actions.model.processes import no_progress
from kalypso_actions.report.documents import ProblemEntry
from kalypso_actions.report.render_document import RenderDocument
from tests.git_repositories import commit_branch

API = "apiVersion: scheduler.kalypso.io/v1alpha1"

SERVER = "https://git.test/acme"

FLUX = """\
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata:
  name: {{ .DeploymentTargetName }}
  namespace: flux-system
spec:
  # {{ .Manifests.description }}
  url: {{ .Manifests.repo }}
  ref:
    branch: {{ .Manifests.branch }}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: {{ .DeploymentTargetName }}, namespace: flux-system}
spec: {path: {{ .Manifests.path }}, targetNamespace: {{ .Namespace }}}
"""
"""A Template as people write it, without quotes."""

CONFIG = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: platform-config, namespace: {{ .Namespace }}}
data: {region: {{ .ConfigData.REGION }}}
"""

WORKSPACES = {"calm": "calm", "evil": "evil"}

MANIFESTS = {
    "repo": "https://git.test/evil",
    "branch": "dev",
    "path": "./evil",
    "description": "boards",
}


def document(kind: str, name: str, spec: str) -> str:
    return f"{API}\nkind: {kind}\nmetadata: {{name: {name}}}\nspec: {spec}\n---\n"


def template(name: str, text: str, of_type: str) -> str:
    body = indent(text, "      ")
    name += ", annotations: {kalypso.io/manifests: any}"
    return document("Template", name, f"\n  type: {of_type}\n  manifests:\n    - |\n{body}")


def workload(name: str, manifests: Mapping[str, str], target: str = "web", more: str = "") -> str:
    """Return a Workload; the values of `manifests` are YAML."""
    entries = "".join(f"        {key}: {value}\n" for key, value in manifests.items())
    return (
        f"{API}\nkind: Workload\nmetadata: {{name: {name}}}\nspec:\n  deploymentTargets:\n"
        f"    - name: {target}\n      environment: dev\n{more}      manifests:\n{entries}"
    )


class FleetUnderAttack:
    """The fleet's control plane, its two applications and, with git, its GitOps tree."""

    def __init__(self, folder: Path, *, with_git: bool = False) -> None:
        self.folder = folder
        self.with_git = with_git
        self.deliver("calm", workload("calm", {**MANIFESTS, "repo": "https://git.test/calm"}))
        self.deliver("evil", workload("evil", MANIFESTS))
        self.commit_main()
        self.commit(
            "dev",
            {
                "base-repo.yaml": document(
                    "BaseRepo", "main", f"{{repo: {SERVER}/main, branch: main, path: .}}"
                ),
                "edge.yaml": document(
                    "ClusterType", "edge", "{reconciler: flux, namespaceService: ns, configType: c}"
                ),
                "policy.yaml": document(
                    "SchedulingPolicy",
                    "all",
                    "{deploymentTargetSelector: {labelSelector: {}}, clusterTypeSelector: "
                    "{labelSelector: {}}}",
                ),
                "region.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: region, labels: "
                "{platform-config: 'true'}}\ndata: {REGION: west}\n",
            },
        )

    def commit(self, name: str, files: Mapping[str, str]) -> None:
        """Replace the files of a repository."""
        if self.with_git:
            commit_branch(self.folder / name, files)
            return
        for path, text in files.items():
            (self.folder / name / path).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / name / path).write_text(text)

    def commit_main(
        self,
        flux: str = FLUX,
        config: str = CONFIG,
        *,
        engine: str = "",
        workspaces: Mapping[str, str] = WORKSPACES,
    ) -> None:
        """Commit the Templates, and the registrations of these workspaces."""
        reconciler = template("flux", flux, "reconciler")
        if engine:
            annotated = f"annotations: {{kalypso.io/engine: {engine}, "
            reconciler = reconciler.replace("annotations: {", annotated, 1)
        files = {
            "flux.yaml": reconciler,
            "ns.yaml": template("ns", "kind: Namespace\n", "namespace"),
            "config.yaml": template("c", config, "config"),
        }
        for name, workspace in workspaces.items():
            place = f"{{repo: {SERVER}/{name}, branch: main, path: .}}"
            spec = f"{{workload: {place}, workspace: {workspace}}}"
            files[f"{name}.yaml"] = document("WorkloadRegistration", name, spec)
        self.commit("main", files)

    def deliver(self, name: str, text: str) -> None:
        """Commit the Workloads of an application."""
        self.commit(name, {"workload.yaml": text})

    def separate(self, calm_labels: str) -> None:
        """Let `evil` alone run on the cluster type `far`, and `calm` on `edge`."""
        files = {"policy.yaml": "# none\n"}
        for name, cluster_type in (("calm", "edge"), ("evil", "far")):
            spec = "{reconciler: flux, namespaceService: ns, configType: c}"
            text = document("ClusterType", cluster_type, spec)
            labels = f"{{name: {cluster_type}, labels: {{for: {name}}}}}"
            files[f"{cluster_type}.yaml"] = text.replace(f"{{name: {cluster_type}}}", labels)
            files[f"{name}.yaml"] = document(
                "SchedulingPolicy",
                name,
                f"{{deploymentTargetSelector: {{workspace: {name}, labelSelector: {{}}}}, "
                f"clusterTypeSelector: {{labelSelector: {{matchLabels: {{for: {name}}}}}}}}}",
            )
        self.commit("dev", files)
        labels = f"      labels: {calm_labels}\n"
        self.deliver("calm", workload("calm", MANIFESTS, more=labels))

    def attack(self, *, target: str = "web", more: str = "", **manifests: str) -> None:
        """Commit a Workload of `evil` with other manifests, as YAML."""
        self.deliver("evil", workload("evil", {**MANIFESTS, **manifests}, target, more))

    def keep(self) -> None:
        """Make the present tree the existing tree of the next run."""
        _, files = self.rendered()
        commit_branch(self.folder / "gitops", files)

    def render(self, **given: object) -> RenderDocument:
        """Render dev."""
        if (self.folder / "gitops").is_dir():
            given = {"gitops": f"{self.folder / 'gitops'}", **given}
        sources = [f"{SERVER}/{name}={self.folder / name}" for name in ("main", "calm", "evil")]
        inputs = RenderInputs.model_validate(
            {
                "environment": "dev",
                "environment_dir": self.folder / "dev",
                "source": sources,
                **given,
            }
        )
        return render(inputs, LocalContext(Programs(os.environ), no_progress))

    def rendered(self, **given: object) -> tuple[RenderDocument, dict[str, str]]:
        """Render dev; return the result and the tree."""
        out = self.folder / f"out{len(list(self.folder.iterdir()))}"
        document = self.render(out=out, **given)
        return document, {
            path.relative_to(out).as_posix(): path.read_bytes().decode()
            for path in out.rglob("*")
            if path.is_file()
        }

    def refused(self, code: str, words: str = "", line: int = 0) -> ProblemEntry:
        """Check that the run refuses `evil` alone, for one cause with its place; return that."""
        document, files = self.rendered()
        (warning,) = blamed(document)
        assert (warning.code, warning.where is not None) == (code, True)
        assert words in warning.message
        assert line in {0, warning.where and warning.where.line}
        assert CALM in files
        assert not any("evil" in path for path in files if not path.startswith(".github"))
        return warning

    def accepted(self) -> dict[str, str]:
        """Check that the run blames nobody and renders both applications; return the files."""
        document, files = self.rendered()
        assert blamed(document) == []
        assert {CALM, EVIL} <= files.keys()
        return files


def blamed(document: RenderDocument) -> list[ProblemEntry]:
    """Return the warnings that name the attacker's registration, all in its own file.

    There are no other findings: the run succeeds, and no file of the platform is named.
    """
    assert document.problems == ()
    blamed = [item for item in document.warnings if item.message.startswith("registration 'evil':")]
    others = {item.code for item in document.warnings if item not in blamed}
    assert others <= {"application-missing", "registration-without-targets"}
    for item in blamed:
        assert item.where
        assert item.where.repository == f"{SERVER}/evil"
        assert item.where.path == "workload.yaml"
    assert document.degraded == bool(blamed)
    return blamed


ADMIN = (
    r'"dev\n---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\n'
    r'metadata: {name: evil}\nroleRef: {kind: ClusterRole, name: cluster-admin}"'
)
"""A text that ends its document, and begins one of its own."""

CALM = "edge/calm-web/reconciler.yaml"
EVIL = "edge/evil-web/reconciler.yaml"
