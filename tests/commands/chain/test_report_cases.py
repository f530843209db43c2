"""check-promote by what Flux, Argo CD and programs really answer, case by case.

The cases are data of the compatibility contract, which this repository does not contain.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from kalypso_actions.errors import KalypsoError, UsageError
from kalypso_sandbox.store import Status
from tests.commands.chain import documents
from tests.commands.chain.organisation import GITOPS, Organisation
from tests.commands.chain.promotions import check, document, main_commit, name_in_base, tree
from tests.http_servers import Handler, serving

FILE = Path(__file__).parents[4] / "shared/data/cluster-reports/cases.jsonl"

QUICK = frozenset({"cs-foreign-newer-success", "ar-child-degraded", "cm-failed", "mx-both"})


def _cases() -> list[Any]:
    if not FILE.exists():
        reason = "the data of the compatibility contract is not beside the repository"
        return [pytest.param({}, marks=pytest.mark.skip(reason=reason), id="none")]
    cases = map(json.loads, FILE.read_text("utf-8").splitlines())
    return [
        pytest.param(case, id=case["id"], marks=() if case["id"] in QUICK else pytest.mark.slow)
        for case in cases
    ]


def found(acme: Organisation, desired: Mapping[str, Any]) -> dict[str, str]:
    """Let dev have the case's cluster types, and the GitOps branch its commits; return their ids."""
    files: dict[str, str | bytes | None] = dict.fromkeys(
        path for path in acme.files("dev") if path.startswith("cluster-types/")
    )
    for name, each in desired["cluster_types"].items():
        keys = {"kalypso.io/clusters": each["clusters"] and ", ".join(each["clusters"])}
        keys["kalypso.io/compliance"] = each["compliance"]
        given = ", ".join(f"{key}: '{value}'" for key, value in keys.items() if value)
        text = documents.cluster_type(name)
        files[f"cluster-types/{name}.yaml"] = text.replace(
            f"  name: {name}\n", f"  name: {name}\n  annotations: {{{given}}}\n"
        )
    folder = desired["folder"]
    files["gitops-repo.yaml"] = documents.gitops_repo(acme.url(GITOPS), "dev", path=folder or ".")
    acme.commit(files, "dev")
    assigned = [name for name, each in desired["cluster_types"].items() if each["assigned"]]
    promoted = main_commit(acme)
    name_in_base(acme, promoted)
    ids = {"main": promoted}
    for number, commit in enumerate(desired["commits"]):
        acme.clock.sleep(1)
        named = promoted if commit["promoted"] else main_commit(acme, f"another {number}")
        made = tree(named, assigned, config=str(number), folder=folder)
        ids[commit["id"]] = acme.commit(made, "dev", GITOPS)
    acme.clock.sleep(-datetime_offset(desired["merged"]) + 60)
    return ids


def datetime_offset(text: str) -> int:
    return int(text.removeprefix("{{").removesuffix("s}}"))


def filled_in(case: Mapping[str, Any], acme: Organisation, ids: Mapping[str, str]) -> Any:
    def moment(match: re.Match[str]) -> str:
        return f"{acme.clock() + timedelta(seconds=int(match[1])):%Y-%m-%dT%H:%M:%SZ}"

    text = re.sub(r"\{\{(-?\d+)s\}\}", moment, json.dumps(case))
    text = re.sub(r"\{\{([PGHL])\}\}", lambda match: ids[match[1]], text)
    return json.loads(text.replace("{{repo}}", acme.url(GITOPS)))


def post(acme: Organisation, statuses: Mapping[str, Any], ids: Mapping[str, str]) -> None:
    for commit, listed in statuses.items():
        for each in reversed(listed):
            status = Status(
                id=acme.sandbox.store.new_id(),
                commit=ids[commit],
                author=each["creator"]["login"],
                created_at=datetime.fromisoformat(each["created_at"]),
                **{key: each[key] for key in ("context", "state", "description", "target_url")},
            )
            acme.sandbox.store.account(status.author, each["creator"]["type"])
            acme.sandbox.repository(GITOPS).statuses.append(status)


def push_during_the_first_pause(acme: Organisation, ids: Mapping[str, str]) -> None:
    """Let the branch go on to the commit of another promotion while the run waits."""
    acme.reset("dev", ids.get("H", ids["G"]), GITOPS)
    sleep = acme.clock.sleep

    def push_and_sleep(seconds: float) -> None:
        acme.reset("dev", ids["L"], GITOPS)
        sleep(seconds)

    acme.clock.sleep = push_and_sleep  # type: ignore[method-assign]  # its methods are fixed


@contextmanager
def argocd(servers: Mapping[str, Any]) -> Iterator[str]:
    """Serve the answers of Argo CD servers; yield their URLs."""

    class ArgoCD(Handler):
        def answer(self) -> None:
            _, number, path = self.path.split("/", 2)
            given = list(servers.values())[int(number)]
            if given["body"] is not None:
                return self.respond(given["status"], given["body"])
            if path.startswith("api/v1/account/can-i/applications/get/*/*"):
                return self.respond(200, json.dumps({"value": given["can-i"]}))
            answer = given["clusters" if path.startswith("api/v1/clusters") else "applications"]
            if answer is None:
                return self.respond(403, '{"error": "permission denied", "code": 7}')
            return self.respond(200, json.dumps(answer))

        def respond(self, status: int, text: str) -> None:
            self.send_response(status)
            self.end_headers()
            self.wfile.write(text.encode())

    with serving(ArgoCD) as url:
        yield ",".join(f"{url}/{number}" for number in range(len(servers)))


@pytest.mark.parametrize("case", _cases())
def test_cases(acme: Organisation, case: Mapping[str, Any], tmp_path: Path) -> None:
    ids = found(acme, case["desired"])
    case = filled_in(case, acme, ids)
    given, expected = case["input"], case["expected"]
    options = {key.replace("-", "_"): value for key, value in case["options"].items()}
    options["started_at"] = case["desired"]["started"]
    post(acme, given.get("statuses") or {}, ids)
    if "stdout" in given:
        for name in ("stdout", "stderr"):
            (tmp_path / name).write_text(given[name])
        place = shlex.quote(str(tmp_path))
        command = f"cat {place}/stdout; cat {place}/stderr >&2; exit {given['exit']}"
        options["reports_command"] = command
    if "L" in ids:
        push_during_the_first_pause(acme, ids)
    acme.forget()
    with argocd(given.get("servers") or {}) as urls:
        if urls:
            options |= {"argocd_servers": urls, "argocd_tokens": "secret-of-argocd"}
        if expected["verdict"] is None:
            error = UsageError if expected["exit"] == 2 else KalypsoError
            with pytest.raises(error, match=re.escape(expected["about"])) as raised:
                check(acme, ids["G"], ids["main"], **options)
            assert isinstance(raised.value, UsageError) == (expected["exit"] == 2)
            if expected["exit"] == 2:
                assert acme.writes() == []
            return
        if expected["verdict"] == "waiting":
            options["dry_run"] = "true"
        result = check(acme, ids["G"], ids["main"], **options)
    shown = document(result)
    assert shown.verdict == expected["verdict"].replace("waiting", "")
    assert result.failed == (expected["exit"] == 1)
    names = {f"{row.id}/{row.cluster_type}": row.state for row in shown.rows}
    assert names == expected["clusters"]
    assert list(shown.missing) == expected.get("missing", [])
    for text in expected.get("warnings", ()):
        assert text in str(shown.warnings)
    deployed = acme.statuses(ids["main"]).get("dev environment", ("", ""))[1] == "Deployed"
    assert deployed == (expected["verdict"] == "compliant")
    assert "secret-of-argocd" not in "\n".join(acme.logged)
