"""Clusters of dev that report by commit statuses, by Argo CD, or by a program."""

from __future__ import annotations

import json
from typing import Any, Final

from kalypso_sandbox.azure import Cluster, Configuration
from kalypso_sandbox.store import Permissions
from tests.commands.chain import documents
from tests.commands.chain.organisation import GITOPS, Organisation

RIGHTS: Final[Permissions] = {"statuses": "write"}
FLUX: Final = "acme-flux[bot]"


def list_clusters(acme: Organisation, **clusters: str) -> None:
    """Let cluster types of dev list their clusters; `drone` and `large` have assignments."""
    for cluster_type, names in clusters.items():
        text = documents.cluster_type(cluster_type).replace(
            f"  name: {cluster_type}\n",
            f"  name: {cluster_type}\n  annotations: {{kalypso.io/clusters: '{names}'}}\n",
        )
        acme.commit({f"cluster-types/{cluster_type}.yaml": text}, "dev")


def add_cluster(acme: Organisation, name: str, cluster_type: str, **fields: Any) -> None:
    given = {"repository": GITOPS, "branch": "dev", "paths": [f"./{cluster_type}"], "settle": 30.0}
    configuration = Configuration.model_validate(given | fields)
    acme.sandbox.azure.put(Cluster(name=name, kind="other", configurations=[configuration]))


def program(*clusters: dict[str, Any]) -> str:
    text = json.dumps({"schema": "kalypso.cluster-reports/v1", "clusters": clusters})
    return f"echo looking >&2; cat <<'END'\n{text}\nEND"


def reported(name: str, path: str, commit: str, state: str = "compliant") -> dict[str, Any]:
    return {"cluster": name, "paths": [path], "commit": commit, "state": state}
