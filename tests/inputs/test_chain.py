from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from pydantic import SecretStr, ValidationError

from kalypso_actions.errors import UsageError
from kalypso_actions.inputs.chain import (
    CdInputs,
    ChainInputs,
    CheckPromoteInputs,
    CiInputs,
    HistoryInputs,
    HoldInputs,
    NotifyInputs,
    PollInputs,
    ScheduleInputs,
    StartScheduleInputs,
)
from kalypso_actions.inputs.reading import checked_inputs, collect_inputs, secrets_of
from kalypso_actions.inputs.values import option_of

COMMIT = "a" * 40
COMMANDS: tuple[type[ChainInputs], ...] = (
    *(CiInputs, CdInputs, ScheduleInputs, NotifyInputs, CheckPromoteInputs, PollInputs),
    StartScheduleInputs,
)
CHECK = {"environment": "dev", "gitops-commit": COMMIT}


@pytest.mark.parametrize("model", COMMANDS)
def test_every_input_is_described(model: type[ChainInputs]) -> None:
    for name, field in model.model_fields.items():
        if name not in {"output", "verbose", "debug"}:
            assert option_of(field).text.endswith((".", "."))
            assert field.alias == name.replace("_", "-")


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("timeout", "90s", timedelta(seconds=90)),
        ("timeout", "5m", timedelta(minutes=5)),
        ("timeout", "2h", timedelta(hours=2)),
        ("stale-after", "off", None),
        ("stale-after", "10m", timedelta(minutes=10)),
        ("min-compliant", "95%", 95),
        ("min-compliant", "95", 95),
        ("require-targets", "false", False),
        ("ignore-clusters", "a, b\nc\n", ("a", "b", "c")),
        ("gitops-repository", "acme/fleet-gitops", "acme/fleet-gitops"),
        ("gitops-repository", "octo_acme/fleet", "octo_acme/fleet"),
    ],
)
def test_values(name: str, text: str, value: object) -> None:
    inputs = CheckPromoteInputs.model_validate({**CHECK, name: text})
    assert getattr(inputs, name.replace("-", "_")) == value


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("timeout", "90", "'90' is not a duration"),
        ("timeout", "-5m", "is not a duration"),
        ("timeout", "off", "is not a duration"),
        ("timeout", "9" * 20 + "h", "is not a duration"),
        ("min-compliant", "101%", "is not a percentage"),
        ("min-compliant", "few", "is not a percentage"),
        ("require-targets", "yes", "'yes' is neither true nor false"),
        ("require-targets", "True", "is neither true nor false"),
        ("gitops-commit", "main", "'main' is not a full commit id"),
        ("gitops-repository", "https://github.com/a/b", "is not of the form owner/name"),
        ("gitops-repository", "acme/..", "is not of the form owner/name"),
        ("missing", "ignore", "Input should be 'fail' or 'warn'"),
        ("environment", "../dev", "'../dev'"),
        ("bogus", "x", "Extra inputs are not permitted"),
    ],
)
def test_what_is_refused(name: str, text: str, message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        CheckPromoteInputs.model_validate({**CHECK, name: text})


def collected(
    model: type[ChainInputs], options: dict[str, Any], **environment: str
) -> dict[str, Any]:
    return collect_inputs(model, options, environment)


def test_options_come_before_the_actions_inputs_and_those_before_the_environment() -> None:
    action = json.dumps({"environment": "dev", "commit": COMMIT, "token": "from-action"})
    variables = {"KALYPSO_INPUTS": action, "GITHUB_TOKEN": "from-job"}
    assert collected(CdInputs, {"environment": "stage", "mode": None}, **variables) == {
        "environment": "stage",
        "commit": COMMIT,
        "token": "from-action",
    }
    assert collected(CdInputs, {}, GITHUB_TOKEN="job", KALYPSO_TOKEN="ours") == {"token": "ours"}


def test_an_empty_input_was_not_given() -> None:
    action = json.dumps({"environment": "", "token": ""})
    assert collected(CdInputs, {}, KALYPSO_INPUTS=action, GITHUB_TOKEN="job") == {"token": "job"}


def test_a_command_gets_only_the_variables_that_it_has_inputs_for() -> None:
    variables = {"AZURE_CLIENT_ID": "id", "AZURE_CREDENTIALS": "{}", "GITHUB_TOKEN": "t"}
    variables["KALYPSO_ARGOCD_TOKENS"] = "ar"
    assert collected(CiInputs, {}, **variables) == {"token": "t"}
    assert set(collected(CheckPromoteInputs, {}, **variables)) == {
        *("token", "azure-client-id", "azure-credentials", "argocd-tokens"),
    }


@pytest.mark.parametrize("text", ["{", "[]", '{"a": 1}', '"x"'])
def test_unknown_action_inputs(text: str) -> None:
    with pytest.raises(UsageError, match="KALYPSO_INPUTS is not"):
        collected(CiInputs, {}, KALYPSO_INPUTS=text)


@pytest.mark.parametrize("model", COMMANDS)
def test_no_secret_is_shown(model: type[ChainInputs]) -> None:
    fields = {
        "environment": "dev",
        "commit": COMMIT,
        "gitops-commit": COMMIT,
        "control-plane": "acme/fleet",
    }
    known = {field.alias for field in model.model_fields.values()}
    given = {name: value for name, value in fields.items() if name in known}
    secrets = {
        field.alias: "s3cret"
        for field in model.model_fields.values()
        if field.annotation is SecretStr
    }
    assert {"token", "app-private-key", "git-credentials"} <= secrets.keys()
    inputs = model.model_validate(given | secrets)
    assert "s3cret" not in f"{inputs!r} {inputs} {inputs.model_dump_json()}"


def test_parts_of_compound_secrets_are_secrets() -> None:
    inputs = CheckPromoteInputs.model_validate(
        {
            **CHECK,
            "token": "gh-1",
            "git-credentials": "gitlab.example=bot:gl-2\n\n# none\n",
            "azure-credentials": json.dumps({"clientId": "id", "clientSecret": "az-3"}),
            "argocd-tokens": "https://argocd.example=ar-4\nhttps://other.example=ar-5==",
        }
    )
    secrets = set(secrets_of(inputs))
    assert {"gh-1", "gl-2", "az-3", "ar-4", "ar-5=="} <= secrets
    assert "id" not in secrets
    broken = CheckPromoteInputs.model_validate({**CHECK, "azure-credentials": "[1"})
    assert list(secrets_of(broken)) == ["[1"]


def test_a_missing_argument_is_named_as_the_help_names_it() -> None:
    with pytest.raises(UsageError, match=r"^NAME is needed$"):
        checked_inputs(HistoryInputs, {})
    with pytest.raises(UsageError, match="--environment is needed"):
        checked_inputs(CdInputs, {"commit": "main"})


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        ("tomorrow", "--until: it is no time; write it such as 2026-12-01T12:00:00Z"),
        ("2026-12-01T20:00", "--until: it has no offset; append Z for UTC, or such as +01:00"),
    ],
)
def test_a_time_that_is_none(given: str, fault: str) -> None:
    with pytest.raises(UsageError) as refused:
        checked_inputs(HoldInputs, {"environment": "dev", "reason": "x", "until": given})
    assert refused.value.problem.message == fault
