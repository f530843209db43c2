"""Our answers to the oracle's template requests, in its form."""

from __future__ import annotations

import traceback
from functools import lru_cache
from typing import Any

from kalypso_actions.platform_config import parse_value
from kalypso_actions.rendering import TemplateData
from kalypso_actions.rendering.functions import FUNCTIONS, REFUSED
from kalypso_go import gotemplate

MAX_PASSES = 8


def answer(request: dict[str, Any]) -> dict[str, str]:
    """Return `{"output": …}` or `{"error": …}`; errors that begin with `bug:` are our own bugs."""
    try:
        return {"output": _rendered(request)}
    except gotemplate.TemplateError as error:
        return {"error": error.message}
    except Exception:  # noqa: BLE001  # the comparison looks for unexpected exceptions
        return {"error": f"bug: {traceback.format_exc()}"}


def _rendered(request: dict[str, Any]) -> str:
    """Render the text, repeatedly while it contains `{{`, like the oracle."""
    name = request.get("name", "template")
    data = template_data(request.get("data", {})).go
    output: str = request["text"]
    for _ in range(MAX_PASSES):
        output = _parsed(output, name).execute(data)
        if request.get("mode") == "once" or "{{" not in output:
            return output
    detail = f"still contains {{{{ after {MAX_PASSES} passes"
    raise gotemplate.TemplateError(detail, name=name)


@lru_cache(maxsize=256)
def _parsed(text: str, name: str) -> gotemplate.Template:
    return gotemplate.parse(text, name=name, functions=FUNCTIONS, refused=REFUSED)


def template_data(fields: dict[str, Any]) -> TemplateData:
    """Return the data of a request; missing fields are empty."""
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
