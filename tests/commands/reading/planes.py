"""Repositories of a control plane in a folder, and the snapshot of an environment."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from kalypso_actions.clients.process import Programs
from kalypso_actions.commands.render import render
from kalypso_actions.commands.shared.local_context import LocalContext
from kalypso_actions.inputs.local import RenderInputs
from kalypso_actions.model.processes import no_progress
from kalypso_actions.report.render_document import RenderDocument
from tests.git_repositories import commit_branch

API = "apiVersion: scheduler.kalypso.io/v1alpha1"


def document(kind: str, name: str, spec: str) -> str:
    return f"{API}\nkind: {kind}\nmetadata: {{name: {name}}}\nspec: {spec}\n---\n"


def workload(name: str = "app", target: str = "web") -> str:
    return document(
        "Workload",
        name,
        f"{{deploymentTargets: [{{name: {target}, environment: dev, manifests: {{repo: r}}}}]}}",
    )


def template(name: str, text: str, of_type: str = "reconciler") -> str:
    name += ", annotations: {kalypso.io/manifests: any}"
    return document("Template", name, f"{{type: {of_type}, manifests: ['{text}']}}")


class Planes:
    """A control plane with one environment and one registered repository."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.control_plane = folder / "control-plane"
        self.app = folder / "app"
        self.gitops = folder / "gitops"
        commit_branch(self.app, {"workload.yaml": workload()})
        self.main = self.commit_main()
        self.commit_dev(self.main)

    def commit_main(self, template_text: str = "{{ .Namespace }}", **files: str) -> str:
        base = {
            ".sourceignore": ".environments/\n",
            ".environments/dev.yaml": document(
                "Environment", "dev", "{controlPlane: {repo: any, branch: env/dev, path: fleet}}"
            ),
            "templates.yaml": template("t", template_text),
            "namespace.yaml": template("ns", template_text, "namespace"),
            "config.yaml": template("conf", template_text, "config"),
            "registration.yaml": document(
                "WorkloadRegistration",
                "app",
                f"{{workload: {{repo: '{self.app}', branch: main, path: .}}, workspace: team}}",
            ),
        }
        return commit_branch(self.control_plane, {**base, **files})

    def commit_dev(self, promoted: str = "", **files: str) -> None:
        pinned = f", commit: {promoted}" if promoted else ""
        base = {
            "fleet/base-repo.yaml": document(
                "BaseRepo",
                "main",
                f"{{repo: '{self.control_plane}', branch: main, path: .{pinned}}}",
            ),
            "fleet/large.yaml": document(
                "ClusterType", "large", "{reconciler: t, namespaceService: ns, configType: conf}"
            ),
            "fleet/policy.yaml": document(
                "SchedulingPolicy",
                "all",
                "{deploymentTargetSelector: {labelSelector: {}}, clusterTypeSelector: "
                "{labelSelector: {}}}",
            ),
            "fleet/gitops-repo.yaml": document(
                "GitOpsRepo", "dev", "{repo: https://git.test/gitops, branch: dev, path: .}"
            ),
            "elsewhere.yaml": "not: read",
        }
        commit_branch(self.control_plane, {**base, **files}, branch="env/dev")

    def render(self, **given: object) -> RenderDocument:
        inputs = RenderInputs.model_validate(
            {"environment": "dev", "control_plane": str(self.control_plane), **given}
        )
        return render(inputs, LocalContext(Programs(os.environ), no_progress))

    def rendered(self, **given: object) -> Mapping[str, str]:
        out = self.folder / f"out{len(list(self.folder.iterdir()))}"
        self.render(out=out, **given)
        return {
            path.relative_to(out).as_posix(): path.read_text()
            for path in out.rglob("*")
            if path.is_file()
        }
