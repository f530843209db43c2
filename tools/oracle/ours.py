"""Our own answers to the oracle's template requests, in its form."""

from __future__ import annotations

import traceback
from typing import Any

from kalypso_actions.platform_config.values import parse_value
from kalypso_actions.rendering import ManifestError, TemplateData
from kalypso_actions.rendering.go_manifests import TextManifest


def answer(request: dict[str, Any]) -> dict[str, str]:
    """`{"output": …}` or `{"error": …}`; our own bugs as errors that begin with `bug:`."""
    try:
        return {"output": TextManifest(request["text"]).render(_data(request.get("data", {})))}
    except ManifestError as error:
        return {"error": error.message}
    except Exception:  # noqa: BLE001  # whatever escapes is what a comparison is to find
        return {"error": f"bug: {traceback.format_exc()}"}


def _data(fields: dict[str, Any]) -> TemplateData:
    return TemplateData(
        target=fields.get("DeploymentTargetName", ""),
        namespace=fields.get("Namespace", ""),
        environment=fields.get("Environment", ""),
        workspace=fields.get("Workspace", ""),
        workload=fields.get("Workload", ""),
        labels=fields.get("Labels", {}),
        manifests=fields.get("Manifests", {}),
        cluster_type=fields.get("ClusterType", ""),
        config={key: parse_value(text) for key, text in fields.get("Config", {}).items()},
    )
