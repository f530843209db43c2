"""Every template case through the engine with all functions: Go's text, or Go's error."""

from __future__ import annotations

from typing import Any

import pytest

from kalypso_actions import gotemplate
from kalypso_actions.platform_config import parse_value
from kalypso_actions.rendering import TemplateData
from kalypso_actions.rendering.functions import FUNCTIONS, REFUSED
from tests.oracle.cases import Answer, Case, Request, load

MAX_PASSES = 8


@pytest.mark.parametrize("case", load("template"), ids=str)
def test_the_answer_is_gos(case: Case) -> None:
    """Unless `differs` says why ours is another; then it must be another indeed."""
    assert (answer(case.request) != case.answer) == ("differs" in case.request)


def answer(request: Request) -> Answer:
    """What the engine makes of a request, in the oracle's form."""
    data = template_data(request.get("data", {})).go
    output = request["text"]
    try:
        for _ in range(MAX_PASSES):
            output = gotemplate.parse(
                output,
                name=request.get("name", "template"),
                functions=FUNCTIONS,
                refused=REFUSED,
            ).execute(data)
            if request.get("mode") == "once" or "{{" not in output:
                return {"output": output}
    except gotemplate.TemplateError as error:
        return {"error": error.message}
    return {"error": f"still contains {{{{ after {MAX_PASSES} passes"}


def template_data(fields: dict[str, Any]) -> TemplateData:
    """The data of a request, what it does not name being empty."""
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
