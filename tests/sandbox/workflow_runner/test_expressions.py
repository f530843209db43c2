"""`${{ }}` in workflow files."""

from __future__ import annotations

import pytest

from kalypso_actions.errors import KalypsoError
from kalypso_sandbox.workflow_runner.jobs import filled

CONTEXTS = {
    "github": {"event": {"before": "abc", "forced": False, "number": 7}, "ref_name": "dev"},
    "inputs": {"environment": "dev", "commit": ""},
    "vars": {},
    "secrets": {"KEY": "hush"},
}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("nothing to fill", "nothing to fill"),
        ("${{ inputs.environment }}", "dev"),
        ("${{inputs.environment}}", "dev"),
        ("run-${{ inputs.environment }}-${{ github.event.before }}", "run-dev-abc"),
        ("${{ github.event.forced }}", "false"),
        ("${{ github.event.number }}", "7"),
        ("${{ github.event.absent.too }}", ""),
        ("${{ vars.ABSENT }}", ""),
        ("${{ secrets.KEY }}", "hush"),
        ("${{ inputs.commit || github.event.before }}", "abc"),
        ("${{ inputs.commit || vars.ABSENT || 'none' }}", "none"),
        ("${{ inputs.environment || 'none' }}", "dev"),
        ("${{ secrets.KEY && inputs.environment }}", "dev"),
        ("${{ inputs.commit && inputs.environment }}", ""),
        ("${{ inputs.commit && vars.ABSENT || inputs.environment }}", "dev"),
        ("${{ inputs.environment == 'DEV' }}", "true"),
        ("${{ inputs.commit == 'x' || inputs.environment != 'dev' || 'neither' }}", "neither"),
        ("$ENVIRONMENT ${ENVIRONMENT}", "$ENVIRONMENT ${ENVIRONMENT}"),
    ],
)
def test_values(text: str, value: str) -> None:
    assert filled(text, CONTEXTS) == value


@pytest.mark.parametrize(
    "expression", ["always()", "inputs.a < inputs.b", "matrix.os", "!inputs.a", "inputs.a &&", ""]
)
def test_unsupported_syntax_is_an_error(expression: str) -> None:
    with pytest.raises(KalypsoError, match="is not supported here"):
        filled(f"${{{{ {expression} }}}}", CONTEXTS)
