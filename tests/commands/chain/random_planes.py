"""Control planes of random structure, with random faults at random places.

    plane = RandomPlane.drawn(random.Random(7))
    plane.found(acme)
    plane.changed, plane.change  # the branch, and the files with faults that a pull request adds

Names are unique over all branches; labels and values are drawn from few words, so that many meet.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from tests.commands.chain import documents
from tests.commands.chain.organisation import CONTROL_PLANE, GITOPS, Organisation

API: Final = "apiVersion: scheduler.kalypso.io/v1alpha1\n"
MAIN: Final = "main"
NAMES: Final = ("dev", "stage", "prod")
SIZES: Final = ("drone", "large", "store", "hub")
REGIONS: Final = ("north", "south", "west")
KEYS: Final = ("REGION", "LEVEL", "TILL", "HOSTS")

Files = dict[str, str | bytes | None]
Fault = Callable[[random.Random, str], str]
"""Returns a document with a fault, whose objects have the given name."""


def target(name: str, environment: str, path: str = ".", repo: str = "r") -> str:
    return (
        f"{API}kind: DeploymentTarget\nmetadata: {{name: {name}, labels: {{a: b}}}}\n"
        f"spec:\n  environment: {environment}\n"
        f"  manifests: {{repo: {repo}, branch: b, path: {path}}}\n"
    )


def layer(chance: random.Random, name: str, *, labels: str = "") -> str:
    """Return configuration for a random selection, or for these labels."""
    options = {
        "size": SIZES,
        "region": REGIONS,
        "cluster-type": SIZES,
        "workload": ("shop", "app-1"),
    }
    chosen = chance.sample(sorted(options), chance.choice((0, 0, 1, 1, 2)))
    labels = labels or "".join(f", {key}: {chance.choice(options[key])}" for key in chosen)
    values = {key: chance.choice(("1", "info", "[a, b]")) for key in chance.sample(KEYS, 2)}
    text = documents.config_map(name, **values)
    return text.replace('"true"}', f'"true"{labels}}}')


def template(name: str, manifest: str, kind: str = "reconciler") -> str:
    """Return a Template for Kubernetes, whose files are checked."""
    text = documents.template(name, manifest, kind)
    return text.replace(", annotations: {kalypso.io/manifests: any}", "")


FLUX: Final = """\
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: "{{ .DeploymentTargetName }}", namespace: flux-system}
spec: {interval: 1m, url: https://git.test/app}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: "{{ .DeploymentTargetName }}", namespace: flux-system}
spec:
  interval: 5m
  prune: true
  FIELD
  sourceRef: {kind: GitRepository, name: "{{ .DeploymentTargetName }}"}
"""
FIELDS: Final = (
    "timeout: 1d",
    "timeuot: 5m",
    "path: {{ .ConfigData.NOWHERE }}",
    "path: {{ .Manifests.pth }}",
    "path: {{ .ConfigData.REGION | quote }}",
    "targetNamespace: {{ .Workload }}",
    'dependsOn: [{name: "shop-web-{{ .Environment }}"}]',
    "serviceAccountName: {{ .Labels.account }}",
)
"""Lines of a Template, most of them wrong, for some control planes."""

FAULTS: Final[dict[str, Fault]] = {
    "an unknown field": lambda _, name: documents.cluster_type(name, colour="red"),
    "another policy": lambda chance, name: documents.policy(name, size=chance.choice(SIZES)),
    "a policy for nothing": lambda _, name: documents.policy(name, size="huge"),
    "a misspelled value": lambda _, name: documents.policy(name, size="larg"),
    "configuration for nothing": lambda chance, name: layer(chance, name, labels=", size: huge"),
    "a misspelled label": lambda chance, name: layer(chance, name).replace("rm-c", "rm_c"),
    "a Template of another type": lambda _, name: documents.cluster_type(name, configType="flux"),
    "a Template that nobody has": lambda _, name: documents.cluster_type(name, reconciler="fluxx"),
    "a schema for nothing": lambda _, name: documents.config_schema(name).replace(
        f"{{name: {name}}}", f"{{name: {name}, labels: {{size: odd}}}}"
    ),
    "a schema that refuses": lambda chance, name: documents.config_schema(
        name, chance.choice((*KEYS, "NEVER"))
    ),
    "a keyword that nobody knows": lambda _, name: documents.config_schema(name).replace(
        "required", "requierd"
    ),
    "a schema that is none": lambda _, name: documents.config_schema(name).replace("[", "{"),
    "a target of some environment": lambda chance, name: target(name, chance.choice(NAMES)),
    "a target of no environment": lambda _, name: target(name, "devv"),
    "a path with a backslash": lambda _, name: target(name, "dev", path="'.\\deploy'"),
    "a URL without a scheme": lambda _, name: target(name, "dev", repo="git@git.test:acme/app"),
    "an octal number": lambda _, name: documents.config_map(name, STORES="[0012, 0013]"),
    "a login": lambda _, name: documents.config_map(name, A="{auth: YWNtZTpTM2NyM3QtcGFzczEy}"),
    "another case": lambda _, name: documents.config_map(name, Region="east"),
    "a content type": lambda _, name: documents.template(name, "a: 1\n", "config").replace(
        "spec:\n", "spec:\n  contentType: bash\n"
    ),
    "a field of a Template": lambda _, name: documents.template(name, "a: {{ .Workspce }}\n"),
}
OF_MAIN: Final = frozenset({"a content type", "a field of a Template"})
"""The faults of documents that only main has."""


@dataclass(frozen=True)
class RandomPlane:
    """The files of each branch as they stand, and those that a change of one branch adds."""

    environments: Sequence[str]
    branches: dict[str, Files]
    workloads: Sequence[str]
    changed: str
    change: Files

    @classmethod
    def drawn(cls, chance: random.Random) -> RandomPlane:
        environments = NAMES[: chance.randint(1, len(NAMES))]
        workloads = [f"app-{number}" for number in range(1, chance.randint(1, 3))]
        branches: dict[str, Files] = {name: {} for name in (MAIN, *environments)}
        main = branches[MAIN]
        reconcilers = ["flux"]
        for number in range(chance.randint(0, 2)):
            reconcilers.append(f"flux-{number}")
            manifest = FLUX.replace("FIELD", chance.choice(FIELDS))
            main[f"templates/{reconcilers[-1]}.yaml"] = template(reconcilers[-1], manifest)
        for name in environments:
            sizes = chance.sample(SIZES, chance.randint(1, 3))
            branches[name]["cluster-types.yaml"] = "---\n".join(
                documents.cluster_type(size, reconciler=chance.choice(reconcilers)).replace(
                    "labels: {", f"labels: {{region: {chance.choice(REGIONS)}, "
                )
                for size in sizes
            )
        for number in range(chance.randint(0, 5)):
            files = branches[chance.choice((MAIN, *environments))]
            files[f"config/{number}.yaml"] = layer(chance, f"layer-{number}")
        faults: dict[str, list[str]] = {name: [] for name in branches}
        for number in range(chance.randint(2, 6)):
            fault = chance.choice(sorted(FAULTS))
            branch = MAIN if fault in OF_MAIN else chance.choice(sorted(branches))
            faults[branch].append(FAULTS[fault](chance, f"fault-{number}"))
        changed = chance.choice(sorted(name for name, texts in faults.items() if texts))
        added = {name: _files(chance, texts) for name, texts in faults.items()}
        for name, files in added.items():
            if name != changed:
                branches[name] |= files
        return cls(environments, branches, workloads, changed, added[changed])

    def found(self, acme: Organisation) -> None:
        """Let acme have this control plane; the environments have the newest commit of main."""
        url, last = acme.url(), self.environments[-1]
        main = dict(self.branches[MAIN])
        for name, next_name in zip(self.environments, (*self.environments[1:], ""), strict=True):
            text = documents.environment(url, name, next_environment=next_name)
            main[f".environments/{name}.yaml"] = text
        if last == "dev":
            main[".environments/stage.yaml"] = None
        shop = documents.workload("shop", "https://git.test/shop", self.environments)
        acme.commit({"workload/shop.yaml": shop}, repository="acme/shop")
        for name in self.workloads:
            text = documents.workload(name, f"https://git.test/{name}", self.environments, "api")
            acme.sandbox.create_repository(f"acme/{name}", {"workload/app.yaml": text})
            main[f"registrations/{name}.yaml"] = documents.registration(
                name, acme.url(f"acme/{name}")
            )
        commit = acme.commit(main)
        for name in self.environments:
            if acme.head(name) is None:
                acme.reset(name, acme.head("dev"))
            if acme.head(name, GITOPS) is None:
                acme.reset(name, acme.head(MAIN, GITOPS), GITOPS)
            standing = dict.fromkeys(acme.files(name, CONTROL_PLANE))
            files = documents.environment_files(
                url, acme.url(GITOPS), name, cluster_types=(), commit=commit
            )
            acme.commit({**standing, **files, **self.branches[name]}, name)


def _files(chance: random.Random, texts: Sequence[str]) -> Files:
    """Put documents into one file, or each into its own."""
    if chance.random() < 0.5:
        return {"faults/all.yaml": "---\n".join(texts)} if texts else {}
    return {f"faults/{number}.yaml": text for number, text in enumerate(texts)}
