"""Acme with as few parts as possible, in several layouts, and the actions of people and clusters.

Each environment has one cluster, which fails for a configuration with `toxic` in it. Acme also has
files and a branch that Kalypso does not own.
"""

from __future__ import annotations

from typing import Final

from kalypso_sandbox import Fault
from kalypso_sandbox.azure import Cluster, Configuration
from tests.chain.driver import Chain
from tests.chain.organisation import Layout
from tests.commands.chain import documents
from tests.commands.chain.organisation import CONTROL_PLANE, GITOPS, SHOP

CHECK: Final = {"check-promote": {"timeout": "3m", "grace-period": "1m", "poll-interval": "30s"}}
ONE_TYPE: Final = ("large",)

LAYOUTS: Final = {
    "a line": Layout(cluster_types=ONE_TYPE, inputs=CHECK),
    "a line by a variable": Layout(
        environments={"dev": "stage", "stage": "", "prod": ""},
        variables={"stage": "prod"},
        cluster_types=ONE_TYPE,
        inputs=CHECK,
    ),
    "a diamond": Layout(
        environments={"dev": "qa,perf", "qa": "stage", "perf": "stage", "stage": ""},
        cluster_types=ONE_TYPE,
        inputs=CHECK,
    ),
    "cd proposes": Layout(cluster_types=ONE_TYPE, inputs={**CHECK, "cd": {"mode": "pull-request"}}),
    "schedule merges": Layout(
        cluster_types=ONE_TYPE, inputs={**CHECK, "schedule": {"auto-merge": "always"}}
    ),
}
POLICY_LAYOUTS: Final = {
    "a line with policies": Layout(cluster_types=ONE_TYPE, inputs=CHECK, by_app=("cd",)),
    "a join of three": Layout(
        environments={"dev": "qa,perf", "qa": "stage", "perf": "stage", "stage": ""},
        cluster_types=ONE_TYPE,
        inputs={**CHECK, "schedule": {"auto-merge": "always"}},
        by_app=("cd",),
    ),
    "a line that merges": Layout(
        cluster_types=ONE_TYPE,
        inputs={**CHECK, "schedule": {"auto-merge": "always"}},
        by_app=("cd",),
    ),
    "a line that proposes": Layout(
        cluster_types=ONE_TYPE,
        inputs={**CHECK, "cd": {"mode": "pull-request"}},
        by_app=("cd",),
    ),
}
"""The layouts of stories with policies: the App runs cd, so that `requires` counts."""

FIRST: Final = "dev"
"""The first environment of each layout."""

BAD: Final = "toxic"
"""A text that makes each cluster fail, anywhere in the configuration; no commit id contains it."""

FOREIGN: Final = {"notes/owners.txt": "Ada\n", "large/shop-web/extra.txt": "ours\n"}
"""Files of people in the GitOps branches, beside Kalypso's own files and among them."""

ASIDE: Final = "aside"
"""A branch of somebody else in each repository."""

MAIN_CHANGES: Final = ("release", "template", "document", "unbearable", "broken")
CONFIGURATIONS: Final = ("region", "unbearable", "failing", "unreadable")
WORKLOADS: Final = ("web", "web, api", "broken", "readme")

TEMPLATE: Final = "kind: Namespace\nmetadata: {{name: {{{{ .Namespace }}}}, labels: {{v: {0}}}}}\n"

FAULTS: Final = {
    "an answer is lost": Fault("*", "/repos/*", "lost"),
    "every write's answer is lost": Fault("POST", "/repos/*", "lost", count=3),
    "half of an answer comes": Fault("*", "/repos/*", "truncated"),
    "GitHub has an error": Fault("*", "/repos/*", "status", count=2),
    "writes are errors that act": Fault("POST", "/repos/*", "status", count=2, acts=True),
    "nothing is written": Fault("POST", "/repos/*", "status", count=0),
    "too many requests": Fault("*", "*", "too-many", count=3),
    "a secondary limit": Fault("POST", "*", "secondary"),
    "a push is lost": Fault("POST", "*/git-receive-pack", "lost"),
    "a push is cut": Fault("POST", "*/git-receive-pack", "cut"),
    "pushes are errors": Fault("POST", "*/git-receive-pack", "status", count=0),
    "connections end": Fault("*", "*", "dropped", count=4),
}


def furnish(chain: Chain, layout: Layout) -> None:
    """Add the parts of a story's beginning that Acme at rest lacks."""
    for name in layout.environments:
        chain.break_cluster(name, "large", BAD)
        chain.acme.commit(FOREIGN, name, GITOPS)
    for repository in (CONTROL_PLANE, GITOPS):
        chain.acme.reset(ASIDE, chain.acme.head("main", repository), repository)
        chain.acme.commit({"aside.txt": "?\n"}, ASIDE, repository)
    chain.forget_what_is_due()


def change_main(chain: Chain, change: str, number: int, label: str = "") -> str:
    """Commit to main; a commit that is not `broken` repairs all earlier ones.

    With a `label`, people merge a pull request that has it.
    """
    release = f"{BAD}{number}" if change == "unbearable" else f"r{number}"
    manifest = TEMPLATE.format(f"v{number}")
    if change == "broken":
        manifest = "{{ range }}"
    files: dict[str, str | None] = {
        "templates/namespace.yaml": documents.template("namespace", manifest, "namespace"),
        "docs/operations.md": f"{number}\n",
    }
    if change in {"release", "unbearable"}:
        files["release.yaml"] = documents.config_map("base", RELEASE=release)
    if change == "document":
        del files["templates/namespace.yaml"]
    if not label:
        return chain.merge_to_main(files)
    acme, branch = chain.acme, f"change-{number}"
    acme.reset(branch, acme.head("main"))
    acme.commit(files, branch)
    pull = acme.pull(branch)
    acme.ask("POST", f"{CONTROL_PLANE}/issues/{pull}/labels", {"labels": [label]})
    return acme.merge(pull, CONTROL_PLANE)


def configure(chain: Chain, environment: str, change: str, number: int) -> None:
    """Make the configuration of an environment good, or bad in one of three ways."""
    values = {
        "region": {"REGION": f"north{number}"},
        "unbearable": {"REGION": f"{BAD}{number}"},
    }
    text = documents.config_map("common", **values.get(change, {"OTHER": "1"}))
    files: dict[str, str | None] = {
        "config.yaml": "kind: [" if change == "unreadable" else text,
        "schema.yaml": documents.config_schema("region", "REGION"),
    }
    chain.acme.commit(files, environment)


def register(chain: Chain, layout: Layout, targets: str, number: int) -> None:
    """Change the application's deployment targets, or make them unreadable.

    With `readme`, the folder gets another file and keeps its targets.
    """
    if targets == "readme":
        chain.acme.commit({"workload/README.md": f"{number}\n"}, repository=SHOP)
        return
    url = f"{chain.acme.sandbox.url}/acme/shop-manifests"
    names = tuple(layout.environments)
    files: dict[str, str | None] = {
        "workload/shop.yaml": documents.workload("shop", url, names),
        "workload/api.yaml": None,
        "workload/broken.yaml": None,
    }
    if targets == "web, api":
        files["workload/api.yaml"] = documents.workload("api", url, names, "api")
    if targets == "broken":
        files["workload/broken.yaml"] = documents.cluster_type("mine")
    chain.acme.commit(files, repository=SHOP)


def follow_elsewhere(chain: Chain, environment: str) -> None:
    """Let a cluster follow a path that Kalypso does not own, and fail there."""
    follows = Configuration(
        repository=GITOPS, branch=environment, paths=["./monitoring"], behaviour="fail"
    )
    cluster = Cluster(name=f"{environment}-monitoring", configurations=[follows])
    chain.acme.sandbox.azure.put(cluster)


def delete_cluster(chain: Chain, environment: str) -> None:
    """Add a cluster that nobody reconciles, and delete it: its row lingers."""
    follows = Configuration(
        repository=GITOPS, branch=environment, paths=["./large"], behaviour="suspended"
    )
    azure = chain.acme.sandbox.azure
    azure.put(Cluster(name=f"{environment}-deleted", configurations=[follows]))
    chain.wait(60)
    azure.delete(f"{environment}-deleted")


def heal(chain: Chain, layout: Layout) -> None:
    """Remove every fault from clusters and applications."""
    chain.acme.sandbox.faults.clear()
    for name in layout.environments:
        chain.break_cluster(name, "large", BAD)
    if "workload/broken.yaml" in chain.acme.files("main", SHOP):
        register(chain, layout, "web", 0)
